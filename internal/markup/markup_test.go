package markup_test

import (
	"bytes"
	"html/template"
	"strings"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/markup"
)

var byTemplate = template.Must(template.New("").Parse(`<a title="{{.}}">{{.}}</a>`))

var links = template.Must(template.New("").Parse(`<a href="{{.}}">`))

// FuzzText holds what is written against what html/template writes in the same place.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "plain", `<script>alert("1")</script>`, `" onmouseover='x' y="`, "a&b&amp;", "\x00\xff\u202eevil", "`{{.}}`"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var w markup.Writer
		w.Put(`<a title="`)
		w.Text(s)
		w.Put(`">`)
		w.Text(s)
		w.Put(`</a>`)
		for _, part := range bytes.Split(w.Bytes(), []byte(">"))[:1] {
			if bytes.Count(part, []byte(`"`)) != 2 || bytes.Count(part, []byte("<")) != 1 {
				t.Fatalf("%q leaves its attribute: %s", s, w.Bytes())
			}
		}
		if n := bytes.Count(w.Bytes(), []byte("<")); n != 2 {
			t.Fatalf("%q writes %d elements: %s", s, n, w.Bytes())
		}
		var b bytes.Buffer
		if err := byTemplate.Execute(&b, s); err != nil {
			t.Fatal(err)
		}
		if want := bytes.ReplaceAll(b.Bytes(), []byte("&#43;"), []byte("+")); !bytes.Equal(w.Bytes(), want) {
			t.Errorf("%q is %s, by a template %s", s, w.Bytes(), want)
		}
	})
}

// FuzzLink does so with addresses.
func FuzzLink(f *testing.F) {
	for _, s := range []string{"", "/SN_MAIN/block/1?a=b&c=%2F", "javascript:alert(1)", "JavaScript:x", "data:text/html,x", "https://a.example/x y", "//host/x", "/a:b", "?q=:", "#top",
		`/x"onclick="y`, "/it's(a)<b>", "/%zz%4", "/ü/\x00", "\tjavascript:x", "mailto:somebody"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var w markup.Writer
		w.Put(`<a href="`)
		w.Link(s)
		w.Put(`">`)
		if bytes.ContainsAny(w.Bytes()[len(`<a href="`):w.Len()-2], "<>\"' \x00") {
			t.Fatalf("%q leaves its attribute: %s", s, w.Bytes())
		}
		var b bytes.Buffer
		if err := links.Execute(&b, s); err != nil {
			t.Fatal(err)
		}
		want := bytes.ReplaceAll(b.Bytes(), []byte("&#43;"), []byte("+"))
		if strings.HasPrefix(strings.ToLower(s), "mailto:") || bytes.Contains(want, []byte("#ZgotmplZ")) {
			want = []byte(`<a href="#">`) // nothing here writes to anybody
		}
		if !bytes.Equal(w.Bytes(), want) {
			t.Errorf("%q leads to %s, by a template to %s", s, w.Bytes(), want)
		}
	})
}

// TestValues writes what is no text.
func TestValues(t *testing.T) {
	var w markup.Writer
	long, short := felt.MustParse("0x123456789abcdef0123"), felt.MustParse("0x123456789a")
	w.Uint(18446744073709551615)
	w.Put(" ")
	w.Int(-7)
	for _, n := range []uint64{0, 999, 1000, 1234567, 18446744073709551615} {
		w.Put(" ")
		w.Group(n)
	}
	w.Put(" ")
	w.Felt(&long)
	w.Put(" ")
	w.ShortFelt(&long)
	w.Put(" ")
	w.ShortFelt(&short)
	w.Put(" ")
	w.HTML("<b>x</b>")
	const want = "18446744073709551615 -7 0 999 1,000 1,234,567 18,446,744,073,709,551,615 0x123456789abcdef0123 0x1234…0123 0x123456789a <b>x</b>"
	if got := w.Done(); got != want {
		t.Errorf("wrote %s", got)
	}
}

// TestReuse sees that a writer that is used again begins empty, and that Done is a copy.
func TestReuse(t *testing.T) {
	w := markup.Get()
	w.Put("first")
	kept := w.Done()
	w.Free()
	w = markup.Get()
	w.Put("other")
	if kept != "first" || w.Done() != "other" {
		t.Errorf("%q, then %q", kept, w.Done())
	}
	w.Free()
}
