package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"chainexplorer/internal/api"
)

// TestListsEndWithTheirBranch: the lists of blocks and of transactions go on below new
// blocks, and not on another branch than the one that they began on.
func TestListsEndWithTheirBranch(t *testing.T) {
	w := newWorld(t, 60)
	var blocks api.BlockPage
	w.Get("/blocks?limit=5", &blocks)
	var txs api.TxPage
	w.Get("/txs?limit=5", &txs)
	if blocks.NextCursor == nil || txs.NextCursor == nil {
		t.Fatalf("no second pages: %+v %+v", blocks, txs)
	}
	second := map[string]string{
		"/blocks": "/blocks?limit=5&cursor=" + url.QueryEscape(*blocks.NextCursor),
		"/txs":    "/txs?limit=5&cursor=" + url.QueryEscape(*txs.NextCursor),
	}
	w.Chain.Extend(2)
	w.CatchUp()
	var more api.BlockPage
	w.Get(second["/blocks"], &more)
	if last := blocks.Items[4]; len(more.Items) != 5 || more.Items[0].BlockHash != last.ParentHash {
		t.Errorf("below block %d goes on with %+v", last.BlockNumber, more.Items)
	}
	var others api.TxPage
	w.Get(second["/txs"], &others)
	if a, b := txs.Items[4], others.Items[0]; len(others.Items) != 5 || b.BlockNumber > a.BlockNumber || b.BlockNumber == a.BlockNumber && b.TxIndex+1 != a.TxIndex {
		t.Errorf("below transaction %d of block %d goes on with %+v", a.TxIndex, a.BlockNumber, b)
	}
	w.Chain.Fork(30)
	w.Chain.Extend(1)
	w.CatchUp()
	for list, path := range second {
		if r := w.Do(http.MethodGet, "/v1/"+chainID+path, w.Key); r.StatusCode != http.StatusBadRequest || !strings.Contains(string(r.Body), "invalid_cursor") {
			t.Errorf("%s after a fork below: %d %s", list, r.StatusCode, r.Body)
		}
	}
}
