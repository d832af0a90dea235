package explorer

import (
	"encoding/binary"
	"math"
)

// Position is a transaction's place in the chain.
type Position struct {
	Block uint64
	Index uint32
}

// Before reports whether p comes first in the chain.
func (p Position) Before(q Position) bool {
	return p.Block < q.Block || p.Block == q.Block && p.Index < q.Index
}

// PositionSize is the length of an encoded Position.
const PositionSize = 12

// Append appends the position as 12 bytes that sort like it.
func (p Position) Append(b []byte) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(b, p.Block), p.Index)
}

// ParsePosition reads what Append wrote.
func ParsePosition(b []byte) (Position, bool) {
	if len(b) != PositionSize {
		return Position{}, false
	}
	return Position{Block: binary.BigEndian.Uint64(b), Index: binary.BigEndian.Uint32(b[8:])}, true
}

// Place is where a log is in the chain: an event, or a message. Places order as
// the chain does.
type Place struct {
	Block uint64
	Tx    uint32 // the transaction's index in its block
	Log   uint32 // the log's index among those of its kind in the transaction
}

// BehindAll is more than any index in a block: Place{n, BehindAll, BehindAll} is
// behind all of block n.
const BehindAll = math.MaxUint32

// EndOf is behind every place of blocks up to a number.
func EndOf(block uint64) Place { return Place{block, BehindAll, BehindAll} }

// Before reports whether p comes first in the chain.
func (p Place) Before(q Place) bool {
	switch {
	case p.Block != q.Block:
		return p.Block < q.Block
	case p.Tx != q.Tx:
		return p.Tx < q.Tx
	}
	return p.Log < q.Log
}

// Position is that of the log's transaction.
func (p Place) Position() Position { return Position{p.Block, p.Tx} }

// PlaceSize is the length of an encoded Place.
const PlaceSize = PositionSize + 4

// Append appends the place as 16 bytes that sort like it.
func (p Place) Append(b []byte) []byte {
	return binary.BigEndian.AppendUint32(p.Position().Append(b), p.Log)
}

// ParsePlace reads what Append wrote.
func ParsePlace(b []byte) (Place, bool) {
	if len(b) != PlaceSize {
		return Place{}, false
	}
	return Place{binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])}, true
}
