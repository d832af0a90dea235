package block

import (
	"errors"
	"math/rand/v2"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// counted stores blocks with so many transactions each, and whatever totals add says they have besides.
func counted(t *testing.T, transactions []uint64, add func(number uint64) uint64) store.Engine {
	t.Helper()
	e, lease := opened(t)
	batch, total := &store.Batch{Epoch: lease.Epoch}, uint64(0)
	for i, n := range transactions {
		total += n
		var e record.Encoder
		s := &Summary{Transactions: n, TotalTransactions: total + add(uint64(i))}
		s.Number = uint64(i)
		batch.Put(Key(s.Number), append([]byte(nil), encodeSummary(&e, s)...))
	}
	if err := e.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	return e
}

func nothing(uint64) uint64 { return 0 }

// TestHolding compares what is found on chains of every density with a look at all blocks.
func TestHolding(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, apart := range []int{1, 2, 7, 50, 900, 1 << 30} {
		transactions := make([]uint64, 3000)
		for i := range transactions {
			if rng.IntN(apart) == 0 || i == 0 {
				transactions[i] = 1 + rng.Uint64N(4)
			}
		}
		e := counted(t, transactions, nothing)
		err := e.View(t.Context(), func(r store.Reader) error {
			for range 60 {
				last, n := rng.Uint64N(3000), 1+rng.IntN(300)
				first := rng.Uint64N(last + 1)
				var newest, oldest []uint64
				for at, left := int(last), n; at >= 0 && left > 0; at-- {
					if transactions[at] > 0 {
						newest = append([]uint64{uint64(at)}, newest...)
						left -= min(left, int(transactions[at]))
					}
				}
				for at, left := first, n; at <= last && left > 0; at++ {
					if transactions[at] > 0 {
						oldest = append(oldest, at)
						left -= min(left, int(transactions[at]))
					}
				}
				got, err := Newest(t.Context(), r, last, n)
				same(t, newest, got, err)
				got, err = Oldest(t.Context(), r, first, last, n)
				same(t, oldest, got, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func same(t *testing.T, want []uint64, got []*Summary, err error) {
	t.Helper()
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d blocks, error %v; want %d", len(got), err, len(want))
	}
	for i, s := range got {
		if s.Number != want[i] {
			t.Fatalf("block %d in place %d, want %d", s.Number, i, want[i])
		}
	}
}

// TestHoldingWrongTotals: totals that tell of transactions which no block has end the search.
func TestHoldingWrongTotals(t *testing.T) {
	e := counted(t, make([]uint64, 2*explorer.SpanSize), func(number uint64) uint64 { return number / 1000 })
	err := e.View(t.Context(), func(r store.Reader) error {
		_, err := Newest(t.Context(), r, explorer.SpanSize, 3)
		return err
	})
	if !errors.Is(err, record.ErrCorrupt) {
		t.Fatalf("error %v", err)
	}
}
