package felt

// Shown is a text for people, or a felt that stands for its digits, which are made where they are
// written: most values of events are shown as they are.
type Shown struct {
	text string
	felt *Felt
}

// ShownAs is a text.
func ShownAs(text string) Shown { return Shown{text: text} }

// Shown is the felt in hex. The felt is pointed to, and is not changed any more.
func (f *Felt) Shown() Shown { return Shown{felt: f} }

// Text points to the text; nil where a felt is shown.
func (s *Shown) Text() *string {
	if s.felt != nil {
		return nil
	}
	return &s.text
}

// Felt is the one that is shown; nil for a text.
func (s *Shown) Felt() *Felt { return s.felt }

func (s Shown) String() string {
	if s.felt != nil {
		return s.felt.String()
	}
	return s.text
}

// Len is how many bytes String has.
func (s *Shown) Len() int {
	if s.felt == nil {
		return len(s.text)
	}
	switch b := s.felt.Trimmed(); {
	case len(b) == 0:
		return len("0x0")
	case b[0] < 16:
		return len("0x") + 2*len(b) - 1
	default:
		return len("0x") + 2*len(b)
	}
}

// MarshalText implements encoding.TextMarshaler.
func (s Shown) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. Digits that are read are a text.
func (s *Shown) UnmarshalText(text []byte) error {
	*s = ShownAs(string(text))
	return nil
}
