package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"chainexplorer/internal/web"
)

const evil = `<script>alert("x")</script>'">`

// visible parses HTML and returns its text, failing on a script or on an
// attribute that was broken out of.
func visible(t *testing.T, page string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for n := range root.Descendants() {
		if n.Data == "script" && n.Type == html.ElementNode && !(n.FirstChild == nil && len(n.Attr) == 2 && strings.HasPrefix(n.Attr[0].Val, web.ScriptPath+"?v=")) {
			t.Fatalf("a script got through: %s", page)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || strings.ContainsAny(a.Key, `"'<>`) {
				t.Fatalf("an attribute got through: %s", a.Key)
			}
		}
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	}
	return b.String()
}

func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"plain <b>":                       "plain &lt;b&gt;",
		"a `code <i>` b":                  "a <code>code &lt;i&gt;</code> b",
		"see [keys](/docs/api/auth).":     `see <a href="/docs/api/auth">keys</a>.`,
		"[x](javascript:alert(1))":        "[x](javascript:alert(1))",
		`[x](/a"onclick="b)`:              `<a href="/a&#34;onclick=&#34;b">x</a>`,
		"an open ` stays":                 "an open ` stays",
		"[a](/b) and `c` and [d](#e) end": `<a href="/b">a</a> and <code>c</code> and <a href="#e">d</a> end`,
	} {
		body, err := web.Article{Title: "t", Lead: text}.Body()
		if err != nil {
			t.Fatal(err)
		}
		if got := string(body); !strings.Contains(got, `<p class="lead">`+want+`</p>`) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestArticleReadsAsMarkdownToo(t *testing.T) {
	a := web.Article{Title: "Keys", Lead: "How.", Sections: []web.Section{{ID: "x", Title: "One", Blocks: []web.Block{
		{Text: "Text with `code`."},
		{List: []string{"a", "b"}},
		{Table: &web.Table{Head: []string{"A", "B"}, Rows: [][]string{{"1|2", "3"}}}},
		{Code: &web.Code{Text: "curl x"}},
	}}}}
	var b strings.Builder
	a.Markdown(&b, 2)
	want := "## Keys\n\nHow.\n\n### One\n\nText with `code`.\n\n- a\n- b\n\n| A | B |\n|---|---|\n| 1\\|2 | 3 |\n\n```\ncurl x\n```\n\n"
	if b.String() != want {
		t.Errorf("%q", b.String())
	}
}

func TestGroup(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", 1 << 63: "9,223,372,036,854,775,808"} {
		if got := web.Group(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

func TestWrite(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		w := httptest.NewRecorder()
		web.Write(w, httptest.NewRequest(method, "/", nil), http.StatusNotFound, web.Page{Title: evil, Trail: []web.Link{{Text: evil, Href: "javascript:alert(1)"}}, Hidden: true, Version: evil})
		if w.Code != http.StatusNotFound || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%d %v", w.Code, w.Header())
		}
		if method == http.MethodHead {
			if w.Body.Len() != 0 {
				t.Error("HEAD with a body")
			}
			continue
		}
		visible(t, w.Body.String())
		if strings.Contains(w.Body.String(), `href="javascript:`) || !strings.Contains(w.Body.String(), `content="noindex"`) {
			t.Error(w.Body.String())
		}
	}
}
