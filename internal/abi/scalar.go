package abi

import (
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"math/bits"
	"strconv"

	"chainexplorer/internal/felt"
)

// Values of one type of fixed size: the range check and the typed value.

func (f *Field) setText(k FieldKind, text string) {
	f.Kind, f.DisplayValue = k, felt.ShownAs(text)
	f.TextValue = f.DisplayValue.Text() // which stays as it is
}

func (f *Field) setNumber(k FieldKind, decimal felt.Shown) {
	f.Kind, f.DisplayValue = k, decimal
	f.NumericValue = &f.DisplayValue
}

// setScalar gives the field its typed value, or reports that the felts are not
// a value of that kind.
func (f *Field) setScalar(k kind) bool {
	v := &f.RawValues[0]
	switch k {
	case kindFelt:
		f.DisplayValue = v.Shown()
		return true
	case kindU256:
		if !below(v, 128) || !below(&f.RawValues[1], 128) {
			return false
		}
		f.setNumber(KindU256, felt.Number256(v, &f.RawValues[1]))
		return true
	case kindU512:
		return f.setU512()
	case kindI8, kindI16, kindI32, kindI64, kindI128:
		return f.setSigned(typeBits[k])
	}
	if !below(v, typeBits[k]) {
		return false
	}
	switch k {
	case kindBool:
		b := &truths[v[felt.Size-1]] // below 2
		f.Kind, f.BoolValue, f.DisplayValue = KindBool, b, felt.ShownAs(strconv.FormatBool(*b))
	case kindAddress:
		f.Kind, f.AddressValue, f.DisplayValue = KindAddress, v, v.Shown()
	case kindEthAddress:
		f.Kind, f.AddressValue, f.DisplayValue = KindAddress, v, felt.ShownAs(displayBytes(v[felt.Size-20:]))
	case kindClassHash:
		f.Kind, f.DisplayValue = KindHash, v.Shown()
	case kindStorageAddress, kindBytes31:
		f.DisplayValue = v.Shown()
	default: // unsigned integers
		f.setNumber(KindFelt, v.Number())
	}
	return true
}

// truths are what fields point to. Nobody changes them.
var truths = [2]bool{false, true}

// below reports whether v is below 2^n.
func below(v *felt.Felt, n int) bool {
	zero := felt.Size - (n+7)/8
	for _, b := range v[:zero] {
		if b != 0 {
			return false
		}
	}
	return n%8 == 0 || v[zero]>>(n%8) == 0
}

// limbs are the 64-bit words of v, most significant first.
func limbs(v *felt.Felt) (w [4]uint64) {
	for i := range w {
		w[i] = binary.BigEndian.Uint64(v[8*i:])
	}
	return w
}

// setSigned reads an integer of n bits: a negative one is the prime minus its
// magnitude.
func (f *Field) setSigned(n int) bool {
	v := &f.RawValues[0]
	if below(v, n-1) {
		f.setNumber(KindFelt, v.Number())
		return true
	}
	prime, w := felt.Felt(felt.Prime), limbs(v)
	p := limbs(&prime)
	var m [4]uint64
	borrow := uint64(0)
	for i := 3; i >= 0; i-- {
		m[i], borrow = bits.Sub64(p[i], w[i], borrow)
	}
	if borrow != 0 {
		return false
	}
	// The lowest value has a magnitude of 2^(n-1), one more than the highest.
	var magnitude felt.Felt
	for i := range m {
		binary.BigEndian.PutUint64(magnitude[8*i:], m[i])
	}
	lowest := felt.Felt{}
	lowest[felt.Size-n/8] = 0x80
	if magnitude.Cmp(lowest) > 0 {
		return false
	}
	f.setNumber(KindFelt, felt.ShownAs("-"+magnitude.Decimal()))
	return true
}

func (f *Field) setU512() bool {
	n := new(big.Int)
	for i := 3; i >= 0; i-- {
		if !below(&f.RawValues[i], 128) {
			return false
		}
		n.Or(n.Lsh(n, 128), f.RawValues[i].Big())
	}
	f.setNumber(KindFelt, felt.ShownAs(n.String()))
	return true
}

func displayBytes(b []byte) string {
	out := make([]byte, 2, 2+2*len(b))
	copy(out, "0x")
	return string(hex.AppendEncode(out, b))
}

// maxListed is how many felts of a run are written out for people.
const maxListed = 8

func displayList(items []felt.Felt) string {
	buf := make([]byte, 0, 256)
	buf = append(buf, '[')
	for i := range items {
		if i > 0 {
			buf = append(buf, ", "...)
		}
		if i == maxListed {
			buf = append(buf, "and "...)
			buf = strconv.AppendInt(buf, int64(len(items)-i), 10)
			buf = append(buf, " more"...)
			break
		}
		buf = items[i].AppendHex(buf)
	}
	return string(append(buf, ']'))
}
