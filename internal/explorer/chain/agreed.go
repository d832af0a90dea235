package chain

import (
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/store/record"
)

// AgreedKey is the row in which an indexer that wants a quorum leaves how far its
// nodes agree with the index. Without a quorum there is none.
var AgreedKey = metaKey("agreed")

// Agreed is up to which block a quorum of nodes had the index's own blocks. The
// hash of a block covers all before it.
type Agreed struct {
	At     time.Time // when the nodes were last asked
	Quorum uint64    // how many must agree
	Next   uint64    // the number after the newest block that so many agreed on; 0 when there is none
	Hash   felt.Felt // of that block
	Forks  uint64    // how many forks the index had gone through then
	Tiers  []TierAgreement
}

// TierAgreement is what the nodes said of the newest block of a tier.
type TierAgreement struct {
	Tier   Finality // AcceptedL2 stands for the indexed head
	Number uint64
	Agree  uint64 // how many nodes have the index's block
	Differ uint64 // how many have another
	Asked  uint64 // how many there are; those that do not answer or lag do neither
}

// Encode returns the row.
func (a Agreed) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	e.Uint(millis(a.At))
	e.Uint(a.Quorum)
	e.Uint(a.Next)
	e.Raw(a.Hash[:])
	e.Uint(a.Forks)
	e.Uint(uint64(len(a.Tiers)))
	for _, t := range a.Tiers {
		e.Byte(byte(t.Tier))
		e.Uint(t.Number)
		e.Uint(t.Agree)
		e.Uint(t.Differ)
		e.Uint(t.Asked)
	}
	return e.Bytes()
}

// DecodeAgreed reads an Agreed row.
func DecodeAgreed(b []byte) (a Agreed, err error) {
	d := record.NewDecoder(b, recordVersion)
	a.At, a.Quorum, a.Next = instant(d.Uint()), d.Uint(), d.Uint()
	d.Raw(a.Hash[:])
	a.Forks = d.Uint()
	for range d.Len(5) {
		a.Tiers = append(a.Tiers, TierAgreement{Finality(d.Byte()), d.Uint(), d.Uint(), d.Uint(), d.Uint()})
	}
	return a, wrap("agreed", d.Finish())
}

// AgreedNext is the number after the newest block that counts as agreed on. all is
// true when no quorum is wanted. A fork since the nodes were asked takes back what
// it undid; of several nothing is known.
func (s *State) AgreedNext() (next uint64, all bool) {
	a := &s.Agreed
	switch {
	case a.Quorum < 2:
		return 0, true
	case s.Rewinding:
		return min(a.Next, s.Rewind.Ancestor+1), false
	case s.Fork.Count == a.Forks:
		return a.Next, false
	case s.Fork.Count == a.Forks+1:
		return min(a.Next, s.Fork.Ancestor+1), false
	}
	return 0, false
}

func (s *State) agreedOn(number uint64) bool {
	next, all := s.AgreedNext()
	return all || number < next
}
