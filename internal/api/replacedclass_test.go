package api_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
)

// meant is what a row says that an event moved.
type meant struct{ standard, amount, id string }

func said(standard string, amount, id *string) meant {
	text := func(s *string) string {
		if s == nil {
			return "null"
		}
		return *s
	}
	return meant{standard, text(amount), text(id)}
}

// TestReplacedClass: a token whose class is replaced by one of another standard, after it was asked, has transfers of
// the standard of its class at their block wherever they are listed, and is called what its present class makes it.
func TestReplacedClass(t *testing.T) {
	w := newWorld(t, 120)
	var k *simnode.Token
	var moves []moved
	for _, m := range w.moves() {
		if m.token.Standard != simnode.ERC20 || w.known(m.token.Address) || len(m.block.Receipts[m.tx].Events[m.log].Keys) > 1 {
			continue // told by its layout, or by the registry
		}
		if k == nil {
			k = m.token
		}
		if m.token.Address == k.Address {
			moves = append(moves, m)
		}
	}
	if len(moves) < 4 || moves[0].block.Number == moves[len(moves)-1].block.Number {
		t.Fatalf("%d transfers of one token tell nothing", len(moves))
	}
	turn := moves[len(moves)/2].block.Number
	w.Replace(turn, k.Address, contracts.Classes().ERC721Legacy.Hash)

	want := map[string]meant{} // by transaction and log
	for _, m := range moves {
		number := m.value.String()
		place := fmt.Sprintf("%s %d", m.block.Receipts[m.tx].TransactionHash, m.log)
		want[place] = meant{"erc20", number, "null"}
		if m.block.Number >= turn {
			want[place] = meant{"erc721", "1", number}
		}
	}
	check := func(where string, tx felt.Felt, log int, got meant) {
		t.Helper()
		if e := want[fmt.Sprintf("%s %d", tx, log)]; e != got {
			t.Errorf("%s: %s log %d is %v, want %v", where, tx, log, got, e)
		}
	}
	seen := map[string]int{}
	for _, m := range moves {
		hash := m.block.Receipts[m.tx].TransactionHash
		var tx api.Tx
		w.Get("/tx/"+hash.String(), &tx)
		for _, x := range tx.TokenTransfers {
			if x.TokenAddress == k.Address {
				seen["transaction"]++
				check("transaction", hash, int(x.LogIndex), said(x.Standard, x.Amount, x.TokenID))
			}
		}
		var previews api.TransactionPreviews
		r := w.PostTo("/tx/previews", fmt.Sprintf(`{"hashes":["%s"]}`, hash))
		if err := json.Unmarshal(r.Body, &previews); err != nil || len(previews.Items) != 1 {
			t.Fatalf("preview: %d %s", r.StatusCode, r.Body)
		}
		for _, x := range previews.Items[0].TokenTransfers {
			if x.TokenAddress == k.Address {
				seen["preview"]++
				check("preview", hash, int(x.LogIndex), said(x.Standard, x.Amount, x.TokenID))
			}
		}
		var activity api.ActivityPage
		w.Get("/address/"+m.to.String()+"/activity?limit=100&type=transfer_in", &activity)
		for _, x := range activity.Items {
			if x.TxHash == hash && x.TokenAddress != nil && *x.TokenAddress == k.Address {
				seen["activity"]++
				e := want[fmt.Sprintf("%s %d", hash, *x.LogIndex)]
				if got := said(e.standard, x.Amount, x.TokenID); got != e {
					t.Errorf("activity: %s is %v, want %v", hash, got, e)
				}
			}
		}
	}
	for _, path := range []string{"/token/" + k.Address.String() + "/transfers?limit=100", "/transfers?limit=100&token=" + k.Address.String()} {
		var page api.TransferPage
		w.Get(path, &page)
		for _, x := range page.Items {
			seen[path]++
			check(path, x.TxHash, int(x.LogIndex), said(x.Standard, x.Amount, x.TokenID))
		}
	}
	for _, standard := range []string{"erc20", "erc721"} {
		var page api.TransferPage
		w.Get("/transfers?limit=100&token="+k.Address.String()+"&type="+standard, &page)
		n := 0
		for _, e := range want {
			if e.standard == standard {
				n++
			}
		}
		if n == 0 || len(page.Items) != n {
			t.Errorf("%d transfers of type %s, want %d", len(page.Items), standard, n)
		}
	}
	var summary api.TokenSummary
	w.Get("/token/"+k.Address.String(), &summary)
	if summary.Standard != "erc721" {
		t.Errorf("the token is %s", summary.Standard)
	}
	if len(seen) != 5 {
		t.Errorf("only %v were looked at", seen)
	}
}

func (w *world) known(address felt.Felt) bool {
	_, listed := w.Known.Chain(chainID).Token(address)
	return listed
}
