package api

import (
	"context"
	"encoding/binary"
	"errors"

	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/store"
)

// A page mostly ends at a place in a block. Its cursor holds
//
//	block (8) │ the rest of the place (n) │ hash of the block (32)
//
// and is refused when the chain has another block there: while it has this one,
// everything below is as it was, and going on is exact.

// anchor is the block that a place depends on. It depends on none when the hash
// is zero.
type anchor struct {
	number uint64
	hash   felt.Felt
}

// holds says whether the block is part of the chain. One Get.
func (a anchor) holds(ctx context.Context, r store.Reader) (bool, error) {
	if a.hash.IsZero() {
		return true, nil
	}
	_, err := event.Resume(ctx, r, event.Place{Block: a.number}, a.hash)
	if errors.Is(err, event.ErrReorganised) {
		return false, nil
	}
	return err == nil, err
}

// sealAt makes the cursor of a place.
func (s *Routes) sealAt(scope string, at anchor, rest []byte) *string {
	b := append(binary.BigEndian.AppendUint64(nil, at.number), rest...)
	next := s.Seal(scope, append(b, at.hash[:]...))
	return &next
}

// openAt reads a cursor of sealAt that has so many bytes of rest.
func (s *Routes) openAt(ctx context.Context, r store.Reader, scope, cursor string, size int) (at anchor, rest []byte, err error) {
	b, e := s.OpenCursor(ctx, scope, cursor)
	if e != nil {
		return at, nil, e
	}
	if len(b) != 8+size+felt.Size {
		return at, nil, otherVersion()
	}
	at = anchor{binary.BigEndian.Uint64(b), felt.Felt(b[8+size:])}
	same, err := at.holds(ctx, r)
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
func (s *Routes) sealSpot(scope string, at anchor, spot ...uint32) *string {
	var rest []byte
	for _, n := range spot {
		rest = binary.BigEndian.AppendUint32(rest, n)
	}
	return s.sealAt(scope, at, rest)
}

// openSpot reads a cursor of sealSpot, with as many numbers.
func (s *Routes) openSpot(ctx context.Context, r store.Reader, scope, cursor string, spot ...*uint32) (block uint64, err error) {
	at, rest, err := s.openAt(ctx, r, scope, cursor, 4*len(spot))
	if err != nil {
		return 0, err
	}
	for i, n := range spot {
		*n = binary.BigEndian.Uint32(rest[4*i:])
	}
	return at.number, nil
}
