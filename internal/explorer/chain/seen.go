package chain

import (
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/store/record"
)

// SeenKey is the row in which the indexer leaves what its nodes last said, so
// that processes without a node can tell how old their knowledge is.
var SeenKey = metaKey("seen")

// Seen is what the nodes of an indexer said, and when. It is evidence that ages:
// readers hold its times against their own clock.
type Seen struct {
	At    time.Time // when the indexer wrote this; it writes also when no node answers
	Head  SeenHead  // the newest head that a node told of lately
	Nodes []SeenNode
}

// SeenHead is the head that a node told of.
type SeenHead struct {
	Heard  time.Time // when it last said so; zero: never
	Number uint64
	Hash   felt.Felt // zero if only the number is known
}

// SeenNode is one node, in the order of the configuration. The row holds no
// address: it is shown to callers.
type SeenNode struct {
	State NodeState
	Heard time.Time // when it last told its head; zero: never
	Head  uint64    // if it ever did
}

// NodeState is what an indexer thinks of a node.
type NodeState uint8

// The states of a node.
const (
	NodeFailing     NodeState = iota // it does not answer
	NodeHealthy                      // it answers
	NodeRefused                      // it serves another chain or version
	NodeQuarantined                  // it gave answers that cannot be true
)

// Healthy counts the nodes that answer.
func (s *Seen) Healthy() (n int) {
	for _, x := range s.Nodes {
		if x.State == NodeHealthy {
			n++
		}
	}
	return n
}

// Distrusted says that no node is believed, because of answers that cannot be true.
func (s *Seen) Distrusted() bool {
	lied := false
	for _, x := range s.Nodes {
		if x.State != NodeQuarantined && x.State != NodeRefused {
			return false
		}
		lied = lied || x.State == NodeQuarantined
	}
	return lied
}

// Encode returns the row. Times are whole milliseconds.
func (s Seen) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	e.Uint(millis(s.At))
	e.Uint(millis(s.Head.Heard))
	e.Uint(s.Head.Number)
	e.Raw(s.Head.Hash[:])
	e.Uint(uint64(len(s.Nodes)))
	for _, n := range s.Nodes {
		e.Byte(byte(n.State))
		e.Uint(millis(n.Heard))
		e.Uint(n.Head)
	}
	return e.Bytes()
}

// DecodeSeen reads a Seen row.
func DecodeSeen(b []byte) (s Seen, err error) {
	d := record.NewDecoder(b, recordVersion)
	s.At, s.Head.Heard, s.Head.Number = instant(d.Uint()), instant(d.Uint()), d.Uint()
	d.Raw(s.Head.Hash[:])
	for range d.Len(3) {
		s.Nodes = append(s.Nodes, SeenNode{NodeState(d.Byte()), instant(d.Uint()), d.Uint()})
	}
	return s, wrap("seen", d.Finish())
}

func millis(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(max(t.UnixMilli(), 0))
}

func instant(ms uint64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}
