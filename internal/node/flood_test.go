package node_test

import (
	"errors"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/simnode/liar"
)

// flooded opens a pool on a node that answers by the rules, with little memory.
func flooded(t *testing.T, timeout time.Duration, maxAnswer int64, rules ...liar.Rule) *node.Pool {
	t.Helper()
	p := liar.New(simnode.NewNode(simnode.New(simnode.Config{Seed: 5, Blocks: 40}), simnode.NodeConfig{}))
	p.Set(rules...)
	srv := httptest.NewServer(p)
	t.Cleanup(srv.Close)
	t.Cleanup(p.Release)
	pool, err := node.Open(t.Context(), node.Config{Nodes: []node.Endpoint{{URL: srv.URL}}, MaxAttempts: 1, RequestTimeout: timeout,
		HealthInterval: time.Hour, MaxResponseBytes: maxAnswer, Budget: node.NewBudget(64 << 20)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// peakHeap is how much more memory was in use at any time while f ran.
func peakHeap(f func()) uint64 {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as in the program, whatever the tests run with
	runtime.GC()
	before, peak := heap(), uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			peak = max(peak, heap())
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return peak - min(peak, before)
}

// A node that floods every request takes no more memory than the budget allows,
// whatever way it announces the length, and however well it compresses.
func TestFloodIsBounded(t *testing.T) {
	const at = "starknet_getBlockWithReceipts"
	unit := int64(1 << 20)
	if node.Raced {
		unit >>= 3
	}
	for name, flood := range map[string]liar.Flood{
		"chunked":   {Bytes: 40 * unit},
		"announced": {Bytes: 40 * unit, Length: true},
		"bomb":      {Bytes: 26 * unit, Gzip: true},
		"allowed":   {Bytes: 20 * unit}, // not too large, but many at once are
	} {
		t.Run(name, func(t *testing.T) {
			pool := flooded(t, time.Minute, 24*unit, liar.Rule{Method: at, Flood: &flood})
			errs := make([]error, 32)
			if node.Raced {
				errs = errs[:2]
			}
			if flood.Gzip {
				errs = errs[:max(1, len(errs)/8)] // it is the sender's work that takes long
			}
			peak := peakHeap(func() {
				var wg sync.WaitGroup
				for i := range errs {
					wg.Go(func() { _, errs[i] = pool.BlockWithUpdate(t.Context(), uint64(i)) })
				}
				wg.Wait()
			})
			for i, err := range errs {
				if want := node.ErrTooLarge; name != "allowed" && !errors.Is(err, want) || err == nil {
					t.Errorf("block %d: %v", i, err)
				}
			}
			// 32 answers of 24 MiB would be 768 MiB, not counting garbage.
			if t.Logf("peak %d MiB", peak>>20); peak > 384<<20 {
				t.Errorf("%d MiB in use", peak>>20)
			}
		})
	}
}

// Answers count until they are released, not only while they are read.
func TestAnswersCountUntilReleased(t *testing.T) {
	if node.Raced {
		t.Skip("sequential and long: run without the race detector")
	}
	t.Parallel() // it waits for all of the timeout, which is long for machines that are slow
	pad := strings.Repeat("a", 12<<20)
	pool := flooded(t, 20*time.Second, 24<<20, liar.Rule{Method: "starknet_getBlockWithReceipts", Rewrite: func(_ liar.Call, r any) any {
		r.(map[string]any)["pad"] = pad
		return r
	}})
	var kept []node.Raw
	for i := range uint64(2) {
		raw, err := pool.BlockWithUpdate(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, raw)
	}
	if _, err := pool.BlockWithUpdate(t.Context(), 2); err == nil || !strings.Contains(err.Error(), "no memory") {
		t.Errorf("there was room for a third: %v", err)
	}
	if !pool.Statuses()[0].Healthy {
		t.Error("our want of memory is held against the node")
	}
	kept[0].Release()
	raw, err := pool.BlockWithUpdate(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	raw.Release()
	kept[1].Release()
}

// TestLongAnswerOfAContract: a contract that answers with more than is taken is no fault of the node, which others
// need: whoever asks for it, however often, is told that it is as good as a refusal, what other contracts say is told
// beside it, and the node stays in good health.
func TestLongAnswerOfAContract(t *testing.T) {
	long := contractcall.Call{Contract: contracts.STRK, Selector: felt.Selector("symbol")}
	plain := contractcall.Call{Contract: contracts.STRK, Selector: felt.Selector("decimals")}
	pool := flooded(t, time.Minute, 24<<20, liar.Rule{Method: "starknet_call", When: func(c liar.Call) bool { return strings.Contains(string(c.Params), long.Selector.String()) },
		Rewrite: func(liar.Call, any) any { return strings.Repeat("a", 25<<20) }})
	at := contractcall.Block{Number: 20, Hash: simnode.New(simnode.Config{Seed: 5, Blocks: 40}).BlockAt(20).Hash}
	want, err := pool.CallAt(t.Context(), at, []contractcall.Call{plain})
	if err != nil || len(want[0].Values) != 1 {
		t.Fatalf("without the long one: %+v, %v", want, err)
	}
	for _, calls := range [][]contractcall.Call{{long}, {long}, {long}, {long}, {plain, long, plain}} {
		got, err := pool.CallAt(t.Context(), at, calls)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range calls {
			r := &got[i]
			if c.Selector == plain.Selector && (r.Fault != contractcall.None || len(r.Values) != 1 || r.Values[0] != want[0].Values[0]) ||
				c.Selector == long.Selector && (r.Fault != contractcall.Reverted || !strings.Contains(r.Reason, "8 MiB")) {
				t.Errorf("call %d of %d is %+v", i, len(calls), r)
			}
		}
	}
	if s := pool.Health().Nodes[0]; !s.Healthy {
		t.Errorf("the node is %+v", s)
	}
	if _, err := pool.BlockWithUpdate(t.Context(), 3); err != nil {
		t.Errorf("a block after that: %v", err)
	}
}
