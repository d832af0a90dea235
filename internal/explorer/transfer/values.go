package transfer

import "math/big"

// Amount is how much was moved, one of an ERC-721; nil of an ambiguous transfer, whose
// number may be an id.
func (t *Transfer) Amount() *big.Int {
	if t.Standard == Ambiguous {
		return nil
	}
	return new(big.Int).SetBytes(t.Value[:])
}

// Number is the value as the event has it, amount or id; nil of an ERC-721, which has
// its id alone.
func (t *Transfer) Number() *big.Int {
	if t.Standard == ERC721 {
		return nil
	}
	return new(big.Int).SetBytes(t.Value[:])
}

// TokenID names what was moved; nil where nothing does.
func (t *Transfer) TokenID() *big.Int {
	if !t.HasID {
		return nil
	}
	return new(big.Int).SetBytes(t.ID[:])
}

// Mint says that the event brought what it moved into being, Burn that it ended it. A
// transfer from zero to zero is neither.
func (t *Transfer) Mint() bool { return t.From.IsZero() && !t.To.IsZero() }

// Burn is the reverse of Mint.
func (t *Transfer) Burn() bool { return !t.From.IsZero() && t.To.IsZero() }
