package event_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// TestCertificate: it covers what is finalized, and says no more than somebody
// vouches for.
func TestCertificate(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	state := func(head uint64) *chain.State { return &chain.State{HasHead: true, Head: chain.Head{Number: head}} }
	faulty := state(150)
	faulty.HasFault = true
	number := func(n uint64) *uint64 { return &n }
	equal := func(a, b *uint64) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }
	for name, x := range map[string]struct {
		state              *chain.State
		vouching           event.Vouching
		head, through, lag *uint64
		freshness          event.Freshness
		live, available    bool
	}{
		"no block":           {&chain.State{}, event.Vouching{Current: true, At: at}, nil, nil, nil, event.Unavailable, true, false},
		"nothing finalized":  {state(99), event.Vouching{Current: true, At: at}, number(99), nil, nil, event.Unavailable, true, false},
		"the first block":    {state(100), event.Vouching{Current: true, At: at}, number(100), number(0), number(100), event.Current, true, true},
		"current":            {state(150), event.Vouching{Current: true, At: at}, number(150), number(50), number(100), event.Current, true, true},
		"behind":             {state(150), event.Vouching{Behind: true, At: at}, number(150), number(50), number(100), event.Stale, true, false},
		"nobody vouches":     {state(150), event.Vouching{At: at}, number(150), number(50), number(100), event.Stale, false, false},
		"stopped by a fault": {faulty, event.Vouching{At: at}, number(150), number(50), number(100), event.Stale, false, false},
	} {
		c := event.CertificateOf(x.state, 100, x.vouching)
		if !equal(c.Head, x.head) || !equal(c.Through, x.through) || !equal(c.Lag(), x.lag) || c.Freshness != x.freshness || c.Live != x.live || c.Available() != x.available {
			t.Errorf("%s: %+v, lag %v, available %t", name, c, c.Lag(), c.Available())
		}
		if c.Verified.Equal(at) != (x.freshness == event.Current) {
			t.Errorf("%s: verified at %s", name, c.Verified)
		}
	}
	c := event.CertificateOf(state(150), 100, event.Vouching{})
	for _, x := range []struct {
		from uint64
		want *uint64
	}{{0, number(9)}, {41, number(50)}, {45, number(50)}, {50, number(50)}, {51, nil}} {
		if got := c.Servable(x.from, 10); !equal(got, x.want) {
			t.Errorf("from %d: %v, want %v", x.from, got, x.want)
		}
	}
}

// TestWideBegins: a wide search begins at a block of the chain, or not at all, and a
// fork makes its claim begin anew.
func TestWideBegins(t *testing.T) {
	c := handmade(4, 30)
	e := load(t, c)
	view(t, e, func(ctx context.Context, r store.Reader) {
		state := &chain.State{HasHead: true, Head: chain.Head{Number: 29}}
		certificate := event.CertificateOf(state, 10, event.Vouching{Current: true})
		w, err := certificate.Wide(ctx, r, event.Interval{FromBlock: 3, ToBlock: 50_000})
		if err != nil || w.Top != 29 || w.TopHash != c[29].Hash || w.Through != 19 || w.Requested.FromBlock != 3 {
			t.Errorf("%+v: %v", w, err)
		}
		if w, err := certificate.Wide(ctx, r, event.Interval{FromBlock: 30, ToBlock: 50_000}); !errors.Is(err, event.ErrUncovered) || w.Top != 29 {
			t.Errorf("from above the head: %+v: %v", w, err)
		}
		stale := event.CertificateOf(state, 10, event.Vouching{})
		if _, err := stale.Wide(ctx, r, event.Interval{ToBlock: 50_000}); !errors.Is(err, event.ErrNotCurrent) {
			t.Errorf("nobody vouches: %v", err)
		}
		began, ended := block.Ref{Number: 25, Hash: c[25].Hash}, block.Ref{Number: 12, Hash: c[12].Hash}
		if err := w.Resume(ctx, r, began, ended); err != nil || w.Top != 25 || w.TopHash != c[25].Hash {
			t.Errorf("gone on with at %d: %v", w.Top, err)
		}
		began.Hash = felt.FromUint64(1)
		if err := w.Resume(ctx, r, began, ended); err != nil || w.Top != 12 || w.TopHash != c[12].Hash {
			t.Errorf("gone on with after a fork at %d: %v", w.Top, err)
		}
	})
}

// TestIdentity: what finds the same is the same, and nothing else is.
func TestIdentity(t *testing.T) {
	a, b := felt.FromUint64(1), felt.FromUint64(2)
	base := event.Query{Emitters: []felt.Felt{a, b}, To: 9, Limit: 5}
	base.Keys[0] = []felt.Felt{b, a}
	same := base
	same.Emitters, same.Keys[0], same.Limit, same.After = []felt.Felt{b, a}, []felt.Felt{a, b}, 7, &explorer.Place{}
	if base.Identity() != same.Identity() {
		t.Error("order, limit or place make another query")
	}
	seen := []string{base.Identity()}
	for i, change := range []func(q *event.Query){
		func(q *event.Query) { q.Emitters = []felt.Felt{a} },
		func(q *event.Query) { q.Emitters, q.Keys[0] = []felt.Felt{a}, []felt.Felt{b, b, a} },
		func(q *event.Query) { q.Keys[0], q.Keys[1] = nil, q.Keys[0] },
		func(q *event.Query) { q.Keys[15] = []felt.Felt{a} },
		func(q *event.Query) { q.From = 1 },
		func(q *event.Query) { q.To = 8 },
		func(q *event.Query) { q.Order = event.Asc },
	} {
		q := base
		change(&q)
		if slices.Contains(seen, q.Identity()) {
			t.Errorf("change %d makes no other query", i)
		}
		seen = append(seen, q.Identity())
	}
}
