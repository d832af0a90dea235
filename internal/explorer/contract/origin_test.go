package contract_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// TestOrigins: a contract that was there before the first block has its class at
// every block, until a diff replaces it.
func TestOrigins(t *testing.T) {
	e := pebbletest.Open(t, append(contract.Subject{}.Tables(), contract.Enrichment()...))
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	plain, replaced, wanted := felt.FromUint64(1), felt.FromUint64(2), felt.FromUint64(3)
	first, second := felt.FromUint64(71), felt.FromUint64(72)
	b := &explorer.Block{}
	b.Number = 5
	b.State.Replaced = []starknet.ReplacedClass{{Address: replaced, ClassHash: second}}
	rows := &explorer.Rows{}
	if err := (contract.Subject{}).Project(b, rows); err != nil {
		t.Fatal(err)
	}
	if err := (contract.Subject{}).Plan(b).Follow(nil, rows); err != nil {
		t.Fatal(err)
	}
	batch := &store.Batch{Epoch: lease.Epoch}
	for _, op := range rows.Ops() {
		batch.Put(op.Key, op.Value)
	}
	batch.Put(contract.OriginKey(plain), contract.EncodeOrigin(first))
	batch.Put(contract.OriginKey(replaced), contract.EncodeOrigin(first))
	batch.Put(contract.WantedKey(wanted), []byte{})
	if err := e.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	view(t, e, func(ctx context.Context, r store.Reader) {
		for _, c := range []struct {
			address felt.Felt
			block   uint64
			want    []felt.Felt
		}{
			{plain, 0, []felt.Felt{first}}, {plain, 9, []felt.Felt{first}},
			{replaced, 4, []felt.Felt{first}}, {replaced, 5, []felt.Felt{first, second}}, {replaced, 6, []felt.Felt{second}},
			{wanted, 4, nil},
		} {
			many, err := contract.ClassesAtMany(ctx, r, []contract.At{{Address: c.address, Block: c.block}})
			if err != nil {
				t.Fatal(err)
			}
			var got []felt.Felt
			if many[0] != nil {
				got = many[0].Candidates()
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("contract %s in block %d may run %v, want %v", c.address, c.block, got, c.want)
			}
		}
		ids, err := contract.Identities(ctx, r, []felt.Felt{plain, replaced, wanted})
		if err != nil {
			t.Fatal(err)
		}
		now, err := contract.ClassesNow(ctx, r, []felt.Felt{plain, replaced, wanted})
		if err != nil {
			t.Fatal(err)
		}
		for i := range ids {
			if !reflect.DeepEqual(now[i], ids[i].Current) {
				t.Errorf("contract %d is %+v now, and by all that is known %+v", i, now[i], ids[i].Current)
			}
		}
		if c := ids[0].Current; c == nil || *c != (contract.Current{Class: first, Origin: true}) || !ids[0].Origin {
			t.Errorf("the contract is %+v", ids[0])
		}
		if c := ids[1].Current; c == nil || *c != (contract.Current{Block: 5, Class: second, Replaced: true}) || !ids[1].Origin {
			t.Errorf("the contract that was replaced is %+v", ids[1])
		}
		if ids[2].Current != nil || ids[2].Origin {
			t.Errorf("a contract of which nothing is known is %+v", ids[2])
		}
		origin, replacement := contract.Epoch{Deployed: true, Origin: true, Class: first}, contract.Epoch{Block: 5, Class: second}
		for limit, want := range map[int][]contract.Epoch{1: {replacement}, 2: {replacement, origin}} {
			list, more, err := contract.Epochs(ctx, r, replaced, nil, limit)
			if err != nil || !slices.Equal(list, want) || more != (limit == 1) {
				t.Errorf("the first %d classes are %v, more %t, %v", limit, list, more, err)
			}
		}
		if list, more, err := contract.Epochs(ctx, r, replaced, &contract.Place{Block: 5}, 1); err != nil || more || !slices.Equal(list, []contract.Epoch{origin}) {
			t.Errorf("before its replacement the contract had %v, more %t, %v", list, more, err)
		}
		if list, _, err := contract.Epochs(ctx, r, replaced, &contract.Place{Deployed: true}, 1); err != nil || len(list) != 0 {
			t.Errorf("before the first block the contract had %v, %v", list, err)
		}
		if list, err := contract.WantedOrigins(ctx, r, 9); err != nil || !slices.Equal(list, []felt.Felt{wanted}) {
			t.Errorf("to be asked for are %v, %v", list, err)
		}
	})
}
