package pages_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"chainexplorer/internal/api"
	"chainexplorer/internal/starknet"
)

// txBlocks is the length of the chain whose transactions are all read.
const txBlocks = 40

// TestTransactionPages holds the page of every transaction of a chain against the chain
// itself and against the answer of the API.
func TestTransactionPages(t *testing.T) {
	w := sharedWorld(t, txBlocks)
	seen := map[string]int{}
	for n := range uint64(txBlocks) {
		b := w.Chain.BlockAt(n)
		for i := range b.Transactions {
			tx, r := &b.Transactions[i], &b.Receipts[i]
			path := "/tx/" + tx.Hash.String()
			var a api.Tx
			w.Get(path+"?logLimit=20", &a)
			s := w.reads(path)
			s.is(t, "Hash", tx.Hash)
			s.is(t, "Block", n, i)
			s.is(t, "Status", r.Execution)
			s.is(t, "Time", iso(b.Timestamp))
			s.is(t, "Fee", new(big.Int).SetBytes(r.ActualFee[:]))
			if tx.HasNonce {
				s.is(t, "Nonce", new(big.Int).SetBytes(tx.Nonce[:]))
			}
			checkTransaction(t, s, &a, tx, r)
			seen[tx.Type.String()]++
		}
	}
	for _, kind := range []string{"INVOKE", "DECLARE", "DEPLOY_ACCOUNT", "L1_HANDLER"} {
		if seen[kind] == 0 {
			t.Errorf("the chain has no %s", kind)
		}
	}
}

// checkTransaction compares the lists of a transaction's page.
func checkTransaction(t *testing.T, s *shown, a *api.Tx, tx *starknet.Transaction, r *starknet.Receipt) {
	t.Helper()
	if got, want := len(s.rows["transfers"]), min(len(a.TokenTransfers), 20); got != want {
		t.Errorf("%s: %d rows of transfers, want %d", s.path, got, want)
	}
	for k, row := range s.rows["transfers"] {
		x := &a.TokenTransfers[k]
		if !slices.Equal(row["From"], []string{x.FromAddress.String()}) || !slices.Equal(row["To"], []string{x.ToAddress.String()}) {
			t.Errorf("%s: transfer %d goes from %v to %v", s.path, k, row["From"], row["To"])
		}
		if x.Amount != nil && x.Standard == "erc20" && !slices.Contains(row["Amount"], *x.Amount) {
			t.Errorf("%s: transfer %d is of %v, want %s", s.path, k, row["Amount"], *x.Amount)
		}
	}
	gas := s.rows["fee"]
	if len(gas) != 3 || gas[0]["Used"][0] != fmt.Sprint(r.Resources.L2Gas) || gas[1]["Used"][0] != fmt.Sprint(r.Resources.L1Gas) || gas[2]["Used"][0] != fmt.Sprint(r.Resources.L1DataGas) {
		t.Errorf("%s: gas %v", s.path, gas)
	}
	if bounds := tx.ResourceBounds; bounds != nil && len(gas) == 3 && gas[0]["At most"][0] != fmt.Sprint(bounds.L2Gas.MaxAmount) {
		t.Errorf("%s: bounds %v", s.path, gas)
	}
	if len(s.rows["messages"]) != len(a.Messages) {
		t.Errorf("%s: %d messages of %d", s.path, len(s.rows["messages"]), len(a.Messages))
	}
	for k, row := range s.rows["messages"] {
		if row["Message"][0] != a.Messages[k].MessageHash {
			t.Errorf("%s: message %d is %v", s.path, k, row)
		}
	}
	calls := a.AccountCalls
	if a.EntryPoint != nil {
		calls = []api.AccountCall{*a.EntryPoint}
	}
	for k := range calls[:min(len(calls), 10)] {
		s.holds(t, calls[k].To.String())
		if calls[k].DecodedArguments != nil {
			s.holdsFields(t, *calls[k].DecodedArguments)
		}
	}
	for k := range a.Logs {
		s.holds(t, a.Logs[k].Address.String())
		s.holdsFields(t, a.Logs[k].DecodedFields)
	}
}

func (s *shown) holds(t *testing.T, value string) {
	t.Helper()
	if !slices.Contains(s.all, value) {
		t.Errorf("%s does not show %s", s.path, value)
	}
}

// holdsFields looks for decoded values, exactly.
func (s *shown) holdsFields(t *testing.T, fields []api.DecodedField) {
	t.Helper()
	for i := range fields {
		switch f := &fields[i]; {
		case f.AddressValue != nil:
			s.holds(t, f.AddressValue.String())
		case f.TextValue != nil && *f.TextValue != "" && len(*f.TextValue) <= 500:
			s.holds(t, *f.TextValue)
		case f.TextValue == nil && f.NumericValue != nil && f.Kind != "hash":
			s.holds(t, f.NumericValue.String())
		}
	}
}

// hostileWords are texts that contracts and nodes of the simulated chain write to be taken
// for markup.
var hostileWords = []string{"<script>alert", "\u202e", "<img"}

// TestRevertedTransaction says why in words, whatever the reason is made of.
func TestRevertedTransaction(t *testing.T) {
	w := sharedWorld(t, txBlocks)
	seen := map[string]bool{}
	for n := range uint64(txBlocks) {
		b := w.Chain.BlockAt(n)
		for i := range b.Receipts {
			if b.Receipts[i].Execution != starknet.Reverted {
				continue
			}
			page := w.page("/tx/" + b.Transactions[i].Hash.String())
			for _, bad := range hostileWords {
				if strings.Contains(page, bad) {
					t.Errorf("transaction %s: %q came through", b.Transactions[i].Hash, bad)
				}
			}
			for _, word := range []string{"Reverted: <bdi>u256_sub Overflow", "Reverted: <bdi>Out of gas", "Reverted: <bdi>ERC20: insufficient balance", "and was reverted", "&lt;script&gt;"} {
				if strings.Contains(page, word) {
					seen[word] = true
				}
			}
		}
	}
	if len(seen) < 3 || !seen["and was reverted"] {
		t.Errorf("reasons: %v", seen)
	}
}

// TestTransactionParts pages through the calls, transfers and events of the transactions
// that have the most, to the end and without one twice.
func TestTransactionParts(t *testing.T) {
	w := sharedWorld(t, txBlocks)
	busiest, most := "", 0
	for n := range uint64(txBlocks) {
		b := w.Chain.BlockAt(n)
		for i := range b.Receipts {
			if len(b.Receipts[i].Events) > most {
				busiest, most = b.Transactions[i].Hash.String(), len(b.Receipts[i].Events)
			}
		}
	}
	var a api.Tx
	w.Get("/tx/"+busiest+"?logLimit=1000", &a)
	for part, want := range map[string]int{"events": a.LogCount, "transfers": len(a.TokenTransfers), "calls": len(a.AccountCalls)} {
		rows := 0
		for path, pages := "/tx/"+busiest+"/"+part, 0; path != ""; w.onwards(&pages) {
			page := w.page(path)
			root, err := html.Parse(strings.NewReader(page))
			if err != nil {
				t.Fatal(err)
			}
			path = ""
			for n := range root.Descendants() {
				switch {
				case n.Data == "li" && n.Parent != nil && attribute(n.Parent, "class") == "deeds", n.Data == "tr" && n.Parent.Data == "tbody":
					rows++
				case n.Data == "a" && attribute(n, "rel") == "next":
					path = strings.TrimPrefix(attribute(n, "href"), "/"+chainID)
				}
			}
		}
		if rows != want {
			t.Errorf("%d %s of %d", rows, part, want)
		}
	}
	if most < 8 {
		t.Fatalf("no transaction has more than %d events", most)
	}
	page := w.page("/tx/" + busiest + "/events?from=5")
	if strings.Contains(page, `id="event-4"`) || !strings.Contains(page, `<ol class="deeds" start="5"><li id="event-5">`) || strings.Count(page, `<li id="event-`) != most-5 || !strings.Contains(page, `rel="first"`) {
		t.Errorf("the list does not go on at 5: %s", clip(page))
	}
}

// TestTransactionPageRefusals tell a person what to do.
func TestTransactionPageRefusals(t *testing.T) {
	w := sharedWorld(t, txBlocks)
	hash := w.Chain.BlockAt(3).Transactions[0].Hash.String()
	for path, status := range map[string]int{"/tx/0xdead": 404, "/tx/x": 400, "/tx/0xdead/events": 404, "/tx/" + hash + "/events?from=x": 400, "/tx/" + hash + "/calls?from=-1": 400, "/tx/" + hash + "/calls?from=7000": 200} {
		w.look("/"+chainID+path, status)
	}
}

// TestTransactionPageKept: what L1 accepted is kept for good where nothing in it can be
// told otherwise, and what the next block changes is not.
func TestTransactionPageKept(t *testing.T) {
	w := sharedWorld(t, txBlocks)
	l1, _ := w.Chain.L1Head()
	for _, n := range []uint64{2, l1 + 1} {
		page := w.page("/tx/" + w.Chain.BlockAt(n).Transactions[0].Hash.String())
		r := w.Do(http.MethodGet, "/"+chainID+"/tx/"+w.Chain.BlockAt(n).Transactions[0].Hash.String(), "")
		if r.Header.Get("ETag") == "" {
			t.Errorf("block %d: %v", n, r.Header)
		}
		if lasting := strings.Contains(page, "does not change any more"); n > l1 && lasting {
			t.Errorf("block %d is not accepted on L1, and its page says that nothing changes", n)
		}
	}
	lasting := 0
	for n := range min(l1, 8) {
		for _, tx := range w.Chain.BlockAt(n).Transactions {
			if strings.Contains(w.page("/tx/"+tx.Hash.String()), "does not change any more") {
				lasting++
			}
		}
	}
	if lasting == 0 {
		t.Error("no page is kept for good")
	}
}

// TestTransactionAsJSON: the page's own answer holds the transaction.
func TestTransactionAsJSON(t *testing.T) {
	w := sharedWorld(t, txBlocks)
	hash := w.Chain.BlockAt(7).Transactions[0].Hash.String()
	page := w.page("/tx/" + hash + "?as=json")
	if quoted, _ := json.Marshal(hash); !strings.Contains(html.UnescapeString(page), `"txHash": `+string(quoted)) {
		t.Errorf("the answer is not there: %s", clip(page))
	}
}
