package starknet

// The roots of transactions, events and receipts that a block hash commits to.

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet/hash"
)

// commitmentHeight is the height of the Patricia trees whose roots a block
// commits to. Their keys are 0 to n-1.
const commitmentHeight = 64

// subtree is a node of such a tree on the way up: a hash and the length of
// the run of left turns above it that has no sibling yet.
type subtree struct {
	hash element
	run  uint64
}

// commitmentRoot builds the tree bottom-up from its leaves, level by level,
// in place. As the keys are contiguous, only the last node of a level can
// lack a sibling, and then its path upwards is all zeros.
func commitmentRoot(leaves []element, hash func(a, b *element) element) felt.Felt {
	if len(leaves) == 0 {
		return felt.Felt{}
	}
	last := subtree{} // the level's last node; those before it have no run
	level, height := leaves, uint64(0)
	for ; len(level) > 1; height++ {
		n := len(level)
		if n%2 == 1 {
			last.run++
		} else {
			last.hash = level[n-1]
			level[n-1] = last.close(hash)
			last = subtree{}
		}
		for i := range n / 2 {
			level[i] = hash(&level[2*i], &level[2*i+1])
		}
		if n%2 == 1 {
			level[n/2] = level[n-1]
		}
		level = level[:(n+1)/2]
	}
	top := subtree{hash: level[0], run: commitmentHeight - height}
	root := top.close(hash)
	return fromElement(&root)
}

// close turns the run into an edge node.
func (s *subtree) close(hash func(a, b *element) element) element {
	if s.run == 0 {
		return s.hash
	}
	e, n := hash(&s.hash, &element{}), elementFromUint64(s.run)
	return *e.Add(&e, &n)
}

// ComputeCommitments computes what the block's hash is made of. Before
// version 0.13.2 the hash does not cover receipts and state, and their roots
// stay zero. diff may be nil: then the node's own claim about the state, if
// any, is taken over unchecked.
func ComputeCommitments(b *Block, diff *StateDiff) (Commitments, error) {
	version, err := knownVersion(b.StarknetVersion)
	if err != nil {
		return Commitments{}, err
	}
	return computeCommitments(b, diff, version), nil
}

func computeCommitments(b *Block, diff *StateDiff, version protocolVersion) Commitments {
	c := Commitments{
		TransactionCount: uint64(len(b.Transactions)),
		EventCount:       uint64(b.EventCount()),
	}
	switch {
	case diff != nil:
		c.StateDiffLength = diff.Length()
		if !version.before(v0_13_2) {
			c.StateDiff = diff.Commitment()
		}
	case b.Commitments != nil:
		c.StateDiff, c.StateDiffLength = b.Commitments.StateDiff, b.Commitments.StateDiffLength
	}
	leaves := make([]element, 0, max(len(b.Transactions), b.EventCount()))
	if version.before(v0_13_2) {
		c.Transactions = commitmentRoot(pedersenTransactionLeaves(leaves, b, version), hash.Pedersen)
		c.Events = commitmentRoot(pedersenEventLeaves(leaves, b), hash.Pedersen)
		return c
	}
	c.Transactions = commitmentRoot(transactionLeaves(leaves, b, version), hash.Poseidon)
	c.Events = commitmentRoot(eventLeaves(leaves, b), hash.Poseidon)
	c.Receipts = commitmentRoot(receiptLeaves(leaves, b), hash.Poseidon)
	return c
}

func transactionLeaves(leaves []element, b *Block, version protocolVersion) []element {
	var p poseidon
	for i := range b.Transactions {
		t := &b.Transactions[i]
		p.add(&t.Hash)
		p.addAll(t.Signature)
		if len(t.Signature) == 0 && version.before(v0_13_4) {
			p.addUint64(0)
		}
		leaves = append(leaves, p.sum())
	}
	return leaves
}

func eventLeaves(leaves []element, b *Block) []element {
	var p poseidon
	for i := range b.Receipts {
		hash := toElement(&b.Receipts[i].TransactionHash)
		for j := range b.Receipts[i].Events {
			e := &b.Receipts[i].Events[j]
			p.add(&e.From)
			p.addElement(&hash)
			p.addUint64(uint64(len(e.Keys)))
			p.addAll(e.Keys)
			p.addUint64(uint64(len(e.Data)))
			p.addAll(e.Data)
			leaves = append(leaves, p.sum())
		}
	}
	return leaves
}

func receiptLeaves(leaves []element, b *Block) []element {
	var inner, outer poseidon
	for i := range b.Receipts {
		r := &b.Receipts[i]
		outer.add(&r.TransactionHash)
		outer.add(&r.ActualFee)
		inner.addUint64(uint64(len(r.MessagesSent)))
		for j := range r.MessagesSent {
			m := &r.MessagesSent[j]
			inner.add(&m.From)
			inner.add(&m.To)
			inner.addUint64(uint64(len(m.Payload)))
			inner.addAll(m.Payload)
		}
		messages := inner.sum()
		outer.addElement(&messages)
		var reason felt.Felt
		if r.Execution == Reverted {
			reason = felt.Keccak([]byte(r.RevertReason))
		}
		outer.add(&reason)
		outer.addUint64(0) // L2 gas has a place in the hash, but always as zero
		outer.addUint64(r.Resources.L1Gas)
		outer.addUint64(r.Resources.L1DataGas)
		leaves = append(leaves, outer.sum())
	}
	return leaves
}

func pedersenTransactionLeaves(leaves []element, b *Block, version protocolVersion) []element {
	for i := range b.Transactions {
		t := &b.Transactions[i]
		var signature []felt.Felt
		if t.Type == Invoke || !version.before(v0_11_1) {
			signature = t.Signature
		}
		own, sum := toElement(&t.Hash), pedersenFelts(signature)
		leaves = append(leaves, hash.Pedersen(&own, &sum))
	}
	return leaves
}

func pedersenEventLeaves(leaves []element, b *Block) []element {
	for i := range b.Receipts {
		for j := range b.Receipts[i].Events {
			e := &b.Receipts[i].Events[j]
			leaves = append(leaves, pedersenElements(toElement(&e.From), pedersenFelts(e.Keys), pedersenFelts(e.Data)))
		}
	}
	return leaves
}
