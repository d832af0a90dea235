package api

import (
	"context"
	"encoding/binary"
	"errors"

	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// openTransferCursor reads the cursor of a list of transfers and checks that the
// block it points into is still part of the chain.
func (s *Server) openTransferCursor(ctx context.Context, r store.Reader, scope, cursor string) (transfer.Place, byte, error) {
	pos, e := s.cursors.Open(scope, cursor)
	if e != nil {
		return transfer.Place{}, 0, e
	}
	p, hash, extra, ok := parseTransferPosition(pos)
	if !ok {
		return p, 0, fail(CodeInvalidCursor, "The cursor is of another version. Start again without a cursor.")
	}
	_, err := transfer.Resume(ctx, r, p, hash)
	if errors.Is(err, transfer.ErrReorganised) {
		return p, 0, fail(CodeInvalidCursor, "The chain was reorganised below this cursor. Start again without a cursor.")
	}
	return p, extra, err
}

// transferPosition is what a cursor holds: a place, the hash of its block, and a
// mark of the list's own.
func transferPosition(p transfer.Place, hash felt.Felt, extra byte) []byte {
	b := uint32s(binary.BigEndian.AppendUint64(nil, p.Block), p.Tx, p.Log, p.Index)
	return append(append(b, hash[:]...), extra)
}

func parseTransferPosition(b []byte) (p transfer.Place, hash felt.Felt, extra byte, ok bool) {
	if len(b) != 20+felt.Size+1 {
		return p, hash, 0, false
	}
	p = transfer.Place{Block: binary.BigEndian.Uint64(b), Tx: binary.BigEndian.Uint32(b[8:]), Log: binary.BigEndian.Uint32(b[12:]), Index: binary.BigEndian.Uint32(b[16:])}
	copy(hash[:], b[20:])
	return p, hash, b[20+felt.Size], true
}
