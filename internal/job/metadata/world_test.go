package metadata_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/job"
	"chainexplorer/internal/job/metadata"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// source counts calls, and can be away.
type source struct {
	simsource.Source

	mu    sync.Mutex
	away  bool
	calls int
	asked map[felt.Felt]int
	now   int // calls at this moment
	most  int
}

func (s *source) Call(ctx context.Context, block, contract, selector felt.Felt, calldata []felt.Felt) ([]felt.Felt, error) {
	s.mu.Lock()
	s.calls++
	s.asked[contract]++
	s.now++
	s.most = max(s.most, s.now)
	away := s.away
	s.mu.Unlock()
	time.Sleep(time.Millisecond) // virtual
	defer func() {
		s.mu.Lock()
		s.now--
		s.mu.Unlock()
	}()
	if away {
		return nil, errors.New("connection refused")
	}
	return s.Source.Call(ctx, block, contract, selector, calldata)
}

func (s *source) set(away bool) (calls int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
	return s.calls
}

// world runs an indexer with the job, in virtual time.
type world struct {
	t      *testing.T
	chain  *simnode.Chain
	engine pebble.Engine
	source *source
	stop   func()
	poll   time.Duration
}

func start(t *testing.T, blocks int, poll time.Duration) *world {
	t.Helper()
	w := &world{t: t, poll: poll, chain: simnode.New(simnode.Config{Seed: 31, Blocks: blocks})}
	w.source = &source{Source: simsource.Source{Chain: w.chain}, asked: map[felt.Felt]int{}}
	var err error
	if w.engine, err = pebble.OpenMem(catalog.Tables()); err != nil {
		t.Fatal(err)
	}
	w.run()
	t.Cleanup(func() {
		w.stop()
		w.engine.Close() //nolint:errcheck // in memory
	})
	return w
}

func (w *world) run() {
	j := metadata.New(metadata.Job{Store: w.engine, Source: w.source, Parallel: 3, Poll: w.poll})
	x, err := index.New(index.Options{Store: w.engine, Source: w.source, Verify: index.VerifyOff, PollInterval: w.poll, L1Interval: time.Hour, TTL: 1000 * time.Hour,
		ForkPatience: time.Nanosecond, AllowForkBelowL1: new(uint64)})
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := job.New(job.Options{Store: w.engine, Chain: w.chain.Network().ChainID, Jobs: []job.Job{j}, TTL: 5 * w.poll})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 2)
	go func() { done <- x.Run(ctx) }()
	go func() { done <- r.Run(ctx) }()
	var once sync.Once
	w.stop = func() {
		once.Do(func() {
			cancel()
			for range cap(done) {
				if err := <-done; err != nil {
					w.t.Error(err)
				}
			}
		})
	}
}

func (w *world) view(fn func(ctx context.Context, r store.Reader) error) {
	w.t.Helper()
	ctx := w.t.Context()
	if err := w.engine.View(ctx, func(r store.Reader) error { return fn(ctx, r) }); err != nil {
		w.t.Fatal(err)
	}
}

// of reads what is known of a token.
func (w *world) of(address felt.Felt) (m *token.Metadata) {
	w.t.Helper()
	w.view(func(ctx context.Context, r store.Reader) error {
		list, err := token.MetadataOf(ctx, r, []felt.Felt{address})
		m = list[0]
		return err
	})
	return m
}

func (w *world) head() (h chain.Head) {
	w.view(func(ctx context.Context, r store.Reader) error {
		s, err := chain.Read(ctx, r)
		h = s.Head
		return err
	})
	return h
}

// commit writes rows as the writer.
func (w *world) commit(fill func(*store.Batch)) {
	w.t.Helper()
	lease, err := w.engine.Acquire(w.t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		w.t.Fatal(err)
	}
	b := &store.Batch{Epoch: lease.Epoch}
	fill(b)
	err = errors.Join(w.engine.Commit(w.t.Context(), b), w.engine.Release(w.t.Context(), lease))
	if err != nil {
		w.t.Fatal(err)
	}
}

// catchUp does the job once.
func (w *world) catchUp(now time.Time) {
	w.t.Helper()
	j := metadata.New(metadata.Job{Store: w.engine, Source: w.source, Now: func() time.Time { return now }})
	err := j.CatchUp(w.t.Context(), func(_ context.Context, b *store.Batch) error {
		w.commit(func(own *store.Batch) {
			b.Epoch = own.Epoch
			*own = *b
		})
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// newIdle is a world that is indexed, and in which nothing runs.
func newIdle(t *testing.T, blocks int) *world {
	t.Helper()
	w := &world{t: t, chain: simnode.New(simnode.Config{Seed: 31, Blocks: blocks})}
	w.source = &source{Source: simsource.Source{Chain: w.chain}, asked: map[felt.Felt]int{}}
	var err error
	w.engine = pebbletest.Open(t, catalog.Tables())
	x, err := index.New(index.Options{Store: w.engine, Source: w.source, Verify: index.VerifyOff})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.RunTo(t.Context(), uint64(blocks-1)); err != nil {
		t.Fatal(err)
	}
	return w
}

// skipRaced leaves out days of virtual time, which the race detector makes long.
// 'make test' runs these tests without it.
func skipRaced(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("days of virtual time: run without the race detector")
	}
}
