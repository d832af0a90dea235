package api

import (
	"context"
	"encoding/binary"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// A page mostly ends at a place in a block. Its cursor holds
//
//	block (8) │ the rest of the place (n) │ hash of the block (32)
//
// and is refused when the chain has another block there: while it has this one,
// everything below is as it was, and going on is exact.

// holds says whether the block that a place depends on is part of the chain. A place
// depends on none when the hash is zero.
func holds(ctx context.Context, r explorer.Reader, at block.Ref) (bool, error) {
	if at.Hash.IsZero() {
		return true, nil
	}
	return at.Holds(ctx, r)
}

// sealAt makes the cursor of a place.
func (s *Routes) sealAt(scope string, at block.Ref, rest []byte) *string {
	b := append(binary.BigEndian.AppendUint64(nil, at.Number), rest...)
	next := s.Seal(scope, append(b, at.Hash[:]...))
	return &next
}

// openAt reads a cursor of sealAt that has so many bytes of rest.
func (s *Routes) openAt(ctx context.Context, r explorer.Reader, scope, cursor string, size int) (at block.Ref, rest []byte, err error) {
	b, e := s.OpenCursor(ctx, scope, cursor)
	if e != nil {
		return at, nil, e
	}
	if len(b) != 8+size+felt.Size {
		return at, nil, otherVersion()
	}
	at = block.Ref{Number: binary.BigEndian.Uint64(b), Hash: felt.Felt(b[8+size:])}
	same, err := holds(ctx, r, at)
	if err == nil && !same {
		err = kernel.Fail(kernel.CodeInvalidCursor, "The chain was reorganised below this cursor. Start again without a cursor.")
	}
	return at, b[8 : 8+size], err
}

// otherVersion refuses a cursor that an older or newer process made.
func otherVersion() *kernel.Error {
	return kernel.Fail(kernel.CodeInvalidCursor, "The cursor is of another version. Start again without a cursor.")
}

// sealSpot makes the cursor of a place that is so many numbers inside a block.
func (s *Routes) sealSpot(scope string, at block.Ref, spot ...uint32) *string {
	var rest []byte
	for _, n := range spot {
		rest = binary.BigEndian.AppendUint32(rest, n)
	}
	return s.sealAt(scope, at, rest)
}

// openSpot reads a cursor of sealSpot, with as many numbers.
func (s *Routes) openSpot(ctx context.Context, r explorer.Reader, scope, cursor string, spot ...*uint32) (number uint64, err error) {
	at, rest, err := s.openAt(ctx, r, scope, cursor, 4*len(spot))
	if err != nil {
		return 0, err
	}
	for i, n := range spot {
		*n = binary.BigEndian.Uint32(rest[4*i:])
	}
	return at.Number, nil
}
