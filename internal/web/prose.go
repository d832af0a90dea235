package web

import (
	"html/template"
	"regexp"
	"strings"
)

// Texts of guides and of the contract carry two kinds of markup, which read
// well as plain text too: `code` and [a link](/docs). Everything else is text.
var spans = regexp.MustCompile("`([^`]+)`" + `|\[([^\]]+)\]\((/[^)\s]*|#[^)\s]*|https?://[^)\s]+)\)`)

// prose renders a text with its markup.
func prose(s string) template.HTML {
	var b strings.Builder
	rest := s
	for {
		m := spans.FindStringSubmatchIndex(rest)
		if m == nil {
			break
		}
		b.WriteString(template.HTMLEscapeString(rest[:m[0]]))
		if m[2] >= 0 {
			b.WriteString("<code>" + template.HTMLEscapeString(rest[m[2]:m[3]]) + "</code>")
		} else {
			b.WriteString(`<a href="` + template.HTMLEscapeString(rest[m[6]:m[7]]) + `">` + template.HTMLEscapeString(rest[m[4]:m[5]]) + "</a>")
		}
		rest = rest[m[1]:]
	}
	b.WriteString(template.HTMLEscapeString(rest))
	return template.HTML(b.String()) //nolint:gosec // every part was escaped
}
