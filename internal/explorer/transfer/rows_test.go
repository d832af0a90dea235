package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/postings"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// put writes rows that no block made.
func put(t *testing.T, e store.Engine, ops ...store.Op) {
	t.Helper()
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	batch := &store.Batch{Epoch: lease.Epoch}
	for _, op := range ops {
		batch.Put(op.Key, op.Value)
	}
	if err := e.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
}

// TestPairRow: the balance comes back whatever the places, and a row of another version
// or one that is cut is refused by those that read either half.
func TestPairRow(t *testing.T) {
	e := open(t)
	owner, token := felt.FromUint64(7), felt.FromUint64(8)
	var b postings.Builder
	var places postings.List
	for _, s := range []postings.Spot{transfer.In.At(2, 5), transfer.Out.At(2, 6), transfer.Both.At(9, 0)} {
		b.Add(&places, s)
	}
	var r transfer.PairRow
	var key store.Key
	for _, balance := range [][]byte{nil, {7}, make([]byte, 300)} {
		rows := &explorer.Rows{}
		r.Fill(balance, &b, places)
		r.Put(rows, &owner, &token, 5)
		key = rows.Ops()[0].Key
		put(t, e, rows.Ops()...)
		view(t, e, func(ctx context.Context, r store.Reader) {
			if got, block, err := transfer.LastBalance(ctx, r, owner, token, 9); err != nil || block != 5 || !bytes.Equal(got, balance) {
				t.Errorf("the balance is %x after block %d, %v", got, block, err)
			}
		})
	}
	for _, bad := range [][]byte{{}, {1}, {2, 0, 1, 0}, {1, 5, 1, 0}} {
		put(t, e, store.Op{Key: key, Value: bad})
		view(t, e, func(ctx context.Context, r store.Reader) {
			if _, _, err := transfer.LastBalance(ctx, r, owner, token, 9); !errors.Is(err, record.ErrCorrupt) {
				t.Errorf("%x is a row: %v", bad, err)
			}
			q := transfer.Query{To: 9, Limit: 10, Kinds: kinds}
			if page, err := transfer.ListByPair(ctx, r, owner, token, q); !errors.Is(err, record.ErrCorrupt) {
				t.Errorf("%x has places: %v, %v", bad, page, err)
			}
		})
	}
}

// TestAddressRow: the places behind a version, of which another is refused.
func TestAddressRow(t *testing.T) {
	e := open(t)
	owner := felt.FromUint64(7)
	key := store.Key{Table: transfer.Addresses, Partition: owner[:], Sort: explorer.BlockKey(5)}
	walk := func(row []byte) (seen []explorer.Position, err error) {
		put(t, e, store.Op{Key: key, Value: row})
		view(t, e, func(ctx context.Context, r store.Reader) {
			err = transfer.WalkTransactions(ctx, r, owner, transfer.Way{Rows: 10}, func(p explorer.Position, _ transfer.Moves) bool {
				seen = append(seen, p)
				return true
			})
		})
		return seen, err
	}
	// A row of version 1 with what comes in at the logs 5, and goes out at 6, of transaction 2.
	if seen, err := walk([]byte{1, 18, 5, 5}); err != nil || !slices.Equal(seen, []explorer.Position{{Block: 5, Index: 2}}) {
		t.Errorf("the places are in %v, %v", seen, err)
	}
	for _, bad := range [][]byte{{}, {1}, {2, 18, 5}, {1, 16, 5}} {
		if seen, err := walk(bad); !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("%x was read as %v, %v", bad, seen, err)
		}
	}
}
