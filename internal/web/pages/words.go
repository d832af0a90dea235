package pages

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/markup"
	"chainexplorer/internal/web"
)

// funcs are what the templates call beside those of package web and the methods of looks.
var funcs = template.FuncMap{"name": nameHTML, "join": strings.Join, "plural": plural, "deref": deref, "short": shorten}

// Every value that is a fact of the chain stands in an element with data-value, which holds
// it exactly: what is shown may be shorter.

// Felt is a felt in short, whole in its title, to be copied.
func (l *look) Felt(f any) template.HTML {
	text, ok := feltText(f)
	if !ok {
		return l.Unknown("")
	}
	return template.HTML(`<span class="felt" title="` + text + `" data-value="` + text + `" data-copy>` + shorten(text) + `</span>`) //nolint:gosec // hex digits
}

// Whole is a felt with all its digits.
func (l *look) Whole(f any) template.HTML {
	text, ok := feltText(f)
	if !ok {
		return l.Unknown("")
	}
	return template.HTML(`<span class="felt whole" data-value="` + text + `" data-copy>` + text + `</span>`) //nolint:gosec // hex digits
}

// feltText spells a felt; false for none.
func feltText(f any) (string, bool) {
	switch f := f.(type) {
	case felt.Felt:
		return f.String(), true
	case *felt.Felt:
		if f != nil {
			return f.String(), true
		}
	}
	return "", false
}

// shorten keeps the ends of a felt's digits, by which people tell them apart.
func shorten(text string) string {
	if len(text) <= 12 {
		return text
	}
	return text[:6] + "…" + text[len(text)-4:]
}

// link is a felt in short that leads to its page.
func (l *look) link(kind string, f any) template.HTML {
	text, ok := feltText(f)
	if !ok {
		return l.Unknown("")
	}
	return template.HTML(`<a class="felt" href="` + l.base + "/" + kind + "/" + text + `" title="` + text + `" data-value="` + text + `" data-copy>` + shorten(text) + `</a>`) //nolint:gosec // hex digits, and the chain's id
}

// Address links to an address: by what the registry calls it, as sentences do, or in short.
func (l *look) Address(f any) template.HTML {
	if p, ok := f.(*felt.Felt); ok && p != nil {
		f = *p
	}
	if a, ok := f.(felt.Felt); ok && l.partyText(a) != shorten(a.String()) {
		return l.Party(a)
	}
	return l.link("address", f)
}

// Tx links to a transaction.
func (l *look) Tx(f any) template.HTML { return l.link("tx", f) }

// Class links to a class.
func (l *look) Class(f any) template.HTML { return l.link("class", f) }

// Contract links to the page of a contract's code.
func (l *look) Contract(f any) template.HTML { return l.link("contract", f) }

// Token links to a token.
func (l *look) Token(f any) template.HTML { return l.link("token", f) }

// BlockByHash links to a block by its hash.
func (l *look) BlockByHash(f any) template.HTML { return l.link("block", f) }

// Block links to a block by its number.
func (l *look) Block(n any) template.HTML {
	number, ok := whole(n)
	if !ok {
		return l.Unknown("")
	}
	text := strconv.FormatUint(number, 10)
	return template.HTML(`<a class="number" href="` + l.base + "/block/" + text + `" data-value="` + text + `">` + web.Group(number) + `</a>`) //nolint:gosec // digits, and the chain's id
}

// Href is where a page of the chain is. What is not part of the path is escaped.
func (l *look) Href(parts ...any) string {
	var b strings.Builder
	b.WriteString(l.base)
	for _, p := range parts {
		text, ok := feltText(p)
		if !ok {
			text = fmt.Sprint(p)
		}
		b.WriteByte('/')
		b.WriteString(text)
	}
	return b.String()
}

// refer writes the attributes of a link to the page of a felt, with all its digits; kind is
// the path in front of it.
func (l *look) refer(w *markup.Writer, kind markup.Ours, f *felt.Felt) {
	w.Put(`href="`)
	w.Link(l.base)
	w.Put(kind)
	w.Felt(f)
	w.Put(`" title="`)
	w.Felt(f)
	w.Put(`" data-value="`)
	w.Felt(f)
	w.Put(`"`)
}

// shortLink writes a felt in short that leads to its page.
func (l *look) shortLink(w *markup.Writer, kind markup.Ours, f *felt.Felt) {
	w.Put(`<a class="felt" `)
	l.refer(w, kind, f)
	w.Put(` data-copy>`)
	w.ShortFelt(f)
	w.Put(`</a>`)
}

// Unknown says that something is not known, and why where that is known: null is not zero.
func (l *look) Unknown(why string) template.HTML {
	if why == "" {
		return `<span class="unknown">unknown</span>`
	}
	var w markup.Writer
	writeUnknown(&w, why)
	return w.Done()
}

func writeUnknown(w *markup.Writer, why string) {
	w.Put(`<span class="unknown"`)
	if why != "" {
		w.Put(` title="`)
		w.Text(why)
		w.Put(`"`)
	}
	w.Put(`>unknown</span>`)
}

// Count is a number of things, or unknown.
func (l *look) Count(n any) template.HTML {
	number, ok := whole(n)
	if !ok {
		return l.Unknown("")
	}
	var w markup.Writer
	writeCount(&w, number)
	return w.Done()
}

func writeCount(w *markup.Writer, n uint64) {
	w.Put(`<span class="number" data-value="`)
	w.Uint(n)
	w.Put(`">`)
	w.Group(n)
	w.Put(`</span>`)
}

// whole reads numbers of the types that answers have.
func whole(n any) (uint64, bool) {
	switch n := n.(type) {
	case uint64:
		return n, true
	case uint32:
		return uint64(n), true
	case uint8:
		return uint64(n), true
	case int:
		return uint64(max(n, 0)), true
	case int64:
		return uint64(max(n, 0)), true
	case *uint64:
		if n != nil {
			return *n, true
		}
	case *uint8:
		if n != nil {
			return uint64(*n), true
		}
	case *uint32:
		if n != nil {
			return uint64(*n), true
		}
	case *int:
		if n != nil {
			return uint64(max(*n, 0)), true
		}
	case *int64:
		if n != nil {
			return uint64(max(*n, 0)), true
		}
	case string:
		v, err := strconv.ParseUint(n, 10, 64)
		return v, err == nil
	}
	return 0, false
}

// Time is a moment. The page has it exactly, because pages are kept; the script says how
// long ago that is.
func (l *look) Time(at any) template.HTML {
	iso, ok := deref(at).(string)
	if !ok {
		return l.Unknown("")
	}
	t, err := time.Parse(time.RFC3339, iso)
	if err != nil {
		return l.Unknown("")
	}
	t = t.UTC()
	var w markup.Writer
	w.Put(`<time datetime="`)
	w.Time(t, time.RFC3339)
	w.Put(`" data-value="`)
	w.Time(t, time.RFC3339)
	w.Put(`" data-ago>`)
	w.Time(t, time.DateTime)
	w.Put(` UTC</time>`)
	return w.Done()
}

// Tier is the badge of how settled a block is, which opens to what that rests on.
func (l *look) Tier(number uint64) template.HTML {
	switch l.state.Finality(number, l.served.Depth) {
	case chain.AcceptedL1:
		return badge("good", "accepted on L1", "Ethereum has accepted a proof of this block, as the node reports.")
	case chain.Finalized:
		return badge("good", "finalized", fmt.Sprintf("The block lies at least %s blocks below the head, where forks are rare. It is not accepted on L1 yet.", web.Group(l.served.Depth)))
	}
	return badge("pending", "accepted on L2", "The sequencer has accepted the block. A fork can still replace it.")
}

// badge has one meaning, and opens to its evidence.
func badge(tone, word, evidence string) template.HTML {
	var w markup.Writer
	w.Put(`<details class="badge `)
	w.Text(tone)
	w.Put(`"><summary>`)
	w.Text(word)
	w.Put(`</summary><p>`)
	w.Text(evidence)
	w.Put(`</p></details>`)
	return w.Done()
}

// plural is a number of things.
func plural(n any, word string) string {
	number, _ := whole(n)
	if number != 1 {
		word += "s"
	}
	return web.Group(number) + " " + word
}

// deref is what a pointer to a text points to; nil for none.
func deref(v any) any {
	if s, ok := v.(*string); ok {
		if s == nil {
			return nil
		}
		return *s
	}
	return v
}

// pager is the way through a list. Cursors lead forward; back is the browser's, and to the
// first page.
type pager struct{ First, Next string }

// write writes the links, as the template of the same name does.
func (p pager) write(w *markup.Writer) {
	if p.First == "" && p.Next == "" {
		return
	}
	w.Put(`<nav class="pager" aria-label="Pages of this list">`)
	if p.First != "" {
		w.Put(`<a rel="first" href="`)
		w.Link(p.First)
		w.Put(`">first page</a>`)
	}
	if p.Next != "" {
		w.Put(`<a rel="next" href="`)
		w.Link(p.Next)
		w.Put(`">next page →</a>`)
	} else {
		w.Put(`<span class="soft">end of the list</span>`)
	}
	w.Put(`</nav>`)
}

// HTML is the same for templates.
func (p pager) HTML() template.HTML {
	var w markup.Writer
	p.write(&w)
	return w.Done()
}

// pagerOf makes the links of a list whose page has a cursor for the next one. Other
// parameters stay.
func (l *look) pagerOf(next *string) pager {
	var p pager
	path := l.r.URL.EscapedPath()
	q := map[string][]string{}
	for name, values := range l.query {
		if name != "cursor" {
			q[name] = values
		}
	}
	if l.query.Get("cursor") != "" {
		p.First = withQuery(path, q)
	}
	if next != nil {
		q["cursor"] = []string{*next}
		p.Next = withQuery(path, q)
	}
	return p
}

// limited is the query of a list: a page size, and the cursor of the look.
func (l *look) limited(name string, rows int) map[string][]string {
	q := map[string][]string{name: {strconv.Itoa(rows)}}
	if c := l.query.Get("cursor"); c != "" {
		q["cursor"] = []string{kernel.Clip(c, 2000)}
	}
	return q
}
