package main

import (
	"context"
	"fmt"
	"math"

	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
)

// lookup is what one rare value cost.
type lookup struct {
	value felt.Felt
	sample
}

// maxLookups bounds the values that are looked up on their own.
const maxLookups = 1000

func (b *bench) lookUp(ctx context.Context, values []felt.Felt) ([]lookup, error) {
	var out []lookup
	for pass := range 2 { // the first one warms the caches
		out = out[:0]
		for _, f := range values {
			q := transfers(b.census.transfer, 2, f)
			q.To = math.MaxUint64
			s, err := search(ctx, b.engine, []event.Query{q})
			if err != nil {
				return nil, fmt.Errorf("pass %d: %w", pass, err)
			}
			out = append(out, lookup{f, *s})
		}
	}
	return out, nil
}

func join(ls []lookup) *sample {
	all := &sample{}
	for _, l := range ls {
		all.times = append(all.times, l.times...)
		all.hits += l.hits
		all.early += l.early
		all.work.Seeks += l.work.Seeks
		all.work.Rows += l.work.Rows
		all.work.Events += l.work.Events
	}
	return all
}

// measureEarly looks rare values up while the chain has a quarter of its length.
func (b *bench) measureEarly(ctx context.Context) error {
	b.source.mu.Lock() // the chain is made ahead meanwhile
	values := b.census.valuesAt(2, func(s *seen) bool { return s.count <= 20 })
	b.source.mu.Unlock()
	b.rng.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
	var err error
	b.early, err = b.lookUp(ctx, values[:min(len(values), 4*maxLookups)])
	return err
}

// growth compares stores of two sizes, and ranges of the large one, for values
// that have the same events in all of them.
func (b *bench) growth(ctx context.Context) error {
	head := uint64(b.blocks - 1)
	var before []lookup
	var values []felt.Felt
	for _, l := range b.early {
		if s := b.census.keys[2][l.value]; s.count == l.hits && len(before) < maxLookups {
			before, values = append(before, l), append(values, l.value)
		}
	}
	fmt.Printf("\ncost of a rare value as the chain grows: %d receivers without a later event, whole chain\n", len(before))
	if len(before) > 0 {
		after, err := b.lookUp(ctx, values)
		if err != nil {
			return err
		}
		fmt.Printf("%8d blocks indexed    %s\n", b.blocks/4, join(before))
		fmt.Printf("%8d blocks indexed    %s\n", b.blocks, join(after))
	}

	newest := b.census.valuesAt(2, func(s *seen) bool { return s.count <= 20 && s.first >= head-head/4 })
	fmt.Printf("\ncost of a rare value as the range grows: %d receivers whose events are all in the newest quarter\n", len(newest))
	if len(newest) == 0 {
		return nil
	}
	for _, part := range []uint64{4, 2, 1} {
		blocks := uint64(b.blocks) / part
		queries := make([]event.Query, min(max(b.queries, len(newest)), maxLookups))
		for i := range queries {
			queries[i] = transfers(b.census.transfer, 2, newest[i%len(newest)])
			queries[i].From, queries[i].To = head+1-blocks, math.MaxUint64
		}
		if _, err := search(ctx, b.engine, queries); err != nil { // warm
			return err
		}
		s, err := search(ctx, b.engine, queries)
		if err != nil {
			return err
		}
		fmt.Printf("%8d blocks searched   %s\n", blocks, s)
	}
	return nil
}
