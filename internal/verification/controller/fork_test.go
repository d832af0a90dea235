package controller

import (
	"context"
	"strings"
	"testing"

	"chainexplorer/internal/servertest"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/verification/build"
	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/receipt"
)

// finalized is the hash of the finalized block that declares the class, as the chain is now; "" for none.
func (b *bench) finalized() string {
	b.t.Helper()
	head, _ := b.world.Chain.Head()
	for n := uint64(0); n+servertest.Depth <= head; n++ {
		block := b.world.Chain.BlockAt(n)
		for i := range block.Transactions {
			tx := &block.Transactions[i]
			if tx.Type == starknet.Declare && tx.ClassHash == b.declared && !tx.CompiledClassHash.IsZero() && block.Receipts[i].Execution == starknet.Succeeded {
				return block.Hash.String()
			}
		}
	}
	return ""
}

// TestForkDuringBuild: the declaration that was there when the build began stands in another block when it ends, or in
// none that is finalized. What counts is the index at the end: no receipt names a block that is gone.
func TestForkDuringBuild(t *testing.T) {
	b := newBench(t)
	b.step()
	before := b.finalized()
	during := func(change func()) (*job.Job, []byte, error) {
		b.result = func(context.Context) (*build.Result, error) {
			change()
			return &build.Result{ClassHash: b.declared, CandidateDigest: "sha256:" + strings.Repeat("ab", 32)}, nil
		}
		j := b.queue(b.declared)
		b.step()
		text, err := b.Jobs.Receipt(t.Context(), b.workspace, job.Chain, j.ID)
		return b.view(j.ID), text, err
	}
	j, text, err := during(func() {
		b.world.Chain.Fork(blocks - 1)
		b.world.Chain.Extend(1)
		b.world.CatchUp()
	})
	now := b.finalized()
	if now == "" || now == before {
		t.Fatalf("no fork: the block was %q and is %q", before, now)
	}
	if err != nil || j.State != job.Succeeded {
		t.Fatalf("declared elsewhere: %s %+v, %v", j.State, j.Failure, err)
	}
	if r, err := receipt.Parse(text); err != nil || r.Evidence.Declaration.BlockHash != now {
		t.Errorf("the receipt names another block than %s: %s, %v", now, text, err)
	}
	j, text, err = during(func() { b.Depth = blocks + 1 })
	if j.State != job.Failed || j.Failure.Code != job.DeclarationUnavailable || !j.Failure.Retryable || err == nil {
		t.Errorf("declared and not finalized any more: %s %+v, %s", j.State, j.Failure, text)
	}
}
