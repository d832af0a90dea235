package export

import (
	"fmt"
	"math/big"
	"strconv"

	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
)

// low is a DECIMAL(26,0) and high a DECIMAL(38,0), as Parquet has them: two's complement,
// big endian.
type (
	low  [11]byte
	high [16]byte
)

// amount is a number of any size in the two forms that the files have of it: its decimal
// digits, and three decimals of which it is e0 + e26·10²⁶ + e52·10⁵², all of its sign.
// No query engine has a number of 256 bits that sums up in all of them; a sum of such
// decimals is exact in each.
type amount struct {
	text    string
	e0, e26 low
	e52     high
}

var (
	ten26    = new(big.Int).Exp(big.NewInt(10), big.NewInt(26), nil)
	ten38    = new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil)
	twoTo88  = new(big.Int).Lsh(big.NewInt(1), 8*uint(len(low{})))
	twoTo128 = new(big.Int).Lsh(big.NewInt(1), 8*uint(len(high{})))
)

// amountOf fails for what has more than 90 digits, which no sum of a block's transfers has.
func amountOf(n *big.Int) (a amount, err error) {
	if n.IsUint64() {
		return smallAmount(n.Uint64()), nil
	}
	a.text = n.String()
	rest, digits := new(big.Int), new(big.Int)
	rest.QuoRem(n, ten26, digits) // truncated: all parts have the sign of n
	fill(a.e0[:], digits, twoTo88)
	rest.QuoRem(rest, ten26, digits)
	fill(a.e26[:], digits, twoTo88)
	if rest.CmpAbs(ten38) >= 0 {
		return a, fmt.Errorf("an amount of %d digits does not fit the columns", len(a.text))
	}
	fill(a.e52[:], rest, twoTo128)
	return a, nil
}

// smallAmount is most of them.
func smallAmount(n uint64) (a amount) {
	a.text = strconv.FormatUint(n, 10)
	for i := range 8 {
		a.e0[len(a.e0)-1-i] = byte(n >> (8 * i))
	}
	return a
}

// fill writes n in two's complement; modulus is what one more than fits b.
func fill(b []byte, n, modulus *big.Int) {
	if n.Sign() < 0 {
		n.Add(n, modulus)
	}
	n.FillBytes(b)
}

// amountOfFelt is the amount that a felt has: below 2²⁵², it always fits.
func amountOfFelt(f *felt.Felt) (amount, error) {
	if n, ok := f.Uint64(); ok {
		return smallAmount(n), nil
	}
	return amountOf(f.Big())
}

// amountOfChange is a sum with a sign.
func amountOfChange(a token.Amount) (amount, error) {
	if a[1]|a[2]|a[3]|a[4] == 0 {
		return smallAmount(a[0]), nil
	}
	return amountOf(a.Big())
}
