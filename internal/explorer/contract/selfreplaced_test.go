package contract_test

import (
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// TestClassReplacedByItself: to replace a class by itself changes nothing, in the
// list of a contract's classes, in pages of any size, and in the directory.
func TestClassReplacedByItself(t *testing.T) {
	a, b, address := felt.FromUint64(0xa), felt.FromUint64(0xb), felt.FromUint64(7)
	engine := pebbletest.Open(t, append(contract.Subject{}.Tables(), append(class.Directory{}.Tables(), contract.Origins)...))
	lease, err := engine.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	// Deployed with a, replaced by a twice, by b, by b, and by a at last, twice.
	for n, hash := range []felt.Felt{a, a, a, b, b, a, a} {
		blk := &explorer.Block{}
		blk.Number = uint64(n)
		if n == 0 {
			blk.State.Deployed = []starknet.DeployedContract{{Address: address, ClassHash: hash}}
		} else {
			blk.State.Replaced = []starknet.ReplacedClass{{Address: address, ClassHash: hash}}
		}
		batch := &store.Batch{Epoch: lease.Epoch}
		rows := &explorer.Rows{}
		err := engine.View(t.Context(), func(r store.Reader) error {
			if err := (contract.Subject{}).Project(blk, rows); err != nil {
				return err
			}
			return explorer.Follow(t.Context(), []explorer.Plan{class.Directory{}.Plan(blk)}, r.GetMany, rows)
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range rows.Ops() {
			if op.Delete {
				batch.Delete(op.Key)
			} else {
				batch.Put(op.Key, op.Value)
			}
		}
		if err := engine.Commit(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	want := []contract.Epoch{{Block: 5, Class: a}, {Block: 3, Class: b}, {Block: 0, Class: a, Deployed: true}}
	err = engine.View(t.Context(), func(r store.Reader) error {
		for limit := 1; limit <= 4; limit++ {
			var got []contract.Epoch
			var before *contract.Place
			for more := true; more; {
				var page []contract.Epoch
				if page, more, err = contract.Epochs(t.Context(), r, address, before, limit); err != nil {
					return err
				}
				got = append(got, page...)
				if n := len(got); n > 0 {
					before = &contract.Place{Block: got[n-1].Block, Deployed: got[n-1].Deployed}
				}
			}
			if len(got) != len(want) {
				t.Fatalf("pages of %d: %+v, want %+v", limit, got, want)
			}
			for i := range got {
				if got[i] != want[i] {
					t.Errorf("pages of %d: epoch %d is %+v, want %+v", limit, i, got[i], want[i])
				}
			}
		}
		since, err := class.Since(t.Context(), r, []felt.Felt{address, felt.FromUint64(8)})
		if err == nil && (since[0] != want[0].Block || since[1] != 0) {
			t.Errorf("the directory has the class since %v, the contract since %d", since, want[0].Block)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
