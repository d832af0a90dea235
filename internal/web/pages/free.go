package pages

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/site"
	"chainexplorer/internal/web"
)

// freePage serves a page that is of no chain, or of all. It is made anew for everybody who
// looks or, where it has no query, every so often.
func (p *Pages) freePage(s kernel.Sheet, every time.Duration, make maker, params ...string) {
	write := func(w http.ResponseWriter, r *http.Request) error {
		query, asJSON, err := queryOf(r)
		if err != nil {
			return err
		}
		l := p.freeLook(r, query)
		l.understand(params)
		made, err := make(l)
		if err != nil {
			return err
		}
		return l.finish(w, made, asJSON)
	}
	kept := &keptPage{every: every, now: p.Now, write: write}
	s.Make = func(w http.ResponseWriter, r *http.Request) error {
		if every > 0 && r.URL.RawQuery == "" {
			return kept.send(w, r)
		}
		return write(w, r)
	}
	s.Refuse = func(w http.ResponseWriter, r *http.Request, e *kernel.Error) { p.refuse(w, r, "", e) }
	if s.Dress == nil {
		s.Dress = web.SetLiveHeaders
	}
	p.HandleSheet(s)
}

// dressHome tells programs where everything is.
func dressHome(h http.Header) {
	web.SetLiveHeaders(h)
	h.Set("Link", site.DiscoveryLinks)
}

// keptPage is a page that all see who look within a moment.
type keptPage struct {
	every time.Duration
	now   func() time.Time
	write func(http.ResponseWriter, *http.Request) error

	mu    sync.Mutex // guards what follows
	until time.Time
	html  []byte
}

// makeTime bounds the making of a page that others wait for.
const makeTime = 10 * time.Second

func (k *keptPage) send(w http.ResponseWriter, r *http.Request) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if !now.Before(k.until) {
		// Others wait for this: it ends whether or not the first one stays.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), makeTime)
		defer cancel()
		var page pageBuffer
		if err := k.write(&page, r.WithContext(ctx)); err != nil {
			return err
		}
		k.html, k.until = page.Bytes(), now.Add(k.every)
	}
	_, err := w.Write(k.html)
	return err
}

// pageBuffer takes a page.
type pageBuffer struct {
	bytes.Buffer
	header http.Header
}

func (b *pageBuffer) Header() http.Header {
	if b.header == nil {
		b.header = http.Header{}
	}
	return b.header
}

func (b *pageBuffer) WriteHeader(int) {}

// freeLook is a look at no chain in particular.
func (p *Pages) freeLook(r *http.Request, query url.Values) *look {
	return &look{ctx: r.Context(), p: p, r: r, query: query, shown: &shown{}}
}

// on looks at a chain from a page that is of none. What it makes may be rendered later, as
// long as nothing is read any more.
func (l *look) on(id string, fn func(*look) error) error {
	return l.p.routes.Pin(l.ctx, id, func(ctx context.Context, c *api.Chain, reader explorer.Reader, state *chain.State) error {
		return fn(&look{ctx: ctx, p: l.p, r: l.r, query: l.query, Chain: id, base: "/" + url.PathEscape(id), served: c, reader: reader, state: state, shown: l.shown})
	})
}
