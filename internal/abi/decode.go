package abi

import (
	"slices"

	"chainexplorer/internal/felt"
)

// Decode reads an event with the ABI of its class and nothing else. A nil
// schema attributes nothing.
func Decode(s *Schema, keys, data []felt.Felt) Result {
	if s != nil {
		if r, ok := s.decode(keys, data, 0); ok {
			r.stamp(ClassABI)
			return r
		}
	}
	return Result{Status: Unknown, UnavailableReason: SchemaUnavailable}
}

func (r *Result) stamp(source Source) {
	r.NameSource = source
	if r.Status == Decoded {
		r.FieldsSource = source
	}
}

// maxCandidates is how many events may share a selector path. No compiler lets
// two through, but an enum inside an event struct makes one for each variant.
const maxCandidates = 64

// candidates returns the events whose selectors the keys start with and that
// the emitter may mean, shorter paths first.
func (s *Schema) candidates(keys []felt.Felt, as emitters) []*event {
	if len(keys) == 0 {
		return nil
	}
	var buf [8]*event
	out := buf[:0]
	sharing := s.lookup(&keys[0])
	for i := range sharing {
		e := &sharing[i]
		if e.emitters != 0 && e.emitters&as == 0 {
			continue
		}
		if len(e.path) <= len(keys) && slices.Equal(e.path, keys[:len(e.path)]) {
			out = append(out, e)
		}
	}
	return out
}

// decode reads an event with every candidate and reports whether there was one.
func (s *Schema) decode(keys, data []felt.Felt, as emitters) (Result, bool) {
	candidates := s.candidates(keys, as)
	if len(candidates) == 0 {
		return Result{}, false
	}
	// A longer path says more than a shorter one.
	r := Result{Status: NameOnly, Name: candidates[len(candidates)-1].name}
	if len(candidates) > maxCandidates {
		r.UnavailableReason = SelectorOnlyAttribution
		return r, true
	}
	consumed, undefined, unsupported := 0, false, false
	for _, e := range candidates {
		if e.flaw != flawNone {
			undefined = undefined || e.flaw == flawUndefined
			unsupported = unsupported || e.flaw == flawUnsupported
			continue
		}
		d := decoder{
			types: s.types,
			keys:  cursor{felts: keys, pos: len(e.path), source: FromKey},
			data:  cursor{felts: data, source: FromData},
		}
		switch d.run(e) {
		case consumedAll:
			consumed++
			r.Name, r.Fields = e.name, d.fields
		case beyondBounds:
			unsupported = true
		}
	}
	switch {
	case unsupported:
		r.UnavailableReason = SchemaShapeUnsupported
	case undefined:
		r.UnavailableReason = SchemaUnavailable
	case consumed == 0:
		r.UnavailableReason = PayloadShapeMismatch
	case consumed > 1:
		r.UnavailableReason = SelectorOnlyAttribution
	default:
		r.Status = Decoded
		return r, true
	}
	r.Fields = nil
	return r, true
}
