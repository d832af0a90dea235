package gateway_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"chainexplorer/docs"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/starknet"
)

// What the tests of others' clients share.

// strkToken is what transfers are made of.
var strkToken = felt.MustParse("0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d")

// spoken are the versions in which clients are run, as addresses name them.
var spoken = map[string]starknet.SpecVersion{"v0_9": starknet.V09, "v0_10": starknet.V010}

// payers are two accounts; the first has something to give.
func payers(w *servertest.World) (sender, receiver felt.Felt) {
	w.T.Helper()
	head, _ := w.Chain.Head()
	holders := w.Chain.Holders(strkToken, head)
	accounts := map[felt.Felt]bool{}
	for _, a := range w.Chain.Accounts(head) {
		accounts[a] = true
	}
	var found []felt.Felt
	for _, h := range holders {
		if accounts[h.Address] {
			found = append(found, h.Address)
		}
	}
	if len(found) < 2 {
		w.T.Fatal("nobody has anything to give")
	}
	return found[0], found[1]
}

// grow adds a block, which is indexed before anybody is told.
func grow(w *servertest.World) {
	w.T.Helper()
	w.Chain.Extend(1)
	w.CatchUp()
}

// guideExample is the program in the guide's section on libraries.
func guideExample(t *testing.T, language string) string {
	t.Helper()
	guide, err := docs.Files.ReadFile("rpc.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(guide), "\n## Libraries\n")
	_, rest, found := strings.Cut(section, "\n```"+language+"\n")
	text, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatalf("docs/rpc.md has no example in %s", language)
	}
	return text
}

// checkTransfer holds that a client's transfer is in a block as it was meant.
func checkTransfer(w *servertest.World, tx, sender, receiver felt.Felt, amount uint64) {
	w.T.Helper()
	at, found := w.Chain.TransactionByHash(tx)
	if !found || at.Transaction.Sender != sender || at.Receipt.RevertReason != "" {
		w.T.Fatalf("the transfer %s is not in a block", tx)
	}
	want := []felt.Felt{sender, receiver, felt.FromUint64(amount), felt.Zero}
	if !slices.ContainsFunc(at.Receipt.Events, func(e starknet.Event) bool {
		return e.From == strkToken && e.Keys[0] == felt.Selector("Transfer") && slices.Equal(slices.Concat(e.Keys[1:], e.Data), want)
	}) {
		w.T.Errorf("the transfer %s moves nothing: %v", tx, at.Receipt.Events)
	}
}

// checkBalance holds the two words of a balance against what the chain says after a block.
func checkBalance(w *servertest.World, holder felt.Felt, block uint64, words []felt.Felt) {
	w.T.Helper()
	if len(words) != 2 {
		w.T.Fatalf("a balance of %d words", len(words))
	}
	value, err := felt.U256(words[0], words[1])
	if want := w.Chain.BalanceAt(strkToken, holder, block); err != nil || new(big.Int).SetBytes(value[:]).Cmp(want) != 0 {
		w.T.Errorf("the balance after block %d is %v, want %v", block, words, want)
	}
}
