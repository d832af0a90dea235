package pages_test

import (
	"cmp"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// has asks for values anywhere on a page.
func (s *shown) has(t *testing.T, what string, want ...any) {
	t.Helper()
	for _, v := range want {
		if text := fmt.Sprint(v); !slices.Contains(s.all, text) {
			t.Errorf("%s does not show %s: %s", s.path, what, text)
		}
	}
}

// felts are all that the chain has in its blocks and states: a page that shows another one
// has made it up.
func (w *world) felts() map[string]bool {
	out := map[string]bool{}
	head, _ := w.Chain.Head()
	for n := range head + 1 {
		facts(reflect.ValueOf(*w.Chain.BlockAt(n)), out)
		facts(reflect.ValueOf(*w.Chain.StateUpdateAt(n)), out)
		for _, m := range w.Chain.Messages(n, n) {
			out[fmt.Sprintf("0x%x", m.Hash)] = true
		}
	}
	return out
}

// knows says that the chain has every felt that a page shows.
func (s *shown) knows(t *testing.T, known map[string]bool) {
	t.Helper()
	for _, v := range s.all {
		// Addresses of L1 are shown with all their digits.
		if digits, hex := strings.CutPrefix(v, "0x"); hex && !known["0x"+cmp.Or(strings.TrimLeft(digits, "0"), "0")] {
			t.Errorf("%s shows %s, which is nothing of the chain", s.path, v)
		}
	}
}

// decimal is a felt as an amount.
func decimal(f felt.Felt) string { return f.Big().String() }

// firstEvents are shown on the page itself, however many there are.
const firstEvents = 10

// moved is the amount of a transfer of an ERC-20, whose parties stand in the keys or in front of it.
func moved(e *starknet.Event) (*big.Int, bool) {
	if len(e.Keys) == 0 || e.Keys[0] != contracts.SelTransfer || len(e.Data) < 2 {
		return nil, false
	}
	low, high := e.Data[len(e.Data)-2].Big(), e.Data[len(e.Data)-1].Big()
	return low.Add(low, high.Lsh(high, 128)), true
}

// TestTransactionsAreTrue compares the page of every transaction with the chain.
func TestTransactionsAreTrue(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	known, read, erc20 := w.felts(), 0, map[felt.Felt]bool{}
	for _, token := range w.Chain.Tokens(truthBlocks - 1) {
		erc20[token.Address] = token.Standard == simnode.ERC20
	}
	for n := range uint64(truthBlocks) {
		b := w.Chain.BlockAt(n)
		for i := range b.Transactions {
			tx, r := &b.Transactions[i], &b.Receipts[i]
			s := w.reads("/tx/" + tx.Hash.String())
			s.is(t, "Hash", tx.Hash)
			s.is(t, "Block", n, i)
			s.is(t, "Time", iso(b.Timestamp))
			s.is(t, "Fee", decimal(r.ActualFee))
			if tx.HasNonce {
				s.is(t, "Nonce", decimal(tx.Nonce))
			}
			if tx.Type == starknet.Invoke && !tx.Version.IsZero() {
				s.is(t, "From", tx.Sender)
			}
			if reverted := r.Execution == starknet.Reverted; strings.Contains(s.texts["Status"], "reverted") != reverted {
				t.Errorf("%s: it says %q, and reverted is %v", s.path, s.texts["Status"], reverted)
			}
			for j := range r.Events {
				if e := &r.Events[j]; j < firstEvents {
					s.has(t, "an emitter", e.From)
					if amount, ok := moved(e); ok && erc20[e.From] {
						s.has(t, "an amount that moved", amount)
					}
				}
			}
			s.knows(t, known)
			read++
		}
	}
	if read < truthBlocks {
		t.Errorf("%d transactions in %d blocks", read, truthBlocks)
	}
}
