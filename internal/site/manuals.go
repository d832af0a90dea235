package site

import (
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"chainexplorer/docs"
	"chainexplorer/internal/web"
)

// manualPath is below which the guides of the repository are served.
const manualPath = "/docs/guide/"

// manual is a guide of the repository.
type manual struct {
	docs.Guide
	page web.Markdown
}

func (m manual) href() string { return manualPath + strings.TrimSuffix(m.File, ".md") }

// readManual reads a guide. All of them are part of the program.
func readManual(g docs.Guide) manual {
	source, err := docs.Files.ReadFile(g.File)
	if err != nil {
		panic(fmt.Sprintf("site: guide: %v", err))
	}
	return manual{g, web.Markdown{Source: source, Link: func(to string) (string, bool) { return manualLink(g.File, to) }}}
}

func readManuals(list []docs.Guide) (out []manual) {
	for _, g := range list {
		out = append(out, readManual(g))
	}
	return out
}

// manualLink leads from one guide to another. Files of the repository that are no
// guides are not on the site.
func manualLink(from, to string) (string, bool) {
	if strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "#") {
		return to, true
	}
	file, fragment, _ := strings.Cut(to, "#")
	file = path.Join(path.Dir(from), file)
	if _, err := fs.Stat(docs.Files, file); err != nil || !strings.HasSuffix(file, ".md") {
		return "", false
	}
	href := manualPath + strings.TrimSuffix(file, ".md")
	if fragment != "" {
		href += "#" + fragment
	}
	return href, true
}

// manuals registers the guides of the repository, and the decisions that they link to.
func (s *Site) manuals() {
	for _, m := range append(readManuals(docs.ForCallers), readManuals(docs.ForOperators)...) {
		s.serveManual(m)
	}
	decisions, err := fs.Glob(docs.Files, "decisions/*.md")
	if err != nil {
		panic(fmt.Sprintf("site: decisions: %v", err))
	}
	for _, file := range decisions {
		s.serveManual(readManual(docs.Guide{File: file, Summary: "A choice that was hard, and why it was made so."}))
	}
}

func (s *Site) serveManual(m manual) {
	written := sync.OnceValues(func() (*document, error) {
		return s.page(web.Page{Title: m.page.Title(), Description: m.Summary, Trail: docsTrail("")}, m.page)
	})
	s.Open("GET "+m.href(), func(w http.ResponseWriter, r *http.Request) {
		d, err := written()
		if err != nil {
			s.failDocument(w, r, err)
			return
		}
		d.send(w, r)
	})
}

// manualList links to guides.
func manualList(list []manual) web.Block {
	var b web.Block
	for _, m := range list {
		b.List = append(b.List, fmt.Sprintf("[%s](%s): %s", m.page.Title(), m.href(), m.Summary))
	}
	return b
}
