package simnode

import (
	"slices"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// call is one entry of a multicall.
type call struct {
	to       felt.Felt
	selector felt.Felt
	args     []felt.Felt
}

type cellWrite struct{ contract, key, value felt.Felt }

// builder makes one block. The contracts' functions write through it: state
// into the world, events and calls into the transaction in hand.
type builder struct {
	w      *world
	r      *random
	number uint64
	branch uint64
	prices prices
	// past gives the hash of an earlier block.
	past func(number uint64) felt.Felt

	block    *starknet.Block
	callEnds [][]uint16
	diff     starknet.StateDiff
	cells    []cellWrite
	arena    []felt.Felt

	// The transaction in hand.
	calls    []call
	scratch  []felt.Felt // arguments of calls, until they are calldata
	ends     []uint16
	events   []starknet.Event
	messages []starknet.MessageToL1
	proof    []felt.Felt
}

// prices of gas in a block, in fri; wei prices are a fixed part of them.
type prices struct{ l1, data, l2 uint64 }

const arenaChunk = 512

// felts copies into the block's arena: a block has thousands of short lists,
// and they live and die together.
func (b *builder) felts(fs ...felt.Felt) []felt.Felt {
	if len(fs) == 0 {
		return []felt.Felt{}
	}
	if cap(b.arena)-len(b.arena) < len(fs) {
		b.arena = make([]felt.Felt, 0, max(arenaChunk, len(fs)))
	}
	start := len(b.arena)
	b.arena = append(b.arena, fs...)
	return b.arena[start:len(b.arena):len(b.arena)]
}

// emit adds an event to the transaction in hand.
func (b *builder) emit(from felt.Felt, keys, data []felt.Felt) {
	b.events = append(b.events, starknet.Event{From: from, Keys: keys, Data: data})
}

// call adds a call to the transaction in hand. The events of the call are
// emitted before it is closed by done.
func (b *builder) call(to, selector felt.Felt, args ...felt.Felt) {
	start := len(b.scratch)
	b.scratch = append(b.scratch, args...)
	b.calls = append(b.calls, call{to, selector, b.scratch[start:len(b.scratch):len(b.scratch)]})
}

// done marks the end of the events of the newest call.
func (b *builder) done() {
	for len(b.ends) < len(b.calls) {
		b.ends = append(b.ends, uint16(len(b.events)))
	}
}

// write sets a storage cell that is not a token balance.
func (b *builder) write(contract, key, value felt.Felt) {
	b.cells = append(b.cells, cellWrite{contract, key, value})
}

// message sends to the base layer.
func (b *builder) message(from, to felt.Felt, payload ...felt.Felt) {
	b.messages = append(b.messages, starknet.MessageToL1{From: from, To: to, Payload: b.felts(payload...)})
}

// deploy brings a contract into being.
func (b *builder) deploy(address felt.Felt, c *contracts.Class) id {
	i := b.w.intern(address)
	b.w.classOf.set(b.number, i, c)
	return i
}

var supplyCell = felt.Selector("ERC20_total_supply")

// finishDiff turns what the block changed in the world into a state diff,
// every list sorted.
func (b *builder) finishDiff() {
	w, d := b.w, &b.diff
	w.classOf.changed(b.number, func(i id, c *contracts.Class) {
		if len(w.classOf.rows[i]) > 1 {
			d.Replaced = append(d.Replaced, starknet.ReplacedClass{Address: w.address(i), ClassHash: c.Hash})
		} else {
			d.Deployed = append(d.Deployed, starknet.DeployedContract{Address: w.address(i), ClassHash: c.Hash})
		}
	})
	w.nonces.changed(b.number, func(i id, n uint64) {
		d.Nonces = append(d.Nonces, starknet.NonceUpdate{Address: w.address(i), Nonce: felt.FromUint64(n)})
	})
	w.balances.changed(b.number, func(k balanceKey, a amount) {
		token, cell := w.tokens.items[k.token].Address, w.balanceCell(k.holder)
		b.write(token, cell, a.low())
		if !a.fits128() {
			b.write(token, next(cell), a.high())
		}
	})
	w.supplies.changed(b.number, func(token int, a amount) { b.write(w.tokens.items[token].Address, supplyCell, a.low()) })
	b.sortDiff()
}

// next is the cell after f.
func next(f felt.Felt) felt.Felt {
	for i := felt.Size - 1; i >= 0; i-- {
		f[i]++
		if f[i] != 0 {
			break
		}
	}
	return f
}

func (b *builder) sortDiff() {
	d := &b.diff
	slices.SortStableFunc(b.cells, func(x, y cellWrite) int {
		if c := x.contract.Cmp(y.contract); c != 0 {
			return c
		}
		return x.key.Cmp(y.key)
	})
	entries := make([]starknet.StorageEntry, 0, len(b.cells))
	start := 0
	for i, c := range b.cells {
		last := i+1 == len(b.cells) || b.cells[i+1].contract != c.contract
		if !last && b.cells[i+1].key == c.key {
			continue // written again later in the block
		}
		entries = append(entries, starknet.StorageEntry{Key: c.key, Value: c.value})
		if last {
			d.Storage = append(d.Storage, starknet.StorageDiff{Address: c.contract, Entries: entries[start:len(entries):len(entries)]})
			start = len(entries)
		}
	}
	d.Sort()
}
