package message

import (
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/places"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Subject projects messages.
type Subject struct{}

var _ explorer.Follower = Subject{}

// Name is the subject's name.
func (Subject) Name() string { return "message" }

// Tables lists the subject's tables.
func (Subject) Tables() []*store.Table { return []*store.Table{Blocks, Contracts, Hashes, Sent} }

// Recalled lists the table whose rows are asked for again.
func (Subject) Recalled() []*store.Table { return []*store.Table{Sent} }

// lists gathers lists in the order in which they first appear in the block.
type lists struct {
	of    map[[1 + felt.Size]byte]int
	keys  [][1 + felt.Size]byte
	spots [][]places.Spot
}

func (l *lists) add(d Direction, address *felt.Felt, s places.Spot) {
	var key [1 + felt.Size]byte
	copy(key[:], contractPartition(d, address))
	i, there := l.of[key]
	if !there {
		i = len(l.keys)
		l.of[key] = i
		l.keys, l.spots = append(l.keys, key), append(l.spots, nil)
	}
	if n := len(l.spots[i]); n == 0 || l.spots[i][n-1] != s {
		l.spots[i] = append(l.spots[i], s)
	}
}

// Project writes the rows that follow from the block.
func (Subject) Project(b *explorer.Block, rows *explorer.Rows) error {
	var block [2][]places.Spot
	l := lists{of: map[[1 + felt.Size]byte]int{}}
	for i := range b.Transactions {
		t, r := &b.Transactions[i], &b.Receipts[i]
		for n := range Count(t, r) {
			m, s := Of(t, r, n), places.Spot{Tx: uint32(i), Sub: uint32(n)}
			block[m.Direction] = append(block[m.Direction], s)
			if m.HasFrom {
				l.add(m.Direction, &m.From, s)
			}
			l.add(m.Direction, &m.To, s)
			rows.Put(Hashes, m.Hash[:], s.In(b.Number).Append(nil), []byte{byte(m.Direction)})
		}
	}
	sort := explorer.BlockKey(b.Number)
	for _, d := range Directions {
		if len(block[d]) > 0 {
			rows.Put(Blocks, blockPartition(d, b.Number), sort, places.Encode(nil, block[d]))
		}
	}
	for i := range l.keys {
		rows.Put(Contracts, l.keys[i][:], sort, places.Encode(nil, l.spots[i]))
	}
	return nil
}

// sent lists the messages that a block sends to L1, each hash once, with how
// often it does.
func sent(b *explorer.Block) (hashes []Hash, times []uint64) {
	var at map[Hash]int
	for i := range b.Receipts {
		list := b.Receipts[i].MessagesSent
		for j := range list {
			if at == nil {
				at = map[Hash]int{}
			}
			h := list[j].Hash()
			n, there := at[h]
			if !there {
				n = len(hashes)
				at[h] = n
				hashes, times = append(hashes, h), append(times, 0)
			}
			times[n]++
		}
	}
	return hashes, times
}

// Plan counts the messages that the block sends, and asks how many there were.
func (Subject) Plan(b *explorer.Block) (p explorer.Plan) {
	hashes, times := sent(b)
	for i := range hashes {
		p.Keys = append(p.Keys, sentKey(&hashes[i]))
	}
	p.Follow = func(earlier [][]byte, rows *explorer.Rows) error {
		for i := range hashes {
			n, err := decodeSent(earlier[i])
			if err != nil {
				return err
			}
			rows.Put(Sent, hashes[i][:], nil, encodeSent(n+times[i]))
		}
		return nil
	}
	return p
}
