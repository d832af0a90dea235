package registry

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"chainexplorer/internal/felt"
)

// Resembles says which known token a token that is not known calls itself like: by its
// symbol or its name, spelled so that a person would take it for it. Anybody can write a
// contract that does so.
//
// Cost: the known tokens' names, folded when the registry was made.
func (c *Chain) Resembles(address felt.Felt, text string) (Token, bool) {
	if c == nil {
		return Token{}, false
	}
	if _, known := c.tokens[address]; known {
		return Token{}, false
	}
	t, ok := c.looks[Likeness(text)]
	return t, ok
}

// Imitated says that a name looks like the symbol or the name of a known token. Whoever
// asks knows that the token in question is not known itself.
func (c *Chain) Imitated(name string) bool {
	if c == nil {
		return false
	}
	_, yes := c.looks[Likeness(name)]
	return yes
}

// looksOf are the known tokens by what their symbols and names look like.
func looksOf(tokens map[felt.Felt]Token) map[string]Token {
	out := map[string]Token{}
	for _, t := range tokens {
		for _, text := range []string{t.Symbol, t.Name} {
			like := Likeness(text)
			if other, taken := out[like]; like != "" && (!taken || t.Address.Cmp(other.Address) < 0) {
				out[like] = t
			}
		}
	}
	return out
}

// mostLikeness is how much of a text is looked at: no known name is as long.
const mostLikeness = 400

// Likeness folds a text to what a person sees in passing: texts that look alike have the
// same one. It is empty for a text without letters and digits.
//
// Forms of the same letter (fullwidth, mathematical, with accents) become that letter,
// letters of other alphabets that are drawn alike the Latin one, digits that stand for
// letters those letters; what is not seen, spaces and signs are left out.
func Likeness(text string) string {
	if len(text) > mostLikeness {
		text = strings.ToValidUTF8(text[:mostLikeness], "")
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(text) {
		if latin, ok := drawnAlike[r]; ok {
			r = latin
		}
		r = unicode.ToLower(r)
		if latin, ok := drawnAlike[r]; ok {
			r = latin
		}
		if unicode.IsLetter(r) && !isBlank(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
		}
	}
	return pairs.Replace(b.String())
}

// pairs are letters that look like others when they stand side by side.
var pairs = strings.NewReplacer("rn", "m", "vv", "w", "cl", "d")

// isBlank tells letters that are drawn as nothing.
func isBlank(r rune) bool {
	switch r {
	case 0x115F, 0x1160, 0x3164, 0xFFA0:
		return true
	}
	return false
}

// drawnAlike are letters and signs that are drawn like a Latin letter. Capitals stand for
// themselves: their small forms may look otherwise.
var drawnAlike = alike(map[rune]string{
	'a': "αаɑ@А", 'b': "Ььв8ВΒƄβß", 'c': "сϲⅽС¢ↄ", 'd': "ԁⅾđɗ", 'e': "еєɛε3€ЕΕҽ", 'f': "ƒϝ", 'g': "ɡց", 'h': "һнНΗհ", 'j': "јϳЈ", 'k': "кκКΚҡ",
	'l': "iIіІιΙ1|ӀӏıⅼⅠłǀ", 'm': "мМΜⅿ", 'n': "пηոИ", 'o': "о0οОΟօσøØ", 'p': "рρРΡ", 'q': "ԛգ", 'r': "гɾ", 's': "ѕЅ5$ꜱՏ", 't': "тτТΤŧ₮", 'u': "υսʋμ", 'v': "νѵⅴ", 'w': "ԝѡωɯ", 'x': "хχХΧⅹ×", 'y': "уγУΥүҮ", 'z': "ᴢΖ2",
})

func alike(by map[rune]string) map[rune]rune {
	out := map[rune]rune{}
	for latin, others := range by {
		for _, r := range others {
			out[r] = latin
		}
	}
	return out
}
