package simnode_test

import (
	"testing"

	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// checkMessages holds the known messages against the blocks.
func checkMessages(t *testing.T, c *simnode.Chain) (count int) {
	t.Helper()
	head, _ := c.Head()
	all := c.Messages(0, head)
	next := func() (m simnode.Message) {
		if count < len(all) {
			m = all[count]
		}
		count++
		return m
	}
	for n := range head + 1 {
		b := c.BlockAt(n)
		for i := range b.Transactions {
			tx, r := &b.Transactions[i], &b.Receipts[i]
			if tx.Type == starknet.L1Handler {
				m := next()
				if m.ToL1 || m.Block != n || m.TxIndex != i || m.Hash != r.MessageHash || m.Reverted != (r.Execution == starknet.Reverted) {
					t.Errorf("message %d is wrong: %+v", count, m)
				}
			}
			for j := range r.MessagesSent {
				m := next()
				if !m.ToL1 || m.Index != j || m.Hash != r.MessagesSent[j].Hash() {
					t.Errorf("message %d is wrong: %+v", count, m)
				}
			}
		}
	}
	if count != len(all) {
		t.Errorf("%d messages in blocks, %d known", count, len(all))
	}
	return count
}

func TestMessagesAreTruth(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 2, Blocks: 120})
	if checkMessages(t, c) == 0 {
		t.Error("no messages")
	}
	if part := c.Messages(50, 60); len(part) == 0 || part[0].Block < 50 || part[len(part)-1].Block > 60 {
		t.Errorf("range of messages is wrong")
	}
}
