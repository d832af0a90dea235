package main

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/liar"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// TestAdminVerify recomputes an index that was built without looking: what the
// index keeps enough of alone, the rest with a node, and a row that was altered
// since is found.
func TestAdminVerify(t *testing.T) {
	chain := simnode.New(simnode.Config{Seed: 9, Blocks: 20, TxPerBlock: 2, RealHashes: true})
	honest := simnode.NewNode(chain, simnode.NodeConfig{})
	node := liar.New(honest)
	srv := httptest.NewServer(node)
	defer srv.Close()
	dir := t.TempDir()
	if _, stderr, code := outputOf(t, program(t, "index", "--node", srv.URL, "--data", dir, "--verify", "off", "--to", "19", "--no-jobs")); code != 0 {
		t.Fatal(stderr)
	}
	expect := func(want int, says []string, args ...string) {
		t.Helper()
		stdout, stderr, code := output(t, append([]string{"admin", "verify", "--data", dir}, args...)...)
		for _, s := range says {
			if !strings.Contains(stdout+stderr, s) {
				t.Errorf("%v does not say %q:\n%s%s", args, s, stdout, stderr)
			}
		}
		if code != want {
			t.Errorf("%v ended with %d, want %d:\n%s%s", args, code, want, stdout, stderr)
		}
	}
	expect(0, []string{"blocks 0 to 19", "give --node", "20 blocks: 0 verified, 0 unverified, 20 need a node, 0 false; 0 newly recorded"})
	expect(0, []string{"blocks 3 to 7", "verified with a node", "5 blocks: 5 verified", "5 newly recorded"}, "--node", srv.URL, "--from", "3", "--to", "7")
	expect(0, []string{"20 blocks: 20 verified", "15 newly recorded"}, "--node", srv.URL)
	if out, _, code := output(t, "admin", "fsck", "--data", dir); code != 0 || !strings.Contains(out, "verified      20, not checked 0, unverified 0, unknown 0") {
		t.Errorf("fsck ended with %d:\n%s", code, out)
	}

	node.Set(liar.Rule{Method: "starknet_getBlockWithReceipts", Rewrite: func(_ liar.Call, result any) any {
		result.(map[string]any)["sequencer_address"] = "0xbad"
		return result
	}})
	expect(exitFailure, []string{"serves a false block"}, "--node", srv.URL)
	node.Set()

	swapTransaction(t, dir, 5)
	expect(exitFailure, []string{"blocks 5 to 5", "FALSE", "1 false", "1 blocks of the index contradict their hashes"}, "--node", srv.URL)
	expect(exitUsage, []string{"--to"}, "--from", "3", "--to", "2")
	expect(exitFailure, []string{"block 100 is not indexed"}, "--from", "100")
}

// swapTransaction puts the first transaction of the next block in the place of that
// of a block, as a damaged disk or a hand would.
func swapTransaction(t *testing.T, dir string, number uint64) {
	t.Helper()
	ctx := context.Background()
	e, err := pebble.Open(pebble.Options{Dir: dir, Tables: catalog.Tables()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close() //nolint:errcheck // the commit is durable
	lease, err := e.Acquire(ctx, store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	b := &store.Batch{}
	b.Under(lease)
	key := transaction.Key(explorer.Position{Block: number})
	err = e.View(ctx, func(r store.Reader) error {
		row, err := r.Get(ctx, key)
		if err != nil {
			return err
		}
		other, err := r.Get(ctx, transaction.Key(explorer.Position{Block: number + 1}))
		if err == nil {
			b.Put(key, append(row[:0:0], other...))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Commit(ctx, b); err != nil {
		t.Fatal(err)
	}
	if err := e.Release(ctx, lease); err != nil {
		t.Fatal(err)
	}
}
