package api

import (
	"slices"
	"sync"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/transaction"
)

// blockRoom is the memory that the answer about a block is made in. It is used again for another one when the
// answer is written.
type blockRoom struct {
	out    body[Block]
	prices [3]GasPrice
	text   texts
	block  block.Room
	txs    transaction.PreviewRoom
	rows   []TxPreview
}

var blockRooms = sync.Pool{New: func() any { return &blockRoom{} }}

// roomyTxs is for how many transactions a room keeps memory: as many as are shown at most.
const roomyTxs = 200

// Return empties the room, and leaves it to the next answer.
func (m *blockRoom) Return() {
	m.out, m.prices = body[Block]{}, [3]GasPrice{}
	m.text.recycle()
	m.txs.Recycle()
	m.rows = emptied(m.rows, roomyTxs)
	blockRooms.Put(m)
}

// renderBlock renders a block in its room.
func renderBlock(c *Chain, state *chain.State, b *block.Summary, txs []*transaction.Preview, room *blockRoom) {
	text, prices := &room.text, &room.prices
	room.rows = slices.Grow(room.rows[:0], max(len(txs), 1)) // which is not nil
	room.rows = previews(state, txs, text, room.rows)
	*prices = [...]GasPrice{gasPrice(&b.L1GasPrice, text), gasPrice(&b.L2GasPrice, text), gasPrice(&b.L1DataGasPrice, text)}
	out := &room.out.Body
	*out = Block{
		ChainID: c.ID, BlockNumber: b.Number, BlockHash: b.Hash, ParentHash: b.ParentHash, TimestampISO: text.iso(b.Timestamp),
		TxCount: b.Transactions, EventCount: b.Events, FinalityStatus: finality(state, b.Number),
		RawObjectKey: blockObject(c, b, text),
		StateRoot:    &b.NewRoot,
		L1GasPrice:   &prices[0], L2GasPrice: &prices[1], L1DataGasPrice: &prices[2],
		Transactions: room.rows,
	}
	if !b.Sequencer.IsZero() {
		out.SequencerAddress = &b.Sequencer
	}
	if b.DAMode != 0 {
		out.L1DataAvailabilityMode = text.at(b.DAMode.String())
	}
	if b.StarknetVersion != "" {
		out.StarknetVersion = &b.StarknetVersion
	}
}
