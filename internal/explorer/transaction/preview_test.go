package transaction

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// TestPreviewShowsTheRecord holds what is read of a row for a list against the record that is read whole, for all types
// and versions of transactions, and for calldata that is a list of calls, nearly one, or none.
func TestPreviewShowsTheRecord(t *testing.T) {
	g := &maker{rand.New(rand.NewPCG(3, 4)), make([]felt.Felt, 40)}
	for i := range g.pool {
		g.pool[i] = felt.Keccak([]byte{byte(i)})
		clear(g.pool[i][:g.IntN(felt.Size-5)])
	}
	var e record.Encoder
	var w previewer
	calls := 0
	for round := range 4000 {
		tx, receipt := g.transaction()
		row := encode(&e, &Stamp{g.any(), g.Uint64()}, &tx, &receipt)
		p := explorer.Position{Block: g.Uint64(), Index: g.Uint32()}
		rec, err := decode(&record.Decoder{}, p, row)
		if err != nil {
			t.Fatal(err)
		}
		var ends Ends
		want := rec.Preview(&ends)
		got, err := w.preview(p, row)
		if err != nil || !reflect.DeepEqual(*got, want) {
			t.Fatalf("%s with %d felts of calldata: %+v, %v, want %+v", tx.Type, len(tx.Calldata), got, err, want)
		}
		if tx.Type == starknet.Invoke && got.To != nil {
			calls++
		}
		for cut := range row { // ends somewhere
			if got, err := w.preview(p, row[:cut]); err == nil && !reflect.DeepEqual(*got, want) {
				t.Fatalf("%s cut off after %d of %d bytes: %+v, want %+v", tx.Type, cut, len(row), got, want)
			}
			if round > 200 {
				break
			}
		}
	}
	if calls < 500 {
		t.Errorf("only %d invocations have a call", calls)
	}
}

// maker makes up transactions of a few felts, so that many are named twice.
type maker struct {
	*rand.Rand
	pool []felt.Felt
}

func (g *maker) any() felt.Felt { return g.pool[g.IntN(len(g.pool))] }

func (g *maker) list(n int) (out []felt.Felt) {
	for range g.IntN(n) {
		out = append(out, g.any())
	}
	return out
}

func (g *maker) transaction() (starknet.Transaction, starknet.Receipt) {
	t := starknet.Transaction{Type: starknet.Invoke, Hash: g.any(), Version: felt.FromUint64(g.Uint64N(4)), Sender: g.any(), ContractAddress: g.any(), Calldata: g.calldata(), HasNonce: true, Nonce: felt.FromUint64(7)}
	if g.IntN(3) == 0 {
		t.Type = []starknet.TxType{starknet.Declare, starknet.Deploy, starknet.DeployAccount, starknet.L1Handler}[g.IntN(4)]
	}
	if g.IntN(5) == 0 {
		t.Version[15] |= 1 // of a query
	}
	if g.IntN(2) == 0 {
		t.ResourceBounds = &starknet.ResourceBounds{L1Gas: starknet.ResourceBound{MaxAmount: g.Uint64(), MaxPricePerUnit: g.any()}, L2Gas: starknet.ResourceBound{MaxAmount: g.Uint64N(9)}}
		t.Tip = g.Uint64() >> g.IntN(64)
	}
	r := starknet.Receipt{ContractAddress: g.any(), MessageHash: g.any(), ActualFee: g.any(), Execution: starknet.Succeeded, RevertReason: "why"[:g.IntN(4)]}
	r.Resources = starknet.ExecutionResources{L1Gas: g.Uint64() >> g.IntN(64), L2Gas: g.Uint64N(300)}
	for range g.IntN(4) {
		r.Events = append(r.Events, starknet.Event{From: g.any(), Keys: g.list(4), Data: g.list(9)})
	}
	return t, r
}

// calldata is a list of calls as accounts of either kind take it, or something else, and sometimes a felt of it is another.
func (g *maker) calldata() (out []felt.Felt) {
	n := func(n int) felt.Felt { return felt.FromUint64(uint64(n)) }
	count := g.IntN(4)
	out = append(out, n(count))
	switch g.IntN(3) {
	case 0:
		return g.list(6)
	case 1:
		for range count {
			args := g.list(8)
			out = append(append(out, g.any(), g.any(), n(len(args))), args...)
		}
	case 2:
		args := g.list(12)
		for range count {
			from := g.IntN(len(args) + 1)
			out = append(out, g.any(), g.any(), n(from), n(g.IntN(len(args)-from+1)))
		}
		out = append(append(out, n(len(args))), args...)
	}
	if g.IntN(4) == 0 {
		out[g.IntN(len(out))] = []felt.Felt{g.any(), n(g.IntN(9)), n(1 << 45), {}}[g.IntN(4)]
	}
	return out
}

// TestPreviewRoom reads the previews of blocks in one room: each list is as it is in memory of its own, and once it
// is of the size of the blocks the room takes no more.
func TestPreviewRoom(t *testing.T) {
	const n = 40
	_, e := whole(t, n)
	view(t, e, func(ctx context.Context, r store.Reader) {
		var room PreviewRoom
		for round := range 2 {
			for j := range uint64(n) {
				want, err := Previews(ctx, r, j, uint32(round), 7+int(j))
				if err != nil {
					t.Fatal(err)
				}
				got, err := room.Previews(ctx, r, j, uint32(round), 7+int(j))
				if err != nil || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
					t.Fatalf("block %d: %d previews, %v, want %d", j, len(got), err, len(want))
				}
				room.Recycle()
			}
		}
		if room.w.left != nil || len(room.list) > 0 || len(room.rows) == 0 || !reflect.DeepEqual(room.rows, make([]previewed, len(room.rows))) {
			t.Error("an empty room has previews")
		}
	})
}
