package transaction

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

func simulated(t testing.TB, blocks int) *simnode.Chain {
	t.Helper()
	return simnode.New(simnode.Config{Seed: 11, Blocks: blocks})
}

// load stores a chain, empty but for the given blocks.
func load(t *testing.T, blocks map[uint64]*starknet.Block) store.Engine {
	t.Helper()
	head := uint64(0)
	for number := range blocks {
		head = max(head, number)
	}
	e := inMemory(t)
	fill(t, e, head, blocks)
	return e
}

func view(t *testing.T, e store.Engine, fn func(ctx context.Context, r store.Reader)) {
	t.Helper()
	ctx := t.Context()
	if err := e.View(ctx, func(r store.Reader) error { fn(ctx, r); return nil }); err != nil {
		t.Fatal(err)
	}
}

// whole stores the first blocks of a simulated chain.
func whole(t *testing.T, n int) (*simnode.Chain, store.Engine) {
	t.Helper()
	c := simulated(t, n)
	blocks := map[uint64]*starknet.Block{}
	for i := range uint64(n) {
		blocks[i] = c.BlockAt(i)
	}
	return c, load(t, blocks)
}

// TestEveryTransactionComesBack stores a chain and reads each transaction by
// hash, by place and in its block's list.
func TestEveryTransactionComesBack(t *testing.T) {
	const n = 120
	c, e := whole(t, n)
	types := map[starknet.TxType]int{}
	view(t, e, func(ctx context.Context, r store.Reader) {
		for i := range uint64(n) {
			b := c.BlockAt(i)
			list, err := OfBlock(ctx, r, i, 0, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if len(list) != len(b.Transactions) {
				t.Fatalf("block %d lists %d transactions, want %d", i, len(list), len(b.Transactions))
			}
			for j := range b.Transactions {
				types[b.Transactions[j].Type]++
				p, err := PositionOf(ctx, r, b.Transactions[j].Hash)
				if err != nil || p != (explorer.Position{Block: i, Index: uint32(j)}) {
					t.Fatalf("place of transaction %d of block %d: %v, %v", j, i, p, err)
				}
				got, err := Get(ctx, r, p)
				if err != nil {
					t.Fatal(err)
				}
				same(t, got, &b.Transactions[j], &b.Receipts[j])
				if want := (Stamp{b.Hash, b.Timestamp}); got.Stamp != want || list[j].Stamp != want {
					t.Fatalf("transaction %d of block %d: %+v, in the list %+v; want %+v", j, i, got.Stamp, list[j].Stamp, want)
				}
				sameEvents(t, ctx, r, got)
				same(t, list[j], &b.Transactions[j], &b.Receipts[j])
			}
		}
	})
	for _, want := range []starknet.TxType{starknet.Invoke, starknet.Declare, starknet.DeployAccount, starknet.L1Handler} {
		if types[want] == 0 {
			t.Errorf("the chain has no %s: the test proves less than it says", want)
		}
	}
}

// TestPreviewsStay reads the previews of many blocks, one after the other and side by side, and
// looks at them when all are read: what one list was read with is used again for the next.
func TestPreviewsStay(t *testing.T) {
	const n = 40
	_, e := whole(t, n)
	view(t, e, func(ctx context.Context, r store.Reader) {
		var lists [2][n][]*Preview
		var readers sync.WaitGroup
		for i := range lists {
			readers.Go(func() {
				for j := range lists[i] {
					var err error
					if lists[i][j], err = Previews(ctx, r, uint64(j), 0, 1000); err != nil {
						t.Error(err)
					}
				}
			})
		}
		readers.Wait()
		for j := range uint64(n) {
			records, err := OfBlock(ctx, r, j, 0, 1000)
			if err != nil {
				t.Fatal(err)
			}
			for i := range lists {
				if len(lists[i][j]) != len(records) {
					t.Fatalf("block %d has %d previews, want %d", j, len(lists[i][j]), len(records))
				}
				for k, rec := range records {
					var ends Ends
					if got, want := lists[i][j][k], rec.Preview(&ends); !reflect.DeepEqual(*got, want) {
						t.Fatalf("transaction %d of block %d: %+v, want %+v", k, j, *got, want)
					}
				}
			}
		}
	})
}

// sameEvents reads a transaction's events one by one, all at once from the last
// to the first, and one that it does not have.
func sameEvents(t *testing.T, ctx context.Context, r store.Reader, rec *Record) {
	t.Helper()
	var all []explorer.Place
	for i, want := range rec.Receipt.Events {
		p := explorer.Place{Block: rec.Block, Tx: rec.Index, Log: uint32(i)}
		got, n, err := Events(ctx, r, []explorer.Place{p})
		if err != nil || n != 1 || got[0].TxHash != rec.Hash || got[0].Stamp != rec.Stamp || !reflect.DeepEqual(got[0].Event, want) {
			t.Fatalf("event %+v: %+v, %v; want %+v", p, got, err, want)
		}
		all = append(all, p)
	}
	slices.Reverse(all)
	got, _, err := Events(ctx, r, all)
	if err != nil || len(got) != len(all) {
		t.Fatalf("events of %+v: %d, %v", rec.Position, len(got), err)
	}
	for i, e := range got {
		if !reflect.DeepEqual(e.Event, rec.Receipt.Events[len(all)-1-i]) {
			t.Fatalf("event %+v: %+v", all[i], e)
		}
	}
	for _, p := range []explorer.Place{{Block: rec.Block, Tx: rec.Index, Log: uint32(len(all))}, {Block: rec.Block, Tx: 1 << 20}} {
		if _, _, err := Events(ctx, r, []explorer.Place{p}); !errors.Is(err, ErrNotFound) {
			t.Fatalf("event %+v: %v", p, err)
		}
	}
}

// same compares but for what is not stored, and with empty lists as nil.
func same(t *testing.T, got *Record, tx *starknet.Transaction, r *starknet.Receipt) {
	t.Helper()
	wantTx, wantReceipt := *tx, *r
	wantReceipt.Finality = 0
	for _, l := range lists(&wantTx) {
		if len(*l) == 0 {
			*l = nil
		}
	}
	if len(wantReceipt.Events) == 0 {
		wantReceipt.Events = nil
	}
	if len(wantReceipt.MessagesSent) == 0 {
		wantReceipt.MessagesSent = nil
	}
	events := append([]starknet.Event(nil), wantReceipt.Events...)
	for i := range events {
		if len(events[i].Keys) == 0 {
			events[i].Keys = nil
		}
		if len(events[i].Data) == 0 {
			events[i].Data = nil
		}
	}
	wantReceipt.Events = events
	if !reflect.DeepEqual(got.Transaction, wantTx) {
		t.Fatalf("transaction is\n%+v, want\n%+v", got.Transaction, wantTx)
	}
	if !reflect.DeepEqual(got.Receipt, wantReceipt) {
		t.Fatalf("receipt is\n%+v, want\n%+v", got.Receipt, wantReceipt)
	}
}

func TestNotFound(t *testing.T) {
	e := load(t, nil)
	view(t, e, func(ctx context.Context, r store.Reader) {
		if _, err := PositionOf(ctx, r, felt.FromUint64(1)); !errors.Is(err, ErrNotFound) {
			t.Errorf("by hash: %v", err)
		}
		if _, err := Get(ctx, r, explorer.Position{Block: 5}); !errors.Is(err, ErrNotFound) {
			t.Errorf("by place: %v", err)
		}
	})
}

// TestBefore pages backwards over stretches, empty ones included, with every page size.
func TestBefore(t *testing.T) {
	c := simulated(t, 60)
	blocks := map[uint64]*starknet.Block{}
	var want []explorer.Position // newest first
	numbers := []uint64{0, 1, 4095, 4096, 4097, 4096 + 15, 4096 + 16, 6000, 2*4096 + 5}
	for i, n := range numbers {
		b := c.BlockAt(uint64(40 + i))
		blocks[n] = b
	}
	for i := len(numbers) - 1; i >= 0; i-- {
		for j := len(blocks[numbers[i]].Transactions) - 1; j >= 0; j-- {
			want = append(want, explorer.Position{Block: numbers[i], Index: uint32(j)})
		}
	}
	e := load(t, blocks)
	view(t, e, func(ctx context.Context, r store.Reader) {
		for limit := 1; limit <= len(want)+1; limit++ {
			var got []explorer.Position
			p := explorer.Position{Block: 2*4096 + 6}
			for pages := 0; ; pages++ {
				if pages > 200 {
					t.Fatal("paging does not end")
				}
				page, next, done, err := Before(ctx, r, p, limit)
				if err != nil {
					t.Fatal(err)
				}
				if len(page) > limit || !done && len(page) < limit {
					t.Fatalf("page of %d with limit %d", len(page), limit)
				}
				for _, rec := range page {
					got = append(got, rec.Position)
				}
				if done {
					break
				}
				p = next
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("limit %d: got %v, want %v", limit, got, want)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	c := simulated(f, 40)
	var e record.Encoder
	for i := range uint64(40) {
		b := c.BlockAt(i)
		for j := range b.Transactions {
			f.Add(append([]byte(nil), encode(&e, &Stamp{b.Hash, b.Timestamp}, &b.Transactions[j], &b.Receipts[j])...))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		rec, err := decode(&record.Decoder{}, explorer.Position{}, b)
		if err != nil {
			if !errors.Is(err, record.ErrCorrupt) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		// What decodes must survive another round.
		var e record.Encoder
		again, err := decode(&record.Decoder{}, explorer.Position{}, encode(&e, &rec.Stamp, &rec.Transaction, &rec.Receipt))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(rec, again) {
			t.Fatal("second round differs")
		}
	})
}

// TestStoredTransactionsComeBack: the rows of a stretch's blocks are those that were
// written, and read one block after the other, in the same memory, they are what OfBlock
// returns.
func TestStoredTransactionsComeBack(t *testing.T) {
	const n = 40
	_, e := whole(t, n)
	var m Memory
	view(t, e, func(ctx context.Context, r store.Reader) {
		for first := uint64(0); first < n; {
			last := min(n-1, explorer.FirstOfStretch(first)+explorer.StretchSize-1)
			stored, err := StoredOf(ctx, r, first, last)
			if err != nil {
				t.Fatal(err)
			}
			for i, rows := range stored {
				number := first + uint64(i)
				want, err := OfBlock(ctx, r, number, 0, 1000)
				if err != nil {
					t.Fatal(err)
				}
				transactions, receipts, err := m.Read(number, rows)
				if err != nil || len(transactions) != len(want) || len(receipts) != len(want) {
					t.Fatalf("block %d: %d transactions, %d receipts, %v; want %d", number, len(transactions), len(receipts), err, len(want))
				}
				for j, rec := range want {
					same(t, rec, &transactions[j], &receipts[j])
				}
			}
			first = last + 1
		}
		if _, _, err := m.Read(7, [][]byte{{recordVersion}}); !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("a row that ends early: %v", err)
		}
	})
}

// TestStoredTransactionIsMissing: a block whose transactions are not all there is not read
// as one that has fewer.
func TestStoredTransactionIsMissing(t *testing.T) {
	_, e := whole(t, 8)
	ctx := t.Context()
	lease, err := e.Acquire(ctx, store.Writer, "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	b := &store.Batch{}
	b.Under(lease)
	b.Delete(Key(explorer.Position{Block: 5, Index: 0}))
	if err := e.Commit(ctx, b); err != nil {
		t.Fatal(err)
	}
	view(t, e, func(ctx context.Context, r store.Reader) {
		if got, err := StoredOf(ctx, r, 2, 7); err == nil || !strings.Contains(err.Error(), "transaction 0 of block 5 is missing") {
			t.Errorf("%d blocks, %v", len(got), err)
		}
	})
}
