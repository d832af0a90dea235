package index

import (
	"fmt"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// prepared is a block with everything done that needs no other block.
type prepared struct {
	block    *explorer.Block
	rows     *explorer.Rows // that follow from the block alone
	sum      [32]byte
	plans    []explorer.Plan // for the others
	node     string
	needUndo bool
	finding  chain.Finding // of verification
	classes  []classRow
	// unexplained are contracts that the first block changes and nobody deployed.
	unexplained []felt.Felt
}

// prepareRaw does with an answer what needs no other block.
func (x *Indexer) prepareRaw(raw Raw, number, tail uint64) (*prepared, error) {
	start := time.Now()
	bad := func(err error) error {
		return &checkError{Block: number, Node: raw.Node, Reason: err.Error()}
	}
	b, err := starknet.DecodeBlock(raw.Block)
	if err != nil {
		return nil, bad(err)
	}
	su, err := starknet.DecodeStateUpdate(raw.StateUpdate)
	if err != nil {
		return nil, bad(err)
	}
	x.Metrics.stage("decode", start)
	if err := check(b, su, number); err != nil {
		return nil, bad(err)
	}
	p := &prepared{node: raw.Node, rows: &explorer.Rows{}}
	p.rows.Reserve(int(x.expectRows.own.Load()), int(x.expectRows.ownBytes.Load()))
	p.needUndo = b.Status != starknet.AcceptedOnL1 || number >= tail
	if x.Verify == VerifyAll || x.Verify == VerifyTail && p.needUndo {
		if p.finding, err = x.verify(b, su, raw.Node); err != nil {
			return nil, err
		}
	} else {
		p.finding.Outcome = chain.NotChecked
		if err := checkCounts(b); err != nil {
			return nil, bad(err)
		}
	}
	start = time.Now()
	p.unexplained = unexplained(b, &su.Diff)
	p.block = explorer.NewBlock(b, su)
	if err := checkUnambiguous(&p.block.State); err != nil {
		return nil, bad(err)
	}
	for _, s := range x.Subjects {
		if err := s.Project(p.block, p.rows); err != nil {
			return nil, &projectionError{number, s.Name(), err}
		}
	}
	p.sum = p.rows.Sum()
	p.plans = planned(x.followers, p.block)
	x.Metrics.stage("project", start)
	return p, nil
}

// check holds a block against itself and its state update.
func check(b *starknet.Block, su *starknet.StateUpdate, number uint64) error {
	if b.Number != number {
		return fmt.Errorf("the answer is block %d", b.Number)
	}
	if number == 0 && !b.ParentHash.IsZero() {
		return fmt.Errorf("the first block has parent %s", b.ParentHash)
	}
	if su.BlockHash != b.Hash {
		return fmt.Errorf("the state update is of block %s, not %s", su.BlockHash, b.Hash)
	}
	if su.NewRoot != b.NewRoot {
		return fmt.Errorf("the state update ends at root %s, the block at %s", su.NewRoot, b.NewRoot)
	}
	if len(b.Transactions) != len(b.Receipts) {
		return fmt.Errorf("%d transactions but %d receipts", len(b.Transactions), len(b.Receipts))
	}
	seen := make(map[felt.Felt]struct{}, len(b.Transactions))
	for i := range b.Transactions {
		t, r := &b.Transactions[i], &b.Receipts[i]
		if t.Hash != r.TransactionHash {
			return fmt.Errorf("transaction %d is %s, its receipt is of %s", i, t.Hash, r.TransactionHash)
		}
		if t.Type != r.Type {
			return fmt.Errorf("transaction %d and its receipt differ in type", i)
		}
		if _, twice := seen[t.Hash]; twice {
			return fmt.Errorf("transaction %s is there twice", t.Hash)
		}
		seen[t.Hash] = struct{}{}
	}
	return nil
}

// checkUnambiguous refuses a sorted state diff that says two things of one
// contract or class, because rows are keyed by them. Saying one thing twice is
// harmless.
func checkUnambiguous(d *starknet.StateDiff) error {
	for i := 1; i < len(d.Deployed); i++ {
		if a, b := d.Deployed[i-1], d.Deployed[i]; a.Address == b.Address && a != b {
			return fmt.Errorf("contract %s is deployed with two classes", b.Address)
		}
	}
	for i := 1; i < len(d.Replaced); i++ {
		if a, b := d.Replaced[i-1], d.Replaced[i]; a.Address == b.Address && a != b {
			return fmt.Errorf("contract %s gets two classes", b.Address)
		}
	}
	sierra := make(map[felt.Felt]felt.Felt, len(d.Declared))
	for _, c := range d.Declared {
		if compiled, twice := sierra[c.ClassHash]; twice && compiled != c.CompiledClassHash {
			return fmt.Errorf("class %s is declared with two compiled forms", c.ClassHash)
		}
		sierra[c.ClassHash] = c.CompiledClassHash
	}
	for _, h := range d.DeprecatedDeclared {
		if _, both := sierra[h]; both {
			return fmt.Errorf("class %s is declared as two kinds", h)
		}
	}
	return nil
}

// checkCounts holds a block against the counts in its header, for blocks that
// are not verified as a whole.
func checkCounts(b *starknet.Block) error {
	c := b.Commitments
	if c == nil {
		return nil
	}
	for _, count := range []struct {
		what         string
		claimed, got uint64
	}{
		{"transactions", c.TransactionCount, uint64(len(b.Transactions))},
		{"events", c.EventCount, uint64(b.EventCount())},
	} {
		// Zero may be a count that the node left out.
		if count.claimed != 0 && count.claimed != count.got {
			return fmt.Errorf("the header counts %d %s, the block has %d", count.claimed, count.what, count.got)
		}
	}
	return nil
}
