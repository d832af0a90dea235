package abi

import (
	"slices"

	"chainexplorer/internal/felt"
)

// Decode reads an event with the ABI of its class and nothing else. A nil
// schema attributes nothing.
func Decode(s *Schema, keys, data []felt.Felt) Result {
	if s != nil {
		if r, ok := s.decode(keys, data, 0, nil); ok {
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

// matches says whether the keys start with the selectors of the event and the
// emitter may mean it.
func (e *event) matches(keys []felt.Felt, as emitters) bool {
	return (e.emitters == 0 || e.emitters&as != 0) && len(e.path) <= len(keys) && slices.Equal(e.path, keys[:len(e.path)])
}

// candidates returns a run of events that holds all those that match, shorter
// paths first, how many do, and the last one.
func (s *Schema) candidates(keys []felt.Felt, as emitters) (run []event, n int, last *event) {
	if len(keys) == 0 {
		return nil, 0, nil
	}
	run = s.lookup(&keys[0])
	for i := range run {
		if run[i].matches(keys, as) {
			n, last = n+1, &run[i]
		}
	}
	return run, n, last
}

// decode reads an event with every candidate and reports whether there was one.
func (s *Schema) decode(keys, data []felt.Felt, as emitters, room *Room) (Result, bool) {
	run, n, last := s.candidates(keys, as)
	if n == 0 {
		return Result{}, false
	}
	// A longer path says more than a shorter one.
	r := Result{Status: NameOnly, Name: last.name}
	if n > maxCandidates {
		r.UnavailableReason = SelectorOnlyAttribution
		return r, true
	}
	consumed, undefined, unsupported := 0, false, false
	for i := range run {
		e := &run[i]
		if !e.matches(keys, as) {
			continue
		}
		if e.flaw != flawNone {
			undefined = undefined || e.flaw == flawUndefined
			unsupported = unsupported || e.flaw == flawUnsupported
			continue
		}
		d := decoder{
			types: s.types,
			keys:  cursor{felts: keys, pos: len(e.path), source: FromKey},
			data:  cursor{felts: data, source: FromData},
			room:  room,
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
