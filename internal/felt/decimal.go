package felt

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// decimalChunk is the largest power of ten in 64 bits, and chunkDigits its zeros.
const (
	decimalChunk = 1e19
	chunkDigits  = 19
	zeros        = "0000000000000000000"
)

// AppendDecimal appends the decimal digits of 256 bits, big endian.
func AppendDecimal(b []byte, v *[32]byte) []byte {
	var words [4]uint64 // the most significant first
	for i := range words {
		words[i] = binary.BigEndian.Uint64(v[8*i:])
	}
	var chunks [5]uint64 // of the digits, the last ones first
	n := 0
	for first := 0; first < 3; {
		if words[first] == 0 {
			first++
			continue
		}
		var rest uint64
		for i := first; i < len(words); i++ {
			words[i], rest = bits.Div64(rest, words[i], decimalChunk)
		}
		chunks[n] = rest
		n++
	}
	b = strconv.AppendUint(b, words[3], 10)
	for ; n > 0; n-- {
		var room [chunkDigits]byte
		digits := strconv.AppendUint(room[:0], chunks[n-1], 10)
		b = append(append(b, zeros[len(digits):]...), digits...)
	}
	return b
}
