package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/liar"
	"chainexplorer/internal/starknet"
)

// attack is a way in which a node forges a block so that nothing that is checked
// seems to contradict it.
type attack struct {
	name string
	kind starknet.TxType // of the transaction that is forged
	lie  func(block, tx, receipt map[string]any)
	// doubt is why the block cannot be verified; empty where the lie shows.
	doubt string
}

var attacks = []attack{
	{"proof facts left out", starknet.Invoke, func(_, tx, _ map[string]any) {
		delete(tx, "proof_facts")
		tx["sender_address"], tx["calldata"] = "0xbad", []any{"0xbad"}
	}, starknet.ProofFactsMissing},
	{"an invoke told as an old declare", starknet.Invoke, func(_, tx, receipt map[string]any) {
		clear(tx)
		tx["type"], tx["version"], tx["sender_address"], tx["max_fee"] = "DECLARE", "0x0", "0xbad", "0x0"
		tx["signature"], tx["class_hash"] = []any{}, "0xbad"
		receipt["type"] = "DECLARE"
	}, ""},
	{"an L1 handler without nonce", starknet.L1Handler, func(_, tx, receipt map[string]any) {
		delete(tx, "nonce")
		tx["contract_address"] = "0xbad"
		tx["calldata"].([]any)[1] = "0xbad"
	}, ""},
	{"commitments left out", starknet.Invoke, func(block, _, receipt map[string]any) {
		for _, name := range []string{"transaction_commitment", "event_commitment", "receipt_commitment", "state_diff_commitment",
			"transaction_count", "event_count", "state_diff_length"} {
			delete(block, name)
		}
		receipt["actual_fee"].(map[string]any)["amount"] = "0xbad"
	}, starknet.MigrationsMissing},
	{"a version that nobody knows", starknet.Invoke, func(block, tx, _ map[string]any) {
		block["starknet_version"] = "0.99.0"
		tx["sender_address"] = "0xbad"
	}, starknet.UnknownVersion},
}

// forge applies an attack to the first fitting transaction of a block.
func (a *attack) forge(result any) any {
	block := result.(map[string]any)
	for _, p := range block["transactions"].([]any) {
		pair := p.(map[string]any)
		tx, receipt := pair["transaction"].(map[string]any), pair["receipt"].(map[string]any)
		if tx["type"] == a.kind.String() {
			a.lie(block, tx, receipt)
			break
		}
	}
	return block
}

// TestForgedBlocks plays every attack against the real program: it refuses the
// block, and says what an operator can do; with --unverified store it keeps what
// cannot be told from the truth, and marks it everywhere.
func TestForgedBlocks(t *testing.T) {
	t.Parallel() // it waits for processes
	chain := simnode.New(simnode.Config{Seed: 5, Blocks: 25, TxPerBlock: 4, RealHashes: true})
	node := liar.New(simnode.NewNode(chain, simnode.NodeConfig{}))
	srv := httptest.NewServer(node)
	defer srv.Close()
	at := func(kind starknet.TxType) uint64 {
		for n := uint64(10); n < 22; n++ {
			for _, tx := range chain.BlockAt(n).Transactions {
				if tx.Type == kind && (kind != starknet.Invoke || tx.ResourceBounds != nil) {
					return n
				}
			}
		}
		t.Fatalf("the chain has no %s", kind)
		return 0
	}
	for _, a := range attacks {
		for _, policy := range []string{"refuse", "store"} {
			t.Run(a.name+"/"+policy, func(t *testing.T) {
				number := at(a.kind)
				node.Set(liar.Rule{Method: "starknet_getBlockWithReceipts", When: func(c liar.Call) bool { return c.HasBlock && c.Block == number },
					Rewrite: func(_ liar.Call, result any) any { return a.forge(result) }})
				told := node.Told()
				dir := t.TempDir()
				_, stderr, code := outputOf(t, program(t, "index", "--node", srv.URL, "--data", dir, "--verify", "all", "--unverified", policy, "--to", "24", "--no-jobs"))
				if node.Told() == told {
					t.Fatal("nobody was lied to")
				}
				if stored := a.doubt != "" && policy == "store"; !stored {
					if code != exitFailure || !strings.Contains(stderr, fmt.Sprintf("block %d from node", number)) {
						t.Errorf("exit code %d:\n%s", code, stderr)
					}
					if says := strings.Contains(stderr, "--unverified store"); says != (a.doubt != "") {
						t.Errorf("the way out is told: %t\n%s", says, stderr)
					}
					return
				}
				if code != 0 {
					t.Fatalf("exit code %d:\n%s", code, stderr)
				}
				out, _, code := output(t, "admin", "fsck", "--data", dir)
				if want := fmt.Sprintf("unverified    blocks %d to %[1]d: %s", number, a.doubt); code != 0 || !strings.Contains(out, want) {
					t.Errorf("fsck ends with %d and does not say %q:\n%s", code, want, out)
				}
			})
		}
	}
}

// TestUnverifiedIsShown: the API says of a block whether it was verified, and of
// nothing that builds on an unverified one that it is final.
func TestUnverifiedIsShown(t *testing.T) {
	t.Parallel() // it waits for processes
	chain := simnode.New(simnode.Config{Seed: 5, Blocks: 25, TxPerBlock: 2, RealHashes: true, L1Lag: 2})
	node := liar.New(simnode.NewNode(chain, simnode.NodeConfig{}))
	node.Set(liar.Rule{Method: "starknet_getBlockWithReceipts", When: func(c liar.Call) bool { return c.HasBlock && c.Block == 12 },
		Rewrite: func(_ liar.Call, result any) any {
			result.(map[string]any)["starknet_version"] = "0.99.0"
			return result
		}})
	srv := httptest.NewServer(node)
	defer srv.Close()
	data := t.TempDir()
	r := startServe(t, "--data", data, "--node", srv.URL, "--verify", "all", "--unverified", "store", "--finality-depth", "3")
	defer r.stop()
	succeed(t, data+"/control.db", "workspace", "create", "acme", "--plan", "enterprise")
	key := keyText.FindString(succeed(t, data+"/control.db", "key", "create", "--workspace", "acme"))
	read := func(path string, into any) {
		t.Helper()
		if err := json.Unmarshal(r.get("/v1/SN_SEPOLIA/"+path, key, http.StatusOK), into); err != nil {
			t.Fatal(err)
		}
	}
	var status struct {
		LatestIndexedBlockNumber, FinalizedBlockNumber *uint64
		Verification                                   struct {
			VerifiedBlocks, NotCheckedBlocks, UnverifiedBlocks, UnknownBlocks uint64
			FirstUnverifiedBlockNumber                                        *uint64
		}
	}
	r.untilHead(key, 24)
	read("status", &status)
	v := status.Verification
	if v.VerifiedBlocks != 24 || v.UnverifiedBlocks != 1 || v.NotCheckedBlocks != 0 || v.UnknownBlocks != 0 || v.FirstUnverifiedBlockNumber == nil || *v.FirstUnverifiedBlockNumber != 12 {
		t.Errorf("status says %+v", v)
	}
	if status.FinalizedBlockNumber == nil || *status.FinalizedBlockNumber != 11 {
		t.Errorf("finalized block is %v, want 11", status.FinalizedBlockNumber)
	}
	for number, want := range map[int]string{11: "verified", 12: "unverified", 13: "verified"} {
		var b struct {
			Verification struct {
				Status              string
				Reason              *string
				Covered, NotCovered []string
			}
		}
		read("block/"+strconv.Itoa(number), &b)
		got := b.Verification
		if got.Status != want || (got.Reason != nil) != (want == "unverified") || (len(got.Covered) > 0) != (want == "verified") {
			t.Errorf("block %d: %+v, want %s", number, got, want)
		}
	}
}
