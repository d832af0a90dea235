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
	Peaks []SeenHead // of each node that is believed, the highest head of the last hour and when it last told that; without hashes
}

// PeaksKey is the row of Seen.Peaks, which is written along with the other.
var PeaksKey = metaKey("peaks")

// nodesApart is how far the nodes behind one address may be apart: a head that
// much lower still shows that a node has what is indexed.
const nodesApart = 10

// Vouched is when a believed node last told a head by which it has the block, or
// all but a few; zero if none is known to have.
func (s *Seen) Vouched(block uint64) (at time.Time) {
	consider := func(heard time.Time, head uint64) {
		if head >= block-min(block, nodesApart) && heard.After(at) {
			at = heard
		}
	}
	consider(s.Head.Heard, s.Head.Number)
	for _, n := range s.Nodes {
		if n.State == NodeHealthy || n.State == NodeFailing {
			consider(n.Heard, n.Head)
		}
	}
	for _, p := range s.Peaks {
		consider(p.Heard, p.Number)
	}
	return at
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

// Encode returns the row, without the peaks. Times are whole milliseconds.
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

// EncodePeaks returns the row of the peaks.
func (s Seen) EncodePeaks() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	e.Uint(uint64(len(s.Peaks)))
	for _, p := range s.Peaks {
		e.Uint(millis(p.Heard))
		e.Uint(p.Number)
	}
	return e.Bytes()
}

// DecodePeaks reads that row.
func DecodePeaks(b []byte) (peaks []SeenHead, err error) {
	d := record.NewDecoder(b, recordVersion)
	for range d.Len(2) {
		peaks = append(peaks, SeenHead{Heard: instant(d.Uint()), Number: d.Uint()})
	}
	return peaks, wrap("peaks", d.Finish())
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
