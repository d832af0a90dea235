package job_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/census"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/pools"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/job"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/pebble/pebbletest"
)

var (
	sepolia = felt.MustShortString("SN_SEPOLIA")
	ttl     = 5 * time.Second
)

// fake is a job that does what a test says.
type fake struct {
	name   string
	tables []*store.Table
	every  time.Duration
	step   func(ctx context.Context, commit job.Commit) (bool, error)

	mu    sync.Mutex
	steps int
}

func (f *fake) Name() string           { return f.name }
func (f *fake) Tables() []*store.Table { return f.tables }
func (f *fake) Every() time.Duration   { return f.every }

func (f *fake) Step(ctx context.Context, commit job.Commit) (bool, error) {
	f.mu.Lock()
	f.steps++
	f.mu.Unlock()
	if f.step == nil {
		return false, nil
	}
	return f.step(ctx, commit)
}

func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.steps
}

// world is a store with runners on it, in virtual time.
type world struct {
	t      *testing.T
	engine pebble.Engine
	log    logged
}

// logged is what all runners logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// inWorld runs a test on a store that holds an empty index of Sepolia.
func inWorld(t *testing.T, test func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		engine := pebbletest.Open(t, catalog.Tables())
		w := &world{t: t, engine: engine}
		w.format(chain.Layout, sepolia)
		test(t, w)
	})
}

// format says what the store holds.
func (w *world) format(layout uint64, id felt.Felt) {
	w.t.Helper()
	lease, err := w.engine.Acquire(w.t.Context(), store.Writer, "test", time.Hour)
	if err != nil {
		w.t.Fatal(err)
	}
	b := &store.Batch{}
	b.Under(lease)
	b.Put(chain.FormatKey, chain.Format{Layout: layout, ChainID: id}.Encode())
	if err := w.engine.Commit(w.t.Context(), b); err != nil {
		w.t.Fatal(err)
	}
}

// started is a runner at work.
type started struct {
	*job.Runner
	reg   *prometheus.Registry
	stop  func() error // may be called again
	ended chan struct{}
}

func (w *world) start(o job.Options) *started {
	w.t.Helper()
	if o.Store == nil {
		o.Store = w.engine
	}
	s := &started{reg: prometheus.NewRegistry(), ended: make(chan struct{})}
	o.Chain, o.TTL, o.Metrics = sepolia, ttl, job.NewMetrics(s.reg)
	o.Logger = slog.New(slog.NewTextHandler(&w.log, nil))
	var err error
	if s.Runner, err = job.New(o); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	var result error
	go func() {
		defer close(s.ended)
		result = s.Run(ctx)
	}()
	s.stop = func() error {
		cancel()
		<-s.ended
		return result
	}
	w.t.Cleanup(func() {
		if err := s.stop(); err != nil {
			w.t.Log(err)
		}
	})
	return s
}

// metric reads one figure of a job.
func (s *started) metric(t *testing.T, name, of string) float64 {
	t.Helper()
	families, err := s.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "chainexplorer_job_"+name {
			continue
		}
		for _, m := range f.GetMetric() {
			if m.GetLabel()[0].GetValue() == of {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

// row is a change of a table of the census.
func row(n byte) *store.Batch {
	b := &store.Batch{}
	b.Put(store.Key{Table: census.States, Sort: []byte{n}}, []byte{n})
	return b
}

// TestJob: a job that fails is tried again, writes its own tables and nothing
// else, and ends before the runner does, which gives the lease back.
func TestJob(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var results []error
		ended := false
		f := &fake{name: "count", tables: census.Enrichment(), every: time.Hour}
		f.step = func(ctx context.Context, commit job.Commit) (bool, error) {
			switch f.count() {
			case 1, 2:
				return false, errors.New("not yet")
			case 3:
				for _, table := range []*store.Table{block.Subject{}.Tables()[0], pools.States, chain.Meta} {
					b := row(1)
					b.Put(store.Key{Table: table, Partition: make([]byte, table.PartitionLen)}, nil)
					results = append(results, commit(ctx, b))
				}
				results = append(results, commit(ctx, row(2)))
				return true, nil
			}
			<-ctx.Done()
			ended = true
			return false, ctx.Err()
		}
		s := w.start(job.Options{Jobs: []job.Job{f}})
		time.Sleep(10 * time.Second)
		if f.count() != 4 || s.metric(t, "failures_total", "count") != 2 || s.metric(t, "held", "count") != 1 {
			t.Errorf("%d steps, %v failures, held %v", f.count(), s.metric(t, "failures_total", "count"), s.metric(t, "held", "count"))
		}
		if told := s.Reports(); len(told) != 1 || told[0].Name != "count" || !told[0].Held || told[0].Failures != 2 || told[0].Failed.IsZero() || !told[0].Done.IsZero() {
			t.Errorf("it is told of as %+v", told)
		}
		if err := s.stop(); err != nil || !ended {
			t.Errorf("stopped with %v, the job ended: %v", err, ended)
		}
		for i, err := range results[:3] {
			if !errors.Is(err, store.ErrInvalid) {
				t.Errorf("a row of another's table %d was committed: %v", i, err)
			}
		}
		if results[3] != nil {
			t.Error(results[3])
		}
		if _, err := w.engine.Acquire(t.Context(), "job/count", "another", time.Second); err != nil {
			t.Errorf("the lease was kept: %v", err)
		}
		if s.metric(t, "held", "count") != 0 {
			t.Error("held after the end")
		}
		err := w.engine.View(t.Context(), func(r store.Reader) error {
			_, err := r.Get(t.Context(), row(2).Ops()[0].Key)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestRefuses jobs that would write what is not theirs.
func TestRefuses(t *testing.T) {
	for name, jobs := range map[string][]job.Job{
		"a table of blocks":  {&fake{name: "a", tables: []*store.Table{chain.Meta}}},
		"a table of classes": {&fake{name: "a", tables: class.Enrichment()}},
		"one table for two":  {&fake{name: "a", tables: census.Enrichment()}, &fake{name: "b", tables: census.Enrichment()[:1]}},
		"one name for two":   {&fake{name: "a"}, &fake{name: "a"}},
		"an odd name":        {&fake{name: "A job"}},
	} {
		if _, err := job.New(job.Options{Jobs: jobs}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWaitsForTheIndex: nothing is done on an index that is not there or of
// another layout; one of another chain ends the run.
func TestWaitsForTheIndex(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		empty := pebbletest.Open(t, catalog.Tables())
		f := &fake{name: "a", every: time.Minute}
		s := w.start(job.Options{Store: empty, Jobs: []job.Job{f}})
		time.Sleep(time.Minute)
		if f.count() != 0 || strings.Count(w.log.String(), "an indexer that begins the index") != 1 {
			t.Errorf("%d steps without an index:\n%s", f.count(), w.log.String())
		}
		w.engine = empty
		w.format(chain.Layout+1, sepolia)
		time.Sleep(time.Minute)
		if f.count() != 0 || strings.Count(w.log.String(), fmt.Sprintf("the index has layout %d", chain.Layout+1)) != 1 {
			t.Errorf("%d steps on another layout:\n%s", f.count(), w.log.String())
		}
		w.format(chain.Layout, sepolia)
		s.Wake() // need not wait for the next look
		synctest.Wait()
		if f.count() != 1 {
			t.Errorf("%d steps on an index", f.count())
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		w.format(chain.Layout, felt.MustShortString("SN_MAIN"))
		s = w.start(job.Options{Store: empty, Jobs: []job.Job{f}})
		<-s.ended
		if err := s.stop(); err == nil || !strings.Contains(err.Error(), "the index holds chain SN_MAIN and the node serves chain SN_SEPOLIA") {
			t.Errorf("on another chain: %v", err)
		}
	})
}

// TestWake: a job looks when it is told to, but not without a pause, and by
// itself after its time.
func TestWake(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		f := &fake{name: "a", every: time.Minute}
		s := w.start(job.Options{Jobs: []job.Job{f}})
		time.Sleep(10 * time.Second)
		if f.count() != 1 {
			t.Fatalf("%d looks at first", f.count())
		}
		s.Wake()
		synctest.Wait()
		if f.count() != 2 {
			t.Errorf("%d looks after the first announcement", f.count())
		}
		for range 1000 { // ten seconds of blocks without a pause
			s.Wake()
			time.Sleep(10 * time.Millisecond)
		}
		if n := f.count(); n < 8 || n > 13 {
			t.Errorf("%d looks in ten seconds of announcements", n)
		}
		time.Sleep(2 * time.Second) // the last of them
		n := f.count()
		time.Sleep(5*time.Minute + time.Second)
		if got := f.count() - n; got != 5 {
			t.Errorf("%d looks in five quiet minutes", got)
		}
		if got := s.metric(t, "runs_total", "a"); got != float64(f.count()) {
			t.Errorf("%v runs of %d", got, f.count())
		}
		if at := s.metric(t, "last_success_timestamp_seconds", "a"); time.Since(time.Unix(int64(at), 0)) > time.Minute+time.Second {
			t.Errorf("the last success is of %v", at)
		}
	})
}
