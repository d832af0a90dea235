package sim

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// liar is a node that changes what it serves.
type liar struct {
	*World
	lie func(*starknet.Block, *starknet.StateUpdate)
	at  uint64
}

func (l *liar) Fetch(ctx context.Context, number uint64) (index.Raw, error) {
	raw, err := l.World.Fetch(ctx, number)
	if err != nil || number != l.at {
		return raw, err
	}
	b, err := starknet.DecodeBlock(raw.Block)
	if err != nil {
		return raw, err
	}
	su, err := starknet.DecodeStateUpdate(raw.StateUpdate)
	if err != nil {
		return raw, err
	}
	l.lie(b, su)
	raw.Block = starknet.AppendBlock(nil, b, starknet.V010)
	raw.StateUpdate = starknet.AppendStateUpdate(nil, su, starknet.V010)
	return raw, nil
}

// TestLies: a node that loses or invents something is caught, by name, and the
// index goes on with an honest one.
func TestLies(t *testing.T) {
	withEvents := func(b *starknet.Block) *starknet.Receipt {
		for i := range b.Receipts {
			if len(b.Receipts[i].Events) > 1 {
				return &b.Receipts[i]
			}
		}
		return nil
	}
	for _, c := range []struct {
		what string
		lie  func(*starknet.Block, *starknet.StateUpdate)
	}{
		{starknet.WhatEventCount, func(b *starknet.Block, _ *starknet.StateUpdate) {
			r := withEvents(b)
			r.Events = r.Events[1:]
		}},
		{starknet.WhatEventCommitment, func(b *starknet.Block, _ *starknet.StateUpdate) {
			r := withEvents(b)
			r.Events = r.Events[1:]
			b.Commitments.EventCount--
		}},
		{starknet.WhatEventCommitment, func(b *starknet.Block, _ *starknet.StateUpdate) {
			r := withEvents(b)
			r.Events = append(r.Events, r.Events[0])
			b.Commitments.EventCount++
		}},
		{starknet.WhatBlockHash, func(b *starknet.Block, _ *starknet.StateUpdate) {
			r := withEvents(b)
			r.Events[0].Data[0] = felt.FromUint64(1)
			b.Commitments = nil // as an older node
		}},
		{starknet.WhatTransactionHash, func(b *starknet.Block, _ *starknet.StateUpdate) {
			b.Transactions[0].Nonce = felt.FromUint64(12345)
		}},
		{starknet.WhatReceiptCommitment, func(b *starknet.Block, _ *starknet.StateUpdate) {
			b.Receipts[0].ActualFee = felt.FromUint64(1)
		}},
		{starknet.WhatStateDiffCommitment, func(_ *starknet.Block, su *starknet.StateUpdate) {
			su.Diff.Storage[0].Entries[0].Value = felt.FromUint64(1)
		}},
		{starknet.WhatBlockHash, func(b *starknet.Block, _ *starknet.StateUpdate) { b.Timestamp++ }},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := quiet(3, 30, 1000, "0.14.0")
				at := uint64(12)
				for withEvents(w.chain.blocks[at]) == nil {
					at++
				}
				l := &liar{World: w, lie: c.lie, at: at}
				engine := openStore(t, vfs.NewCrashableMem())
				defer closeStore(t, engine)
				o := options(l)
				o.Store = engine
				err := newIndexer(t, o).Run(t.Context())
				var verify *index.VerifyError
				var mismatch *starknet.MismatchError
				if !errors.As(err, &verify) || !errors.As(err, &mismatch) {
					t.Fatalf("got %v, want a VerifyError", err)
				}
				if verify.Block != at || verify.Node != "sim" || mismatch.What != c.what {
					t.Errorf("blames block %d, node %s, %s: want block %d, %s", verify.Block, verify.Node, mismatch.What, at, c.what)
				}
				s := simsource.State(t, engine)
				if s.HasHead && s.Head.Number >= at {
					t.Errorf("block %d was indexed", s.Head.Number)
				}
				if !publicFault(s, err) {
					t.Errorf("fault row is %+v, want %v", s.Fault, err)
				}
				o.Source = w
				runTo(t, engine, o, 29)
				compareWithQuietRun(t, planFor(1, false), w, engine, 29)
			})
		})
	}
}

// TestUnverifiedBlocks: what cannot be held against its hash is refused, or, if
// the operator wants it, stored with the reason; an honest node's blocks behind it
// are verified again, and a fork forgets what it undoes.
func TestUnverifiedBlocks(t *testing.T) {
	unknown := func(b *starknet.Block, _ *starknet.StateUpdate) { b.StarknetVersion = "0.99.0" }
	for _, policy := range []index.UnverifiedPolicy{index.UnverifiedRefuse, index.UnverifiedStore} {
		synctest.Test(t, func(t *testing.T) {
			w := quiet(3, 30, 1000, "0.14.0")
			engine := openStore(t, vfs.NewCrashableMem())
			defer closeStore(t, engine)
			o := options(&liar{World: w, lie: unknown, at: 12})
			o.Store, o.Verify, o.Unverified = engine, index.VerifyAll, policy
			err := newIndexer(t, o).RunTo(t.Context(), 29)
			s := simsource.State(t, engine)
			if policy == index.UnverifiedRefuse {
				var refused *index.VerifyError
				var doubt *starknet.UnverifiedError
				if !errors.As(err, &refused) || !errors.As(err, &doubt) || doubt.Reason != starknet.UnknownVersion || s.HasHead && s.Head.Number >= 12 {
					t.Errorf("head %d: %v", s.Head.Number, err)
				}
				if !publicFault(s, err) {
					t.Errorf("fault row is %+v, want %v", s.Fault, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := chain.Summary{Verified: 29, Unverified: 1, FirstUnverified: 12}
			if s.Checked != want {
				t.Errorf("summary %+v, want %+v", s.Checked, want)
			}
			checkSound(t, engine)
			for n, want := range map[uint64]chain.Finding{
				11: {Outcome: chain.Verified, Rules: starknet.RulesPoseidon2}, 12: {Outcome: chain.Unverified, Reason: starknet.UnknownVersion},
				13: {Outcome: chain.Verified, Rules: starknet.RulesPoseidon2}, 30: {},
			} {
				if got := findingAt(t, engine, n); got != want {
					t.Errorf("block %d: %+v, want %+v", n, got, want)
				}
			}
		})
	}
}

func findingAt(t *testing.T, e store.Engine, number uint64) (f chain.Finding) {
	t.Helper()
	err := e.View(t.Context(), func(r store.Reader) (err error) {
		f, err = chain.FindingAt(t.Context(), r, number)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestVerifyModes tells which blocks are recomputed: a lie goes unnoticed where none is.
func TestVerifyModes(t *testing.T) {
	lie := func(b *starknet.Block, _ *starknet.StateUpdate) { b.Timestamp++ }
	for _, c := range []struct {
		mode    index.VerifyMode
		at      uint64
		caught  bool
		checked chain.Summary // where it was not caught
	}{
		{index.VerifyOff, 29, false, chain.Summary{NotChecked: 30}},
		{index.VerifyTail, 29, true, chain.Summary{}},                             // not accepted on L1
		{index.VerifyTail, 21, true, chain.Summary{}},                             // accepted, but among the newest ten
		{index.VerifyTail, 5, false, chain.Summary{NotChecked: 20, Verified: 10}}, // accepted and old
		{index.VerifyAll, 5, true, chain.Summary{}},
	} {
		synctest.Test(t, func(t *testing.T) {
			engine := openStore(t, vfs.NewCrashableMem())
			defer closeStore(t, engine)
			o := options(&liar{World: quiet(3, 30, 2, "0.14.0"), lie: lie, at: c.at})
			o.Store, o.Verify, o.UndoBlocks = engine, c.mode, 10
			err := newIndexer(t, o).RunTo(t.Context(), 29)
			var verify *index.VerifyError
			if caught := errors.As(err, &verify); caught != c.caught || !caught && err != nil {
				t.Errorf("verify %s, lie at block %d: got %v, want caught %v", c.mode, c.at, err, c.caught)
			}
			if s := simsource.State(t, engine); !c.caught && s.Checked != c.checked {
				t.Errorf("verify %s: recorded %+v, want %+v", c.mode, s.Checked, c.checked)
			}
		})
	}
}

// publicFault says whether the store tells strangers of a stop: without what is for
// the operator alone.
func publicFault(s chain.State, err error) bool {
	return s.HasFault && strings.Contains(s.Fault.Reason, "lock") && s.Fault.Reason != err.Error() && !strings.Contains(s.Fault.Reason, "--")
}
