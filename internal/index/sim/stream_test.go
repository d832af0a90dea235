package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/storetest"
)

// tracer is a store whose streams are counted. One breaks when it is given each of these lists.
type tracer struct {
	store.Engine
	mu          sync.Mutex // a commit runs beside the next stream
	begun, open int
	own, all    int // bytes of commits with streams, without those of the streams and with them
	adds        int
	breaks      []int
}

func (t *tracer) Stream() store.Stream {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun++
	t.open++
	return &traced{Stream: t.Engine.(store.Streamer).Stream(), t: t}
}

func (t *tracer) Commit(ctx context.Context, b *store.Batch) error {
	if s, ok := b.Stream().(*traced); ok {
		t.own, t.all = t.own+b.Changes().Bytes(), t.all+b.Bytes()
		b.Attach(s.Stream)
		s.end()
	}
	return t.Engine.Commit(ctx, b)
}

type traced struct {
	store.Stream
	t     *tracer
	ended bool
}

func (s *traced) end() {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	if !s.ended {
		s.ended = true
		s.t.open--
	}
}

var errBroken = errors.New("the stream broke")

func (s *traced) Add(ctx context.Context, c *store.Changes) error {
	if s.t.adds++; slices.Contains(s.t.breaks, s.t.adds) {
		return errBroken
	}
	return s.Stream.Add(ctx, c)
}

func (s *traced) Drop() {
	s.end()
	s.Stream.Drop()
}

// TestStreamedRows: an index whose rows of transactions were written down before their
// commits, and those of lists packed, is the same, row by row and by its digest, as one that
// holds them as they are, whether they were worth a table or not, and also when streams break. None is left open.
func TestStreamedRows(t *testing.T) {
	for _, c := range some([]struct {
		bulk   int
		breaks []int
	}{{bulk: 1}, {bulk: leastBulk}, {bulk: 1 << 30}, {1, []int{3, 40, 41, 60}}}) {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := quiet(8, 120, 5, UnknownVersion)
				o := options(w)
				o.BatchBytes, o.TailBlocks, o.UndoBlocks = 8<<10, 4, 30
				engine, held := openStoreWith(t, vfs.NewMem(), c.bulk), openStore(t, vfs.NewMem())
				defer closeStore(t, engine)
				defer closeStore(t, held)
				traced := &tracer{Engine: engine, breaks: c.breaks}
				reg := prometheus.NewRegistry()
				o.Metrics = index.NewMetrics(reg)
				runTo(t, traced, o, 119)
				if got := counter(t, reg, "chainexplorer_index_written_bytes_total"); got < float64(traced.all) {
					t.Errorf("%.0f bytes are said to be written, streams have commits of %d", got, traced.all)
				}
				o.Metrics = nil
				runTo(t, struct{ store.Engine }{held}, o, 119)
				if traced.begun < 3 || traced.all-traced.own < 80_000 {
					t.Errorf("%d streams, %d of %d bytes were not theirs", traced.begun, traced.own, traced.all)
				}
				if traced.open != 0 || len(c.breaks) > 0 && traced.adds <= slices.Max(c.breaks) {
					t.Errorf("after %d lists %d of %d streams are open", traced.adds, traced.open, traced.begun)
				}
				if got, want := simsource.State(t, engine).Head, simsource.State(t, held).Head; got != want {
					t.Errorf("head is %+v, of the one that holds its rows %+v", got, want)
				}
				diffs, err := storetest.Diff(t.Context(), engine, held, Tables(), 5)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range diffs {
					t.Errorf("differs from one that holds its rows: %s", d)
				}
				checkSound(t, engine)
			})
		})
	}
}

func counter(t *testing.T, reg *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

// TestStreamsEndWithTheRun: a run that is called off leaves no stream open.
func TestStreamsEndWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := quiet(9, 80, 5, UnknownVersion)
		for at := 1; at < 40; at += 6 {
			engine := openStoreWith(t, vfs.NewMem(), 1)
			ctx, cancel := context.WithCancel(t.Context())
			traced := &canceling{tracer: tracer{Engine: engine}, at: at, cancel: cancel}
			o := options(w)
			o.UndoBlocks, o.Store = 20, traced
			if err := newIndexer(t, o).RunTo(ctx, 79); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if traced.begun == 0 || traced.open != 0 {
				t.Errorf("%d of %d streams are open", traced.open, traced.begun)
			}
			closeStore(t, engine)
			cancel()
		}
	})
}

// canceling calls the run off when so many lists went to streams.
type canceling struct {
	tracer
	at     int
	cancel func()
}

func (c *canceling) Stream() store.Stream { return cancelingStream{c.tracer.Stream().(*traced), c} }

func (c *canceling) Commit(ctx context.Context, b *store.Batch) error {
	if s, ok := b.Stream().(cancelingStream); ok {
		b.Attach(s.traced)
	}
	return c.tracer.Commit(ctx, b)
}

type cancelingStream struct {
	*traced
	c *canceling
}

func (s cancelingStream) Add(ctx context.Context, c *store.Changes) error {
	if s.c.at--; s.c.at == 0 {
		s.c.cancel()
	}
	return s.traced.Add(ctx, c)
}

// gated has a block only when the test says so.
type gated struct {
	*World
	block     uint64
	announced chan struct{}
}

func (g *gated) Fetch(ctx context.Context, number uint64) (index.Raw, error) {
	if number == g.block {
		select {
		case <-g.announced:
		case <-ctx.Done():
			return index.Raw{}, ctx.Err()
		}
	}
	return g.World.Fetch(ctx, number)
}

// TestCommitsAreToldAtOnce: what a commit holds is announced, and let go, when it is done,
// also while the node keeps the next block back.
func TestCommitsAreToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := openStore(t, vfs.NewMem())
		defer closeStore(t, engine)
		g := &gated{World: quiet(9, 80, 5, UnknownVersion), block: 40, announced: make(chan struct{})}
		o := options(g.World)
		o.Source, o.Store, o.BatchBytes, o.UndoBlocks = g, engine, 1, 20
		o.Announce = func(a index.Announcement) {
			if a.Head.Number == g.block-1 {
				close(g.announced)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := newIndexer(t, o).RunTo(ctx, 79); err != nil || ctx.Err() != nil {
			t.Errorf("the run ended with %v", errors.Join(err, ctx.Err()))
		}
	})
}
