package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/store"
)

// Rows of ascending tables are more than half of what a commit holds while a chain is
// being caught up with. They come in the order of their keys, and nobody looks at them
// before they are committed: a stream writes them to the table that the commit hands to
// Pebble with the others, block by block, so that memory is for rows that have to be
// sorted. Of those the most are rows of series, which it packs: see packed. The more of
// them a commit has, the less often all of them are merged.

var _ store.Streamer = (*engine)(nil)

// streamAhead is how many lists may wait to be written: packing the rows of a block takes
// a part of the time that the goroutine has in which all blocks are put in order.
const streamAhead = 8

// stream is a store.Stream.
type stream struct {
	e *engine

	// mu is for Close, which ends streams that others have.
	mu    sync.Mutex
	bytes int
	last  [256][]byte // keys, by table id
	err   error       // why it cannot be committed
	ended bool
	early []*store.Changes // until they are worth a table

	queue   chan *store.Changes // nil until then
	done    chan struct{}       // closed when wrote is set and nothing more is written
	wrote   error
	dropped atomic.Bool
	tables  []*streamTable // of the goroutine that writes, until done
	series  packed         // as well
	held    atomic.Int64   // bytes of series
}

// streamTable is a table that a stream writes.
type streamTable struct {
	id   byte
	path string
	w    *sstable.Writer
}

// Stream begins a stream.
func (e *engine) Stream() store.Stream { return &stream{e: e} }

func (s *stream) Bytes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// Held is how much memory its rows take.
func (s *stream) Held() int { return int(s.held.Load()) }

func (s *stream) Add(ctx context.Context, c *store.Changes) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = s.add(ctx, c)
	}
	return s.err
}

func (s *stream) add(ctx context.Context, c *store.Changes) error {
	e := s.e
	if err := e.begin(ctx); err != nil {
		return err
	}
	defer e.running.Done()
	switch {
	case e.readOnly:
		return ErrReadOnly
	case s.ended:
		return fmt.Errorf("%w: the stream has ended", store.ErrInvalid)
	}
	if err := e.schema.CheckChanges(c); err != nil {
		return err
	}
	some, err := s.look(c)
	if err != nil || !some {
		return err
	}
	if s.queue != nil {
		return s.hand(ctx, c)
	}
	if s.early = append(s.early, c); s.bytes < e.bulkBytes {
		return nil
	}
	return s.begin(ctx)
}

// look counts the rows of a list that are the stream's, and says whether there are any and
// their keys ascend.
func (s *stream) look(c *store.Changes) (some bool, err error) {
	list := c.List()
	for i := range list {
		ch := &list[i]
		t := c.Table(ch)
		if t.Series {
			some = true
			s.bytes += ch.Size()
		}
		if !t.Ascending {
			continue
		}
		key := c.Key(ch)
		if last := s.last[ch.ID]; last != nil && bytes.Compare(last, key) >= 0 {
			return false, fmt.Errorf("%w: a stream has key %x of table %q behind %x", store.ErrInvalid, key[1:], c.Table(ch).Name, last[1:])
		}
		s.last[ch.ID], some = key, true
		s.bytes += ch.Size()
	}
	return some, nil
}

// begin begins to write, when the disk has room.
func (s *stream) begin(ctx context.Context) error {
	if err := s.e.awaitRoom(ctx); err != nil {
		return err
	}
	s.e.mu.Lock()
	s.e.streams[s] = struct{}{}
	s.e.mu.Unlock()
	s.queue, s.done = make(chan *store.Changes, streamAhead), make(chan struct{})
	go func() {
		s.wrote = s.e.guarded(s.write)
		close(s.done)
	}()
	early := s.early
	s.early = nil
	for _, c := range early {
		if err := s.hand(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) hand(ctx context.Context, c *store.Changes) error {
	select {
	case s.queue <- c:
		return nil
	case <-s.done:
		return s.wrote
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write writes lists until there are no more, and the ends of the tables.
func (s *stream) write() (err error) {
	defer func() {
		for _, t := range s.tables {
			err = errors.Join(err, t.w.Close())
		}
	}()
	for c := range s.queue {
		if err := s.series.add(c, &s.e.leaves); err != nil {
			return err
		}
		s.held.Store(int64(s.series.held()))
		list := c.List()
		for i := range list {
			ch := &list[i]
			if !c.Table(ch).Ascending {
				continue
			}
			w, err := s.writer(ch.ID)
			if err != nil {
				return err
			}
			if ch.Delete {
				err = w.Delete(c.Key(ch))
			} else {
				err = w.Set(c.Key(ch), c.Value(ch))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// writer is that of a table's rows.
func (s *stream) writer(id byte) (*sstable.Writer, error) {
	for _, t := range s.tables {
		if t.id == id {
			return t.w, nil
		}
	}
	path := s.e.bulkPath()
	f, err := s.e.disk.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	t := &streamTable{id, path, s.e.tableWriter(streamFile{f, &s.dropped}, true)}
	s.tables = append(s.tables, t)
	return t.w, nil
}

// streamFile is not synced when its stream was dropped: it is removed next.
type streamFile struct {
	vfs.File
	dropped *atomic.Bool
}

func (f streamFile) Sync() error {
	if f.dropped.Load() {
		return nil
	}
	return f.File.Sync()
}

// Drop gives the rows up. A closed engine has done so.
func (s *stream) Drop() {
	if s.e.begin(context.Background()) != nil {
		return
	}
	defer s.e.running.Done()
	s.drop()
}

// dropStreams ends what others have not, when no call is under way and none can begin.
func (e *engine) dropStreams() {
	for s := range maps.Clone(e.streams) {
		s.drop()
	}
}

func (s *stream) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.dropped.Store(true)
	_, _ = s.end()
	s.remove()
}

// end lets no more rows come and returns the files, which are written. The caller has mu.
func (s *stream) end() (paths []string, err error) {
	s.ended, s.early, s.last = true, nil, [256][]byte{}
	if s.queue == nil {
		return nil, s.err
	}
	s.e.mu.Lock()
	delete(s.e.streams, s)
	s.e.mu.Unlock()
	close(s.queue)
	<-s.done
	if s.err == nil {
		s.err = s.wrote
	}
	if s.err != nil {
		return nil, s.err
	}
	for _, t := range s.tables {
		paths = append(paths, t.path)
	}
	return paths, nil
}

// remove removes the files of a stream that has ended: see bulk.drop.
func (s *stream) remove() {
	if s.queue == nil || s.e.stop.get() != nil { // it may be writing then
		return
	}
	_ = s.e.guarded(func() error {
		for _, t := range s.tables {
			_ = s.e.disk.Remove(t.path)
		}
		return nil
	})
}

// streamOf is the stream of a batch, nil if it has none.
func (e *engine) streamOf(b *store.Batch) (*stream, error) {
	if b.Stream() == nil {
		return nil, nil
	}
	s, own := b.Stream().(*stream)
	if !own || s.e != e {
		return nil, fmt.Errorf("%w: the stream of the batch is of another store", store.ErrInvalid)
	}
	if len(b.Cuts()) > 0 { // tables of one step must not overlap
		return nil, fmt.Errorf("%w: a batch with a stream has cuts", store.ErrInvalid)
	}
	c := b.Changes()
	for i := range c.List() {
		if t := c.Table(&c.List()[i]); t.Ascending || t.Series { // as above
			return nil, fmt.Errorf("%w: a batch with a stream changes rows of table %q", store.ErrInvalid, t.Name)
		}
	}
	return s, nil
}

// giveBack gives rows that were not worth a table back to the changes of the batch.
func (s *stream) giveBack(c *store.Changes) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && s.ended {
		s.err = fmt.Errorf("%w: the stream has ended", store.ErrInvalid)
	}
	if s.err != nil || s.queue != nil {
		return s.err
	}
	for _, early := range s.early {
		in, list := c.Share(early), early.List()
		for i := range list {
			if t := early.Table(&list[i]); t.Ascending || t.Series {
				in.Append(list[i])
			}
		}
	}
	s.bytes, s.ended, s.early = 0, true, nil
	return nil
}

// finish returns the files of a stream whose rows were worth one, and its rows of series, nil
// if there are none.
func (s *stream) finish() (paths []string, series *packed, err error) {
	if s == nil {
		return nil, nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue == nil {
		return nil, nil, nil
	}
	if paths, err = s.end(); err != nil {
		s.remove()
		return nil, nil, err
	}
	if len(s.series.list) > 0 {
		series = &s.series
	}
	return paths, series, nil
}
