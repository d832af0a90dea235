package felt

// Shown is a text for people, or felts that stand for their digits, which are made where they are
// written: most values of events are shown as they are.
type Shown struct {
	text string
	felt *Felt // in hex, or a decimal number or its lower half
	high *Felt // the upper half of a decimal number; nil where the felt is in hex
}

// noHigh is the upper half of a number that is one felt.
var noHigh Felt

// ShownAs is a text.
func ShownAs(text string) Shown { return Shown{text: text} }

// Shown is the felt in hex. The felt is pointed to, and is not changed any more.
func (f *Felt) Shown() Shown { return Shown{felt: f} }

// Number is the felt in decimal digits. It is pointed to, as above.
func (f *Felt) Number() Shown { return Shown{felt: f, high: &noHigh} }

// Number256 is the number of two halves in decimal digits, both below 2^128. They are pointed to, as above.
func Number256(low, high *Felt) Shown { return Shown{felt: low, high: high} }

// Text points to the text; nil where felts are shown.
func (s *Shown) Text() *string {
	if s.felt != nil {
		return nil
	}
	return &s.text
}

// AppendDigits appends what felts are shown as, which is ASCII without quotes; it appends nothing of a text.
func (s *Shown) AppendDigits(b []byte) []byte {
	switch {
	case s.felt == nil:
		return b
	case s.high == nil:
		return s.felt.AppendHex(b)
	}
	number := [Size]byte(*s.felt)
	if s.high != &noHigh {
		copy(number[:Size/2], s.high[Size/2:])
	}
	return AppendDecimal(b, &number)
}

func (s Shown) String() string {
	if s.felt != nil {
		var room [digitsRoom]byte
		return string(s.AppendDigits(room[:0]))
	}
	return s.text
}

// digitsRoom is room for the digits of 256 bits, in hex or decimal.
const digitsRoom = 80

// Len is how many bytes String has.
func (s *Shown) Len() int {
	switch {
	case s.felt == nil:
		return len(s.text)
	case s.high != nil:
		var room [digitsRoom]byte
		return len(s.AppendDigits(room[:0]))
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
