package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/store"
)

// TestOneCodeForOneCondition: what is not there is not_found on every route, and a
// reason tells what it is.
func TestOneCodeForOneCondition(t *testing.T) {
	w := newWorld(t, 30, func(o *options) { o.Chains[0].Node = nil })
	strk := w.Chain.Tokens(29)[0].Address.String()
	for _, path := range []string{"/block/9999", "/block/0x1", "/block/9999/txs", "/token/" + strk + "/total-supply?block_tag=9999", "/token/" + strk + "/balance-of/0x1?block_tag=0x1",
		"/contract/" + strk + "/entrypoints?block_tag=9999", "/contract/" + strk + "/read?selector=0x1&block_tag=9999", "/block-at-timestamp?timestamp=0"} {
		r := w.Do(http.MethodGet, "/v1/"+chainID+path, w.Key)
		if e := r.Envelope(); r.StatusCode != 404 || e.Code != kernel.CodeNotFound || e.Reason != kernel.ReasonBlockNotFound {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.Body)
		}
	}
	r := w.Send(w.Request(http.MethodPost, "/v1/"+chainID+"/query/wallet-state", `{"ownerAddress":"0x1","blockPreference":"explicit","blockNumber":9999}`))
	if e := r.Envelope(); r.StatusCode != 404 || e.Code != kernel.CodeNotFound || e.Reason != kernel.ReasonBlockNotFound {
		t.Errorf("wallet state: %d %s", r.StatusCode, r.Body)
	}
	for _, path := range []string{"/token/" + strk + "/total-supply", "/contract/" + strk + "/read?selector=0x1"} {
		if r := w.Do(http.MethodGet, "/v1/"+chainID+path, w.Key); r.StatusCode != 503 || !nodeIsAway(r) || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.Body)
		}
	}
}

// away is a store whose server cannot be reached.
type away struct{ explorer.Index }

func (away) View(context.Context, func(store.Reader) error) error {
	return fmt.Errorf("begin a view: %w: connection refused", store.ErrUnavailable)
}

// TestDatabaseAway: it is a passing trouble, not a fault.
func TestDatabaseAway(t *testing.T) {
	servertest.Watched(t)
	w := newWorld(t, 5, func(o *options) { o.Chains[0].Store = away{o.Chains[0].Store} })
	for _, path := range []string{"/status", "/blocks", "/block/3", "/tx/0x1", "/events?topic0=0x1", "/transfers", "/address/0x1", "/token/0x1", "/search?q=1"} {
		servertest.Expect(t, w.Do(http.MethodGet, "/v1/"+chainID+path, w.Key), 503, kernel.CodeServiceUnavailable, map[string]string{"Retry-After": "2"})
	}
	servertest.Expect(t, w.Do(http.MethodGet, "/readyz", ""), 503, "", nil)
	servertest.Expect(t, w.Do(http.MethodGet, "/docs/api", ""), 200, "", nil)
}

// TestCursorOfTheNewestBlock: a list of latest goes on in the block that it began
// with, when there is a newer one.
func TestCursorOfTheNewestBlock(t *testing.T) {
	w := newWorld(t, 41)
	head, _ := w.Chain.Head()
	for len(w.Chain.BlockAt(head).Transactions) < 3 {
		w.Chain.Extend(1)
		head, _ = w.Chain.Head()
	}
	w.CatchUp()
	first := w.Chain.BlockAt(head)
	var hashes []felt.Felt
	cursor := ""
	for page := 0; page == 0 || cursor != ""; page++ {
		var p struct {
			Items []struct {
				TxHash felt.Felt `json:"txHash"`
			}
			NextCursor string
		}
		w.Get("/block/latest/txs?limit=1&cursor="+cursor, &p)
		for _, item := range p.Items {
			hashes = append(hashes, item.TxHash)
		}
		cursor = p.NextCursor
		w.Chain.Extend(1) // the newest block is another one now
		w.CatchUp()
	}
	if len(hashes) != len(first.Transactions) {
		t.Fatalf("%d transactions, want %d", len(hashes), len(first.Transactions))
	}
	for i, h := range hashes {
		if h != first.Transactions[i].Hash {
			t.Errorf("transaction %d is %s, want %s", i, h, first.Transactions[i].Hash)
		}
	}
	// After a fork there is nothing to go on in.
	var p struct{ NextCursor string }
	for p.NextCursor == "" {
		w.Chain.Extend(1)
		w.CatchUp()
		w.Get("/block/latest/txs?limit=1", &p)
	}
	w.Chain.Fork(2)
	w.Chain.Extend(1)
	w.CatchUp()
	servertest.Expect(t, w.Do(http.MethodGet, "/v1/"+chainID+"/block/latest/txs?limit=1&cursor="+p.NextCursor, w.Key), 400, kernel.CodeInvalidCursor, nil)
}

// TestEveryListChecksItsCursor: also where there is nothing to list.
func TestEveryListChecksItsCursor(t *testing.T) {
	w := sharedWorld(t, 30)
	var blocks struct{ NextCursor string }
	w.Get("/blocks?limit=1", &blocks)
	strk := w.Chain.Tokens(29)[0].Address.String()
	lists := 0
	for path, item := range w.Server.OpenAPI().Paths {
		if item.Get == nil {
			continue
		}
		name := ""
		for _, p := range item.Get.Parameters {
			if p.In == "query" && strings.HasSuffix(strings.ToLower(p.Name), "cursor") {
				name = p.Name
			}
		}
		if name == "" {
			continue
		}
		lists++
		for _, address := range []string{"0x1234", strk} {
			target := strings.NewReplacer("{chain}", chainID, "{address}", address, "{token}", address, "{number_or_hash}", "3", "{class_hash}", address, "{message_hash}", address).Replace(path)
			for _, cursor := range []string{"made-up", blocks.NextCursor} {
				if strings.HasSuffix(path, "/blocks") && cursor == blocks.NextCursor {
					continue
				}
				query := "?" + name + "=" + cursor
				if strings.HasSuffix(path, "/events") && !strings.Contains(path, "/privacy-pool/") {
					query += "&topic0=0x1"
				}
				if strings.HasSuffix(path, "/tvl/series") {
					query += "&from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z"
				}
				r := w.Do(http.MethodGet, target+query, w.Partner)
				if e := r.Envelope(); e.Code != kernel.CodeInvalidCursor && r.StatusCode != 404 && r.StatusCode != 422 {
					t.Errorf("%s: %d %.200s", target+query, r.StatusCode, r.Body)
				}
			}
		}
	}
	if lists < 10 {
		t.Errorf("only %d lists were found", lists)
	}
	servertest.Expect(t, w.Do(http.MethodGet, "/v1/"+chainID+"/contract/0x1234/bridge-signals?cursor=x", w.Key), 400, kernel.CodeInvalidCursor, nil)
	servertest.Expect(t, w.Do(http.MethodGet, "/v1/"+chainID+"/contract/0x1234/bridge-signals?cursor=", w.Key), 200, "", nil)
}
