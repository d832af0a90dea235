package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/store"
)

const pageSize = 100

// sample is what one kind of query cost.
type sample struct {
	times []time.Duration
	work  event.Work
	hits  int
	early int // pages that their budget ended
}

func (s *sample) add(d time.Duration, p *event.Page) {
	s.times = append(s.times, d)
	s.work.Seeks += p.Work.Seeks
	s.work.Rows += p.Work.Rows
	s.work.Events += p.Work.Events
	s.hits += len(p.Events)
	if !p.Done && len(p.Events) < pageSize {
		s.early++
	}
}

func (s *sample) at(q float64) time.Duration {
	slices.Sort(s.times)
	return s.times[min(int(q*float64(len(s.times))), len(s.times)-1)]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (s *sample) String() string {
	n := float64(len(s.times))
	return fmt.Sprintf("p10 %7.3f  p50 %7.3f  p99 %7.3f ms | %5.1f hits, %5.1f seeks, %6.1f rows, %5.1f transactions read a page, %d of %d ended early",
		ms(s.at(0.1)), ms(s.at(0.5)), ms(s.at(0.99)), float64(s.hits)/n, float64(s.work.Seeks)/n, float64(s.work.Rows)/n, float64(s.work.Events)/n,
		s.early, len(s.times))
}

// search runs every query once, each in a view of its own as a request would.
func search(ctx context.Context, e store.Engine, queries []event.Query) (*sample, error) {
	s := &sample{}
	for _, q := range queries {
		q.Limit = pageSize
		var page event.Page
		start := time.Now()
		err := e.View(ctx, func(r store.Reader) (err error) {
			page, err = event.Search(ctx, r, q)
			return err
		})
		if err != nil {
			return nil, err
		}
		s.add(time.Since(start), &page)
	}
	return s, nil
}

// scan answers a query without lists: it reads the transactions of the range,
// newest first, and looks at their events, until the page is full.
func scan(ctx context.Context, e store.Engine, q event.Query, head uint64) (took time.Duration, hits int, err error) {
	start := time.Now()
	err = e.View(ctx, func(r store.Reader) error {
		at := explorer.Position{Block: min(q.To, head) + 1}
		for {
			recs, next, done, err := transaction.Before(ctx, r, at, 500)
			if err != nil {
				return err
			}
			for _, rec := range recs {
				if rec.Block < q.From {
					return nil
				}
				for i := len(rec.Receipt.Events) - 1; i >= 0; i-- {
					if matches(&q, rec, i) {
						if hits++; hits == pageSize {
							return nil
						}
					}
				}
			}
			if done {
				return nil
			}
			at = next
		}
	})
	return time.Since(start), hits, err
}

func matches(q *event.Query, rec *transaction.Record, i int) bool {
	e := &rec.Receipt.Events[i]
	if len(q.Emitters) > 0 && !slices.Contains(q.Emitters, e.From) {
		return false
	}
	for k, values := range q.Keys {
		if len(values) > 0 && (k >= len(e.Keys) || !slices.Contains(values, e.Keys[k])) {
			return false
		}
	}
	return true
}
