package abi

import "chainexplorer/internal/felt"

// Emitter is what is known about the contract that emitted an event. It chooses
// between reviewed schemas that look the same.
type Emitter uint8

// The emitters that reviewed schemas tell apart.
const (
	EmitterUnknown Emitter = iota
	EmitterERC20
	EmitterERC721
	EmitterERC1155
	EmitterPrivacyPool
)

// emitters is a set of them. The empty set is that of an ABI's own events,
// which hold for whoever has the class.
type emitters uint8

func (e Emitter) set() emitters { return 1 << e }

const allEmitters emitters = 1<<(EmitterPrivacyPool+1) - 1

// Evidence is what is known about an event beside its payload.
type Evidence struct {
	// Schema is the ABI of the class that executed, nil if that is not known.
	Schema *Schema
	// Verified says that the service verified the source of that class.
	Verified bool
	// Emitter is what the emitting contract is known to be.
	Emitter Emitter
	// Name is the only name that the caller knows for the first key, or empty.
	Name string
	// Room is memory for the fields; nil takes some for the event alone.
	Room *Room
}

// Attribute says all that can be certified about an event: by the ABI of its
// class, else by the reviewed schemas, else by name.
func Attribute(ev *Evidence, keys, data []felt.Felt) Result {
	if ev.Schema != nil {
		if r, ok := ev.Schema.decode(keys, data, 0, ev.Room); ok {
			source := ClassABI
			if ev.Verified {
				source = VerifiedABI
			}
			r.stamp(source)
			return r
		}
	}
	r := standard(ev.Emitter, keys, data, ev.Room)
	if r.Status == Unknown && ev.Name != "" && len(keys) > 0 {
		return nameOf(ev.Name)
	}
	return r
}

// Standard reads an event with the reviewed schemas alone.
func Standard(emitter Emitter, keys, data []felt.Felt) Result {
	return standard(emitter, keys, data, nil)
}

func standard(emitter Emitter, keys, data []felt.Felt, room *Room) Result {
	s := standards()
	if r, ok := s.decode(keys, data, emitter.set(), room); ok {
		r.stamp(CuratedSelector)
		return r
	}
	if _, n, other := s.candidates(keys, allEmitters); n > 0 {
		return nameOf(other.name)
	}
	return Result{Status: Unknown, UnavailableReason: SchemaUnavailable}
}

// nameOf is an event of which the selector's name is known and nothing else.
func nameOf(name string) Result {
	return Result{Status: NameOnly, Name: name, NameSource: SelectorUnique, UnavailableReason: SelectorOnlyAttribution}
}
