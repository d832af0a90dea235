package contract

import (
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// Subject projects the classes of contracts.
type Subject struct{}

var _ explorer.Follower = Subject{}

// Name is the subject's name.
func (Subject) Name() string { return "contract" }

// Tables lists the subject's tables.
func (Subject) Tables() []*store.Table { return []*store.Table{History, Deployments, Currents} }

// Recalled lists no table: nothing is asked for again.
func (Subject) Recalled() []*store.Table { return nil }

// Project writes a row for each class that a contract got in the block, and one
// for each deployment. The lists are sorted: what is said twice stands together.
func (Subject) Project(b *explorer.Block, rows *explorer.Rows) error {
	var e record.Encoder
	evidence := Evidence(b)
	sort := sortKey(b.Number, kindDeployed)
	for i := range b.State.Deployed {
		d := &b.State.Deployed[i]
		if i > 0 && *d == b.State.Deployed[i-1] {
			continue
		}
		rows.Put(History, d.Address[:], sort, d.ClassHash[:])
		rows.Put(Deployments, d.Address[:], nil, evidence[i].encode(&e))
	}
	sort = sortKey(b.Number, kindReplaced)
	for i := range b.State.Replaced {
		d := &b.State.Replaced[i]
		if i > 0 && *d == b.State.Replaced[i-1] {
			continue
		}
		rows.Put(History, d.Address[:], sort, d.ClassHash[:])
	}
	return nil
}

// Plan asks for nothing: a new class takes the place of whatever there was.
func (Subject) Plan(b *explorer.Block) explorer.Plan {
	return explorer.Plan{Follow: func(_ [][]byte, rows *explorer.Rows) error { return follow(b, rows) }}
}

// follow writes the classes that contracts have after the block.
func follow(b *explorer.Block, rows *explorer.Rows) error {
	var e record.Encoder
	for i := range b.State.Deployed {
		d := &b.State.Deployed[i]
		if i > 0 && *d == b.State.Deployed[i-1] || replacedIn(b, &d.Address) {
			continue
		}
		rows.Put(Currents, d.Address[:], nil, (&Current{Block: b.Number, Class: d.ClassHash}).encode(&e))
	}
	for i := range b.State.Replaced {
		d := &b.State.Replaced[i]
		if i > 0 && *d == b.State.Replaced[i-1] {
			continue
		}
		rows.Put(Currents, d.Address[:], nil, (&Current{Block: b.Number, Class: d.ClassHash, Replaced: true}).encode(&e))
	}
	return nil
}

// replacedIn says whether the block also replaces a contract's class.
func replacedIn(b *explorer.Block, address *felt.Felt) bool {
	_, found := slices.BinarySearchFunc(b.State.Replaced, *address, func(c starknet.ReplacedClass, a felt.Felt) int { return c.Address.Cmp(a) })
	return found
}
