package own

import (
	"encoding/json"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/starknet/jsonscan"
)

// Parameters are read strictly: whatever some node could understand otherwise, or
// refuse, is for a node to read.

type blockKind uint8

const (
	byNumber blockKind = iota
	byHash
	latest
)

// blockID is a block id that the index can tell the block of.
type blockID struct {
	kind   blockKind
	number uint64
	hash   felt.Felt
}

// parseBlockID reads a block id; ok is false for one that is not well-formed, and for
// the tags of blocks that the index does not know.
func parseBlockID(text json.RawMessage) (id blockID, ok bool) {
	s := jsonscan.New(text)
	if len(text) > 0 && text[0] == '"' {
		id.kind = latest
		return id, string(s.String()) == "latest" && ended(&s)
	}
	members := 0
	for more := s.OpenObject(); more; more = s.NextMember() {
		members++
		switch string(s.Key()) {
		case "block_number":
			id.kind, id.number = byNumber, s.Uint64()
		case "block_hash":
			id.kind, id.hash = byHash, scanFelt(&s)
		default:
			return id, false
		}
	}
	return id, ended(&s) && members == 1
}

// ended says that a text was read to its end without an error.
func ended(s *jsonscan.Scanner) bool {
	s.End()
	return s.Err() == nil
}

func scanFelt(s *jsonscan.Scanner) (f felt.Felt) {
	text := s.String()
	if s.Err() == nil {
		if err := felt.ParseInto(&f, text); err != nil {
			s.Fail(err)
		}
	}
	return f
}

// scanFelts reads a list of felts; most bounds how many.
func scanFelts(s *jsonscan.Scanner, most int) (out []felt.Felt, ok bool) {
	for more := s.OpenArray(); more; more = s.NextElement() {
		if len(out) == most {
			return nil, false
		}
		out = append(out, scanFelt(s))
	}
	return out, s.Err() == nil
}

func (c *call) felt(name string) (felt.Felt, error) {
	text, given := c.arg(name)
	s := jsonscan.New(text)
	f := scanFelt(&s)
	if !given || !ended(&s) {
		return f, errElsewhere
	}
	return f, nil
}

func (c *call) uint64(name string) (uint64, error) {
	text, given := c.arg(name)
	s := jsonscan.New(text)
	n := s.Uint64()
	if !given || !ended(&s) {
		return 0, errElsewhere
	}
	return n, nil
}

// wantsFacts reads the response flags, which are new in 0.10.
func (c *call) wantsFacts() (bool, error) {
	text, given := c.arg("response_flags")
	if !given {
		return false, nil
	}
	if c.v < starknet.V010 {
		return false, errElsewhere
	}
	s := jsonscan.New(text)
	some := false
	for more := s.OpenArray(); more; more = s.NextElement() {
		if string(s.String()) != "INCLUDE_PROOF_FACTS" {
			return false, errElsewhere
		}
		some = true
	}
	if !ended(&s) {
		return false, errElsewhere
	}
	return some, nil
}
