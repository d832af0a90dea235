package api

import (
	"sync"

	"chainexplorer/internal/explorer/block"
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
