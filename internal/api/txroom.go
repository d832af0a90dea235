package api

import (
	"sync"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
)

// txRoom is the memory that the answer about a transaction is made in. It is used again for another one
// when the answer is written: it takes tens of kilobytes, most of them for decoded fields.
type txRoom struct {
	out     body[Tx]
	receipt Receipt
	from    felt.Felt
	to      felt.Felt
	text    texts
	record  transaction.Room
	block   block.Room
	decoded decoded.Room
	events  []decoded.Event
	logs    []Log
	calls   []AccountCall
	count   int // of the calls of an account
	called  []decoded.Call
	// arguments are the decoded ones of calls, which point here.
	arguments [][]DecodedField
	transfers token.TransferRoom
	moved     []TxTransfer
	fields    []DecodedField // of events and of calls, one behind the other
	taken     int            // fields since the room is empty
}

var txRooms = sync.Pool{New: func() any { return &txRoom{} }}

// How much a room keeps for the next answer: few transactions have more.
const roomyRows, roomyFields = 64, 384

// fieldsFor are so many empty fields.
func (m *txRoom) fieldsFor(n int) []DecodedField {
	if m.taken += n; n == 0 {
		return []DecodedField{} // and not none
	}
	if len(m.fields)+n > cap(m.fields) { // those before belong to the answer as well
		m.fields = make([]DecodedField, 0, max(n, 2*cap(m.fields)))
	}
	from := len(m.fields)
	m.fields = m.fields[:from+n]
	return m.fields[from : from+n : from+n]
}

// Return empties the room, and leaves it to the next answer.
func (m *txRoom) Return() {
	m.out, m.receipt = body[Tx]{}, Receipt{}
	m.text.recycle()
	m.record.Recycle()
	m.decoded.Recycle()
	m.transfers.Recycle()
	m.called, m.arguments, m.moved = emptied(m.called, roomyRows), emptied(m.arguments, roomyRows), emptied(m.moved, roomyRows)
	m.events, m.logs, m.calls = emptied(m.events, roomyRows), emptied(m.logs, roomyRows), emptied(m.calls, roomyRows)
	if n := min(m.taken, roomyFields); n > cap(m.fields) {
		m.fields = make([]DecodedField, 0, n)
	} else if cap(m.fields) > roomyFields {
		m.fields = nil
	}
	m.fields, m.taken = m.fields[:0], 0
	txRooms.Put(m)
}

// emptied is the memory of a list that is not looked at any more; nil for one that is too large to keep. What it has is
// written over by the next answer, or goes with the room when the garbage is collected.
func emptied[T any](list []T, most int) []T {
	if cap(list) > most {
		return nil
	}
	return list[:0]
}
