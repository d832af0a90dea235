package jsonscan

// Values that nobody asked for.

// Skip reads any value and drops it, checking it as strictly as a value that
// is wanted.
func (s *Scanner) Skip() {
	switch c := s.peek(); {
	case c == '{':
		for ok := s.OpenObject(); ok; ok = s.NextMember() {
			s.Key()
			s.Skip()
		}
	case c == '[':
		for ok := s.OpenArray(); ok; ok = s.NextElement() {
			s.Skip()
		}
	case c == '"':
		s.String()
	case c == 't' || c == 'f':
		s.Bool()
	case c == 'n':
		s.Null()
	default:
		s.number()
	}
}

// Raw reads any value and returns its text.
func (s *Scanner) Raw() []byte {
	s.peek()
	start := s.pos
	s.Skip()
	if s.err != nil {
		return nil
	}
	return s.data[start:s.pos]
}

// number skips a number of any form.
func (s *Scanner) number() {
	i := s.pos
	digits := func() bool {
		start := i
		for i < len(s.data) && s.data[i] >= '0' && s.data[i] <= '9' {
			i++
		}
		return i > start
	}
	at := func(cs string) bool {
		if i < len(s.data) {
			for _, c := range []byte(cs) {
				if s.data[i] == c {
					i++
					return true
				}
			}
		}
		return false
	}
	at("-")
	ok := at("0") || digits()
	if ok && at(".") {
		ok = digits()
	}
	if ok && at("eE") {
		at("+-")
		ok = digits()
	}
	if !ok {
		s.expected("a value")
		return
	}
	s.pos = i
}
