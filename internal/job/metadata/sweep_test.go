package metadata_test

import (
	"context"
	"testing"
	"time"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/job/metadata"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// answers is a source of which every contract has the same name.
type answers map[felt.Felt]int

func (a answers) Call(_ context.Context, _, contract, _ felt.Felt, _ []felt.Felt) ([]felt.Felt, error) {
	a[contract]++
	return []felt.Felt{felt.MustShortString("Coin")}, nil
}

// project writes the rows of a block, as the indexer would.
func project(t *testing.T, e store.Engine, lease store.Lease, b *explorer.Block) {
	t.Helper()
	rows := &explorer.Rows{}
	err := e.View(t.Context(), func(r store.Reader) error {
		for _, s := range catalog.Subjects() {
			if err := s.Project(b, rows); err != nil {
				return err
			}
			f, ok := s.(explorer.Follower)
			if !ok {
				continue
			}
			if err := explorer.Follow(t.Context(), []explorer.Plan{f.Plan(b)}, r.GetMany, rows); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	batch := &store.Batch{Epoch: lease.Epoch}
	for _, op := range rows.Ops() {
		batch.Put(op.Key, op.Value)
	}
	batch.Put(chain.FormatKey, chain.Format{Layout: chain.Layout}.Encode())
	batch.Put(chain.HeadKey, chain.Head{Number: b.Number, Hash: b.Hash, Timestamp: b.Timestamp}.Encode())
	if err := e.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
}

// TestTokensThatNeverMoved: contracts of a class with the entry points of a token are
// asked before they move anything, the oldest of a class and no more of it, and known
// ones whatever their class. Those behind a class that tells nothing are not.
func TestTokensThatNeverMoved(t *testing.T) {
	e := pebbletest.Open(t, catalog.Tables())
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	f := felt.FromUint64
	spam, honest, proxy := f(1001), f(1002), f(1003)
	abis := &store.Batch{Epoch: lease.Epoch}
	for hash, kind := range map[felt.Felt]abi.Emitter{spam: abi.EmitterERC20, honest: abi.EmitterERC721, proxy: abi.EmitterUnknown} {
		abis.Put(class.ABIKey(hash), (&class.ABI{Status: class.Ready, Kind: class.Sierra, Token: kind}).Encode())
	}
	if err := e.Commit(t.Context(), abis); err != nil {
		t.Fatal(err)
	}
	deploy := func(number uint64, class felt.Felt, from, to uint64) {
		b := &explorer.Block{}
		b.Number, b.Hash, b.Timestamp = number, f(5000+number), number
		for a := from; a < to; a++ {
			b.State.Deployed = append(b.State.Deployed, starknet.DeployedContract{Address: f(a), ClassHash: class})
		}
		project(t, e, lease, b)
	}
	deploy(0, spam, 60_000, 60_010) // the oldest, though not by address
	deploy(1, spam, 10_000, 10_500)
	deploy(2, honest, 20_000, 20_002)
	deploy(3, proxy, 30_000, 30_003)

	asked, now := answers{}, time.Unix(1_800_000_000, 0)
	j := metadata.New(metadata.Job{Store: e, Source: asked, Known: []felt.Felt{f(30_001), f(99)}, Parallel: 1, Now: func() time.Time { return now }})
	commit := func(ctx context.Context, b *store.Batch) error {
		b.Epoch = lease.Epoch
		return e.Commit(ctx, b)
	}
	catchUp := func() map[uint64]int {
		t.Helper()
		if err := j.CatchUp(t.Context(), commit); err != nil {
			t.Fatal(err)
		}
		groups := map[uint64]int{}
		for a := range asked {
			n, _ := a.Uint64()
			groups[n/10_000]++
		}
		return groups
	}
	if got := catchUp(); got[6] != 10 || got[1] != 54 || got[2] != 2 || got[3] != 1 || got[0] != 0 || asked[f(30_001)] == 0 {
		t.Errorf("asked %v, want the 64 oldest of the crowd, both of the other class, and the known one of the proxies", got)
	}
	err = e.View(t.Context(), func(r store.Reader) error {
		named, err := token.WithSymbol(t.Context(), r, "coin", 100)
		if err == nil && len(named) != 67 {
			t.Errorf("%d tokens are found by their symbol, want 67", len(named))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	// One that is deployed later is found when the directory is looked through again;
	// those that were asked and do nothing are left alone.
	calls := asked[f(20_000)]
	deploy(4, honest, 20_002, 20_003)
	if got := catchUp(); got[2] != 2 {
		t.Errorf("the directory was looked through again at once: %v", got)
	}
	now = now.Add(11 * time.Minute)
	if got := catchUp(); got[2] != 3 || got[1] != 54 {
		t.Errorf("asked %v, want the new one besides", got)
	}
	now = now.Add(100 * time.Hour)
	if catchUp(); asked[f(20_000)] != calls {
		t.Errorf("a token that never moved was asked again: %d calls, then %d", calls, asked[f(20_000)])
	}
}
