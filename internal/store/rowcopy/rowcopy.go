// Package rowcopy copies a store into another, of the same or the other engine,
// row by row.
//
// It guarantees that
//   - a copy that was interrupted goes on where it stopped: every commit carries
//     the place that it reached, in a marker row of the destination;
//   - a destination that is not finished can be told: it has the marker, and the
//     rows that say what the store holds come last;
//   - in the end both stores were read once more and hold the same rows, or Copy
//     fails.
//
// The source must not change meanwhile. Memory is bounded by one batch.
package rowcopy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"slices"
	"time"

	"chainexplorer/internal/store"
)

// Options say what to copy.
type Options struct {
	From, To store.Engine
	// Tables are copied in this order. The last one should hold what says that
	// there is an index at all.
	Tables []*store.Table
	// Marker is a row that no store has but an unfinished copy. Its table must be
	// the last one.
	Marker store.Key
	// Source names the state of the source. A copy only goes on from the state
	// that it began with.
	Source string
	// Patience is how long another's lease of the destination is waited for: a little longer than one of a
	// copy that was killed lasts, when 0. Waiting, unless nil, is called when that begins.
	Patience time.Duration
	Waiting  func()
	// Owner names this process in the destination's lease.
	Owner string
	// BatchBytes is the size of a commit; 16 MiB when 0.
	BatchBytes int
	// Progress is told after every commit and, while comparing, now and then.
	Progress func(Progress)
}

// Progress is how far a copy has come.
type Progress struct {
	Comparing bool
	Table     string
	Done      int // tables that are finished
	Tables    int
	Rows      uint64
	Bytes     uint64
}

// Result is what was copied.
type Result struct {
	Resumed bool
	Rows    uint64 // in the destination
	Digest  [32]byte
}

// ErrOtherSource says that an unfinished copy came from another state of the source.
var ErrOtherSource = errors.New("the destination holds an unfinished copy of another state of the source")

// ErrNotEmpty says that the destination holds rows that no copy put there.
var ErrNotEmpty = errors.New("the destination is not empty")

// leaseTime is how long the destination stays ours after the last sign of life.
const leaseTime = 30 * time.Second

// marker is where a copy stopped: behind a row of a table.
type marker struct {
	Source    string `json:"source"`
	Table     string `json:"table"`
	Partition []byte `json:"partition"`
	Sort      []byte `json:"sort"`
	Begun     bool   `json:"begun"` // rows of the table were copied
	Rows      uint64 `json:"rows"`
}

// Unfinished says whether a store holds an unfinished copy.
func Unfinished(ctx context.Context, e store.Engine, key store.Key) (bool, error) {
	found := false
	err := e.View(ctx, func(r store.Reader) error {
		_, err := r.Get(ctx, key)
		found = err == nil
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	return found, err
}

// Copy copies the source, or the rest of it, and compares.
func Copy(ctx context.Context, o Options) (Result, error) {
	if o.BatchBytes == 0 {
		o.BatchBytes = 16 << 20
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if len(o.Tables) == 0 || o.Tables[len(o.Tables)-1] != o.Marker.Table {
		return Result{}, fmt.Errorf("%w: the marker's table must be the last", store.ErrInvalid)
	}
	lease, err := o.acquire(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("take the destination's lease: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		renew(ctx, o.To, lease, cancel)
	}()
	c := &copier{Options: o, epoch: lease.Epoch}
	result, err := c.run(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	cancel(nil)
	<-renewed
	release, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	return result, errors.Join(err, o.To.Release(release, lease))
}

// acquire takes the destination's lease. That of a copy that was killed runs out; whoever is at work renews it.
func (o *Options) acquire(ctx context.Context) (store.Lease, error) {
	patience := o.Patience
	if patience == 0 {
		patience = leaseTime + 5*time.Second
	}
	for end := time.Now().Add(patience); ; {
		lease, err := o.To.Acquire(ctx, store.Writer, o.Owner, leaseTime)
		if !errors.Is(err, store.ErrLeaseHeld) || time.Now().After(end) {
			return lease, err
		}
		if o.Waiting != nil {
			o.Waiting()
			o.Waiting = nil
		}
		t := time.NewTimer(250 * time.Millisecond)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return lease, err
		}
	}
}

// renew keeps the lease until ctx ends, and ends the copy when it is lost.
func renew(ctx context.Context, e store.Engine, l store.Lease, lost context.CancelCauseFunc) {
	t := time.NewTicker(leaseTime / 3)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
		if _, err := e.Renew(ctx, l, leaseTime); errors.Is(err, store.ErrFenced) {
			lost(fmt.Errorf("another process writes to the destination: %w", err))
			return
		}
	}
}

type copier struct {
	Options
	epoch uint64
	batch store.Batch
	at    marker
	state Progress
}

func (c *copier) run(ctx context.Context) (Result, error) {
	resumed, err := c.find(ctx)
	if err != nil {
		return Result{}, err
	}
	c.state = Progress{Tables: len(c.Tables), Rows: c.at.Rows}
	c.batch.Epoch = c.epoch
	start := 0
	if resumed {
		start = slices.IndexFunc(c.Tables, func(t *store.Table) bool { return t.Name == c.at.Table })
		if start < 0 {
			return Result{}, fmt.Errorf("%w: it stopped in table %q, which is not one of ours", ErrOtherSource, c.at.Table)
		}
	}
	err = c.From.View(ctx, func(r store.Reader) error {
		for i, t := range c.Tables[start:] {
			c.state.Done, c.state.Table = start+i, t.Name
			if err := c.copyTable(ctx, r, t); err != nil {
				return fmt.Errorf("copy table %s: %w", t.Name, err)
			}
		}
		c.batch.Delete(c.Marker)
		return c.commit(ctx)
	})
	if err != nil {
		return Result{}, err
	}
	rows, digest, err := c.compare(ctx)
	return Result{Resumed: resumed, Rows: rows, Digest: digest}, err
}

// find reads the marker, or makes sure that the destination is empty.
func (c *copier) find(ctx context.Context) (resumed bool, err error) {
	err = c.To.View(ctx, func(r store.Reader) error {
		value, err := r.Get(ctx, c.Marker)
		if errors.Is(err, store.ErrNotFound) {
			for _, t := range c.Tables {
				for _, err := range r.Walk(ctx, t, nil) {
					if err != nil {
						return err
					}
					return fmt.Errorf("%w: table %s has rows", ErrNotEmpty, t.Name)
				}
			}
			return nil
		}
		if err != nil {
			return err
		}
		resumed = true
		return json.Unmarshal(value, &c.at)
	})
	if err == nil && resumed && c.at.Source != c.Source {
		err = fmt.Errorf("%w: empty it and begin again", ErrOtherSource)
	}
	c.at.Source = c.Source
	return resumed, err
}

func (c *copier) copyTable(ctx context.Context, r store.Reader, t *store.Table) error {
	var after *store.Key
	if c.at.Table == t.Name && c.at.Begun {
		after = &store.Key{Table: t, Partition: bytes.Clone(c.at.Partition), Sort: bytes.Clone(c.at.Sort)}
	}
	for e, err := range r.Walk(ctx, t, after) {
		if err != nil {
			return err
		}
		if t == c.Marker.Table && bytes.Equal(e.Sort, c.Marker.Sort) && bytes.Equal(e.Partition, c.Marker.Partition) {
			return errors.New("the source is itself an unfinished copy")
		}
		c.batch.Put(store.Key{Table: t, Partition: e.Partition, Sort: e.Sort}, e.Value)
		c.at.Table, c.at.Begun = t.Name, true
		c.at.Partition, c.at.Sort = append(c.at.Partition[:0], e.Partition...), append(c.at.Sort[:0], e.Sort...)
		c.at.Rows++
		// The last table is small and goes whole, with the end of the marker: who
		// sees it sees everything.
		if c.batch.Bytes() >= c.BatchBytes && t != c.Marker.Table {
			if err := c.mark(ctx); err != nil {
				return err
			}
		}
	}
	if t == c.Marker.Table || c.batch.Len() == 0 {
		return nil
	}
	return c.mark(ctx)
}

// mark commits what is there, with the place that it reaches.
func (c *copier) mark(ctx context.Context) error {
	value, err := json.Marshal(c.at)
	if err != nil {
		return err
	}
	c.batch.Put(c.Marker, value)
	return c.commit(ctx)
}

func (c *copier) commit(ctx context.Context) error {
	bytes := c.batch.Bytes()
	if err := c.To.Commit(ctx, &c.batch); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	c.batch.Reset()
	c.state.Rows, c.state.Bytes = c.at.Rows, c.state.Bytes+uint64(bytes)
	c.Progress(c.state)
	return nil
}

// compare reads both stores whole.
func (c *copier) compare(ctx context.Context) (rows uint64, digest [32]byte, err error) {
	type side struct {
		rows   uint64
		digest [32]byte
		err    error
	}
	c.state = Progress{Comparing: true, Tables: len(c.Tables)}
	read := func(e store.Engine, progress func(Progress)) (s side) {
		s.rows, s.digest, s.err = content(ctx, e, c.Tables, progress)
		return s
	}
	source := make(chan side, 1)
	go func() { source <- read(c.From, func(Progress) {}) }()
	to := read(c.To, c.Progress)
	from := <-source
	if err := errors.Join(from.err, to.err); err != nil {
		return 0, digest, fmt.Errorf("compare: %w", err)
	}
	if from.digest != to.digest {
		return to.rows, to.digest, fmt.Errorf("the copy differs from its source: %d rows with digest %x, and %d rows with digest %x",
			to.rows, to.digest, from.rows, from.digest)
	}
	return to.rows, to.digest, nil
}

// compareEvery is how many rows are read between two signs of progress.
const compareEvery = 1 << 17

// content is a digest of all rows of a store, on one view.
func content(ctx context.Context, e store.Engine, tables []*store.Table, progress func(Progress)) (rows uint64, digest [32]byte, err error) {
	h := sha256.New()
	err = e.View(ctx, func(r store.Reader) error {
		for i, t := range tables {
			for row, err := range r.Walk(ctx, t, nil) {
				if err != nil {
					return fmt.Errorf("table %s: %w", t.Name, err)
				}
				hashRow(h, t, &row)
				if rows++; rows%compareEvery == 0 {
					progress(Progress{Comparing: true, Table: t.Name, Done: i, Tables: len(tables), Rows: rows})
				}
			}
		}
		return nil
	})
	return rows, [32]byte(h.Sum(nil)), err
}

func hashRow(h hash.Hash, t *store.Table, e *store.Entry) {
	var head [25]byte
	head[0] = t.ID
	for i, part := range [][]byte{e.Partition, e.Sort, e.Value} {
		store.AppendUint64(head[:1+8*i], uint64(len(part)))
	}
	h.Write(head[:])
	h.Write(e.Partition)
	h.Write(e.Sort)
	h.Write(e.Value)
}
