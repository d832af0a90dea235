package registry

import (
	"strings"
	"unicode"
)

// twins are letters of other scripts that look like Latin ones, in lower case: those that
// imitations of well-known symbols use. It is no complete table, and need not be: what it
// misses is shown as any unknown token is.
var twins = map[rune]rune{
	'а': 'a', 'в': 'b', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'һ': 'h', 'і': 'i', 'ј': 'j', 'к': 'k', 'ӏ': 'l', 'м': 'm', 'н': 'h', 'о': 'o', 'р': 'p', 'ѕ': 's', 'т': 't', 'ѵ': 'v', 'ԝ': 'w', 'х': 'x', 'у': 'y', 'ү': 'y',
	'α': 'a', 'β': 'b', 'ε': 'e', 'η': 'h', 'ι': 'i', 'κ': 'k', 'μ': 'm', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'u', 'χ': 'x', 'ζ': 'z',
	'ı': 'i', 'ł': 'l', 'ø': 'o', 'ß': 'b', '0': 'o', '1': 'l', '5': 's', '$': 's', '₮': 't', 'ⅼ': 'l', 'ⅿ': 'm', 'ⅽ': 'c', 'ⅾ': 'd',
}

// longestFolded bounds the work for a name that anybody may have chosen.
const longestFolded = 256

// fold is what a name looks like: without case, spaces and what is not drawn, and with the
// letters that look alike made the same.
func fold(text string) string {
	if len(text) > longestFolded {
		text = text[:longestFolded]
	}
	var b strings.Builder
	for _, r := range text {
		r = unicode.ToLower(r)
		if r >= 0xFF01 && r <= 0xFF5E { // full width
			r = unicode.ToLower(r - 0xFEE0)
		}
		if t, ok := twins[r]; ok {
			r = t
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsPunct(r) && r != '.' || unicode.IsSymbol(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Imitated says that a name looks like the symbol or the name of a known token. Whoever
// asks knows that the token in question is not known itself.
func (c *Chain) Imitated(name string) bool {
	if c == nil || name == "" {
		return false
	}
	return c.looks[fold(name)]
}
