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
func commitmentRoot(leaves []element, hash func(a, b *element) element, pairs func([]element)) felt.Felt {
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
		alone := level[n-1]
		pairs(level)
		if n%2 == 1 {
			level[n/2] = alone
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
	modern := !version.before(v0_13_2)
	switch {
	case diff != nil:
		c.StateDiffLength = diff.Length()
	case b.Commitments != nil:
		c.StateDiff, c.StateDiffLength = b.Commitments.StateDiff, b.Commitments.StateDiffLength
	}
	if !modern {
		c.Transactions = commitmentRoot(pedersenTransactionLeaves(b, version), hash.Pedersen, hash.PedersenPairs)
		c.Events = commitmentRoot(pedersenEventLeaves(b), hash.Pedersen, hash.PedersenPairs)
		return c
	}
	w := workspaces.Get().(*workspace)
	p, q := &w.p, &w.q
	if diff != nil { // the longest list of all
		diff.addTo(p)
		p.end()
	}
	addMessages(p, b)
	addTransactions(p, b, version)
	addEvents(p, b)
	sums := p.sums()
	if diff != nil {
		c.StateDiff, sums = fromElement(&sums[0]), sums[1:]
	}
	messages, sums := sums[:len(b.Receipts)], sums[len(b.Receipts):]
	transactions, events := sums[:len(b.Transactions)], sums[len(b.Transactions):]
	addReceipts(q, b, messages)
	c.Transactions = commitmentRoot(transactions, hash.Poseidon, hash.Pairs)
	c.Events = commitmentRoot(events, hash.Poseidon, hash.Pairs)
	c.Receipts = commitmentRoot(q.sums(), hash.Poseidon, hash.Pairs)
	workspaces.Put(w)
	return c
}

// addTransactions adds a list for every leaf of the tree of transactions.
func addTransactions(p *poseidon, b *Block, version protocolVersion) {
	for i := range b.Transactions {
		t := &b.Transactions[i]
		p.add(&t.Hash)
		p.addAll(t.Signature)
		if len(t.Signature) == 0 && version.before(v0_13_4) {
			p.addUint64(0)
		}
		p.end()
	}
}

// addEvents adds a list for every leaf of the tree of events.
func addEvents(p *poseidon, b *Block) {
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
			p.end()
		}
	}
}

// addMessages adds a list of every receipt's messages, which its leaf is made of.
func addMessages(p *poseidon, b *Block) {
	for i := range b.Receipts {
		r := &b.Receipts[i]
		p.addUint64(uint64(len(r.MessagesSent)))
		for j := range r.MessagesSent {
			m := &r.MessagesSent[j]
			p.add(&m.From)
			p.add(&m.To)
			p.addUint64(uint64(len(m.Payload)))
			p.addAll(m.Payload)
		}
		p.end()
	}
}

// addReceipts adds a list for every leaf of the tree of receipts.
func addReceipts(p *poseidon, b *Block, messages []element) {
	for i := range b.Receipts {
		r := &b.Receipts[i]
		p.add(&r.TransactionHash)
		p.add(&r.ActualFee)
		p.addElement(&messages[i])
		var reason felt.Felt
		if r.Execution == Reverted {
			reason = felt.Keccak([]byte(r.RevertReason))
		}
		p.add(&reason)
		p.addUint64(0) // L2 gas has a place in the hash, but always as zero
		p.addUint64(r.Resources.L1Gas)
		p.addUint64(r.Resources.L1DataGas)
		p.end()
	}
}

func pedersenTransactionLeaves(b *Block, version protocolVersion) []element {
	var p pedersen
	for i := range b.Transactions {
		t := &b.Transactions[i]
		if t.Type == Invoke || !version.before(v0_11_1) {
			p.addAll(t.Signature)
		}
		p.end()
	}
	pairs := make([]element, 0, 2*len(b.Transactions))
	for i, signature := range p.sums() {
		pairs = append(pairs, toElement(&b.Transactions[i].Hash), signature)
	}
	hash.PedersenPairs(pairs)
	return pairs[:len(b.Transactions)]
}

func pedersenEventLeaves(b *Block) []element {
	var inner, outer pedersen
	for i := range b.Receipts {
		for j := range b.Receipts[i].Events {
			e := &b.Receipts[i].Events[j]
			inner.addAll(e.Keys)
			inner.end()
			inner.addAll(e.Data)
			inner.end()
		}
	}
	sums := inner.sums()
	for i := range b.Receipts {
		for j := range b.Receipts[i].Events {
			outer.add(&b.Receipts[i].Events[j].From)
			outer.addElement(&sums[0])
			outer.addElement(&sums[1])
			outer.end()
			sums = sums[2:]
		}
	}
	return outer.sums()
}
