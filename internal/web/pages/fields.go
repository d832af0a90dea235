package pages

import (
	"html/template"
	"strings"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
)

// Type is a type of an ABI in short, whole in its title.
func (l *look) Type(s any) template.HTML {
	text, ok := deref(s).(string)
	if !ok || text == "" {
		return l.Unknown("")
	}
	return typeHTML(text)
}

// FieldValue is a value that an ABI gave a type.
func (l *look) FieldValue(f abi.Field) template.HTML {
	return l.field(string(f.Kind), f.Type, f.DisplayValue.String(), f.TextValue, f.NumericValue, f.AddressValue, f.RawValues)
}

// Decoded is a value of an event, or an argument of a call.
func (l *look) Decoded(f api.DecodedField) template.HTML {
	typ := ""
	if f.Type != nil {
		typ = *f.Type
	}
	return l.field(f.Kind, typ, f.DisplayValue.String(), f.TextValue, f.NumericValue, f.AddressValue, f.RawValues)
}

// longestValue is how much of a value is kept whole beside what is shown of it.
const longestValue = 500

func (l *look) field(kind, typ, display string, text *string, number *felt.Shown, address *felt.Felt, raw []felt.Felt) template.HTML {
	switch {
	case kind == "address" && address != nil && !strings.HasSuffix(typ, "EthAddress"):
		return l.Address(address)
	case kind == "hash" && len(raw) == 1:
		return l.Class(raw[0])
	case number != nil && strings.HasPrefix(typ, "core::array::"):
		return template.HTML(`<span data-value="` + template.HTMLEscapeString(number.String()) + `">` + template.HTMLEscapeString(display) + `</span>`) //nolint:gosec // escaped
	case number != nil:
		digits, negative := strings.CutPrefix(number.String(), "-")
		shown := grouped(digits)
		if negative {
			shown = "−" + shown
		}
		return template.HTML(`<span class="number" data-value="` + template.HTMLEscapeString(number.String()) + `" data-copy>` + template.HTMLEscapeString(shown) + `</span>`) //nolint:gosec // escaped
	case text != nil && len(*text) > 0:
		return template.HTML(`<span data-value="`+template.HTMLEscapeString(clipped(*text))+`">`) + nameHTML(*text) + `</span>` //nolint:gosec // escaped
	case text != nil:
		return `<span data-value="" class="soft">an empty text</span>`
	case kind == "felt" && len(raw) == 1:
		if said, ok := raw[0].ShortString(); ok && len(said) > 2 && printable(said) {
			return l.Felt(raw[0]) + ` <span class="soft">as text: ` + nameHTML(said) + `</span>`
		}
		return l.Felt(raw[0])
	}
	shown, _ := cleanText(display, longestCode)
	return template.HTML(`<span class="mono" data-value="` + template.HTMLEscapeString(clipped(display)) + `">` + template.HTMLEscapeString(shown) + `</span>`) //nolint:gosec // escaped
}

func clipped(s string) string {
	if len(s) > longestValue {
		return strings.ToValidUTF8(s[:longestValue], "") + "…"
	}
	return s
}

// printable says that a text is letters, digits and signs of ASCII.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// decodedBy says in a few words what a name or a value rests on; "" for nothing.
func decodedBy(source *string) (word, why string) {
	if source == nil {
		return "", ""
	}
	switch *source {
	case "verified_abi":
		return "verified ABI", "By the ABI of the class that ran, whose source was proven."
	case "class_abi":
		return "class ABI", "By the ABI that the class that ran was declared with."
	case "curated_selector":
		return "standard event", "By the reviewed form of a standard event: the class itself does not describe it."
	case "selector_unique":
		return "name alone", "By the selector alone, which only one known name has. What it holds is not certain."
	}
	return *source, ""
}

// DecodedBy is what a name or a value rests on, with why in its title.
func (l *look) DecodedBy(source *string) template.HTML {
	word, why := decodedBy(source)
	if word == "" {
		return ""
	}
	return template.HTML(`<span class="tag" data-value="` + template.HTMLEscapeString(*source) + `" title="` + why + `">` + word + `</span>`) //nolint:gosec // fixed texts
}
