package main

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/liar"
)

// otherBlocks makes a node claim other blocks from a number on, with hashes of
// its own everywhere.
func otherBlocks(from uint64) []liar.Rule {
	flip := func(result any, names ...string) any {
		r := result.(map[string]any)
		for _, name := range names {
			hash, _ := r[name].(string)
			digit, other := hash[len(hash)-1:], "1"
			if digit == other {
				other = "2"
			}
			r[name] = hash[:len(hash)-1] + other
		}
		return r
	}
	block := func(c liar.Call, result any) any {
		if c.Block == from {
			return flip(result, "block_hash")
		}
		return flip(result, "block_hash", "parent_hash")
	}
	when := func(c liar.Call) bool { return c.HasBlock && c.Block >= from }
	return []liar.Rule{
		{Method: "starknet_getBlockWithTxHashes", When: when, Rewrite: block},
		{Method: "starknet_getBlockWithReceipts", When: when, Rewrite: block},
		{Method: "starknet_getStateUpdate", When: when, Rewrite: func(_ liar.Call, r any) any { return flip(r, "block_hash") }},
		{Method: "starknet_blockHashAndNumber", Rewrite: func(_ liar.Call, r any) any { return flip(r, "block_hash") }},
	}
}

// TestNodeThatClaimsAnotherBlock plays the attack on the real program: a node
// claims another block 20 when 160 are indexed, most of them accepted on L1.
// Nothing is undone on its word; the chain of the honest node stays, and what is
// really forked below the L1 mark is undone when the operator says so.
func TestNodeThatClaimsAnotherBlock(t *testing.T) {
	t.Parallel() // it waits for processes
	chain := simnode.New(simnode.Config{Seed: 61, Blocks: 160, L1Lag: 20})
	node := simnode.NewNode(chain, simnode.NodeConfig{})
	honest := httptest.NewServer(node)
	defer honest.Close()
	proxy := liar.New(node)
	proxy.NoWebSocket = true
	proxy.Set(otherBlocks(20)...)
	lying := httptest.NewServer(proxy)
	defer lying.Close()

	dir := t.TempDir()
	complete(t, honest.URL, dir, 159)
	before := fsckClean(t, dir)

	_, stderr, code := outputOf(t, program(t, "index", "--node", lying.URL, "--data", dir))
	if code != 1 || !strings.Contains(stderr, "another block 20 than the index") || !strings.Contains(stderr, "start again with --allow-fork-below-l1 20") {
		t.Errorf("with the lying node alone the program ended with %d:\n%s", code, stderr)
	}
	if got := fsckClean(t, dir); got != before {
		t.Errorf("the digest is %s and was %s", got, before)
	}

	chain.Extend(6)
	_, stderr, code = outputOf(t, program(t, "index", "--node", lying.URL, "--node", honest.URL, "--data", dir, "--to", "165"))
	if code != 0 || strings.Contains(stderr, "going back") {
		t.Errorf("with both nodes the program ended with %d:\n%s", code, stderr)
	}
	sameAsFresh(t, honest.URL, dir, 165)
	if proxy.Told() == 0 {
		t.Error("the liar told no lie")
	}

	// The honest chain is forked 100 blocks deep.
	chain.Fork(100)
	chain.Extend(1)
	head, _ := chain.Head()
	follow := []string{"index", "--node", honest.URL, "--data", dir, "--to", strconv.FormatUint(head, 10)}
	_, stderr, code = outputOf(t, program(t, follow...))
	first := strconv.FormatUint(head-100, 10)
	if code != 1 || !strings.Contains(stderr, "--allow-fork-below-l1 "+first+";") {
		t.Errorf("without the operator's word the program ended with %d:\n%s", code, stderr)
	}
	for _, word := range []string{strconv.FormatUint(head-99, 10), "SN_OTHER=" + first} {
		if _, stderr, code = outputOf(t, program(t, append(follow, "--allow-fork-below-l1", word)...)); code != 1 {
			t.Errorf("with the word %q the program ended with %d:\n%s", word, code, stderr)
		}
	}
	if _, stderr, code = outputOf(t, program(t, append(follow, "--allow-fork-below-l1", first)...)); code != 0 {
		t.Fatalf("with the operator's word the program ended with %d:\n%s", code, stderr)
	}
	sameAsFresh(t, honest.URL, dir, head)
}

// sameAsFresh holds an index against one that is built in one go.
func sameAsFresh(t *testing.T, url, dir string, head uint64) {
	t.Helper()
	fresh := t.TempDir()
	complete(t, url, fresh, head)
	if got, want := fsckClean(t, dir), fsckClean(t, fresh); got != want {
		t.Errorf("the digest is %s, of one go %s", got, want)
	}
}

func TestForkLeave(t *testing.T) {
	for text, want := range map[string]string{"12": " 12", "SN_MAIN=7": "SN_MAIN 7", "": "", "=7": "", "SN_MAIN=": "", "x": "", "-1": "", "1=2=3": ""} {
		var l forkLeave
		err := l.UnmarshalText([]byte(text))
		got := ""
		if l.block != nil {
			got = l.chain + " " + strconv.FormatUint(*l.block, 10)
		}
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q is read as %q, %v", text, got, err)
		}
	}
	several := forkLeave{block: new(uint64)}
	if several.check(1) != nil || several.check(2) == nil || several.of("SN_MAIN") == nil {
		t.Error("a word without a chain holds for the only one")
	}
	one := forkLeave{"SN_MAIN", new(uint64)}
	if one.check(2) != nil || one.of("SN_MAIN") == nil || one.of("SN_SEPOLIA") != nil {
		t.Error("a word holds for its chain")
	}
}
