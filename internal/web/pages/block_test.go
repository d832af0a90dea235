package pages_test

import (
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/starknet"
)

// TestBlockPage compares the pages of all blocks with what the API answers.
func TestBlockPage(t *testing.T) {
	w := sharedWorld(t, 40)
	for n := range uint64(40) {
		var b api.Block
		w.Get(fmt.Sprintf("/block/%d", n), &b)
		got := values(w.page(fmt.Sprintf("/block/%d", n)))
		want := []string{fmt.Sprint(b.BlockNumber), b.TimestampISO, fmt.Sprint(b.TxCount), fmt.Sprint(b.EventCount), b.SequencerAddress.String(), b.BlockHash.String(), b.ParentHash.String()}
		for _, tx := range b.Transactions {
			want = append(want, tx.TxHash.String())
		}
		for _, v := range want {
			if !slices.Contains(got, v) {
				t.Errorf("block %d: the page does not show %s", n, v)
			}
		}
	}
}

// TestBlockPageInWords holds what the pages of blocks say of their transactions, and of
// what they changed, against the chain itself.
func TestBlockPageInWords(t *testing.T) {
	w := sharedWorld(t, 40)
	found := map[string]int{}
	for n := range uint64(40) {
		b, u := w.Chain.BlockAt(n), w.Chain.StateUpdateAt(n)
		page := w.page(fmt.Sprintf("/block/%d", n))
		fri, wei, reverted := new(big.Int), new(big.Int), 0
		var want []string
		for i := range b.Receipts {
			r := &b.Receipts[i]
			sum := wei
			if r.FeeUnit == starknet.Fri {
				sum = fri
			}
			fee := new(big.Int).SetBytes(r.ActualFee[:])
			sum.Add(sum, fee)
			if r.Execution == starknet.Reverted {
				reverted++
			}
			want = append(want, fee.String(), b.Transactions[i].Hash.String())
		}
		for i := range u.Diff.Deployed[:min(12, len(u.Diff.Deployed))] {
			want = append(want, u.Diff.Deployed[i].Address.String(), u.Diff.Deployed[i].ClassHash.String())
		}
		for i := range u.Diff.Declared[:min(12, len(u.Diff.Declared))] {
			want = append(want, u.Diff.Declared[i].ClassHash.String())
		}
		h := &b.Header
		for _, p := range []starknet.GasPrice{h.L1GasPrice, h.L2GasPrice, h.L1DataGasPrice} {
			want = append(want, new(big.Int).SetBytes(p.InFri[:]).String(), new(big.Int).SetBytes(p.InWei[:]).String())
		}
		want = append(want, fri.String(), h.NewRoot.String(), fmt.Sprint(u.Diff.Length()))
		if wei.Sign() > 0 {
			want = append(want, wei.String())
		}
		got := values(page)
		for _, v := range want {
			if !slices.Contains(got, v) {
				t.Errorf("block %d: the page does not show %s", n, v)
			}
		}
		if rows := strings.Count(page, `data-value="REVERTED"`); rows != reverted {
			t.Errorf("block %d: %d rows are reverted, %d transactions are", n, rows, reverted)
		}
		for _, word := range []string{" sent ", " swapped ", " declared class ", " called ", " was deployed as an account ", " from L1 over ", " to L1 over ", "and was reverted"} {
			found[word] += strings.Count(page, word)
		}
	}
	for word, n := range found {
		if n == 0 {
			t.Errorf("no transaction is said to have%s", word)
		}
	}
}

// TestBlockPageKept says what a page may be kept for: a finalized one is sent once.
func TestBlockPageKept(t *testing.T) {
	w := sharedWorld(t, 40)
	for _, path := range []string{"/block/0", "/block/39", "/block/0?as=json"} {
		first := w.Do(http.MethodGet, "/"+chainID+path, "")
		tag := first.Header.Get("ETag")
		if first.StatusCode != http.StatusOK || tag == "" || first.Header.Get("Cache-Control") != "public, no-cache" {
			t.Fatalf("%s: %d, %v", path, first.StatusCode, first.Header)
		}
		if again := w.Do(http.MethodGet, "/"+chainID+path, "", "If-None-Match", tag); again.StatusCode != http.StatusNotModified {
			t.Errorf("%s: %d, want 304", path, again.StatusCode)
		}
	}
}

// TestBlockPageAsJSON shows the call behind a page, and the answer of the API itself.
func TestBlockPageAsJSON(t *testing.T) {
	w := sharedWorld(t, 40)
	page := w.page("/block/7?as=json")
	for _, want := range []string{"GET /v1/" + chainID + "/block/7?tx_limit=50", `&#34;blockNumber&#34;: 7`, "X-Service-Api-Key: $SERVICE_API_KEY"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestMissingBlock tells a person what to do.
func TestMissingBlock(t *testing.T) {
	w := sharedWorld(t, 40)
	for path, status := range map[string]int{"/block/999999": 404, "/block/0xdead": 404, "/block/x": 400, "/block/1?cursor=x": 400} {
		if page := w.look("/"+chainID+path, status); !strings.Contains(page, "/docs/") {
			t.Errorf("%s: no help in %s", path, clip(page))
		}
	}
}
