package upstream

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/starknet/jsonscan"
)

// subject is what an answer is about, as far as the arguments tell.
type subject struct {
	kind   place
	number uint64    // of byNumber
	hash   felt.Felt // of a block, a transaction or a class
	// rests says of a class that the block is one that is never above what the class
	// was found in: no block at all, or the newest.
	rests bool
	in    *subject // the block of a class, unless rests is set
}

type place uint8

const (
	nowhere    place = iota // a tag, or not to be told
	everywhere              // nothing that could change
	byNumber
	byHash
	ofTransaction
	ofClass
)

func subjectOf(m *method.Method, args method.Args) subject {
	switch m.Keep {
	case method.Always:
		return subject{kind: everywhere}
	case method.OfTransaction, method.OfTransactionStatus:
		return hashed(ofTransaction, args["transaction_hash"])
	case method.OfClass:
		s := hashed(ofClass, args["class_hash"])
		id, given := args["block_id"]
		in := blockOf(id)
		switch {
		case s.kind == nowhere:
		case !given, string(id) == `"latest"`:
			s.rests = true
		case in.kind == nowhere:
			return in
		default:
			s.in = &in
		}
		return s
	}
	// What is never kept has a block all the same, which says whom to ask.
	if id, given := args["block_id"]; given {
		return blockOf(id)
	}
	return subject{}
}

func hashed(kind place, value []byte) (s subject) {
	sc := jsonscan.New(value)
	if !readFelt(&sc, &s.hash) {
		return subject{}
	}
	s.kind = kind
	return s
}

// blockOf reads a block id. One that is not plainly a number or a hash names nothing:
// what a node makes of it is the node's to say.
func blockOf(id []byte) (s subject) {
	if len(id) == 0 || id[0] != '{' {
		return subject{}
	}
	sc := jsonscan.New(id)
	members := 0
	for more := sc.OpenObject(); more; more = sc.NextMember() {
		members++
		switch string(sc.Key()) {
		case "block_number":
			s.kind, s.number = byNumber, sc.Uint64()
		case "block_hash":
			if s.kind = byHash; !readFelt(&sc, &s.hash) {
				return subject{}
			}
		default:
			return subject{}
		}
	}
	if sc.End(); sc.Err() != nil || members != 1 {
		return subject{}
	}
	return s
}

func readFelt(sc *jsonscan.Scanner, into *felt.Felt) bool {
	text := sc.String()
	return sc.Err() == nil && felt.ParseInto(into, text) == nil
}
