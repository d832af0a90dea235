package cairoproject

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// checkBounded: what is let through has no key that is longer than two names of the longest kind, that of its
// table and its own, however they are spelled in quotes.
func checkBounded(t *testing.T, text string) (parsed bool) {
	t.Helper()
	if keysTooLong([]byte(text)) {
		return false
	}
	var out table
	defer func() { _ = recover() }() // of the parser; parse takes care of it
	md, err := toml.Decode(text, &out)
	if err != nil {
		return false
	}
	for _, k := range md.Keys() {
		if n := len(strings.Join(k, ".")); n > 2*maxKey+2 {
			t.Errorf("a key of %d bytes and %d parts was let through:\n%.2000s", n, len(k), text)
			break
		}
	}
	return true
}

// TestKeysAreMeasuredAsTheyAreParsed: texts of pieces that mean different things in strings, comments, keys and values.
func TestKeysAreMeasuredAsTheyAreParsed(t *testing.T) {
	pieces := []string{"a", "b", ".", "=", "1", "{", "}", "[", "]", ",", "\n", "\r\n", " ", "#", `"`, `'`, `\`, `""`, `"""`, `''`, `'''`, `\"`, "\"]\"", "'}'", "a = ", "\"\"\"\"", "''''", "a.a.", "\"x\".", "[a]\n", "[[a]]\n", "a=1\n",
		"{a=", "[{a=", "}]", "\"]\",", "'#',", strings.Repeat("a", 40), strings.Repeat("a.", 40), strings.Repeat("{b=", 8), strings.Repeat("}", 8)}
	r := rand.New(rand.NewPCG(1, 2))
	parsed := 0
	for range 200_000 {
		var b strings.Builder
		for range 1 + r.IntN(24) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		if checkBounded(t, b.String()) {
			parsed++
		}
	}
	if parsed < 1000 {
		t.Errorf("only %d texts could be parsed", parsed)
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("a.b = {c.d = [\"]\", {e=1}]} # x\n[t.'x'.\"y\"]\nz = \"\"\"\"x\"\"\"\"\"\n")
	f.Add("a = '''x''''' \n b = [\n1, # ]\n {x = '#'}\n]\n")
	f.Fuzz(func(t *testing.T, text string) { checkBounded(t, text) })
}
