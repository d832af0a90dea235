package fsck_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/fsck"
	"chainexplorer/internal/index/sim"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

const blocks = 30

func indexed(t *testing.T) pebble.Engine {
	t.Helper()
	e := open(t)
	w := sim.NewWorld(sim.NewChain(3, blocks, 10, sim.UnknownVersion), 1, sim.Faults{Class: 0.3}, 0, 0)
	x, err := index.New(index.Options{Store: e, Source: w, Subjects: sim.Subjects(), Unverified: index.UnverifiedStore, UndoBlocks: 15})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.RunTo(t.Context(), blocks-1); err != nil {
		t.Fatal(err)
	}
	return e
}

func open(t *testing.T) pebble.Engine {
	t.Helper()
	e, err := pebble.Open(pebble.MemOptions(vfs.NewMem(), sim.Tables()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() }) //nolint:errcheck // in memory
	return e
}

func check(t *testing.T, e store.Engine) *fsck.Report {
	t.Helper()
	r, err := fsck.Check(t.Context(), fsck.Options{Store: e, Scratch: open(t), Subjects: sim.Subjects()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSoundIndex(t *testing.T) {
	r := check(t, indexed(t))
	if !r.Clean() {
		t.Fatalf("problems: %v", r.Problems)
	}
	if r.Blocks != blocks || r.Transactions == 0 || r.Rows["tx"] != r.Transactions || r.Rows["tx_hash"] != r.Transactions ||
		r.Rows["block"] != blocks || r.UndoRecords != 15 || r.State.Head.Number != blocks-1 {
		t.Errorf("report is %+v", r)
	}
}

// TestProgress: the blocks are counted to their end, then every table is named, and
// nothing is called done before it is.
func TestProgress(t *testing.T) {
	var seen []fsck.Progress
	report, err := fsck.Check(t.Context(), fsck.Options{Store: indexed(t), Scratch: open(t), Progress: func(p fsck.Progress) { seen = append(seen, p) }})
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for i, p := range seen {
		if i > 0 && (p.Blocks < seen[i-1].Blocks || p.Rows < seen[i-1].Rows || p.Tables < seen[i-1].Tables) {
			t.Errorf("%+v after %+v", p, seen[i-1])
		}
		if p.Walking() && p.Blocks != report.Blocks || p.BlocksTotal != report.Blocks {
			t.Errorf("%+v of %d blocks", p, report.Blocks)
		}
		if done := p.Walking() && p.Tables == p.TablesTotal; done != (i == len(seen)-1) {
			t.Errorf("done is %t at step %d of %d", done, i+1, len(seen))
		}
		if p.Walking() {
			named[p.Table] = true
		}
	}
	var rows uint64
	for _, table := range catalog.Tables() {
		if _, walked := report.Rows[table.Name]; walked && !named[table.Name] {
			t.Errorf("table %s is not named", table.Name)
		}
		rows += report.Rows[table.Name]
	}
	if last := seen[len(seen)-1]; last.Rows < rows || rows == 0 {
		t.Errorf("%d rows were read, the tables have %d", last.Rows, rows)
	}
}

func TestEmptyStore(t *testing.T) {
	if r := check(t, open(t)); !r.Clean() || r.State.Present {
		t.Errorf("report is %+v", r)
	}
}

// TestEveryTableIsChecked takes away, changes and adds one row of every table,
// and each time expects a problem, until it is as it was.
func TestEveryTableIsChecked(t *testing.T) {
	ctx := context.Background()
	e := indexed(t)
	lease, err := e.Acquire(ctx, store.Writer, "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	commit := func(t *testing.T, b *store.Batch) {
		t.Helper()
		b.Epoch = lease.Epoch
		if err := e.Commit(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	for i, table := range sim.Tables() {
		hows := []string{"remove", "change", "add"}
		if raced { // one after the other, which is always the same to it
			hows = hows[i%3 : i%3+1]
		}
		for _, how := range hows {
			t.Run(table.Name+"/"+how, func(t *testing.T) {
				b, back := &store.Batch{}, &store.Batch{}
				if err := spoil(ctx, e, table, how, b, back); err != nil {
					t.Fatal(err)
				}
				if b.Len() == 0 {
					return // not a fault: see spoil
				}
				commit(t, b)
				if r := check(t, e); r.Clean() {
					t.Errorf("%s of a row of %s was not noticed", how, table.Name)
				}
				commit(t, back)
			})
		}
	}
	if r := check(t, e); !r.Clean() {
		t.Errorf("what was found is still there: %v", r.Problems)
	}
}

// spoil picks a row in the middle of a table. What makes it good again goes into back.
func spoil(ctx context.Context, e store.Engine, table *store.Table, how string, b, back *store.Batch) error {
	var rows []store.Op
	err := e.View(ctx, func(r store.Reader) error {
		for row, err := range r.Walk(ctx, table, nil) {
			if err != nil {
				return err
			}
			rows = append(rows, store.Op{Value: append([]byte{}, row.Value...), Key: store.Key{
				Table: table, Partition: append([]byte{}, row.Partition...), Sort: append([]byte{}, row.Sort...)}})
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(rows) == 0 && slices.Contains(catalog.Enrichment(), table) {
		return nil // made by a job, which does not run here
	}
	row := rows[len(rows)/2]
	if table == chain.Meta {
		for _, r := range rows {
			if string(r.Sort) == "head" {
				row = r
			}
		}
		if how == "add" {
			return nil // names that this program does not know are left alone
		}
	}
	if table == class.ABIs && how == "remove" {
		// A class that nobody fetched is no fault; a missing one must be listed.
		for _, r := range rows {
			if a, err := class.DecodeABI(r.Value); err == nil && a.Status == class.Absent {
				row = r
			}
		}
	}
	if (table == class.Interfaces || table == class.Names) && how == "remove" {
		return nil // an older program did not keep it; it is fetched again
	}
	switch how {
	case "remove":
		b.Delete(row.Key)
		back.Put(row.Key, row.Value)
	case "change":
		b.Put(row.Key, append(append([]byte{}, row.Value...), 0))
		back.Put(row.Key, row.Value)
	case "add":
		extra := row.Key
		extra.Sort = append(append([]byte{}, extra.Sort...), 0xee)
		b.Put(extra, row.Value)
		back.Delete(extra)
	}
	return nil
}

// TestClassesOfNoBlock: a class that no block names is a fault, unless a fork
// may have left it.
func TestClassesOfNoBlock(t *testing.T) {
	ctx := context.Background()
	e := indexed(t)
	lease, err := e.Acquire(ctx, store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	b := &store.Batch{Epoch: lease.Epoch}
	b.Put(class.ABIKey(felt.FromUint64(77)), (&class.ABI{Status: class.NoABI, Kind: class.Cairo0}).Encode())
	if err := e.Commit(ctx, b); err != nil {
		t.Fatal(err)
	}
	if r := check(t, e); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "class 0x4d is named by no block") {
		t.Errorf("problems are %v", r.Problems)
	}
	b = &store.Batch{Epoch: lease.Epoch}
	b.Put(chain.ForkKey, chain.Fork{Count: 1, Ancestor: 3, Depth: 1}.Encode())
	if err := e.Commit(ctx, b); err != nil {
		t.Fatal(err)
	}
	if r := check(t, e); !r.Clean() {
		t.Errorf("problems are %v", r.Problems)
	}
}

// TestListsThatDiffer: of a list whose rows build on earlier ones it is said that it differs,
// when it has as many rows as it should; and the blocks are searched for no longer than it
// takes.
func TestListsThatDiffer(t *testing.T) {
	ctx := context.Background()
	e := indexed(t)
	lease, err := e.Acquire(ctx, store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	b, back := &store.Batch{}, &store.Batch{}
	if err := spoil(ctx, e, transfer.Pairs, "change", b, back); err != nil {
		t.Fatal(err)
	}
	b.Under(lease)
	if err := e.Commit(ctx, b); err != nil {
		t.Fatal(err)
	}
	var last fsck.Progress
	r, err := fsck.Check(ctx, fsck.Options{Store: e, Scratch: open(t), Subjects: sim.Subjects(), Progress: func(p fsck.Progress) { last = p }})
	if err != nil {
		t.Fatal(err)
	}
	if want := "table transfer_pair has as many rows as the blocks explain, and not all of them are the same"; len(r.Problems) != 1 || r.Problems[0] != want {
		t.Errorf("problems are %v", r.Problems)
	}
	if last.Searched != blocks || last.SearchTotal != blocks {
		t.Errorf("%d of %d blocks were searched", last.Searched, last.SearchTotal)
	}
}

// TestProblemsAreNamed checks that a sentence leads to the place.
func TestProblemsAreNamed(t *testing.T) {
	ctx := context.Background()
	e := indexed(t)
	lease, err := e.Acquire(ctx, store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	var hash []byte
	err = e.View(ctx, func(r store.Reader) error {
		s, err := block.Get(ctx, r, 7)
		if err != nil {
			return err
		}
		hash = s.Hash[:]
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	b := &store.Batch{Epoch: lease.Epoch}
	b.Delete(store.Key{Table: block.Hashes, Partition: hash})
	b.Put(chain.DigestKey(9), chain.EncodeDigest(chain.Digest{1}))
	if err := e.Commit(ctx, b); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(check(t, e).Problems, "\n")
	for _, want := range []string{"block 7: row", "of table block_hash is missing", "block 9 has digest 01000000"} {
		if !strings.Contains(all, want) {
			t.Errorf("problems do not say %q:\n%s", want, all)
		}
	}
}

// TestUndoRecordsUndo: a record that is sound in itself must undo its own block.
func TestUndoRecordsUndo(t *testing.T) {
	ctx := context.Background()
	e := indexed(t)
	lease, err := e.Acquire(ctx, store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	record := func(n uint64) (rec []byte) {
		err := e.View(ctx, func(r store.Reader) (err error) {
			rec, err = r.Get(ctx, index.UndoKey(n))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	commit := func(n uint64, rec []byte) {
		b := &store.Batch{Epoch: lease.Epoch}
		b.Put(index.UndoKey(n), rec)
		if err := e.Commit(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	const n = blocks - 2
	good := record(n)
	more := append(slices.Clone(good), 0) // one value more, of a row that was not there
	more[1]++
	for _, c := range []struct {
		what string
		rec  []byte
		want string
	}{
		{"that of another block", record(n + 1), fmt.Sprintf("block %d", n)},
		{"a value too many", more, fmt.Sprintf("block %d cannot be undone: corrupt record: undo record has 1 values that nobody asks for", n)},
	} {
		commit(n, c.rec)
		if all := strings.Join(check(t, e).Problems, "\n"); !strings.Contains(all, c.want) {
			t.Errorf("%s: problems do not say %q:\n%s", c.what, c.want, all)
		}
	}
	commit(n, good)
	if r := check(t, e); !r.Clean() {
		t.Errorf("the record as it was: %v", r.Problems)
	}
}
