package node_test

import (
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// TestContractCalls asks nodes of every version for balances, at a block and at
// the one that is being built, and for what contracts refuse.
func TestContractCalls(t *testing.T) {
	chain := simnode.New(simnode.Config{Seed: 5, Blocks: 40})
	at := contractcall.Block{Number: 20, Hash: chain.BlockAt(20).Hash}
	call := func(contract felt.Felt, name string, args ...felt.Felt) contractcall.Call {
		return contractcall.Call{Contract: contract, Selector: felt.Selector(name), Calldata: args}
	}
	calls := []contractcall.Call{
		call(contracts.STRK, "balance_of", contracts.Sequencer),
		call(felt.FromUint64(99), "balance_of", contracts.Sequencer),
		call(contracts.STRK, "nothing"),
		call(contracts.STRK, "balance_of"),
		call(chain.Network().DAI, "nothing"), // behind a proxy, which reverts
	}
	faults := []contractcall.Fault{contractcall.None, contractcall.NoContract, contractcall.NoEntryPoint, contractcall.Reverted, contractcall.NoEntryPoint}
	for _, version := range []starknet.SpecVersion{starknet.V08, starknet.V09, starknet.V010} {
		sim := simnode.NewNode(chain, simnode.NodeConfig{Version: version})
		srv := httptest.NewServer(sim)
		t.Cleanup(srv.Close)
		pool, err := node.Open(t.Context(), node.Config{Nodes: []node.Endpoint{{URL: srv.URL}}, HealthInterval: time.Hour, MaxAttempts: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		check := func(what string, got []contractcall.Result, err error, block uint64) {
			t.Helper()
			if err != nil {
				t.Fatalf("version %v, %s: %v", version, what, err)
			}
			for i, want := range faults {
				if got[i].Fault != want {
					t.Errorf("version %v, %s: call %d is %+v, want %d", version, what, i, got[i], want)
				}
			}
			want := chain.BalanceAt(contracts.STRK, contracts.Sequencer, block)
			if v := got[0].Values; len(v) != 2 || v[0].Big().Cmp(want) != 0 {
				t.Errorf("version %v, %s: %v, want %s", version, what, v, want)
			}
			if got[3].Reason == "" {
				t.Errorf("version %v, %s: a revert without a reason", version, what)
			}
		}
		got, err := pool.CallAt(t.Context(), at, calls)
		check("block", got, err, 20)
		pending, got, err := pool.CallPending(t.Context(), calls)
		check("pending", got, err, 39)
		switch {
		case pending.Number != nil && *pending.Number != 40, pending.Parent != nil && *pending.Parent != chain.BlockAt(39).Hash, pending.Number == nil && pending.Parent == nil:
			t.Errorf("version %v: pending is %v on %v", version, pending.Number, pending.Parent)
		}
		class, found, err := pool.ClassHashAt(t.Context(), at, contracts.STRK)
		if want, _ := chain.ClassAt(contracts.STRK, 20); err != nil || !found || class != want.Hash {
			t.Errorf("version %v: class %s %t %v", version, class, found, err)
		}
		if _, found, err := pool.NonceAt(t.Context(), at, felt.FromUint64(99)); err != nil || found {
			t.Errorf("version %v: nonce of nobody: %t %v", version, found, err)
		}
		gone := contractcall.Block{Number: 20, Hash: felt.FromUint64(20)}
		if _, err := pool.CallAt(t.Context(), gone, calls[:1]); !errors.Is(err, contractcall.ErrBlockUnknown) && !errors.Is(err, contractcall.ErrUnavailable) {
			t.Errorf("version %v: a block that is gone: %v", version, err)
		}
		sim.Faults().Set(simnode.Fault{Kind: simnode.FaultDrop})
		for what, err := range map[string]error{
			"call":    second(pool.CallAt(t.Context(), at, calls)),
			"pending": third(pool.CallPending(t.Context(), calls)),
			"nonce":   third(pool.NonceAt(t.Context(), at, contracts.STRK)),
		} {
			if !errors.Is(err, contractcall.ErrUnavailable) {
				t.Errorf("version %v: %s of a node that is away: %v", version, what, err)
			}
		}
	}
}

func second[A any](_ A, err error) error        { return err }
func third[A, B any](_ A, _ B, err error) error { return err }
