package own

import (
	"errors"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// ahead is by how many blocks the index may be ahead of the head that the nodes were
// last known to have: it may have heard of a block first. By more, and the nodes have
// gone back behind blocks that the index still has.
const ahead = 10

// findReach finds up to which block the index is known to have what the nodes have.
func (c *call) findReach(depth uint64) error {
	s := c.s
	if !s.HasHead {
		return nil
	}
	if s.HasL1 {
		c.next = s.L1.Number + 1
	}
	switch {
	case s.Rewinding:
		c.next = min(c.next, s.Rewind.Ancestor+1)
	case !c.nodes.known || c.nodes.number > s.Head.Number:
		if n, ok := s.FinalizedBlock(depth); ok {
			c.next = max(c.next, n+1)
		}
	default:
		hash, err := c.hashOf(c.nodes.number)
		if err != nil {
			return err
		}
		switch {
		case hash != c.nodes.hash:
		case s.Head.Number-c.nodes.number <= ahead:
			c.next, c.atHead = s.Head.Number+1, true
		default:
			c.next = max(c.next, c.nodes.number+1)
		}
	}
	return nil
}

func (c *call) hashOf(number uint64) (felt.Felt, error) {
	if number == c.s.Head.Number {
		return c.s.Head.Hash, nil
	}
	return block.HashOf(c.ctx, c.r, number)
}

// block is the number of the block that an id names, if it is answered for.
func (c *call) block(name string) (uint64, error) {
	text, given := c.arg(name)
	if !given {
		return 0, errElsewhere
	}
	id, ok := parseBlockID(text)
	if !ok {
		return 0, errElsewhere
	}
	return c.reached(id)
}

// reached is the number of a block that is answered for.
func (c *call) reached(id blockID) (uint64, error) {
	number, err := c.numberOf(id)
	if err == nil && number >= c.next {
		err = errElsewhere
	}
	return number, err
}

// numberOf is the number that an id stands for, which may be above all that is
// answered for.
func (c *call) numberOf(id blockID) (uint64, error) {
	switch id.kind {
	case byNumber:
		return id.number, nil
	case byHash:
		number, err := block.NumberOf(c.ctx, c.r, id.hash)
		if errors.Is(err, block.ErrNotFound) {
			err = errElsewhere
		}
		return number, err
	case latest:
		if c.atHead {
			return c.s.Head.Number, nil
		}
	}
	return 0, errElsewhere
}

// status is the status of a block that is answered for.
func (c *call) status(number uint64) (starknet.BlockStatus, error) {
	switch {
	case !c.s.HasL1:
		return 0, errElsewhere // nobody told, which does not mean that nothing is accepted
	case number <= c.s.L1.Number:
		return starknet.AcceptedOnL1, nil
	case c.atHead:
		return starknet.AcceptedOnL2, nil
	}
	// The index is behind, and so may be its mark.
	return 0, errElsewhere
}
