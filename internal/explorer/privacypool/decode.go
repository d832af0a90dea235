package privacypool

import (
	"math/big"

	"chainexplorer/internal/felt"
)

// Status is how much of an event could be read.
type Status uint8

// The statuses.
const (
	// NotAttributed is an event whose selector no known generation has.
	NotAttributed Status = iota
	// NameOnly is an event whose selector is known, and whose layout is not that
	// of the class in force, or that class is not known.
	NameOnly
	// Decoded is an event that the layout of the class in force used up exactly.
	Decoded
)

// String is the word that answers use.
func (s Status) String() string {
	switch s {
	case Decoded:
		return "decoded"
	case NameOnly:
		return "name_only"
	}
	return "unknown"
}

// ProtocolEvent is the name of an event that nobody knows.
const ProtocolEvent = "protocol_event"

// Fact is what an event of a pool says in public. What it does not say, or what
// could not be read, is nil.
type Fact struct {
	Kind       Kind
	Name       string // snake_case; ProtocolEvent when the selector is not known
	Group      Group
	Visibility Visibility

	Token      *felt.Felt
	Actor      *felt.Felt // who deposited, registered, paused, or gave a role
	To         *felt.Felt // who was paid, or was given a role
	NoteID     *felt.Felt
	Nullifier  *felt.Felt
	ViewingKey *felt.Felt // the public one
	AuditorKey *felt.Felt // the public key that what is hidden was encrypted for
	Target     *felt.Felt // the contract that was called, or that a setting is about
	Selector   *felt.Felt // of the call
	// Value is a setting, a role, a class, or an encrypted note's packed value.
	Value  *felt.Felt
	Amount *big.Int // fewer than 2^128
}

// Decode reads an event of a pool whose class is of a generation.
//
// Nothing is guessed: an event is decoded when its keys and data are exactly those
// of the generation's layout and every value fits its type. Where the keys are and
// the data is not, the event is NameOnly and the fact holds what the keys say: which
// token's amount is missing is known then. Where the class is not known, or its
// generation has no such event, the fact has a name and nothing else.
func Decode(g Generation, keys, data []felt.Felt) (Fact, Status) {
	f := Fact{Name: ProtocolEvent, Visibility: Partial}
	if len(keys) == 0 {
		return f, NotAttributed
	}
	l, ok := bySelector[keys[0]]
	if !ok {
		return f, NotAttributed
	}
	f = Fact{Kind: l.kind, Name: l.name, Group: l.group, Visibility: l.visibility}
	if g < l.since || g > l.until || !fit(l.keys, keys[1:]) {
		return f, NameOnly
	}
	f.fill(l.keys, keys[1:])
	switch {
	case l.implementation:
		if !isImplementation(data) {
			return f, NameOnly
		}
		f.set(value, data[0])
	case !fit(l.data, data):
		return f, NameOnly
	default:
		f.fill(l.data, data)
	}
	return f, Decoded
}

// fit says whether felts are what the members must be, all of them and no more.
func fit(list []member, felts []felt.Felt) bool {
	if len(list) != len(felts) {
		return false
	}
	for i, m := range list {
		if !m.is.holds(felts[i]) {
			return false
		}
	}
	return true
}

// endOfAddresses is more than every address of a contract: 2^251 - 256.
var endOfAddresses = felt.MustParse("0x7ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff00")

func (k form) holds(f felt.Felt) bool {
	n, small := f.Uint64()
	switch k {
	case address:
		return f.Cmp(endOfAddresses) < 0
	case u128:
		return [16]byte(f[:16]) == [16]byte{}
	case u64:
		return small
	case boolean:
		return small && n <= 1
	case policy:
		return small && n <= 2
	}
	return true
}

// isImplementation says whether data is a class, perhaps a contract that
// initializes it with some values, and whether it is the last one.
func isImplementation(data []felt.Felt) bool {
	if len(data) < 3 {
		return false
	}
	rest := data[2:]
	switch n, small := data[1].Uint64(); {
	case small && n == 1: // nothing initializes it
	case small && n == 0:
		if len(rest) < 2 {
			return false
		}
		count, small := rest[1].Uint64()
		if rest = rest[2:]; !small || count > uint64(len(rest)) {
			return false
		}
		rest = rest[count:]
	default:
		return false
	}
	return len(rest) == 1 && boolean.holds(rest[0])
}

func (f *Fact) fill(list []member, felts []felt.Felt) {
	for i, m := range list {
		f.set(m.as, felts[i])
	}
}

func (f *Fact) set(as role, v felt.Felt) {
	switch as {
	case actor:
		f.Actor = &v
	case to:
		f.To = &v
	case token:
		f.Token = &v
	case amount:
		f.Amount = v.Big()
	case noteID:
		f.NoteID = &v
	case nullifier:
		f.Nullifier = &v
	case viewingKey:
		f.ViewingKey = &v
	case auditorKey:
		f.AuditorKey = &v
	case target:
		f.Target = &v
	case selector:
		f.Selector = &v
	case value:
		f.Value = &v
	}
}
