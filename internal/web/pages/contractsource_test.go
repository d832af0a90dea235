package pages_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/proof"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// TestVerifiedSource: a class with a receipt says so on its page, on those of its
// contracts and in the directory, and leads to the evidence; nothing else does.
func TestVerifiedSource(t *testing.T) {
	known := &proof.Known{Version: 1, Classes: map[felt.Felt][]proof.Proof{}}
	w := &world{servertest.New(t, 12, func(o *servertest.Options) { o.Chains[0].Proofs = proof.New(func() *proof.Known { return known }) })}
	of, _ := w.Chain.ClassAt(contracts.STRK, 11)
	hash := of.Hash
	b := w.Chain.BlockAt(0)
	digits := strings.Repeat("ab", 32)
	before := w.page("/class/" + hash.String())
	known = &proof.Known{Version: 2, Classes: map[felt.Felt][]proof.Proof{hash: {{Declared: block.Ref{Number: 0, Hash: b.Hash}, Digest: "sha256:" + digits, Issued: time.Unix(1_700_000_000, 0)}}}}
	for _, path := range []string{"/class/" + hash.String(), "/contract/" + contracts.STRK.String()} {
		page := w.page(path)
		for _, want := range []string{"<summary>source verified</summary>", `href="/receipt-log/proof/` + digits + `"`, "by 1 receipt", `data-value="` + iso(1_700_000_000) + `"`} {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %q", path, want)
			}
		}
	}
	if strings.Contains(before, "receipt-log") || strings.Contains(before, "source verified") {
		t.Error("the page told of a receipt before there was one")
	}
	if n := strings.Count(w.page("/classes"), "source verified"); n != 1 {
		t.Errorf("%d classes of the directory are verified", n)
	}
}

// TestDeclarer names the transaction that declared a class, as the chain has it.
func TestDeclarer(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	seen := 0
	for n := range uint64(truthBlocks) {
		b := w.Chain.BlockAt(n)
		for i := range b.Transactions {
			tx := &b.Transactions[i]
			if tx.Type != starknet.Declare || b.Receipts[i].Execution == starknet.Reverted {
				continue
			}
			s := w.reads("/class/" + tx.ClassHash.String())
			if s.facts["Declared"][0] != fmt.Sprint(n) {
				continue // an earlier block declared it first
			}
			s.is(t, "Declared by", tx.Sender, tx.Hash)
			seen++
		}
	}
	if seen == 0 {
		t.Error("no class was declared")
	}
}

// TestHostileABI: what a class says of itself is shown as text, cut and cleaned, and does
// not break a form.
func TestHostileABI(t *testing.T) {
	w := &world{servertest.New(t, 12)}
	of, _ := w.Chain.ClassAt(contracts.STRK, 11)
	long := strings.Repeat("x", 10_000)
	evil := []abi.Param{{Name: `"><script>alert(1)</script>`, Type: "core::felt252"}, {Name: "a\u202egnp.exe", Type: `<img src=x>`}, {Name: long, Type: long}}
	w.Describe(of.Hash, &class.Interface{External: []class.Door{
		{Selector: felt.Selector("evil"), Name: "evil", Mutability: class.View, Inputs: evil, Outputs: evil},
		{Selector: felt.Selector("spill"), Name: "spill", Mutability: class.View, Inputs: []abi.Param{{Name: "x", Type: "core::felt252"}}, Outputs: []abi.Param{{Type: "core::bool"}}},
		{Selector: felt.FromUint64(7)},
	}})
	for _, path := range []string{"/class/" + of.Hash.String(), "/contract/" + contracts.STRK.String(), "/contract/" + contracts.STRK.String() + "/read"} {
		page := w.page(path) // which holds it against the policy
		for _, bad := range []string{"<script>alert", "<img", "\u202e", long[:1000]} {
			if strings.Contains(page, bad) {
				t.Errorf("%s shows %.40q", path, bad)
			}
		}
		if !strings.Contains(page, "&lt;script&gt;") {
			t.Errorf("%s hides the name instead of escaping it", path)
		}
	}
	page := w.page("/contract/" + contracts.STRK.String() + "/read?function=evil")
	if !strings.Contains(page, `name="calldata"`) {
		t.Error("arguments without a usable type are not asked for as felts")
	}
	if page := w.look("/"+chainID+"/contract/"+contracts.STRK.String()+"/read?function=evil&calldata=1+zz", 400); !strings.Contains(page, "zz") {
		t.Errorf("what is wrong is not said: %s", clip(page))
	}
}
