package index_test

import (
	"context"
	"testing"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// beginning is a chain whose first block changes a contract that nobody deployed.
type beginning struct{ simsource.Source }

var stranger = felt.FromUint64(0x5717a)

func (s beginning) Fetch(ctx context.Context, number uint64) (index.Raw, error) {
	raw, err := s.Source.Fetch(ctx, number)
	if err == nil && number == 0 {
		su := *s.StateUpdateAt(0)
		su.Diff.Storage = append([]starknet.StorageDiff{{Address: stranger, Entries: []starknet.StorageEntry{{Value: felt.FromUint64(1)}}}}, su.Diff.Storage...)
		raw.StateUpdate = starknet.AppendStateUpdate(nil, &su, starknet.V010)
	}
	return raw, err
}

func (s beginning) ClassHashAt(context.Context, index.BlockRef, felt.Felt) (felt.Felt, bool, error) {
	return felt.Felt{}, false, nil
}

// On such a chain the contracts that transactions use are noted, also in blocks that are
// prepared before the first block has told.
func TestContractsInUseAreNoted(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 5, Blocks: 60, TxPerBlock: 4, EventsPerTx: 3})
	engine := pebbletest.Open(t, catalog.Tables())
	for _, last := range []uint64{20, 40} { // the second begins behind the first block
		err := simsource.Follow(t.Context(), engine, c, last, func(o *index.Options) { o.Source = beginning{simsource.Source{Chain: c}} })
		if err != nil {
			t.Fatal(err)
		}
	}
	noted := map[felt.Felt]bool{}
	err := engine.View(t.Context(), func(r store.Reader) error {
		list, err := contract.WantedOrigins(t.Context(), r, 1<<20)
		for _, a := range list {
			noted[a] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !noted[stranger] {
		t.Error("the contract that the first block changes is not noted")
	}
	emitters := 0
	for n := range uint64(41) {
		for _, r := range c.BlockAt(n).Receipts {
			for _, e := range r.Events {
				if emitters++; !noted[e.From] {
					t.Fatalf("%s, which emits an event in block %d, is not noted", e.From, n)
				}
			}
		}
	}
	if emitters == 0 {
		t.Error("the blocks have no events")
	}
}
