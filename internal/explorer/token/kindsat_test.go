package token_test

import (
	"context"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// TestKindsBeforeAndAfter: a token has the standard of its class at each block. A memo of few histories says of
// tokens that it did not look into, and of what lies far below, that it does not know.
func TestKindsBeforeAndAfter(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 7, Blocks: 3})
	e := open(t)
	head, _ := c.Head()
	follow(t, e, c, head)
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	all := contracts.Classes()
	const turns, tokens = 20, token.MaxHistories + 3
	address := func(i int) felt.Felt { return felt.FromUint64(uint64(1000 + i)) }
	b, rows := &store.Batch{Epoch: lease.Epoch}, &explorer.Rows{}
	for n := range turns { // to and fro
		block := &explorer.Block{}
		block.Number = uint64(100 + n)
		class := all.ERC20Legacy.Hash
		if n%2 > 0 {
			class = all.ERC721Legacy.Hash
		}
		for i := range tokens {
			if n == 0 {
				block.State.Deployed = append(block.State.Deployed, starknet.DeployedContract{Address: address(i), ClassHash: class})
			} else {
				block.State.Replaced = append(block.State.Replaced, starknet.ReplacedClass{Address: address(i), ClassHash: class})
			}
		}
		if err := (contract.Subject{}).Project(block, rows); err != nil {
			t.Fatal(err)
		}
		if err := (contract.Subject{}).Plan(block).Follow(nil, rows); err != nil {
			t.Fatal(err)
		}
	}
	for _, op := range rows.Ops() {
		b.Put(op.Key, op.Value)
	}
	if err := e.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	var list []contract.At
	for i := range tokens {
		for n := range turns + 5 {
			list = append(list, contract.At{Address: address(i), Block: uint64(100 + n)})
		}
	}
	view(t, e, func(ctx context.Context, r store.Reader) {
		for _, few := range []bool{false, true} {
			memo := token.NewKindMemo(r)
			if few {
				memo = token.FewHistories(r)
			}
			kinds, err := memo.At(ctx, list)
			if err != nil {
				t.Fatal(err)
			}
			unknown := 0
			for i, at := range list {
				want := transfer.ERC721
				if at.Block < 100+turns && at.Block%2 == 0 {
					want = transfer.ERC20
				}
				if few && kinds[i] == transfer.Ambiguous {
					unknown++
					if at.Block >= 100+turns-1 || at.Block >= 100+turns/2 && i < token.MaxHistories*(turns+5) {
						t.Errorf("few histories do not know %s at %d", at.Address, at.Block)
					}
				} else if kinds[i] != want {
					t.Errorf("few %t: %s at %d is %s, want %s", few, at.Address, at.Block, kinds[i], want)
				}
			}
			if few && unknown == 0 {
				t.Error("few histories know all")
			}
		}
	})
}
