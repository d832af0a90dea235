package recheck_test

import (
	"context"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/audit"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/recheck"
	"chainexplorer/internal/index/simulated"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// TestAuditor goes round an index twice: all is well, and then a row was altered.
func TestAuditor(t *testing.T) {
	ctx := t.Context()
	c := simnode.New(simnode.Config{Seed: 9, Blocks: 12, TxPerBlock: 2, RealHashes: true})
	e, err := pebble.Open(pebble.MemOptions(vfs.NewMem(), catalog.Tables()))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close() //nolint:errcheck // in memory
	x, err := index.New(index.Options{Store: e, Source: simulated.Source{Chain: c}, NoClasses: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.RunTo(ctx, 11); err != nil {
		t.Fatal(err)
	}
	clock := time.Unix(1_700_000_000, 0)
	j := &recheck.Job{Store: e, Node: simulated.Source{Chain: c}, Depth: 5, Now: func() time.Time { return clock }}
	step := func(wait time.Duration) audit.State {
		t.Helper()
		clock = clock.Add(wait)
		if _, err := j.Step(ctx, commitAs(t, e, "job/audit")); err != nil {
			t.Fatal(err)
		}
		return stateOf(t, e)
	}
	var s audit.State
	for range 8 { // blocks 0 to 6 are final
		s = step(time.Second)
		if again := step(0); again != s {
			t.Fatalf("a second block at the same moment: %+v", again)
		}
	}
	if want := (audit.State{Next: 1, Passes: 1, Verified: 8, At: uint64(clock.Unix())}); s != want {
		t.Errorf("after a round: %+v, want %+v", s, want)
	}

	key, other := transaction.Key(explorer.Position{Block: 3}), transaction.Key(explorer.Position{Block: 4})
	was := get(t, e, key)
	put(t, e, key, get(t, e, other))
	for range 7 {
		s = step(time.Second)
	}
	if !s.False || s.Block != 3 || s.Mismatches != 1 || s.Reason == "" || s.Passes != 2 {
		t.Errorf("after a row was altered: %+v", s)
	}
	put(t, e, key, was)
	for range 7 {
		s = step(time.Second)
	}
	if s.False || s.Mismatches != 1 {
		t.Errorf("after it was made good: %+v", s)
	}
}

func stateOf(t *testing.T, e store.Engine) (s audit.State) {
	t.Helper()
	err := e.View(t.Context(), func(r store.Reader) (err error) {
		s, _, err = audit.Read(t.Context(), r)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func get(t *testing.T, e store.Engine, k store.Key) (value []byte) {
	t.Helper()
	err := e.View(t.Context(), func(r store.Reader) (err error) {
		value, err = r.Get(t.Context(), k)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func put(t *testing.T, e store.Engine, k store.Key, value []byte) {
	t.Helper()
	b := &store.Batch{}
	b.Put(k, value)
	if err := commitAs(t, e, store.Writer)(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// commitAs commits under a lease of a name.
func commitAs(t *testing.T, e store.Engine, name string) func(context.Context, *store.Batch) error {
	return func(ctx context.Context, b *store.Batch) error {
		lease, err := e.Acquire(ctx, name, "test", time.Hour)
		if err != nil {
			return err
		}
		b.Under(lease)
		return e.Commit(ctx, b)
	}
}
