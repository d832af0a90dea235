package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/devnet"
	"chainexplorer/internal/felt"
)

var (
	strk = felt.MustParse("0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d")
	udc  = felt.MustParse("0x2ceed65a4bd731034c01113685c831b01c15d7d432f71afb1cf1634b53a2125")
)

// local is a real local node, and the service that follows it.
type local struct {
	t     *testing.T
	net   *devnet.Net
	data  string
	serve *running
	key   string
	chain string

	token, tokenClass, counterClass felt.Felt
	declared                        map[felt.Felt]felt.Felt // transactions that declared classes
}

func u256(n uint64) []felt.Felt { return []felt.Felt{felt.FromUint64(n), felt.Zero} }

func (l *local) follow() {
	l.t.Helper()
	l.followNode(l.net.URL, "off") // its hashes are its own
}

// followNode starts the service on a node, and makes a key when there is none yet.
func (l *local) followNode(url, verify string) {
	l.t.Helper()
	l.serve = startServe(l.t, "--node", url, "--data", l.data, "--verify", verify)
	l.serve.get("/readyz", "", http.StatusOK)
	if l.key != "" {
		return
	}
	control := l.data + "/control.db"
	if _, stderr, code := output(l.t, "admin", "workspace", "create", "acme", "--plan", "enterprise", "--control", control); code != 0 {
		l.t.Fatalf("workspace create: %s", stderr)
	}
	stdout, stderr, code := output(l.t, "admin", "key", "create", "--workspace", "acme", "--json", "--control", control)
	if code != 0 {
		l.t.Fatalf("key create: %s", stderr)
	}
	var made struct{ PlaintextKey string }
	if err := json.Unmarshal([]byte(stdout), &made); err != nil {
		l.t.Fatal(err)
	}
	l.key = made.PlaintextKey
}

// get reads an answer below /v1/{chain}.
func (l *local) get(path string, out any) {
	l.t.Helper()
	if err := json.Unmarshal(l.serve.get("/v1/"+l.chain+path, l.key, http.StatusOK), out); err != nil {
		l.t.Fatalf("%s: %v", path, err)
	}
}

// until repeats a look at the service until it is content.
func (l *local) until(what string, content func() bool) {
	l.t.Helper()
	until(l.t, what, content)
}

// caughtUp waits until the service has the node's newest block.
func (l *local) caughtUp() {
	l.t.Helper()
	var head nodeBlock
	l.net.Call(l.t, "starknet_getBlockWithReceipts", map[string]any{"block_id": "latest"}, &head)
	l.until("the newest block", func() bool {
		var got struct {
			BlockHash    felt.Felt
			Transactions []struct{ TxHash felt.Felt }
		}
		l.get("/block/latest?tx_limit=200", &got)
		if got.BlockHash != head.Hash || len(got.Transactions) != len(head.Transactions) {
			return false
		}
		for i := range got.Transactions {
			if got.Transactions[i].TxHash != head.Transactions[i].Receipt.Hash {
				return false
			}
		}
		return true
	})
}

// begin makes the first blocks: transfers, two classes, a contract, and calls of it,
// one of which fails.
func (l *local) begin() {
	l.t.Helper()
	t, a := l.t, l.net.Accounts
	a[0].Invoke(t, devnet.Call{To: strk, Function: "transfer", Args: append([]felt.Felt{a[1].Address}, u256(1000)...)})
	a[1].Invoke(t, devnet.Call{To: strk, Function: "transfer", Args: append([]felt.Felt{a[2].Address}, u256(7)...)})
	l.net.Mine(t)
	dir := "testdata/devnet"
	var tx felt.Felt
	l.declared = map[felt.Felt]felt.Felt{}
	l.tokenClass, tx = a[0].Declare(t, devnet.Compile(t, dir, "devnet::Token"))
	l.declared[tx] = l.tokenClass
	l.net.Mine(t)
	l.counterClass, tx = a[0].Declare(t, devnet.Compile(t, dir, "devnet::Counter"))
	l.declared[tx] = l.counterClass
	l.net.Mine(t)
	args := []felt.Felt{l.tokenClass, felt.FromUint64(99), felt.Zero}
	made := append(felt.EncodeByteArray([]byte("Local Coin")), felt.EncodeByteArray([]byte("LOCAL"))...)
	args = append(append(args, felt.FromUint64(uint64(len(made)))), made...)
	deploy := a[0].Invoke(t, devnet.Call{To: udc, Function: "deployContract", Args: args})
	l.net.Mine(t)
	var receipt nodeReceipt
	l.net.Call(t, "starknet_getTransactionReceipt", map[string]any{"transaction_hash": deploy}, &receipt)
	if receipt.Execution != "SUCCEEDED" {
		t.Fatalf("the deployment failed: %s", receipt.Reason)
	}
	for _, e := range receipt.Events {
		if e.From == udc {
			l.token = e.Data[0]
		}
	}
	a[0].Invoke(t, devnet.Call{To: l.token, Function: "mint", Args: append([]felt.Felt{a[0].Address}, u256(500)...)},
		devnet.Call{To: l.token, Function: "transfer", Args: append([]felt.Felt{a[1].Address}, u256(40)...)})
	pay := []felt.Felt{felt.FromUint64(2), a[1].Address, felt.FromUint64(5), felt.Zero, a[2].Address, felt.FromUint64(6), felt.Zero}
	a[0].Invoke(t, devnet.Call{To: l.token, Function: "pay", Args: append(pay, felt.EncodeByteArray([]byte("wages"))...)})
	a[2].Invoke(t, devnet.Call{To: l.token, Function: "fail"})
	l.net.Mine(t)
}

// TestDevnet indexes a real node that real transactions drive, and compares what
// the service says with what the node says: after catching up, at the tail, after
// blocks were taken back and replaced, and when another node is put in its place.
func TestDevnet(t *testing.T) {
	t.Parallel() // it waits for processes
	l := &local{t: t, net: devnet.New(t, devnet.Options{Seed: 7}), data: t.TempDir(), chain: "SN_SEPOLIA"}
	l.begin()

	_, stderr, code := outputOf(t, program(t, "index", "--node", l.net.URL, "--data", t.TempDir(), "--verify", "tail", "--to", "1"))
	if code != exitFailure || !strings.Contains(stderr, "--verify off") {
		t.Errorf("with verification the indexer ended with %d and told nothing of --verify off:\n%s", code, stderr)
	}

	l.follow()
	l.compare()
	var found struct {
		Classes []felt.Felt
		Tokens  []struct{ TokenAddress felt.Felt }
	}
	if l.get("/search?q="+l.tokenClass.String(), &found); len(found.Classes) != 1 || found.Classes[0] != l.tokenClass {
		t.Errorf("the declared class is not found: %+v", found)
	}
	l.until("the name of the token", func() bool {
		l.get("/search?q=local%20co", &found)
		return len(found.Tokens) == 1 && found.Tokens[0].TokenAddress == l.token
	})
	a := l.net.Accounts
	a[0].Invoke(t, devnet.Call{To: l.token, Function: "upgrade", Args: []felt.Felt{l.counterClass}})
	upgraded := l.net.Mine(t)
	a[1].Invoke(t, devnet.Call{To: l.token, Function: "raise", Args: []felt.Felt{felt.FromUint64(3)}})
	l.net.Mine(t)
	l.compare()

	// Blocks are taken back and made again. A node of this kind gives blocks of
	// the same shape the same hash.
	l.net.Abort(t, upgraded)
	a[0].Invoke(t, devnet.Call{To: l.token, Function: "upgrade", Args: []felt.Felt{l.tokenClass}})
	again := l.net.Mine(t)
	a[1].Invoke(t, devnet.Call{To: l.token, Function: "transfer", Args: append([]felt.Felt{a[0].Address}, u256(3)...)})
	l.net.Mine(t)
	if again != upgraded {
		t.Log("the node tells blocks of the same shape apart")
	}
	l.compare()

	// A shorter branch is waited for: it may grow.
	l.net.Abort(t, upgraded)
	a[0].Invoke(t, devnet.Call{To: l.token, Function: "transfer", Args: append([]felt.Felt{a[2].Address}, u256(9)...)})
	a[1].Invoke(t, devnet.Call{To: strk, Function: "transfer", Args: append([]felt.Felt{a[0].Address}, u256(11)...)})
	l.net.Mine(t)
	l.net.Mine(t)
	l.net.Mine(t)
	l.compare()
	l.serve.stop()
	fsckClean(t, l.data+"/"+l.chain)

	// A node that was started anew has other accounts, and may have another name.
	for _, o := range []struct {
		options devnet.Options
		want    string
	}{
		{devnet.Options{Seed: 8}, "another first block"},
		{devnet.Options{Seed: 7, ChainID: "LOCAL_NET"}, "LOCAL_NET"},
	} {
		other := devnet.New(t, o.options)
		for range 12 {
			other.Mine(t)
		}
		cmd := program(t, "index", "--node", other.URL, "--data", l.data+"/"+l.chain, "--verify", "off")
		giveUp := time.AfterFunc(patience, func() { cmd.Process.Kill() }) //nolint:errcheck // the exit code tells
		_, stderr, code := outputOf(t, cmd)
		giveUp.Stop()
		if code != exitFailure || !strings.Contains(stderr, o.want) {
			t.Errorf("another node (%+v) was followed: %d\n%s", o.options, code, stderr)
		}
		if name := o.options.ChainID; name != "" {
			(&local{t: t, net: other, data: t.TempDir(), chain: name}).followAnew()
		}
		other.Stop()
	}
	fsckClean(t, l.data+"/"+l.chain)
}

// followAnew: the service follows a node whose chain is neither of the two public ones.
func (l *local) followAnew() {
	l.t.Helper()
	a := l.net.Accounts
	a[0].Invoke(l.t, devnet.Call{To: strk, Function: "transfer", Args: append([]felt.Felt{a[1].Address}, u256(1000)...)})
	l.net.Mine(l.t)
	l.follow()
	l.caughtUp()
	l.serve.stop()
	fsckClean(l.t, l.data+"/"+l.chain)
}
