package contract_test

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/pebble/pebbletest"
)

const blocks = 120

// truth is the class of each contract at the start and the end of each block,
// and the class that it was deployed with.
type truth struct {
	before, after map[contract.At]felt.Felt
	deployed      map[contract.At]felt.Felt
}

// play makes contracts of every sort: some are never replaced, some once, one
// in almost every block, and some in the block of their deployment.
func play(t *testing.T, rng *rand.Rand) (pebble.Engine, *truth, []felt.Felt) {
	t.Helper()
	e := pebbletest.Open(t, append(contract.Subject{}.Tables(), contract.Enrichment()...))
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	tr := &truth{map[contract.At]felt.Felt{}, map[contract.At]felt.Felt{}, map[contract.At]felt.Felt{}}
	var addresses []felt.Felt
	chance := map[felt.Felt]float64{}
	now := map[felt.Felt]felt.Felt{}
	class := func() felt.Felt { return felt.FromUint64(1 + rng.Uint64N(5)) }
	batch := &store.Batch{Epoch: lease.Epoch}
	for n := range uint64(blocks) {
		b := &explorer.Block{}
		b.Number = n
		for _, a := range addresses {
			if c, ok := now[a]; ok {
				tr.before[contract.At{Address: a, Block: n}] = c
			}
			if rng.Float64() < chance[a] {
				now[a] = class()
				b.State.Replaced = append(b.State.Replaced, starknet.ReplacedClass{Address: a, ClassHash: now[a]})
			}
		}
		if n%4 == 0 && len(addresses) < 20 {
			a := felt.FromUint64(1000 + n)
			addresses = append(addresses, a)
			chance[a] = []float64{0, 0.02, 0.3, 0.95}[len(addresses)%4]
			now[a] = class()
			tr.deployed[contract.At{Address: a, Block: n}] = now[a]
			b.State.Deployed = append(b.State.Deployed, starknet.DeployedContract{Address: a, ClassHash: now[a]})
			if rng.IntN(3) == 0 {
				now[a] = class()
				b.State.Replaced = append(b.State.Replaced, starknet.ReplacedClass{Address: a, ClassHash: now[a]})
			}
		}
		if len(b.State.Deployed) > 0 { // some nodes say things twice
			b.State.Deployed = append(b.State.Deployed, b.State.Deployed[0])
		}
		b.State.Sort()
		for a, c := range now {
			tr.after[contract.At{Address: a, Block: n}] = c
		}
		rows := &explorer.Rows{}
		if err := (contract.Subject{}).Project(b, rows); err != nil {
			t.Fatal(err)
		}
		for _, op := range rows.Ops() {
			batch.Put(op.Key, op.Value)
		}
	}
	if err := e.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	return e, tr, addresses
}

// counting counts the scans of a view.
type counting struct {
	store.Reader
	scans int
	fail  error
}

func (c *counting) Scan(ctx context.Context, r store.Range) iter.Seq2[store.Row, error] {
	c.scans++
	if c.fail != nil {
		return func(yield func(store.Row, error) bool) { yield(store.Row{}, c.fail) }
	}
	return c.Reader.Scan(ctx, r)
}

func view(t *testing.T, e store.Engine, fn func(ctx context.Context, r store.Reader)) {
	t.Helper()
	ctx := t.Context()
	if err := e.View(ctx, func(r store.Reader) error { fn(ctx, r); return nil }); err != nil {
		t.Fatal(err)
	}
}

// TestClassesAt asks for every contract at every block, one by one and in pages.
func TestClassesAt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	e, tr, addresses := play(t, rng)
	var pairs []contract.At
	both := 0
	view(t, e, func(ctx context.Context, r store.Reader) {
		for _, a := range append(addresses, felt.FromUint64(5)) {
			for n := range uint64(blocks + 3) {
				at := contract.At{Address: a, Block: n}
				pairs = append(pairs, at)
				got, found, err := contract.ClassesAt(ctx, r, a, n)
				if err != nil {
					t.Fatal(err)
				}
				last := at
				last.Block = min(n, blocks-1)
				after, exists := tr.after[last]
				if found != exists || got.After != after {
					t.Fatalf("contract %s after block %d: %v %t, want %v %t", a, n, got.After, found, after, exists)
				}
				if n >= blocks || !exists {
					continue
				}
				before, was := tr.before[at]
				if (got.Before != nil) != was || was && *got.Before != before {
					t.Fatalf("contract %s before block %d: %v, want %v %t", a, n, got.Before, before, was)
				}
				var want []felt.Felt
				initial, deployed := tr.deployed[at]
				switch {
				case was && before != after:
					want = []felt.Felt{before, after}
				case deployed && initial != after:
					both++
					want = []felt.Felt{initial, after}
				default:
					want = []felt.Felt{after}
				}
				if c := got.Candidates(); !reflect.DeepEqual(c, want) {
					t.Fatalf("contract %s in block %d: %v, want %v", a, n, c, want)
				}
				if !was && !got.ChangedInBlock || was && before != after && !got.ChangedInBlock {
					t.Fatalf("contract %s in block %d: no change", a, n)
				}
			}
		}
		for range 200 {
			page := make([]contract.At, 1+rng.IntN(100))
			distinct, contracts := map[contract.At]bool{}, map[felt.Felt]bool{}
			for i := range page {
				page[i] = pairs[rng.IntN(len(pairs))]
				if i > 0 && rng.IntN(3) == 0 {
					page[i] = page[rng.IntN(i)]
				}
				distinct[page[i]], contracts[page[i].Address] = true, true
			}
			c := &counting{Reader: r}
			got, err := contract.ClassesAtMany(ctx, c, page)
			if err != nil {
				t.Fatal(err)
			}
			if c.scans < len(contracts) || c.scans > len(contracts)+len(distinct) {
				t.Errorf("%d scans for %d pairs of %d contracts", c.scans, len(distinct), len(contracts))
			}
			for i, at := range page {
				want, found, err := contract.ClassesAt(ctx, r, at.Address, at.Block)
				if err != nil {
					t.Fatal(err)
				}
				if found != (got[i] != nil) || found && !reflect.DeepEqual(*got[i], want) {
					t.Fatalf("%+v: %+v, want %+v", at, got[i], want)
				}
			}
		}
	})
	if both == 0 {
		t.Error("no contract was replaced in the block of its deployment")
	}
}

func TestErrors(t *testing.T) {
	e, _, addresses := play(t, rand.New(rand.NewPCG(1, 2)))
	boom := errors.New("boom")
	view(t, e, func(ctx context.Context, r store.Reader) {
		c := &counting{Reader: r, fail: boom}
		if _, _, err := contract.ClassesAt(ctx, c, addresses[0], 5); !errors.Is(err, boom) {
			t.Errorf("got %v", err)
		}
		if _, err := contract.ClassesAtMany(ctx, c, []contract.At{{Address: addresses[0], Block: 5}}); !errors.Is(err, boom) {
			t.Errorf("got %v", err)
		}
		if got, err := contract.ClassesAtMany(ctx, c, nil); err != nil || len(got) != 0 {
			t.Errorf("got %v, %v", got, err)
		}
	})
}
