package felt

import (
	"encoding/binary"
	"fmt"
	"slices"
)

const hexDigits = "0123456789abcdef"

// hexPairs has the two digits of every byte, the first one in the lower half.
var hexPairs = func() (t [256]uint16) {
	for i := range t {
		t[i] = uint16(hexDigits[i>>4]) | uint16(hexDigits[i&15])<<8
	}
	return t
}()

// nibble maps a hex digit to its value and every other byte to 0xff.
var nibble = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xff
	}
	for i := range byte(10) {
		t['0'+i] = i
	}
	for i := range byte(6) {
		t['a'+i], t['A'+i] = 10+i, 10+i
	}
	return t
}()

// Parse reads 0x followed by 1 to 64 hex digits of either case, leading zeros
// allowed. It is the only door for felts in text.
func Parse[T string | []byte](s T) (Felt, error) {
	var f Felt
	if err := parse(&f, s); err != nil {
		return Felt{}, fmt.Errorf("felt %.70q: %w", string(s), err)
	}
	return f, nil
}

// ParseInto is Parse without the wrapping and the copy: for decoders that read
// millions of felts and report the place themselves. On an error f is undefined.
func ParseInto(f *Felt, s []byte) error { return parse(f, s) }

// MustParse is Parse for constants; it panics on a bad one.
func MustParse(s string) Felt {
	f, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return f
}

func parse[T string | []byte](f *Felt, s T) error {
	if len(s) < 3 || s[0] != '0' || s[1]|0x20 != 'x' {
		return ErrSyntax
	}
	digits := s[2:]
	if len(digits) > 2*Size {
		return ErrSyntax
	}
	*f = Felt{}
	i, out := 0, Size-(len(digits)+1)/2
	if len(digits)%2 == 1 {
		n := nibble[digits[0]]
		if n > 15 {
			return ErrSyntax
		}
		f[out] = n
		i, out = 1, out+1
	}
	var bad byte
	for ; i < len(digits); i, out = i+2, out+1 {
		hi, lo := nibble[digits[i]], nibble[digits[i+1]]
		bad |= hi | lo
		f[out] = hi<<4 | lo&15
	}
	if bad > 15 {
		return ErrSyntax
	}
	if !f.valid() {
		return ErrRange
	}
	return nil
}

// manyBytes are as many as it is worth to write all digits for at once, those in front included.
const manyBytes = 8

// AppendHex appends the minimal form: 0x0, or 0x and no leading zero.
func (f *Felt) AppendHex(b []byte) []byte {
	n := len(b)
	if cap(b)-n < 2+2*Size {
		b = slices.Grow(b, 2+2*Size)
	}
	if f[0]-1 < 15 && vectors { // most of those that are no small numbers: the first digit alone is zero
		b = b[:n+1+2*Size]
		writeHex(&b[n+1], f)
		b[n], b[n+1] = '0', 'x'
		return b
	}
	b = append(b, '0', 'x')
	t := f.Trimmed()
	if len(t) == 0 {
		return append(b, '0')
	}
	if len(t) >= manyBytes && vectors {
		var all [2 * Size]byte
		writeHex(&all[0], f)
		from := 2 * (Size - len(t))
		if t[0] < 16 {
			from++
		}
		return append(b, all[from:]...)
	}
	if t[0] < 16 {
		b = append(b, hexDigits[t[0]])
		t = t[1:]
	}
	n = len(b)
	b = b[:n+2*len(t)]
	for i, c := range t {
		binary.LittleEndian.PutUint16(b[n+2*i:], hexPairs[c])
	}
	return b
}

// String returns the minimal form, the one that nodes print.
func (f Felt) String() string {
	var buf [2 + 2*Size]byte
	return string(f.AppendHex(buf[:0]))
}

// Padded returns 0x and all 64 digits, the form that people compare.
func (f Felt) Padded() string {
	buf := make([]byte, 2, 2+2*Size)
	buf[0], buf[1] = '0', 'x'
	for _, c := range f {
		buf = append(buf, hexDigits[c>>4], hexDigits[c&15])
	}
	return string(buf)
}

// MarshalText and UnmarshalText make a Felt a JSON string or map key.
func (f Felt) MarshalText() ([]byte, error) {
	return f.AppendHex(make([]byte, 0, 2+2*Size)), nil
}

// UnmarshalText accepts what Parse accepts.
func (f *Felt) UnmarshalText(text []byte) error {
	v, err := Parse(text)
	if err != nil {
		return err
	}
	*f = v
	return nil
}
