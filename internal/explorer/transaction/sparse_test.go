package transaction

import (
	"context"
	"iter"
	"os"
	"slices"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
	"chainexplorer/internal/store/postgres"
	"chainexplorer/internal/store/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

var tables = append(Subject{}.Tables(), block.Blocks)

// onEngines runs a test on the embedded store and on PostgreSQL.
func onEngines(t *testing.T, test func(t *testing.T, e store.Engine)) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) { test(t, inMemory(t)) })
	t.Run("postgres", func(t *testing.T) {
		e, err := postgres.Open(t.Context(), postgres.Options{URL: pgtest.Database(t), Schema: "sparse", Tables: tables})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() }) //nolint:errcheck // the test is over
		test(t, e)
	})
}

func inMemory(t *testing.T) store.Engine {
	t.Helper()
	e := pebbletest.Open(t, tables)
	return e
}

// fill stores a chain up to a head, empty but for the given blocks, which are moved there.
func fill(t *testing.T, e store.Engine, head uint64, blocks map[uint64]*starknet.Block) {
	t.Helper()
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	batch := &store.Batch{Epoch: lease.Epoch}
	var parent [][]byte
	for number := range head + 1 {
		b := &starknet.Block{}
		if given := blocks[number]; given != nil {
			b = given
		}
		moved := explorer.NewBlock(b, &starknet.StateUpdate{})
		moved.Number = number
		rows := &explorer.Rows{}
		if err := (Subject{}).Project(moved, rows); err != nil {
			t.Fatal(err)
		}
		if err := (block.Subject{}).Plan(moved).Follow(parent, rows); err != nil {
			t.Fatal(err)
		}
		for _, op := range rows.Ops() {
			batch.Put(op.Key, op.Value)
			if op.Table == block.Blocks {
				parent = [][]byte{op.Value}
			}
		}
	}
	if err := e.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
}

// spaced is a chain with one transaction in so many blocks.
func spaced(t *testing.T, e store.Engine, head, apart uint64) (places []explorer.Position) {
	t.Helper()
	c := simulated(t, 10)
	one := *c.BlockAt(9)
	one.Transactions, one.Receipts = one.Transactions[:1], one.Receipts[:1]
	blocks := map[uint64]*starknet.Block{}
	for number := uint64(0); number <= head; number += apart {
		blocks[number] = &one
		places = append(places, explorer.Position{Block: number})
	}
	fill(t, e, head, blocks)
	return places
}

// tripReader counts what is asked for.
type tripReader struct {
	store.Reader
	trips, keys int
}

func (r *tripReader) Get(ctx context.Context, k store.Key) ([]byte, error) {
	r.trips++
	r.keys++
	return r.Reader.Get(ctx, k)
}

func (r *tripReader) GetMany(ctx context.Context, ks []store.Key) ([][]byte, error) {
	r.trips++
	r.keys += len(ks)
	return r.Reader.GetMany(ctx, ks)
}

func (r *tripReader) Each(ctx context.Context, ks []store.Key, visitor func() store.Visitor) error {
	r.trips++
	r.keys += len(ks)
	return r.Reader.Each(ctx, ks, visitor)
}

func (r *tripReader) Scan(ctx context.Context, rng store.Range) iter.Seq2[store.Row, error] {
	r.trips++
	return r.Reader.Scan(ctx, rng)
}

// TestSparse reads a chain whose transactions are far apart.
func TestSparse(t *testing.T) {
	onEngines(t, func(t *testing.T, e store.Engine) {
		const head = 12_000
		places := spaced(t, e, head, 50)
		t.Run("pages", func(t *testing.T) { sparsePages(t, e, head, places) })
		t.Run("walk", func(t *testing.T) { sparseWalk(t, e, head, places) })
	})
}

// sparsePages: pages are full, in a bounded number of round trips, and end where the chain
// begins.
func sparsePages(t *testing.T, e store.Engine, head uint64, places []explorer.Position) {
	places = slices.Clone(places)
	slices.Reverse(places)
	view(t, e, func(ctx context.Context, r store.Reader) {
		counting := &tripReader{Reader: r}
		var got []explorer.Position
		for p, done := (explorer.Position{Block: head + 1}), false; !done; {
			*counting = tripReader{Reader: r}
			var list []*Preview
			var err error
			if list, p, done, err = PreviewsBefore(ctx, counting, p, 100); err != nil {
				t.Fatal(err)
			}
			if !done && len(list) != 100 {
				t.Errorf("a page has %d transactions", len(list))
			}
			if counting.trips > 12 || counting.keys > 1500 {
				t.Errorf("a page took %d round trips for %d rows", counting.trips, counting.keys)
			}
			for _, v := range list {
				got = append(got, v.Position)
			}
		}
		if !slices.Equal(got, places) {
			t.Fatalf("%d transactions, want %d", len(got), len(places))
		}
	})
}

// sparseWalk: a walk sees all of them, with little more than a row of its budget for each,
// and not one scan for each.
func sparseWalk(t *testing.T, e store.Engine, head uint64, places []explorer.Position) {
	view(t, e, func(ctx context.Context, r store.Reader) {
		counting := &tripReader{Reader: r}
		var got []explorer.Position
		_, done, err := WalkEvents(ctx, counting, explorer.Position{}, head, 2*len(places)+5*hopCost, func(p explorer.Position, _ []Emitted) bool {
			got = append(got, p)
			return true
		})
		if err != nil || !done || !slices.Equal(got, places) {
			t.Fatalf("%d transactions of %d, done %v, error %v", len(got), len(places), done, err)
		}
		if counting.trips > 40 || counting.keys > 12*len(places) {
			t.Errorf("the walk took %d round trips for %d rows", counting.trips, counting.keys)
		}
	})
}

// TestEmptyRun: a run of empty blocks, as long as it may be, ends no page and is passed in a
// few round trips, both ways.
func TestEmptyRun(t *testing.T) {
	onEngines(t, func(t *testing.T, e store.Engine) {
		const head = 10_000
		first := []explorer.Position{{Block: 0}, {Block: 9_000}}
		spaced(t, e, head, 9_000)
		view(t, e, func(ctx context.Context, r store.Reader) {
			counting := &tripReader{Reader: r}
			list, _, done, err := Before(ctx, counting, explorer.Position{Block: head + 1}, 2)
			if err != nil || done || len(list) != 2 || list[0].Position != first[1] || list[1].Position != first[0] {
				t.Fatalf("%d transactions, done %v, error %v", len(list), done, err)
			}
			if counting.trips > 6 || counting.keys > 1000 {
				t.Errorf("a page took %d round trips for %d rows", counting.trips, counting.keys)
			}
			*counting = tripReader{Reader: r}
			var got []explorer.Position
			_, done, err = Walk(ctx, counting, explorer.Position{}, head, 1000, func(rec *Record) bool {
				got = append(got, rec.Position)
				return true
			})
			if err != nil || !done || !slices.Equal(got, first) {
				t.Fatalf("the walk saw %v, done %v, error %v", got, done, err)
			}
			if counting.trips > 7 || counting.keys > 1000 {
				t.Errorf("a walk took %d round trips for %d rows", counting.trips, counting.keys)
			}
		})
	})
}

// TestDense: where blocks have transactions a page is one scan, and a walk one for every
// stretch, without a look at blocks.
func TestDense(t *testing.T) {
	onEngines(t, func(t *testing.T, e store.Engine) {
		const n = 4 * explorer.StretchSize
		c := simulated(t, n+40)
		blocks, all := map[uint64]*starknet.Block{}, 0
		for i := range uint64(n) {
			blocks[i] = c.BlockAt(i + 40)
			all += len(blocks[i].Transactions)
		}
		fill(t, e, n-1, blocks)
		view(t, e, func(ctx context.Context, r store.Reader) {
			counting := &tripReader{Reader: r}
			if list, _, _, err := PreviewsBefore(ctx, counting, explorer.Position{Block: n}, 25); err != nil || len(list) != 25 || counting.trips != 1 {
				t.Errorf("a page of %d took %d round trips, error %v", len(list), counting.trips, err)
			}
			*counting = tripReader{Reader: r}
			seen := 0
			_, done, err := WalkEvents(ctx, counting, explorer.Position{}, n-1, 10_000, func(explorer.Position, []Emitted) bool { seen++; return true })
			if err != nil || !done || seen != all || counting.trips != 4 {
				t.Errorf("a walk over %d of %d transactions took %d round trips, done %v, error %v", seen, all, counting.trips, done, err)
			}
		})
	})
}
