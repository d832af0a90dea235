package pages

import (
	"html/template"
	"strings"
	"unicode"
	"unicode/utf8"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/markup"
	"chainexplorer/internal/registry"
)

// longestName is how much of a name that comes from the chain is shown.
const longestName = 40

// cleanName makes a text that anybody may have written fit to be shown in a line: without
// control, format and direction characters, in one line, and cut. changed says that
// something was left out.
func cleanName(s string) (name string, changed bool) { return cleanText(s, longestName) }

// cleanText does so with a text of another length.
func cleanText(s string, longest int) (text string, changed bool) {
	if plainText(s, longest) {
		return s, false
	}
	var b strings.Builder
	runes, space := 0, false
	for i, r := range s {
		if runes >= longest {
			b.WriteRune('…')
			return b.String(), true
		}
		if i > 16*longest { // what is left out must not cost either
			changed = true
			break
		}
		switch {
		case r == utf8.RuneError, unicode.Is(unicode.C, r), unicode.Is(unicode.Mn, r), unicode.Is(unicode.Me, r), isFiller(r):
			changed = true
			continue
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			runes++
		}
		space = false
		b.WriteRune(r)
		runes++
	}
	return b.String(), changed
}

// plainText tells texts that nothing is to be done to, which are most: letters and signs that
// everybody can type, with single spaces between them.
func plainText(s string, longest int) bool {
	if len(s) > longest {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c > '~', c == ' ' && (i == 0 || i+1 == len(s) || s[i-1] == ' '):
			return false
		}
	}
	return true
}

// isFiller tells letters that are drawn as nothing.
func isFiller(r rune) bool {
	switch r {
	case 0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800:
		return true
	}
	return false
}

// Name shows a name that comes from the chain: isolated, so that its direction does not
// change what stands beside it, and marked where something was left out.
func (l *look) Name(s string) template.HTML { return nameHTML(s) }

func nameHTML(s string) template.HTML {
	var w markup.Writer
	writeName(&w, s)
	return w.Done()
}

func writeName(w *markup.Writer, s string) {
	name, changed := cleanName(s)
	if name == "" {
		w.Put(`<span class="unknown">no readable name</span>`)
		return
	}
	w.Put(`<bdi class="name">`)
	w.Text(name)
	w.Put(`</bdi>`)
	if changed {
		w.Put(`<abbr class="cut" title="The contract's own text holds more, or characters that are not shown.">*</abbr>`)
	}
}

// Symbol is what a token calls itself. One that is not known and calls itself so that it
// is taken for one that is, is marked.
func (l *look) Symbol(token felt.Felt, symbol any) template.HTML {
	text, ok := deref(symbol).(string)
	if !ok || text == "" {
		return `<span class="unknown">no symbol known</span>`
	}
	return nameHTML(text) + mark(l.likeOf(token, &text))
}

// likeOf is the known token that another one is taken for by what it calls itself; nil for
// none.
func (l *look) likeOf(token felt.Felt, texts ...*string) *registry.Token {
	for _, text := range texts {
		if text == nil {
			continue
		}
		if like, yes := l.served.Registry.Resembles(token, *text); yes {
			return &like
		}
	}
	return nil
}

// mark is the one mark of a token that is taken for a known one, wherever it is named; empty
// for others. It stands in sentences and links, and so does not open: the token's page tells
// more.
func mark(like *registry.Token) template.HTML {
	if like == nil {
		return ""
	}
	return template.HTML(` <strong class="lookalike" title="This is not the ` + template.HTMLEscapeString(like.Symbol) + ` that is known here, which has the address ` + like.Address.String() + `. Whoever writes a contract chooses what it is called.">lookalike</strong>`) //nolint:gosec // escaped
}
