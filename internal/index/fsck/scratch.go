package fsck

import (
	"context"
	"fmt"
	"time"

	"chainexplorer/internal/store"
)

// scratch holds the replayed rows that later blocks may ask for or overwrite. Those that
// changed lately are in memory, each once: most rows that change do so again soon.
type scratch struct {
	ctx    context.Context
	engine store.Engine
	lease  store.Lease
	tables [256]*store.Table // of the rows, by id
	// leftOut are tables whose rows are not kept here.
	leftOut [256]bool
	fresh   map[string]*replayedRow
	bytes   int // of those
	buf     []byte
}

// replayedRow is a row that was not written out yet.
type replayedRow struct {
	value []byte
	gone  bool
}

const (
	// scratchBytes are in memory before they are written out.
	scratchBytes = 32 << 20
	// freshBytes is what a row takes in memory beside its key and value, about.
	freshBytes = 100
)

// newScratch begins a replay without the rows of some tables, which nobody asks for.
func newScratch(ctx context.Context, e store.Engine, leftOut []*store.Table) (*scratch, error) {
	lease, err := e.Acquire(ctx, store.Writer, "fsck", time.Hour)
	if err != nil {
		return nil, fmt.Errorf("open the scratch store: %w", err)
	}
	s := &scratch{ctx: ctx, engine: e, lease: lease, fresh: map[string]*replayedRow{}}
	for _, t := range leftOut {
		s.leftOut[t.ID] = true
	}
	return s, nil
}

// name is what the row of a key is found by in memory, until the next one.
func (s *scratch) name(k store.Key) []byte {
	s.buf = append(append(append(s.buf[:0], k.Table.ID), k.Partition...), k.Sort...)
	return s.buf
}

// add changes a row. What was answered before is no longer of use.
func (s *scratch) add(op *store.Op) error {
	s.tables[op.Table.ID] = op.Table
	name := s.name(op.Key)
	row := s.fresh[string(name)]
	if row == nil {
		row = &replayedRow{}
		s.fresh[string(name)] = row
		s.bytes += len(name) + len(op.Value) + freshBytes
	}
	row.value, row.gone = append(row.value[:0], op.Value...), op.Delete
	if s.bytes < scratchBytes {
		return nil
	}
	return s.flush()
}

func (s *scratch) flush() error {
	var b store.Batch
	for name, row := range s.fresh {
		t := s.tables[name[0]]
		k := store.Key{Table: t, Partition: []byte(name[1 : 1+t.PartitionLen]), Sort: []byte(name[1+t.PartitionLen:])}
		if row.gone {
			b.Delete(k)
		} else {
			b.Put(k, row.value)
		}
	}
	b.Under(s.lease)
	if err := s.engine.Commit(s.ctx, &b); err != nil {
		return fmt.Errorf("write the scratch store: %w", err)
	}
	clear(s.fresh)
	s.bytes = 0
	return nil
}

// GetMany answers the earlier rows of a replayed block, until the next is added.
func (s *scratch) GetMany(ctx context.Context, keys []store.Key) ([][]byte, error) {
	out := make([][]byte, len(keys))
	var older []store.Key
	var places []int
	for i, k := range keys {
		if s.leftOut[k.Table.ID] {
			return nil, fmt.Errorf("a row of table %s is asked for, which is not replayed", k.Table.Name)
		}
		if row := s.fresh[string(s.name(k))]; row == nil {
			older, places = append(older, k), append(places, i)
		} else if !row.gone {
			out[i] = row.value[:len(row.value):len(row.value)]
		}
	}
	if len(older) == 0 {
		return out, nil
	}
	err := s.engine.View(ctx, func(r store.Reader) error {
		values, err := r.GetMany(ctx, older)
		for i, v := range values {
			out[places[i]] = v
		}
		return err
	})
	return out, err
}
