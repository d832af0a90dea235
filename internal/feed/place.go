package feed

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
)

// Place is how far somebody was told. Its zero value is in front of the first block.
type Place struct {
	block.Ref // the newest block that was looked at
	// Part is 0 when all of that block was told. Otherwise so many parts of it were, and
	// Tx, Log and Index are where the last match of them is.
	Part           uint32
	Tx, Log, Index uint32
	// Finalized and L1 are the numbers behind the newest blocks of these tiers, 0 for none,
	// and ForkCount how many forks there were: what kinds finality and fork go by.
	Finalized, L1, ForkCount uint64
}

// first is the first block that is looked at behind the place, and after the match in it
// behind which; nil for all.
func (p *Place) first() (uint64, *transfer.Place) {
	switch {
	case p.Part > 0:
		return p.Number, &transfer.Place{Place: explorer.Place{Block: p.Number, Tx: p.Tx, Log: p.Log}, Index: p.Index}
	case p.Start():
		return 0, nil
	}
	return p.Number + 1, nil
}

// Start says that the place is in front of the first block.
func (p *Place) Start() bool { return p.Ref == block.Ref{} }

// rungs is how many earlier blocks a mark knows: 1, 2, 4, … 32768 below its own.
const rungs = 16

// rung is the end of a block's hash.
type rung [8]byte

func rungOf(hash felt.Felt) rung { return rung(hash[felt.Size-len(rung{}):]) }

// Mark is a place with what it takes to find, after any fork and without memory, a block
// below it that is still of the chain.
type Mark struct {
	Place
	// Sent is the number behind the newest block of which something was told, or behind which
	// the telling began; 0 for none. Where a fork took only later ones, nothing needs to be
	// taken back.
	Sent uint64

	ladder []rung // of the blocks 1, 2, 4, … below Place.Number, as far as there are
}

// MaxMark is more than the length of a mark's text.
const MaxMark = 400

const markVersion = 1

// maxParts is more than any block has.
const maxParts = 1 << 20

// MarshalText writes the mark in letters, digits, - and _.
func (m Mark) MarshalText() ([]byte, error) {
	b := append(make([]byte, 0, 256), markVersion)
	for _, n := range []uint64{m.Number, uint64(m.Part), uint64(m.Tx), uint64(m.Log), uint64(m.Index), m.Finalized, m.L1, m.ForkCount, m.Sent} {
		b = binary.AppendUvarint(b, n)
	}
	b = append(b, m.Hash[:]...)
	for _, r := range m.ladder {
		b = append(b, r[:]...)
	}
	return base64.RawURLEncoding.AppendEncode(nil, b), nil
}

// String is the text of the mark.
func (m Mark) String() string {
	text, _ := m.MarshalText() //nolint:errcheck // it never fails
	return string(text)
}

// ErrMark says that a text is no mark.
var ErrMark = errors.New("it is not a place that this service gave out")

// UnmarshalText reads what MarshalText wrote, and nothing else. Whoever hands it in can say
// what they like: a mark is a place to look at, and proves nothing.
func (m *Mark) UnmarshalText(text []byte) error {
	if len(text) > MaxMark {
		return fmt.Errorf("%w: %d letters", ErrMark, len(text))
	}
	b, err := base64.RawURLEncoding.Strict().AppendDecode(nil, text)
	if err != nil || len(b) == 0 || b[0] != markVersion {
		return ErrMark
	}
	b = b[1:]
	var n [9]uint64
	for i := range n {
		v, size := binary.Uvarint(b)
		if size <= 0 || size > 1 && b[size-1] == 0 { // not its shortest form
			return ErrMark
		}
		n[i], b = v, b[size:]
	}
	for _, v := range n[1:5] {
		if v > explorer.BehindAll {
			return ErrMark
		}
	}
	if n[1] > maxParts {
		return ErrMark
	}
	if len(b) < felt.Size || n[0] >= 1<<62 {
		return ErrMark
	}
	hash, err := felt.FromBytes(b[:felt.Size])
	if err != nil {
		return ErrMark
	}
	b = b[felt.Size:]
	if len(b)%len(rung{}) != 0 || len(b)/len(rung{}) != ladderOf(n[0]) {
		return ErrMark
	}
	*m = Mark{Place: Place{Ref: block.Ref{Number: n[0], Hash: hash}, Part: uint32(n[1]), Tx: uint32(n[2]), Log: uint32(n[3]), Index: uint32(n[4]),
		Finalized: n[5], L1: n[6], ForkCount: n[7]}, Sent: n[8]}
	for ; len(b) > 0; b = b[len(rung{}):] {
		m.ladder = append(m.ladder, rung(b))
	}
	return nil
}

// Moved is the mark of another place in the same block, with the same rungs; false where it
// is in another.
func (m Mark) Moved(to Place) (Mark, bool) {
	return Mark{Place: to, ladder: m.ladder}, m.Ref == to.Ref
}

// ladderOf is how many rungs the mark of a block has.
func ladderOf(number uint64) (n int) {
	for n < rungs && number >= 1<<n {
		n++
	}
	return n
}
