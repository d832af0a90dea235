package rowcopy_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/postgres"
	"chainexplorer/internal/store/postgres/pgtest"
	"chainexplorer/internal/store/rowcopy"
	"chainexplorer/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

var (
	rows   = &store.Table{ID: 1, Name: "rows", PartitionLen: 1}
	empty  = &store.Table{ID: 2, Name: "empty", PartitionLen: 3}
	meta   = &store.Table{ID: 3, Name: "meta", PartitionLen: 0}
	tables = []*store.Table{rows, empty, meta}
	mark   = store.Key{Table: meta, Sort: []byte("copy")}
)

func memory(t *testing.T) store.Engine {
	t.Helper()
	e, err := pebble.Open(pebble.MemOptions(vfs.NewMem(), tables))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() }) //nolint:errcheck // a test's
	return e
}

func server(t *testing.T) store.Engine {
	t.Helper()
	e, err := postgres.Open(t.Context(), postgres.Options{URL: pgtest.Database(t), Schema: "copy", Tables: tables})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() }) //nolint:errcheck // never fails
	return e
}

func put(t *testing.T, e store.Engine, b *store.Batch) {
	t.Helper()
	l, err := e.Acquire(t.Context(), store.Writer, "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	b.Epoch = l.Epoch
	if err := e.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := e.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
}

func filled(t *testing.T) store.Engine {
	t.Helper()
	e := memory(t)
	b := &store.Batch{}
	for i := range uint32(5000) {
		b.Put(store.Key{Table: rows, Partition: []byte{byte(i)}, Sort: store.AppendUint32(nil, i)}, store.AppendUint64(nil, uint64(i)))
	}
	b.Put(store.Key{Table: rows, Partition: []byte{7}}, nil) // nothing but a partition
	b.Put(store.Key{Table: meta, Sort: []byte("head")}, []byte("5000"))
	put(t, e, b)
	return e
}

func options(from, to store.Engine) rowcopy.Options {
	return rowcopy.Options{From: from, To: to, Tables: tables, Marker: mark, Source: "head 5000", Owner: "copy", BatchBytes: 8 << 10}
}

func same(t *testing.T, a, b store.Engine) {
	t.Helper()
	diffs, err := storetest.Diff(t.Context(), a, b, tables, 5)
	if err != nil || len(diffs) > 0 {
		t.Errorf("%v, %v", diffs, err)
	}
}

// TestCopy goes to the other engine and back.
func TestCopy(t *testing.T) {
	from, to, back := filled(t), server(t), memory(t)
	commits := 0
	o := options(from, to)
	o.Progress = func(rowcopy.Progress) { commits++ }
	r, err := rowcopy.Copy(t.Context(), o)
	if err != nil || r.Rows != 5002 || r.Resumed || commits < 5 {
		t.Fatalf("%+v, %v, %d commits", r, err, commits)
	}
	same(t, from, to)
	again, err := rowcopy.Copy(t.Context(), options(to, back))
	if err != nil || again.Digest != r.Digest {
		t.Fatalf("%+v, %v", again, err)
	}
	same(t, from, back)
	if _, err := rowcopy.Copy(t.Context(), options(from, to)); !errors.Is(err, rowcopy.ErrNotEmpty) {
		t.Errorf("a copy onto a copy: %v", err)
	}
}

// failing refuses commits after a while.
type failing struct {
	store.Engine
	left int
}

var errBroken = errors.New("broken")

func (f *failing) Commit(ctx context.Context, b *store.Batch) error {
	if f.left--; f.left < 0 {
		return errBroken
	}
	return f.Engine.Commit(ctx, b)
}

// TestResume interrupts a copy at every commit; each run goes on where the one
// before stopped.
func TestResume(t *testing.T) {
	for name, open := range map[string]func(*testing.T) store.Engine{"pebble": memory, "postgres": server} {
		t.Run(name, func(t *testing.T) {
			from, to := filled(t), open(t)
			runs := 0
			for first := true; ; first = false {
				if runs++; runs > 100 {
					t.Fatal("no end")
				}
				r, err := rowcopy.Copy(t.Context(), options(from, &failing{to, 2}))
				if err == nil {
					if r.Rows != 5002 || !r.Resumed {
						t.Errorf("%+v", r)
					}
					break
				}
				if !errors.Is(err, errBroken) || first && runs > 1 {
					t.Fatal(err)
				}
				if unfinished, err := rowcopy.Unfinished(t.Context(), to, mark); err != nil || !unfinished {
					t.Fatalf("an unfinished copy is not told: %v", err)
				}
				// What says that there is an index comes last.
				err = to.View(t.Context(), func(r store.Reader) error {
					_, err := r.Get(t.Context(), store.Key{Table: meta, Sort: []byte("head")})
					return err
				})
				if !errors.Is(err, store.ErrNotFound) {
					t.Fatalf("half a copy shows a head: %v", err)
				}
				o := options(from, to)
				o.Source = "head 5001"
				if _, err := rowcopy.Copy(t.Context(), o); !errors.Is(err, rowcopy.ErrOtherSource) {
					t.Fatalf("went on from another source: %v", err)
				}
				if _, err := rowcopy.Copy(t.Context(), options(to, memory(t))); err == nil {
					t.Fatal("copied half a copy")
				}
			}
			if runs < 4 {
				t.Errorf("only %d runs", runs)
			}
			same(t, from, to)
			if unfinished, err := rowcopy.Unfinished(t.Context(), to, mark); err != nil || unfinished {
				t.Errorf("a finished copy is not told: %v", err)
			}
		})
	}
}

// corrupting loses a byte on the way.
type corrupting struct{ store.Engine }

func (c corrupting) Commit(ctx context.Context, b *store.Batch) error {
	changed := &store.Batch{Epoch: b.Epoch}
	for _, op := range b.Ops() {
		switch {
		case op.Delete:
			changed.Delete(op.Key)
		case op.Table == rows && len(op.Value) == 8 && op.Value[7] == 9:
			changed.Put(op.Key, op.Value[:7])
		default:
			changed.Put(op.Key, op.Value)
		}
	}
	return c.Engine.Commit(ctx, changed)
}

func TestNoticesADifference(t *testing.T) {
	if _, err := rowcopy.Copy(t.Context(), options(filled(t), corrupting{memory(t)})); err == nil {
		t.Error("a copy that differs was called good")
	}
}

// TestCopyAfterAKill: a copy that was killed leaves its lease behind, which the same command waits for; who is at work
// is not waited for without end.
func TestCopyAfterAKill(t *testing.T) {
	from, to := filled(t), server(t)
	if _, err := to.Acquire(t.Context(), store.Writer, "killed", time.Second); err != nil {
		t.Fatal(err)
	}
	waited := 0
	o := options(from, to)
	o.Waiting = func() { waited++ }
	if r, err := rowcopy.Copy(t.Context(), o); err != nil || r.Rows != 5002 || waited != 1 {
		t.Fatalf("%+v, %v, waited %d times", r, err, waited)
	}
	same(t, from, to)
	busy := memory(t)
	if _, err := busy.Acquire(t.Context(), store.Writer, "indexer", time.Hour); err != nil {
		t.Fatal(err)
	}
	o = options(from, busy)
	o.Patience = time.Millisecond
	if _, err := rowcopy.Copy(t.Context(), o); !errors.Is(err, store.ErrLeaseHeld) {
		t.Errorf("with another at work: %v", err)
	}
}
