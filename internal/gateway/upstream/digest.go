package upstream

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/starknet"
)

// digest names a read: version, method and arguments. Two that are written otherwise
// and mean the same have the same one where only white space, or names instead of
// places, make the difference.
type digest [sha256.Size]byte

func digestOf(m *method.Method, args method.Args, v starknet.SpecVersion) (d digest) {
	h := sha256.New()
	h.Write([]byte{byte(v)}) //nolint:errcheck // a hash never fails
	writePart(h, m.Name)
	for _, p := range m.ParamsIn(v) {
		value, given := args[p.Name]
		if !given {
			h.Write([]byte{0}) //nolint:errcheck // see above
			continue
		}
		h.Write([]byte{1}) //nolint:errcheck // see above
		writeTight(h, value)
	}
	h.Sum(d[:0])
	return d
}

// writePart writes text so that what follows cannot be taken for a part of it.
func writePart(h hash.Hash, s string) {
	h.Write(binary.AppendUvarint(nil, uint64(len(s)))) //nolint:errcheck // a hash never fails
	h.Write([]byte(s))                                 //nolint:errcheck // see above
}

// writeTight writes a JSON value without white space around its parts. What follows
// cannot be taken for a part of it: a value ends where JSON says.
func writeTight(h hash.Hash, value []byte) {
	start := 0
	inside := false // of a string
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case !inside && (c == ' ' || c == '\n' || c == '\r' || c == '\t'):
			h.Write(value[start:i]) //nolint:errcheck // a hash never fails
			start = i + 1
		}
	}
	h.Write(value[start:]) //nolint:errcheck // see above
	h.Write([]byte{' '})   //nolint:errcheck // ends a number
}
