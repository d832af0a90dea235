package pages

import (
	"html/template"
	"slices"
	"strconv"
	"strings"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
)

// The words for how far something was understood, and why not further.
var decodingWords = map[string]string{
	"schema_unavailable":        "No ABI is known of the class that ran.",
	"selector_only_attribution": "Only the selector tells the name: which class ran is not known, or it has no such function.",
	"payload_shape_mismatch":    "What was passed does not fit what the ABI describes.",
	"schema_shape_unsupported":  "The ABI has types that are not read.",
	"decoding_budget_exhausted": "The calls in front of it filled the answer.",
}

// provenance is the badge of how something was understood: where its name and its values
// come from.
func provenance(status string, source, fieldsSource, why *string) template.HTML {
	told := func(s *string) string { text, _ := deref(s).(string); return text }
	switch {
	case status == "decoded" && told(fieldsSource) == "verified_abi":
		return badge("good", "verified ABI", "Read with the ABI of the class that ran, whose source was rebuilt to exactly this class.")
	case status == "decoded" && told(fieldsSource) == "class_abi":
		return badge("soft", "class ABI", "Read with the ABI that was declared with the class that ran.")
	case status == "decoded":
		return badge("soft", "standard", "Read by a standard that goes by the selector and the shape.")
	case status == "name_only" && (told(source) == "class_abi" || told(source) == "verified_abi"):
		return badge("soft", "name only", "The class that ran has the name. "+decodingWords[told(why)])
	case status == "name_only":
		return badge("soft", "name only", "The name goes by the selector, which is its hash. "+decodingWords[told(why)])
	}
	return badge("warn", "not decoded", decodingWords[told(why)])
}

// CallList lists calls with their arguments; the first has the number from.
func (l *look) CallList(list []api.AccountCall, from int) template.HTML {
	var b strings.Builder
	b.WriteString(`<ol class="deeds" start="` + strconv.Itoa(from+1) + `">`)
	for i := range list {
		c := &list[i]
		b.WriteString(`<li><p class="deed">`)
		l.named(&b, c.MethodName, c.Selector)
		b.WriteString(` on `)
		b.WriteString(string(l.Party(c.To)))
		if c.ClassAlias != nil {
			b.WriteString(` <span class="soft">` + template.HTMLEscapeString(*c.ClassAlias) + `</span>`)
		}
		b.WriteString(`</p>`)
		b.WriteString(string(provenance(c.DecodingStatus, c.MethodNameSource, c.DecodedArgumentsSource, c.DecodedArgumentsUnavailableReason)))
		if c.DecodedArguments != nil {
			l.fields(&b, *c.DecodedArguments, &c.To)
		}
		l.raw(&b, plural(c.CalldataLen, "felt")+" of calldata", felts{"", c.Calldata, c.CalldataLen})
		b.WriteString("</li>\n")
	}
	b.WriteString(`</ol>`)
	return template.HTML(b.String()) //nolint:gosec // made of escaped parts
}

// LogList lists events with their values; each has its number in the transaction.
func (l *look) LogList(list []api.Log) template.HTML {
	from := 0
	if len(list) > 0 {
		from = list[0].LogIndex
	}
	var b strings.Builder
	b.WriteString(`<ol class="deeds" start="` + strconv.Itoa(from) + `">`)
	for i := range list {
		e := &list[i]
		b.WriteString(`<li id="event-` + strconv.Itoa(e.LogIndex) + `"><p class="deed">`)
		if e.EventName != nil {
			b.WriteString(`<span class="mono">` + string(nameHTML(*e.EventName)) + `</span>`)
		} else if e.Topic0 != nil {
			b.WriteString(`<span class="soft">event</span> ` + string(l.Felt(*e.Topic0)))
		} else {
			b.WriteString(`<span class="soft">event without a selector</span>`)
		}
		b.WriteString(` of `)
		b.WriteString(string(l.Party(e.Address)))
		b.WriteString(`</p>`)
		b.WriteString(string(provenance(e.DecodingStatus, e.EventNameSource, e.DecodedFieldsSource, e.DecodedFieldsUnavailableReason)))
		if len(e.DecodedFields) > 0 {
			l.fields(&b, e.DecodedFields, &e.Address)
		}
		l.raw(&b, plural(len(e.Keys), "key")+" and "+plural(len(e.Data), "felt")+" of data", felts{"Keys", e.Keys, len(e.Keys)}, felts{"Data", e.Data, len(e.Data)})
		b.WriteString("</li>\n")
	}
	b.WriteString(`</ol>`)
	return template.HTML(b.String()) //nolint:gosec // made of escaped parts
}

// named writes the name of a function, or its selector.
func (l *look) named(b *strings.Builder, name *string, selector felt.Felt) {
	if name != nil {
		b.WriteString(`<span class="mono">` + string(nameHTML(*name)) + `</span>`)
		return
	}
	b.WriteString(`<span class="soft">function</span> ` + string(l.Felt(selector)))
}

// fields writes decoded values with their names, nested ones set in. of is the contract
// that they were passed to or come from: amounts of a known token are written as such.
func (l *look) fields(b *strings.Builder, list []api.DecodedField, of *felt.Felt) {
	if len(list) == 0 {
		return
	}
	b.WriteString(`<dl class="args">`)
	var around []*api.DecodedField // those that the next may be a part of, the outermost first
	for i := range list {
		f := &list[i]
		for len(around) > 0 && !partOf(f.Label, around[len(around)-1].Label) {
			around = around[:len(around)-1]
		}
		own := f.Label
		if len(around) > 0 {
			own = ownLabel(f.Label, around[len(around)-1])
		}
		b.WriteString(`<div class="in` + strconv.Itoa(min(len(around), 4)) + `"><dt`)
		if own != f.Label {
			whole, _ := cleanText(f.Label, 200)
			b.WriteString(` title="` + template.HTMLEscapeString(whole) + `"`)
		}
		own, _ = cleanText(own, 80)
		b.WriteString(`>` + template.HTMLEscapeString(own) + `</dt><dd>`)
		b.WriteString(string(l.argument(f, of)))
		if f.Type != nil {
			b.WriteString(" " + string(typeHTML(*f.Type)))
		}
		b.WriteString(`</dd></div>`)
		around = append(around, f)
	}
	b.WriteString(`</dl>`)
}

// partOf says whether a label is one of something inside another's.
func partOf(label, of string) bool {
	return len(label) > len(of) && strings.HasPrefix(label, of) && (label[len(of)] == '.' || label[len(of)] == '[')
}

// ownLabel is what a label of a part adds to that of the field above it, which it is set in
// under: its place in a list, or its name without that of the variant, which is the value above.
func ownLabel(label string, of *api.DecodedField) string {
	own := strings.TrimPrefix(label[len(of.Label):], ".")
	variant := of.DisplayValue.String()
	if in, found := strings.CutPrefix(own, variant+"."); found && in != "" && variant != "" {
		return in
	}
	return own
}

// argument is a decoded value: a party by its label, and of a known token what an amount is
// worth.
func (l *look) argument(f *api.DecodedField, of *felt.Felt) template.HTML {
	switch {
	case f.BoolValue != nil:
		text := strconv.FormatBool(*f.BoolValue)
		return template.HTML(`<span data-value="` + text + `">` + text + `</span>`) //nolint:gosec // a word
	case f.AddressValue != nil && l.partyText(*f.AddressValue) != shorten(f.AddressValue.String()):
		return l.Party(*f.AddressValue)
	case f.NumericValue != nil && f.Kind == "u256" && (f.Label == "amount" || f.Label == "value"):
		if t, ok := l.served.Registry.Token(*of); ok {
			return l.Decoded(*f) + " = " + l.Amount(f.NumericValue.String(), t.Decimals, t.Symbol)
		}
	}
	return l.Decoded(*f)
}

// felts are raw values under a name, the first of all.
type felts struct {
	name string
	list []felt.Felt
	all  int
}

// raw folds felts away.
func (l *look) raw(b *strings.Builder, title string, parts ...felts) {
	if !slices.ContainsFunc(parts, func(p felts) bool { return p.all > 0 }) {
		return
	}
	b.WriteString(`<details class="raw"><summary>` + title + `</summary>`)
	for _, p := range parts {
		if p.all == 0 {
			continue
		}
		if p.name != "" {
			b.WriteString(`<p class="soft">` + p.name + `</p>`)
		}
		b.WriteString(`<ol start="0">`)
		shown := p.list[:min(len(p.list), txFelts)]
		for i := range shown {
			text := shown[i].String()
			b.WriteString(`<li class="felt whole" data-value="` + text + `">` + text + `</li>`)
		}
		b.WriteString(`</ol>`)
		if p.all > len(shown) {
			b.WriteString(`<p class="soft">The first ` + strconv.Itoa(len(shown)) + ` are shown; the JSON of this page has more.</p>`)
		}
	}
	b.WriteString(`</details>`)
}
