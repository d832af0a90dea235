package numbering

import "chainexplorer/internal/felt"

// Few numbers felts of which there are mostly a handful, as the contracts of an answer: they
// are looked through one by one, and where there are more a map finds them. The zero Few is
// empty.
type Few struct {
	felts  []felt.Felt
	places map[felt.Felt]int // nil while there are few
}

// few are as many as are looked through sooner than a map is made.
const few = 8

// Find is the number of a felt, -1 for one that has none.
func (s *Few) Find(f *felt.Felt) int {
	if s.places != nil {
		if n, ok := s.places[*f]; ok {
			return n
		}
		return -1
	}
	for n := range s.felts {
		if s.felts[n].Is(f) {
			return n
		}
	}
	return -1
}

// Number is the number of a felt; fresh says that it is new, with the next one.
func (s *Few) Number(f *felt.Felt) (n int, fresh bool) {
	if n := s.Find(f); n >= 0 {
		return n, false
	}
	n = len(s.felts)
	s.felts = append(s.felts, *f)
	if s.places != nil {
		s.places[*f] = n
	} else if n == few {
		s.places = make(map[felt.Felt]int, 4*few)
		for i := range s.felts {
			s.places[s.felts[i]] = i
		}
	}
	return n, true
}

// All are the felts by their numbers, until the next Reset.
func (s *Few) All() []felt.Felt { return s.felts }

// Reset forgets all felts, and keeps the memory of few.
func (s *Few) Reset() {
	if s.places != nil {
		*s = Few{}
		return
	}
	s.felts = s.felts[:0]
}
