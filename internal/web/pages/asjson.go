package pages

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// asJSONHref is this page with what it asked. Where the page was asked for by a name that
// will be another one's, such as that of the newest block, it goes by its own address.
func (l *look) asJSONHref(own string) string {
	q := url.Values{}
	for name, values := range l.query {
		q[name] = values
	}
	q.Set("as", "json")
	return cmp.Or(own, l.r.URL.EscapedPath()) + "?" + q.Encode()
}

// curl is the command that asks the API something.
func (l *look) curl(uri string) string {
	return `curl -H "X-Service-Api-Key: $SERVICE_API_KEY" "` + l.p.Origin + uri + `"`
}

// shown are calls of the API that tell what a page read from the index itself, or could not
// wait for. They are made for who wants the page as JSON alone.
type shown struct {
	calls []apiCall
	waits []string // the paths of calls that wait for a node: they are named, and not made
	words []string // where the API tells what the page has from elsewhere, or did not ask
}

type apiCall struct {
	id    string
	query url.Values
	path  []string
}

// mostShown bounds the calls that are made, and named, besides those that made a page.
const mostShown = 100

// shows names the call of the API that tells what the page read by itself.
func (l *look) shows(id string, query url.Values, path ...string) {
	if l.shown != nil && len(l.shown.calls) < mostShown {
		l.shown.calls = append(l.shown.calls, apiCall{id, query, append([]string{l.Chain}, path...)})
	}
}

// showsLive names a call that waits for a node, by its path below the chain.
func (l *look) showsLive(path string) {
	if l.shown != nil && len(l.shown.waits) < mostShown {
		l.shown.waits = append(l.shown.waits, "/v1/"+l.Chain+path)
	}
}

// says tells where the API has what no call of this page tells.
func (l *look) says(text string) { l.shown.words = append(l.shown.words, text) }

// asJSON is the page that shows what another one asked, and what it was answered. What the
// API does not have, which the page had from elsewhere, is left out.
func (l *look) asJSON(s *sheet) (*sheet, error) {
	type call struct {
		URI, Curl, Answer string
	}
	for _, c := range l.shown.calls {
		_, err := l.p.Ask(l.ctx, c.id, c.query, c.path...)
		if e := (*kernel.Error)(nil); err != nil && (!errors.As(err, &e) || e.Code == kernel.CodeInternal) {
			return nil, err // what is refused tells nothing that the page shows
		}
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
		data: map[string]any{"Title": s.title, "Calls": calls, "Waits": l.shown.waits, "Words": l.shown.words}}, nil
}
