package privacypool_test

import (
	"context"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/contract"
	chainevent "chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

func num(n uint64) felt.Felt { return felt.FromUint64(n) }

// The contracts and classes of the tests. Nobody knows classX.
var (
	pool, pond = num(0x100), num(0x200)
	coin       = num(0x300)
	collector  = num(0x400)

	class1, class2, class21, classX = num(0xc1), num(0xc2), num(0xc21), num(0xcf)
)

// pools are the registry's.
func pools(t testing.TB) []registry.PrivacyPool {
	t.Helper()
	known := []registry.PoolClass{{Hash: class1, Generation: registry.PoolV1}, {Hash: class2, Generation: registry.PoolV2}, {Hash: class21, Generation: registry.PoolV21}}
	c, err := registry.New(registry.Entries{PrivacyPools: []registry.PrivacyPool{
		{Address: pool, Name: "Pool", FeeToken: coin, Classes: known}, {Address: pond, Name: "Pond", FeeToken: coin, Classes: known}}})
	if err != nil {
		t.Fatal(err)
	}
	return c.PrivacyPools()
}

// story is a chain that is written by hand: blocks of transactions of events.
type story struct {
	blocks []*starknet.Block
	diffs  []starknet.StateDiff
}

// block adds a block with a transaction for each list of events.
func (s *story) block(diff starknet.StateDiff, txs ...[]starknet.Event) {
	n := uint64(len(s.blocks))
	b := &starknet.Block{}
	b.Number, b.Timestamp, b.Hash = n, 1000+n, num(n+1<<40)
	if n > 0 {
		b.ParentHash = s.blocks[n-1].Hash
	}
	for i, events := range txs {
		t := starknet.Transaction{Type: starknet.Invoke, Hash: num(n<<20 + uint64(i) + 1<<50)}
		r := starknet.Receipt{Execution: starknet.Succeeded, FeeUnit: starknet.Fri, Events: events}
		r.TransactionHash, r.Type = t.Hash, t.Type
		b.Transactions, b.Receipts = append(b.Transactions, t), append(b.Receipts, r)
	}
	s.blocks, s.diffs = append(s.blocks, b), append(s.diffs, diff)
}

// deploys and replaces are state diffs.
func deploys(class felt.Felt, addresses ...felt.Felt) (d starknet.StateDiff) {
	for _, a := range addresses {
		d.Deployed = append(d.Deployed, starknet.DeployedContract{Address: a, ClassHash: class})
	}
	return d
}

func replaces(address, class felt.Felt) (d starknet.StateDiff) {
	d.Replaced = append(d.Replaced, starknet.ReplacedClass{Address: address, ClassHash: class})
	return d
}

// emits is an event of a contract.
func emits(from felt.Felt, selector string, keys, data []felt.Felt) starknet.Event {
	return starknet.Event{From: from, Keys: append([]felt.Felt{felt.Selector(selector)}, keys...), Data: data}
}

func list(f ...felt.Felt) []felt.Felt { return f }

func (s *story) load(t testing.TB) store.Engine {
	t.Helper()
	e := pebbletest.Open(t, catalog.Tables())
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	batch := &store.Batch{Epoch: lease.Epoch}
	var parent []byte
	for i, b := range s.blocks {
		rows := &explorer.Rows{}
		blk := explorer.NewBlock(b, &starknet.StateUpdate{Diff: s.diffs[i]})
		for _, sub := range []explorer.Subject{contract.Subject{}, transaction.Subject{}, chainevent.Subject{}, block.Subject{}} {
			if err := sub.Project(blk, rows); err != nil {
				t.Fatal(err)
			}
		}
		if err := (block.Subject{}).Plan(blk).Follow([][]byte{parent}, rows); err != nil {
			t.Fatal(err)
		}
		for _, op := range rows.Ops() {
			batch.Put(op.Key, op.Value)
		}
		parent = rows.Ops()[len(rows.Ops())-1].Value
	}
	if err := e.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	return e
}

func view(t testing.TB, e store.Engine, fn func(ctx context.Context, r store.Reader)) {
	t.Helper()
	ctx := t.Context()
	if err := e.View(ctx, func(r store.Reader) error { fn(ctx, r); return nil }); err != nil {
		t.Fatal(err)
	}
}
