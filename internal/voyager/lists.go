package voyager

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/voyager/pages"
)

// maxWalk is how many pages a request walks over to get to the one that it asks for. Each is
// paid for like a page.
const maxWalk = 10

// remember bounds what is kept of where callers are in their lists.
var remember = pages.Bounds{All: 32_768, Caller: 1_024, Life: 10 * time.Minute}

// page is a page of a list.
type page struct {
	Items    any    `json:"items"`
	LastPage uint64 `json:"lastPage"`
	HasMore  *bool  `json:"hasMore,omitempty"` // of the one list that tells it besides
}

// view is the chain as one request sees it.
type view struct {
	chain *api.Chain
	r     explorer.Reader
	state *chain.State
	// top is the newest block of the list that is asked for.
	top block.Ref
}

// numbered is a list whose rows can be counted.
type numbered struct {
	total uint64
	// read returns the items of up to n rows from one on, the newest first.
	read func(ctx context.Context, first uint64, n int) (any, error)
}

// walked is a list that is read from where one stands in it.
type walked struct {
	// total is how many rows there are, where that is known at the first page.
	total *uint64
	// tellMore says that pages tell whether there are others behind them.
	tellMore bool
	// read returns up to n rows behind a place, and the place of the last; "more" says that there
	// are others behind it. Nil is in front of all. It returns fewer than n only at the end.
	read func(ctx context.Context, after []byte, n int) (rows rows, err error)
}

// rows are a part of a walked list.
type rows struct {
	render func(context.Context) (any, error)
	after  []byte
	more   bool
	total  *uint64 // of the list, where reading tells it
}

// on runs what a call asks for on one view of its chain.
func (f *Feed) on(c *call, fn func(ctx context.Context, v *view) error) error {
	var own error // one that is not for the kernel to explain
	e := f.Work(c.r, func(ctx context.Context) error {
		return f.routes.Pin(ctx, c.chain, func(ctx context.Context, served *api.Chain, r explorer.Reader, state *chain.State) error {
			err := fn(ctx, &view{served, r, state, block.Ref{Number: state.Head.Number, Hash: state.Head.Hash}})
			if refused, ok := err.(*refusal); ok { //nolint:errorlint // ours are never wrapped
				own = refused
				return nil
			}
			return err
		})
	})
	if e != nil {
		return e
	}
	return own
}

// keyOf names a page of the list that a call asks for.
func (c *call) keyOf(list string) pages.Key {
	return pages.Key{Caller: c.caller.KeyID, List: sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", list, c.ps)), Page: c.p}
}

// begin sets the state of the chain that a list is of. The first page is of the newest, and a
// page behind one that was asked for lately is of the same as that one: rows that come in
// between move nothing. When a fork has undone the newest block of it, there is no such
// list any more, and going on in another would mix two branches.
func (f *Feed) begin(ctx context.Context, key pages.Key, v *view, m pages.Mark, known bool) error {
	if !known {
		return nil
	}
	held, err := m.Top.Holds(ctx, v.r)
	if err != nil {
		return err
	}
	if !held {
		f.pages.Forget(key)
		return refusef(http.StatusConflict, "The chain was reorganised since the first page of this list. Begin again with p=1.")
	}
	v.top = m.Top
	return nil
}

// numbered answers with a page of a list whose rows can be counted.
func (f *Feed) numbered(c *call, list string, open func(context.Context, *view) (numbered, error)) (any, error) {
	key, out := c.keyOf(list), &page{}
	return out, f.on(c, func(ctx context.Context, v *view) error {
		m, known := pages.Mark{}, false
		if c.p > 1 {
			m, known = f.pages.Get(key)
		}
		if err := f.begin(ctx, key, v, m, known); err != nil {
			return err
		}
		l, err := open(ctx, v)
		if err != nil {
			return err
		}
		first := (c.p - 1) * uint64(c.ps)
		out.LastPage = lastPage(l.total, c.ps)
		if out.Items, err = l.read(ctx, min(first, l.total), int(min(uint64(c.ps), l.total-min(first, l.total)))); err != nil {
			return err
		}
		if c.p < out.LastPage {
			key.Page = c.p + 1
			f.pages.Put(key, pages.Mark{Top: v.top})
		}
		return nil
	})
}

// lastPage is the last page of so many rows; of none it is the first.
func lastPage(total uint64, ps int) uint64 {
	return max(1, (total+uint64(ps)-1)/uint64(ps))
}

// walked answers with a page of a list that is walked.
func (f *Feed) walked(c *call, list string, open func(context.Context, *view) (walked, error)) (any, error) {
	key, out := c.keyOf(list), &page{}
	from, m, known := f.nearest(key)
	if c.p-from > maxWalk {
		return nil, invalid("Page %d cannot be found from here: pages of this list are found from those before them. Ask for them one after the other from p=1, at most %d at a time are passed over, or narrow the list down.", c.p, maxWalk)
	}
	if from < c.p {
		if err := f.spend(c.w, c.r, c.classOf(c.r), int(c.p-from)); err != nil {
			return nil, err
		}
	}
	return out, f.on(c, func(ctx context.Context, v *view) error {
		if err := f.begin(ctx, key, v, m, known); err != nil {
			return err
		}
		l, err := open(ctx, v)
		if err != nil {
			return err
		}
		if !known {
			m = pages.Mark{Total: l.total}
		}
		var part rows
		for n := from; n <= c.p; n++ {
			if part, err = l.read(ctx, m.After, c.ps); err != nil {
				return err
			}
			if part.total != nil {
				m.Total = part.total
			}
			if m.Top, m.After, key.Page = v.top, part.after, n+1; !part.more {
				if n < c.p { // the list ends in front of the page
					part.render, out.LastPage = func(context.Context) (any, error) { return []any{}, nil }, n
				}
				break
			}
			f.pages.Put(key, m)
		}
		switch {
		case m.Total != nil:
			out.LastPage = lastPage(*m.Total, c.ps)
		case out.LastPage > 0:
		case part.more:
			out.LastPage = c.p + 1
		default:
			out.LastPage = c.p
		}
		if l.tellMore {
			out.HasMore = &part.more
		}
		out.Items, err = part.render(ctx)
		return err
	})
}

// nearest is the page at or in front of the one asked for whose beginning is known, and the
// first page when none is.
func (f *Feed) nearest(key pages.Key) (from uint64, m pages.Mark, known bool) {
	for p := key.Page; p > 1 && key.Page-p <= maxWalk; p-- {
		at := key
		at.Page = p
		if m, known = f.pages.Get(at); known {
			return p, m, true
		}
	}
	return 1, pages.Mark{}, false
}

// status is the feed's word for how settled a block is.
func (v *view) status(number uint64) string {
	if v.state.Finality(number, v.chain.Depth) == chain.AcceptedL1 {
		return "Accepted on L1"
	}
	return "Accepted on L2"
}

// notFound is what is said of something that the index does not have.
func notFound(what string) error { return refusef(http.StatusNotFound, "%s not found", what) }
