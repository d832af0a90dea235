package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/store"
)

// ascending turns a query around: the peer knows only the oldest first. What was
// asked for the newest events below a block asks for the oldest above its mirror.
func ascending(q event.Query, head uint64) event.Query {
	from := head - min(q.To, head)
	q.From, q.To, q.Order, q.Limit = from, head-q.From, event.Asc, pageSize
	return q
}

// measurePeer asks both for the same pages and compares the answers and their times.
func (b *bench) measurePeer(ctx context.Context, queries []event.Query, head uint64) error {
	ours, theirs := &sample{}, &sample{}
	for i, q := range queries {
		q = ascending(q, head)
		a, err := b.peer.Ask(&q)
		if err != nil {
			return err
		}
		var page event.Page
		start := time.Now()
		err = b.engine.View(ctx, func(r store.Reader) (err error) {
			page, err = event.Search(ctx, r, q)
			return err
		})
		took := time.Since(start)
		if err != nil {
			return err
		}
		if i < len(queries)/10 { // warm
			continue
		}
		if err := same(page.Events, a.Places); err != nil {
			return fmt.Errorf("query %d: %w", i, err)
		}
		ours.add(took, &page)
		theirs.times = append(theirs.times, a.Took)
		theirs.hits += len(a.Places)
	}
	fmt.Printf("%-34s p50 %7.3f  p99 %7.3f ms\n", "   oldest first", ms(ours.at(0.5)), ms(ours.at(0.99)))
	fmt.Printf("%-34s p50 %7.3f  p99 %7.3f ms: %.1f and %.1f times as long\n", "   the peer, the same pages", ms(theirs.at(0.5)), ms(theirs.at(0.99)),
		ratio(theirs.at(0.5), ours.at(0.5)), ratio(theirs.at(0.99), ours.at(0.99)))
	return nil
}

func ratio(a, b time.Duration) float64 { return float64(a) / math.Max(float64(b), 1) }

func same(ours []event.Hit, theirs []explorer.Place) error {
	if len(ours) != len(theirs) {
		return fmt.Errorf("%d events against %d of the peer", len(ours), len(theirs))
	}
	for i := range ours {
		if ours[i].Place != theirs[i] {
			return fmt.Errorf("event %d is at %+v, the peer's at %+v", i, ours[i].Place, theirs[i])
		}
	}
	return nil
}
