package block

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
	"chainexplorer/internal/store/record"
)

const blocks = 100

// opened is an empty store, and the right to write to it.
func opened(t *testing.T) (store.Engine, store.Lease) {
	t.Helper()
	e := pebbletest.Open(t, Subject{}.Tables())
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return e, lease
}

// build projects a simulated chain into a store, block after block.
func build(t *testing.T) (*simnode.Chain, store.Engine) {
	t.Helper()
	c := simnode.New(simnode.Config{Seed: 5, Blocks: blocks, BlockTime: 2 * time.Second})
	e, lease := opened(t)
	var earlier [][]byte
	for i := range uint64(blocks) {
		b := explorer.NewBlock(c.BlockAt(i), c.StateUpdateAt(i))
		rows := &explorer.Rows{}
		if err := errors.Join((Subject{}).Project(b, rows), (Subject{}).Plan(b).Follow(earlier, rows)); err != nil {
			t.Fatal(err)
		}
		batch := &store.Batch{Epoch: lease.Epoch}
		for _, op := range rows.Ops() {
			batch.Put(op.Key, op.Value)
			if op.Table == Blocks {
				earlier = [][]byte{op.Value}
			}
		}
		if err := e.Commit(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	return c, e
}

func TestQueries(t *testing.T) {
	c, e := build(t)
	ctx := t.Context()
	err := e.View(ctx, func(r store.Reader) error {
		var txs, events uint64
		for i := range uint64(blocks) {
			want := c.BlockAt(i)
			n, err := NumberOf(ctx, r, want.Hash)
			if err != nil || n != i {
				t.Fatalf("number of block %d: %d, %v", i, n, err)
			}
			got, err := Get(ctx, r, i)
			if err != nil {
				t.Fatal(err)
			}
			header := want.Header
			header.Status, header.Commitments, got.Commitments = 0, nil, nil
			if !reflect.DeepEqual(got.Header, header) {
				t.Fatalf("header is\n%+v, want\n%+v", got.Header, header)
			}
			var messages, reverted uint64
			for j := range want.Receipts {
				messages += uint64(len(want.Receipts[j].MessagesSent))
				if want.Receipts[j].Execution == starknet.Reverted {
					reverted++
				}
			}
			txs += uint64(len(want.Transactions))
			events += uint64(want.EventCount())
			if got.Transactions != uint64(len(want.Transactions)) || got.Events != uint64(want.EventCount()) ||
				got.Messages != messages || got.Reverted != reverted || got.TotalTransactions != txs || got.TotalEvents != events {
				t.Fatalf("counts of block %d are %+v", i, got)
			}
			diff := c.StateUpdateAt(i).Diff
			if got.StateDiffLength != diff.Length() {
				t.Errorf("block %d: state diff length %d, want %d", i, got.StateDiffLength, diff.Length())
			}
			state, err := StateOf(ctx, r, i)
			if err != nil {
				t.Fatal(err)
			}
			if want := explorer.NewBlock(want, c.StateUpdateAt(i)).State; state.Length() != want.Length() || len(want.Nonces) > 0 && !reflect.DeepEqual(state.Nonces, want.Nonces) ||
				len(want.Deployed) > 0 && !reflect.DeepEqual(state.Deployed, want.Deployed) || len(want.Declared) > 0 && !reflect.DeepEqual(state.Declared, want.Declared) ||
				len(want.Replaced) > 0 && !reflect.DeepEqual(state.Replaced, want.Replaced) {
				t.Fatalf("state of block %d is\n%+v, want\n%+v", i, state, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestList(t *testing.T) {
	_, e := build(t)
	ctx := t.Context()
	for _, c := range []struct {
		from        uint64
		limit, want int
		first       uint64
	}{
		{blocks - 1, 10, 10, blocks - 1},
		{5, 10, 6, 5},
		{0, 1, 1, 0},
		{1 << 40, 3, 0, 0}, // nothing there, and no walk through a billion spans
	} {
		err := e.View(ctx, func(r store.Reader) error {
			list, err := List(ctx, r, c.from, c.limit)
			if err != nil {
				return err
			}
			if len(list) != c.want {
				t.Fatalf("from %d: %d blocks, want %d", c.from, len(list), c.want)
			}
			for i, s := range list {
				if s.Number != c.first-uint64(i) {
					t.Errorf("from %d: entry %d is block %d", c.from, i, s.Number)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestByTime(t *testing.T) {
	c, e := build(t)
	ctx := t.Context()
	first, last := c.BlockAt(0).Timestamp, c.BlockAt(blocks-1).Timestamp
	times := make([]uint64, blocks)
	for i := range times {
		times[i] = c.BlockAt(uint64(i)).Timestamp
	}
	err := e.View(ctx, func(r store.Reader) error {
		for at := first - 2; at <= last+2; at++ {
			before, after := -1, -1
			for i, ts := range times {
				if ts <= at {
					before = i
				}
				if ts >= at && after < 0 {
					after = i
				}
			}
			expect(t, ctx, r, AtOrBefore, at, before)
			expect(t, ctx, r, AtOrAfter, at, after)
		}
		expect(t, ctx, r, AtOrBefore, ^uint64(0), blocks-1)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, ctx context.Context, r store.Reader, ask func(context.Context, store.Reader, uint64) (*Summary, error), at uint64, want int) {
	t.Helper()
	s, err := ask(ctx, r, at)
	switch {
	case want < 0:
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("time %d: got %v, want ErrNotFound", at, err)
		}
	case err != nil:
		t.Errorf("time %d: %v", at, err)
	case s.Number != uint64(want):
		t.Errorf("time %d: block %d, want %d", at, s.Number, want)
	}
}

func TestNotFound(t *testing.T) {
	_, e := build(t)
	ctx := t.Context()
	err := e.View(ctx, func(r store.Reader) error {
		if _, err := Get(ctx, r, blocks); !errors.Is(err, ErrNotFound) {
			t.Errorf("by number: %v", err)
		}
		if _, err := NumberOf(ctx, r, felt.FromUint64(1)); !errors.Is(err, ErrNotFound) {
			t.Errorf("by hash: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRemembered: a block is read once of a state, is each reader's own, and another one
// after a commit that replaces it.
func TestRemembered(t *testing.T) {
	c, e := build(t)
	ctx := t.Context()
	var other []byte
	err := e.View(ctx, func(r store.Reader) error {
		for range 2 {
			got, err := Get(ctx, r, 5)
			if err != nil || got.Hash != c.BlockAt(5).Hash {
				t.Fatalf("block 5 is %+v, %v", got, err)
			}
			got.Hash, got.Events = felt.FromUint64(1), 1<<40
		}
		if _, ok := store.Recalled[keptKey, *Summary](r, 5); !ok {
			t.Error("block 5 is not remembered")
		}
		var err error
		other, err = r.Get(ctx, Key(6))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	lease, err := e.Acquire(ctx, store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	batch := &store.Batch{Epoch: lease.Epoch}
	batch.Put(Key(5), other)
	if err := e.Commit(ctx, batch); err != nil {
		t.Fatal(err)
	}
	err = e.View(ctx, func(r store.Reader) error {
		got, err := Get(ctx, r, 5)
		if err == nil && got.Hash != c.BlockAt(6).Hash {
			t.Errorf("after a commit that replaced block 5 it is %+v", got)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func FuzzDecode(f *testing.F) {
	c := simnode.New(simnode.Config{Seed: 5, Blocks: 20})
	var e record.Encoder
	for i := range uint64(20) {
		f.Add(append([]byte(nil), encodeSummary(&e, &Summary{Header: c.BlockAt(i).Header, Events: i})...))
		f.Add(append([]byte(nil), encodeState(&e, &c.StateUpdateAt(i).Diff)...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var e record.Encoder
		if s, err := decodeSummary(7, b); err == nil {
			again, err := decodeSummary(7, encodeSummary(&e, s))
			if err != nil || !reflect.DeepEqual(s, again) {
				t.Fatalf("block: second round differs: %v", err)
			}
		}
		if s, err := decodeState(7, b); err == nil {
			next := encodeState(&e, &s)
			if next == nil {
				return // an empty diff has no row
			}
			again, err := decodeState(7, next)
			if err != nil || !reflect.DeepEqual(s, again) {
				t.Fatalf("state: second round differs: %v", err)
			}
		}
	})
}
