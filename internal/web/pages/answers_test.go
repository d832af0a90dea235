package pages_test

import (
	"encoding/json"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestPagesShowWhatTheAPIAnswers: every exact value of a page stands in an answer that the
// page was made of, or says which block it is as of.
func TestPagesShowWhatTheAPIAnswers(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	for _, path := range truePaths(w) {
		s, answered := w.reads(path), w.answered(path)
		for _, v := range s.all {
			if !answered[v] {
				t.Errorf("%s shows %q, which no answer behind it has", path, v)
			}
		}
		if len(s.all) < 5 {
			t.Errorf("%s shows %d values", path, len(s.all))
		}
	}
}

// answered are the values of the answers behind a page, as it shows them itself.
func (w *world) answered(path string) map[string]bool {
	w.T.Helper()
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	root, err := html.Parse(strings.NewReader(w.page(path + join + "as=json")))
	if err != nil {
		w.T.Fatal(err)
	}
	out := map[string]bool{}
	for n := range root.Descendants() {
		if n.Data == "pre" && attribute(n, "class") == "answer" {
			var b strings.Builder
			for d := range n.Descendants() {
				if d.Type == html.TextNode {
					b.WriteString(d.Data)
				}
			}
			in := json.NewDecoder(strings.NewReader(b.String()))
			in.UseNumber()
			var answer any
			if err := in.Decode(&answer); err != nil {
				w.T.Fatalf("%s: what it was made of: %v", path, err)
			}
			scalars(answer, out)
		}
		if attribute(n, "class") == "as-of" {
			for _, v := range exact(n) {
				out[v] = true // compared by TestAsOf
			}
		}
	}
	return out
}

// scalars adds the texts and numbers of an answer.
func scalars(v any, to map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			scalars(e, to)
		}
	case []any:
		for _, e := range v {
			scalars(e, to)
		}
	case string:
		to[v] = true
	case json.Number:
		to[v.String()] = true
	}
}
