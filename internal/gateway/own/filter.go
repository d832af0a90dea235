package own

import (
	"encoding/json"
	"slices"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/starknet/jsonscan"
)

// maxChunk is the largest page that any node gives.
const maxChunk = 10_240

// eventFilter is the parameter of starknet_getEvents.
type eventFilter struct {
	from, to *blockID    // nil when they are not there
	query    event.Query // its emitters and keys
	values   int         // of both
	token    *string
	chunk    uint64
}

// parseFilter reads a filter; ok is false for one that only a node can judge.
func parseFilter(text json.RawMessage, v starknet.SpecVersion) (f eventFilter, ok bool) {
	s := jsonscan.New(text)
	seen := map[string]bool{}
	for more := s.OpenObject(); more; more = s.NextMember() {
		name := string(s.Key())
		if seen[name] || !slices.Contains(filterMembers, name) {
			return f, false
		}
		seen[name] = true
		if name != "chunk_size" && s.Null() {
			continue
		}
		if !f.member(name, &s, v) {
			return f, false
		}
	}
	return f, ended(&s) && f.chunk > 0
}

var filterMembers = []string{"from_block", "to_block", "address", "keys", "continuation_token", "chunk_size"}

func (f *eventFilter) member(name string, s *jsonscan.Scanner, v starknet.SpecVersion) bool {
	switch name {
	case "from_block", "to_block":
		id, ok := parseBlockID(s.Raw())
		if !ok {
			return false
		}
		if name == "from_block" {
			f.from = &id
		} else {
			f.to = &id
		}
	case "address":
		return f.addresses(s.Raw(), v)
	case "keys":
		position := 0
		for more := s.OpenArray(); more; more = s.NextElement() {
			if position == event.Positions {
				return false
			}
			values, ok := f.list(s)
			if !ok {
				return false
			}
			f.query.Keys[position] = values
			position++
		}
	case "continuation_token":
		t := string(s.String())
		f.token = &t
	case "chunk_size":
		f.chunk = s.Uint64()
	}
	return s.Err() == nil
}

// addresses reads one emitter or, since 0.10, a list of them.
func (f *eventFilter) addresses(text []byte, v starknet.SpecVersion) (ok bool) {
	s := jsonscan.New(text)
	if len(text) > 0 && text[0] == '[' {
		if v < starknet.V010 {
			return false
		}
		f.query.Emitters, ok = f.list(&s)
		return ok && ended(&s)
	}
	f.query.Emitters = []felt.Felt{scanFelt(&s)}
	f.values++
	return ended(&s)
}

// list reads values, no more than a search can have of all kinds together.
func (f *eventFilter) list(s *jsonscan.Scanner) ([]felt.Felt, bool) {
	out, ok := scanFelts(s, event.MaxValues-f.values)
	f.values += len(out)
	return out, ok
}

func sortedSet(fs []felt.Felt) []felt.Felt {
	out := slices.Clone(fs)
	arrange.By(out, felt.Felt.Cmp)
	return slices.Compact(out)
}
