package proof_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/proof"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// counting counts round trips.
type counting struct {
	store.Reader
	gets int
}

func (c *counting) GetMany(ctx context.Context, keys []store.Key) ([][]byte, error) {
	c.gets++
	return c.Reader.GetMany(ctx, keys)
}

// blocks is an index that has blocks 0 to 9; the hash of block n is 100+n.
func blocks(t testing.TB) pebble.Engine {
	t.Helper()
	e := pebbletest.Open(t, block.Subject{}.Tables())
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	batch := &store.Batch{Epoch: lease.Epoch}
	earlier := [][]byte{nil}
	for n := range uint64(10) {
		b := &explorer.Block{}
		b.Number, b.Hash = n, felt.FromUint64(100+n)
		rows := &explorer.Rows{}
		if err := (block.Subject{}).Plan(b).Follow(earlier, rows); err != nil {
			t.Fatal(err)
		}
		for _, op := range rows.Ops() {
			batch.Put(op.Key, op.Value)
			earlier[0] = op.Value
		}
	}
	if err := e.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	return e
}

func at(number, hash uint64) proof.Proof {
	return proof.Proof{Declared: block.Ref{Number: number, Hash: felt.FromUint64(hash)}, Digest: fmt.Sprintf("%d-%d", number, hash)}
}

func state(head, forks uint64) *chain.State {
	s := &chain.State{HasHead: true}
	s.Head.Number, s.Fork.Count = head, forks
	return s
}

// TestStanding: a proof counts where the chain has the block that it names, and asking
// again costs nothing until there was a fork.
func TestStanding(t *testing.T) {
	e := blocks(t)
	known := &proof.Known{Version: 1, Classes: map[felt.Felt][]proof.Proof{
		felt.FromUint64(1): {at(3, 103)},
		felt.FromUint64(2): {at(3, 999), at(4, 104), at(4, 104), at(40, 140)}, // the first does not hold
		felt.FromUint64(3): {at(5, 999)},
		felt.FromUint64(4): {at(9, 109)},
	}}
	book := proof.New(func() *proof.Known { return known })
	for _, c := range []struct {
		name    string
		state   *chain.State
		classes []uint64
		want    string
		gets    int
	}{
		{"a class without a proof", state(9, 0), []uint64{7, 8, 9}, "", 0},
		{"no index yet", &chain.State{}, []uint64{1}, "", 0},
		{"all", state(9, 0), []uint64{1, 2, 3, 4, 7, 1}, "1:3-103/1 2:4-104/2 4:9-109/1", 1},
		{"again, those that hold", state(9, 0), []uint64{1, 4}, "1:3-103/1 4:9-109/1", 0},
		{"again, one that does not", state(9, 0), []uint64{3}, "", 1},
		{"with a head below", state(8, 0), []uint64{1, 4}, "1:3-103/1", 0},
		{"after a fork", state(9, 1), []uint64{1, 4}, "1:3-103/1 4:9-109/1", 1},
		{"and again", state(9, 1), []uint64{1, 4}, "1:3-103/1 4:9-109/1", 0},
		{"on a view from before it", state(9, 0), []uint64{1}, "1:3-103/1", 1},
		{"which is not remembered", state(9, 1), []uint64{1}, "1:3-103/1", 0},
	} {
		err := e.View(t.Context(), func(r store.Reader) error {
			var classes []felt.Felt
			for _, c := range c.classes {
				classes = append(classes, felt.FromUint64(c))
			}
			counted := &counting{Reader: r}
			found, err := book.At(c.state).Of(t.Context(), counted, classes)
			if err != nil {
				return err
			}
			var words []string
			for i := range uint64(10) {
				if s, ok := found[felt.FromUint64(i)]; ok {
					words = append(words, fmt.Sprintf("%d:%s/%d", i, s.Digest, s.Count))
				}
			}
			if got := strings.Join(words, " "); got != c.want || counted.gets != c.gets {
				t.Errorf("%s: %q in %d round trips, want %q in %d", c.name, got, counted.gets, c.want, c.gets)
			}
			has, err := book.At(c.state).Has(t.Context(), r, classes)
			if len(has) != len(words) {
				t.Errorf("%s: has %v", c.name, has)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	known = &proof.Known{Version: 2}
	if found, err := book.At(state(9, 1)).Of(t.Context(), nil, []felt.Felt{felt.FromUint64(1)}); len(found) != 0 || err != nil || book.Version() != 2 {
		t.Errorf("withdrawn, and there is %v, %v", found, err)
	}
	var none *proof.Book
	if found, err := none.At(state(9, 1)).Of(t.Context(), nil, []felt.Felt{felt.FromUint64(1)}); len(found) != 0 || err != nil || none.Version() != 0 {
		t.Errorf("without a book: %v, %v", found, err)
	}
}

// BenchmarkHas asks for a page of 100 classes.
func BenchmarkHas(b *testing.B) {
	known := &proof.Known{Classes: map[felt.Felt][]proof.Proof{}}
	var plain, proven []felt.Felt
	for i := range uint64(10_000) {
		known.Classes[felt.FromUint64(i)] = []proof.Proof{at(i%10, 100+i%10)}
		if i < 100 {
			proven, plain = append(proven, felt.FromUint64(i)), append(plain, felt.FromUint64(1_000_000+i))
		}
	}
	book := proof.New(func() *proof.Known { return known })
	e := blocks(b)
	for name, classes := range map[string][]felt.Felt{"none of them proven": plain, "all of them proven": proven} {
		b.Run(name, func(b *testing.B) {
			err := e.View(b.Context(), func(r store.Reader) error {
				for b.Loop() {
					if _, err := book.At(state(9, 0)).Has(b.Context(), r, classes); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
