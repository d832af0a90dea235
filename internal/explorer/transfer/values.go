package transfer

import "math/big"

// The numbers of a transfer are there twice: as they stand in it, big endian, for comparing and
// showing, and as integers, for sums.

// AmountBytes is how much was moved, one of an ERC-721; nil of an ambiguous transfer, whose
// number may be an id.
func (t *Transfer) AmountBytes() *[32]byte {
	if t.Standard == Ambiguous {
		return nil
	}
	return &t.Value
}

// NumberBytes is the value as the event has it, amount or id; nil of an ERC-721, which has
// its id alone.
func (t *Transfer) NumberBytes() *[32]byte {
	if t.Standard == ERC721 {
		return nil
	}
	return &t.Value
}

// TokenIDBytes names what was moved; nil where nothing does.
func (t *Transfer) TokenIDBytes() *[32]byte {
	if !t.HasID {
		return nil
	}
	return &t.ID
}

// Amount is AmountBytes as an integer.
func (t *Transfer) Amount() *big.Int { return integer(t.AmountBytes()) }

// Number is NumberBytes as an integer.
func (t *Transfer) Number() *big.Int { return integer(t.NumberBytes()) }

// TokenID is TokenIDBytes as an integer.
func (t *Transfer) TokenID() *big.Int { return integer(t.TokenIDBytes()) }

func integer(b *[32]byte) *big.Int {
	if b == nil {
		return nil
	}
	return new(big.Int).SetBytes(b[:])
}

// Mint says that the event brought what it moved into being, Burn that it ended it. A
// transfer from zero to zero is neither.
func (t *Transfer) Mint() bool { return t.From.IsZero() && !t.To.IsZero() }

// Burn is the reverse of Mint.
func (t *Transfer) Burn() bool { return !t.From.IsZero() && t.To.IsZero() }
