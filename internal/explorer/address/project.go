package address

import (
	"fmt"
	"slices"
	"sync"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/numbering"
	"chainexplorer/internal/explorer/places"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// Subject projects addresses.
type Subject struct{}

var _ explorer.Follower = Subject{}

// Name is the subject's name.
func (Subject) Name() string { return "address" }

// Tables lists the subject's tables.
func (Subject) Tables() []*store.Table { return []*store.Table{Transactions, TotalRows} }

// Recalled lists the table whose rows are asked for again.
func (Subject) Recalled() []*store.Table { return []*store.Table{TotalRows} }

// seen is an address of a block.
type seen struct {
	address   felt.Felt
	spots     []places.Spot // Sub is the Part
	transfers uint64
	received  bool
	moved     uint64 // transactions with transfers that it has no part in
	last      int    // the last transaction that was counted for a transfer, and one
}

// gatherer lists the addresses of a block in the order in which they first
// appear.
type gatherer struct {
	numbers numbering.Table
	list    []seen
	decoded []transfer.Transfer
	spawned []spawned
	buf     []byte
}

// spawned is a contract that a universal deployer deployed in a transaction.
type spawned struct {
	tx      uint32
	address felt.Felt
}

var gatherers = sync.Pool{New: func() any { return &gatherer{} }}

// keepAddresses bounds the memory that a gatherer keeps after a huge block.
const keepAddresses = 1 << 14

func (g *gatherer) reset() {
	if cap(g.list) > keepAddresses {
		*g = gatherer{}
	}
	g.numbers.Reset()
	g.list = g.list[:0]
}

func (g *gatherer) of(address *felt.Felt) *seen {
	n, fresh := g.numbers.Number(address, 0)
	if fresh {
		if int(n) < cap(g.list) { // with the spots of the block before, for their memory
			g.list = g.list[:n+1]
			g.list[n] = seen{address: *address, spots: g.list[n].spots[:0]}
		} else {
			g.list = append(g.list, seen{address: *address})
		}
	}
	return &g.list[n]
}

func (g *gatherer) part(address *felt.Felt, tx int, p Part) {
	s := g.of(address)
	if n := len(s.spots); n > 0 && s.spots[n-1].Tx == uint32(tx) {
		s.spots[n-1].Sub |= uint32(p)
		return
	}
	s.spots = append(s.spots, places.Spot{Tx: uint32(tx), Sub: uint32(p)})
}

func (g *gatherer) parts(b *explorer.Block) {
	g.reset()
	g.spawn(b)
	next := 0
	for i := range b.Transactions {
		for ; next < len(g.spawned) && g.spawned[next].tx == uint32(i); next++ {
			g.part(&g.spawned[next].address, i, Deployed)
		}
		t, r := &b.Transactions[i], &b.Receipts[i]
		switch t.Type {
		case starknet.Invoke:
			if v, _ := t.PlainVersion(); v == 0 { // it names what to call, and nobody who calls
				g.part(&t.ContractAddress, i, Called)
				continue
			}
			g.part(&t.Sender, i, Sender)
			if calls, ok := starknet.ListCalls(t.Calldata); ok {
				for c := range calls.All() {
					g.part(&c.To, i, Called)
				}
			}
		case starknet.Declare:
			g.part(&t.Sender, i, Sender)
		case starknet.DeployAccount:
			g.part(&r.ContractAddress, i, Sender|Deployed)
		case starknet.Deploy:
			g.part(&r.ContractAddress, i, Deployed)
		case starknet.L1Handler:
			g.part(&t.ContractAddress, i, Handler)
		}
	}
}

// spawn lists what universal deployers deployed in the block, by transaction. The
// evidence is that of package contract: their event, and the state diff.
func (g *gatherer) spawn(b *explorer.Block) {
	g.spawned = g.spawned[:0]
	for i, d := range contract.Evidence(b) {
		if d.Kind == contract.ByDeployer {
			g.spawned = append(g.spawned, spawned{d.Tx, b.State.Deployed[i].Address})
		}
	}
	slices.SortStableFunc(g.spawned, func(x, y spawned) int { return int(x.tx) - int(y.tx) })
}

func (g *gatherer) transfers(b *explorer.Block) {
	for i := range b.Receipts {
		events := b.Receipts[i].Events
		for j := range events {
			g.decoded, _ = transfer.Append(g.decoded[:0], &events[j])
			for k := range g.decoded {
				t := &g.decoded[k]
				from := g.of(&t.From)
				from.transfers++
				from.touch(i)
				to := g.of(&t.To) // which may move the list: from is gone
				to.received = true
				if t.From != t.To {
					to.transfers++
					to.touch(i)
				}
			}
		}
	}
}

// touch notes that a transaction moves tokens from or to the address. Transactions
// come in order, and all parts are known.
func (s *seen) touch(tx int) {
	if s.last == tx+1 {
		return
	}
	s.last = tx + 1
	_, part := slices.BinarySearchFunc(s.spots, uint32(tx), func(p places.Spot, tx uint32) int { return int(p.Tx) - int(tx) })
	if !part {
		s.moved++
	}
}

// Project writes the transactions of the block's addresses.
func (Subject) Project(b *explorer.Block, rows *explorer.Rows) error {
	g := gatherers.Get().(*gatherer)
	defer gatherers.Put(g)
	g.parts(b)
	sort := explorer.BlockKey(b.Number)
	for i := range g.list {
		g.buf = places.Encode(g.buf[:0], g.list[i].spots)
		rows.Put(Transactions, g.list[i].address[:], sort, g.buf)
	}
	return nil
}

// added is what a block adds to the totals of an address.
type added struct {
	address felt.Felt
	Totals
}

// Plan adds the block up. It asks for the totals of the block's addresses.
func (Subject) Plan(b *explorer.Block) explorer.Plan {
	g := gatherers.Get().(*gatherer)
	defer gatherers.Put(g)
	g.parts(b)
	g.transfers(b)
	list := make([]added, len(g.list))
	keys := make([]store.Key, len(g.list))
	for i := range g.list {
		s, a := &g.list[i], &list[i]
		a.address = s.address
		parts := uint64(len(s.spots))
		a.Totals = Totals{Transactions: parts + s.moved, Parts: parts, Transfers: s.transfers, Received: s.received}
		for _, spot := range s.spots {
			a.Sends = a.Sends || Part(spot.Sub)&Sender != 0
		}
		keys[i] = totalKey(&a.address)
	}
	return explorer.Plan{Keys: keys, Follow: func(earlier [][]byte, rows *explorer.Rows) error {
		return follow(b.Number, list, earlier, rows)
	}}
}

// follow adds what a block did to the totals before it.
func follow(number uint64, list []added, earlier [][]byte, rows *explorer.Rows) error {
	var e record.Encoder
	for i := range list {
		a := &list[i]
		t := Totals{First: number}
		if earlier[i] != nil {
			var err error
			if t, err = decodeTotals(earlier[i]); err != nil {
				return fmt.Errorf("totals of %s: %w", a.address, err)
			}
		}
		t.Latest = number
		t.Transactions += a.Transactions
		t.Parts += a.Parts
		t.Transfers += a.Transfers
		t.Received = t.Received || a.Received
		t.Sends = t.Sends || a.Sends
		rows.Put(TotalRows, a.address[:], nil, t.encode(&e))
	}
	return nil
}
