package pages

import (
	"context"
	"net/http"
	"net/url"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// freePage serves a page that is of no chain, or of all. It is made anew for everybody who
// looks; cost is what a look takes out of what an address may ask.
func (p *Pages) freePage(name, path string, cost int, make maker) {
	p.HandleSheet(kernel.Sheet{
		ID: name, Pattern: "GET " + path, Cost: cost,
		Make: func(w http.ResponseWriter, r *http.Request) error {
			query, asJSON, err := queryOf(r)
			if err != nil {
				return err
			}
			l := p.freeLook(r, query)
			s, err := make(l)
			if err != nil {
				return err
			}
			return l.finish(w, s, asJSON)
		},
		Refuse: func(w http.ResponseWriter, r *http.Request, e *kernel.Error) { p.refuse(w, r, "", e) },
		Dress:  web.SetLiveHeaders,
	})
}

// freeLook is a look at no chain in particular.
func (p *Pages) freeLook(r *http.Request, query url.Values) *look {
	return &look{ctx: r.Context(), p: p, r: r, query: query}
}

// on looks at a chain from a page that is of none. What it makes may be rendered later, as
// long as nothing is read any more.
func (l *look) on(id string, fn func(*look) error) error {
	return l.p.routes.Pin(l.ctx, id, func(ctx context.Context, c *api.Chain, reader explorer.Reader, state *chain.State) error {
		return fn(&look{ctx: ctx, p: l.p, r: l.r, query: l.query, Chain: id, base: "/" + url.PathEscape(id), served: c, reader: reader, state: state})
	})
}
