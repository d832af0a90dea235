package transfer_test

import (
	"math/big"
	"testing"

	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
)

// TestValues: of each standard the numbers that it has, and no others.
func TestValues(t *testing.T) {
	five, nine := [32]byte{31: 5}, [32]byte{31: 9}
	none := int64(-1)
	ambiguous := transfer.Transfer{Value: five}
	for name, c := range map[string]struct {
		of                 transfer.Transfer
		amount, number, id int64
	}{
		"ambiguous":            {ambiguous, none, 5, none},
		"settled as an ERC-20": {ambiguous.As(transfer.ERC20), 5, 5, none},
		"settled as an NFT":    {ambiguous.As(transfer.ERC721), 1, none, 5},
		"of many":              {transfer.Transfer{Standard: transfer.ERC1155, HasID: true, ID: nine, Value: five}, 5, 5, 9},
	} {
		for what, x := range map[string]struct {
			got  *big.Int
			want int64
		}{"amount": {c.of.Amount(), c.amount}, "number": {c.of.Number(), c.number}, "id": {c.of.TokenID(), c.id}} {
			if (x.got == nil) != (x.want == none) || x.got != nil && x.got.Int64() != x.want {
				t.Errorf("%s: the %s is %v, want %d", name, what, x.got, x.want)
			}
		}
	}
}

// TestMintAndBurn: what the zero address is a side of, and not both.
func TestMintAndBurn(t *testing.T) {
	a, b := felt.FromUint64(1), felt.FromUint64(2)
	for _, c := range []struct {
		from, to   felt.Felt
		mint, burn bool
	}{{a, b, false, false}, {felt.Zero, b, true, false}, {a, felt.Zero, false, true}, {felt.Zero, felt.Zero, false, false}} {
		x := transfer.Transfer{From: c.from, To: c.to}
		if x.Mint() != c.mint || x.Burn() != c.burn {
			t.Errorf("%s to %s: mint %t, burn %t", c.from, c.to, x.Mint(), x.Burn())
		}
	}
}
