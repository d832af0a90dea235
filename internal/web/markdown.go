package web

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Markdown is a guide that was written as a file. Markup of HTML in it is left out.
type Markdown struct {
	Source []byte
	// Link says where a link leads on the site; one that leads nowhere is shown as
	// its text alone.
	Link func(destination string) (href string, ok bool)
}

// Title is the first heading.
func (m Markdown) Title() string {
	for line := range bytes.Lines(m.Source) {
		if title, ok := bytes.CutPrefix(line, []byte("# ")); ok {
			return string(bytes.TrimSpace(title))
		}
	}
	return ""
}

// Body renders the guide below a page's layout.
func (m Markdown) Body() (template.HTML, error) {
	md := goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(siteLinks{m.Link}, 100))))
	var b bytes.Buffer
	if err := md.Convert(m.Source, &b); err != nil {
		return "", fmt.Errorf("render a guide: %w", err)
	}
	// The tags below come from tables and examples alone: text is escaped.
	html := strings.NewReplacer(
		"<table>", `<div class="scroll" role="region" tabindex="0" aria-label="Table"><table>`, "</table>", "</table></div>",
		"<th>", `<th scope="col">`, "<pre>", `<pre tabindex="0">`,
	).Replace(b.String())
	return template.HTML(html), nil //nolint:gosec // made by a renderer that escapes text and leaves HTML out
}

// siteLinks leads the links of a file to the pages of the site.
type siteLinks struct {
	to func(string) (string, bool)
}

// Transform rewrites the links of a parsed guide.
func (s siteLinks) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	var dead []*ast.Link
	//nolint:errcheck // the visitor never fails
	ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if l, ok := n.(*ast.Link); ok && entering {
			if href, ok := s.to(string(l.Destination)); ok {
				l.Destination = []byte(href)
			} else {
				dead = append(dead, l)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, l := range dead {
		parent := l.Parent()
		for c := l.FirstChild(); c != nil; c = l.FirstChild() {
			parent.InsertBefore(parent, l, c)
		}
		parent.RemoveChild(parent, l)
	}
}
