package event_test

import (
	"reflect"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/event"
)

// TestWideTop: a search reaches at most 5,000 blocks beyond the certificate.
func TestWideTop(t *testing.T) {
	for _, c := range []struct{ to, through, head, want uint64 }{
		{20_000, 15_000, 40_000, 20_000},
		{20_001, 15_000, 40_000, 20_000},
		{20_000, 15_001, 40_000, 20_000},
		{20_000, 14_999, 40_000, 19_999},
		{20_000, 15_000, 15_120, 15_120},
		{14_000, 15_000, 15_120, 14_000},
	} {
		if got := event.NewWide(event.Interval{ToBlock: c.to}, c.through, c.head).Top; got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// TestWideClaims is the rule of what a page may claim.
func TestWideClaims(t *testing.T) {
	requested := event.Interval{FromBlock: 100, ToBlock: 20_000}
	in := func(from, to uint64) *event.Interval { return &event.Interval{FromBlock: from, ToBlock: to} }
	for _, c := range []struct {
		top, certified       uint64
		order                event.Order
		next                 *explorer.Place
		completed, certifies *event.Interval
		complete             bool
	}{
		{20_000, 30_000, event.Desc, nil, in(100, 20_000), in(100, 20_000), true},
		{20_000, 30_000, event.Asc, nil, in(100, 20_000), in(100, 20_000), true},
		{20_000, 19_000, event.Asc, nil, in(100, 20_000), in(100, 19_000), true},
		{19_999, 19_900, event.Desc, nil, in(100, 19_999), in(100, 19_900), false},
		{20_000, 30_000, event.Desc, &explorer.Place{Block: 100}, in(101, 20_000), in(101, 20_000), false},
		{20_000, 30_000, event.Desc, &explorer.Place{Block: 20_000}, nil, nil, false},
		{20_000, 30_000, event.Asc, &explorer.Place{Block: 20_000}, in(100, 19_999), in(100, 19_999), false},
		{20_000, 30_000, event.Asc, &explorer.Place{Block: 100}, nil, nil, false},
		{20_000, 15_000, event.Desc, &explorer.Place{Block: 16_000}, in(16_001, 20_000), nil, false},
	} {
		w := event.Wide{Requested: requested, Through: c.certified, Top: c.top}
		got := w.Claims(c.order, c.next)
		if !reflect.DeepEqual(got.Completed, c.completed) || !reflect.DeepEqual(got.Certified, c.certifies) || got.Complete != c.complete {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}
