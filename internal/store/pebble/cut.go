package pebble

import (
	"bytes"
	"fmt"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/store"
)

// A cut is one mark over all the rows that it ends, which go when what is stored is
// merged. Until then every read of their table looks at it: a cut is for more than one
// row.

var _ store.Cutter = (*engine)(nil)

// TakesCuts says that batches may have cuts.
func (e *engine) TakesCuts() {}

// span is a part of the keys on disk: from is included, to is not.
type span struct{ from, to []byte }

// spans are cuts as parts of the keys, in order. Those that overlap are one.
func (e *engine) spans(cuts []store.Cut) ([]span, error) {
	out := make([]span, 0, len(cuts))
	for i := range cuts {
		c := &cuts[i]
		if err := e.schema.CheckCut(c); err != nil {
			return nil, fmt.Errorf("cut %d of the batch: %w", i, err)
		}
		s := span{from: appendKey(nil, &store.Key{Table: c.Table, Partition: c.Partition, Sort: c.From})}
		if c.To != nil {
			s.to = appendKey(nil, &store.Key{Table: c.Table, Partition: c.Partition, Sort: c.To})
		} else {
			// Ids of tables end below 255: there is a key behind every partition.
			s.to = store.PrefixEnd(s.from[:1+len(c.Partition)])
		}
		if bytes.Compare(s.from, s.to) < 0 {
			out = append(out, s)
		}
	}
	arrange.By(out, func(a, b span) int { return bytes.Compare(a.from, b.from) })
	joined := out[:0]
	for _, s := range out {
		if n := len(joined); n > 0 && bytes.Compare(s.from, joined[n-1].to) < 0 {
			if bytes.Compare(s.to, joined[n-1].to) > 0 {
				joined[n-1].to = s.to
			}
			continue
		}
		joined = append(joined, s)
	}
	return joined, nil
}
