package upstream

import (
	"crypto/sha256"
	"hash"

	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/starknet"
)

// digest names a read: version, method and arguments. Two that are written otherwise
// and mean the same have the same one where only white space, or names instead of
// places, make the difference.
type digest [sha256.Size]byte

func digestOf(m *method.Method, args method.Args, v starknet.SpecVersion) digest {
	var s sum
	s.add(byte(v), byte(len(m.Name)))
	for i := range len(m.Name) {
		s.add(m.Name[i])
	}
	for _, p := range m.ParamsIn(v) {
		value, given := args[p.Name]
		if !given {
			s.add(0)
			continue
		}
		s.add(1)
		s.tight(value)
	}
	return s.digest()
}

// sum hashes what is written to it. What is small, as nearly all calls are, is gathered
// without an allocation.
type sum struct {
	small [512]byte
	n     int
	large hash.Hash // nil while all fits
}

func (s *sum) add(bytes ...byte) {
	for _, b := range bytes {
		if s.n == len(s.small) {
			s.flush()
		}
		s.small[s.n] = b
		s.n++
	}
}

func (s *sum) write(b []byte) {
	if s.n+len(b) <= len(s.small) {
		s.n += copy(s.small[s.n:], b)
		return
	}
	s.flush()
	s.large.Write(b) //nolint:errcheck // a hash never fails
}

// flush copies what was gathered, so that the place for it need not be on the heap.
func (s *sum) flush() {
	if s.large == nil {
		s.large = sha256.New()
	}
	s.large.Write(append([]byte(nil), s.small[:s.n]...)) //nolint:errcheck // a hash never fails
	s.n = 0
}

func (s *sum) digest() (d digest) {
	if s.large == nil {
		return sha256.Sum256(s.small[:s.n])
	}
	s.flush()
	s.large.Sum(d[:0])
	return d
}

// tight writes a JSON value without white space around its parts. What follows cannot
// be taken for a part of it: a value ends where JSON says.
func (s *sum) tight(value []byte) {
	start := 0
	inside := false // of a string
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case !inside && (c == ' ' || c == '\n' || c == '\r' || c == '\t'):
			s.write(value[start:i])
			start = i + 1
		}
	}
	s.write(value[start:])
	s.add(' ') // ends a number
}
