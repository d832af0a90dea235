package pebble

import (
	"context"
	"fmt"

	lsm "github.com/cockroachdb/pebble/v2"

	"chainexplorer/internal/store"
)

// Stats reports the engine's size and work.
func (e *engine) Stats(ctx context.Context) (store.Stats, error) {
	if err := e.begin(ctx); err != nil {
		return store.Stats{}, err
	}
	defer e.running.Done()
	return e.stats(e.db.Metrics()), nil
}

func (e *engine) stats(m *lsm.Metrics) store.Stats {
	merged := uint64(0)
	for i := range m.Levels {
		merged += m.Levels[i].TableBytesCompacted
	}
	return store.Stats{
		MergedBytes: merged,
		DiskBytes:   m.DiskSpaceUsage(),
		MemoryBytes: uint64(m.BlockCache.Size) + m.MemTable.Size + m.MemTable.ZombieSize,
		Commits:     e.commits.Load(),
		CommitBytes: e.commitBytes.Load(),
		BulkRows:    e.bulkRows.Load(),
	}
}

// Checkpoint writes a copy of the store as of now to dir. On the same file
// system it mostly links files and is quick. Commits wait meanwhile, so that
// the copy is a state between two of them.
func (e *engine) Checkpoint(ctx context.Context, dir string) error {
	if err := e.begin(ctx); err != nil {
		return err
	}
	defer e.running.Done()
	if e.readOnly {
		return ErrReadOnly // Pebble copies a file that it has not written then
	}
	if err := e.takeWriter(ctx); err != nil {
		return err
	}
	defer e.giveWriter()
	if err := e.guarded(func() error { return e.db.Checkpoint(dir, lsm.WithFlushedWAL()) }); err != nil {
		return fmt.Errorf("checkpoint of store %s to %s: %w", e.dir, dir, err)
	}
	return nil
}

// Compact rewrites all levels into the bottom one. It runs beside commits.
func (e *engine) Compact(ctx context.Context) error {
	if err := e.begin(ctx); err != nil {
		return err
	}
	defer e.running.Done()
	if e.readOnly {
		return ErrReadOnly
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-e.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := e.guarded(func() error { return e.db.Compact(ctx, []byte{0}, []byte{255}, true) })
	if err != nil && e.isClosing() {
		return store.ErrClosed
	}
	if err != nil {
		return fmt.Errorf("compact store %s: %w", e.dir, err)
	}
	return nil
}
