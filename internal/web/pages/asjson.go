package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// asJSONHref is this page with what it asked.
func (l *look) asJSONHref() string {
	q := url.Values{}
	for name, values := range l.query {
		q[name] = values
	}
	q.Set("as", "json")
	return l.r.URL.EscapedPath() + "?" + q.Encode()
}

// curl is the command that asks the API something.
func (l *look) curl(uri string) string {
	return `curl -H "X-Service-Api-Key: $SERVICE_API_KEY" "` + l.p.Origin + uri + `"`
}

// asJSON is the page that shows what another one asked, and what it was answered.
func (l *look) asJSON(s *sheet) (*sheet, error) {
	type call struct {
		URI, Curl, Answer string
	}
	var calls []call
	for _, a := range kernel.RequestOf(l.ctx).Asked() {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(a.Answer); err != nil {
			return nil, fmt.Errorf("encode the answer of %s: %w", a.Route.ID, err)
		}
		calls = append(calls, call{a.URI, l.curl(a.URI), b.String()})
	}
	back := l.r.URL.EscapedPath()
	if q := l.query.Encode(); q != "" {
		back += "?" + q
	}
	return &sheet{title: s.title + " as JSON", description: "The calls of the API behind a page, with their answers.", name: "asjson.html",
		trail: append(s.trail, web.Link{Text: s.title, Href: back}), about: s.about, lasting: s.lasting,
		data: map[string]any{"Title": s.title, "Calls": calls}}, nil
}
