package voyager_test

import (
	"fmt"
	"net/http"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/servertest"
)

func TestHolders(t *testing.T) {
	f := feedOf(servertest.Shared(t, blocks))
	c := truth{f.Chain}
	var token string
	for _, known := range c.Tokens(1) {
		if k, ok := f.Registry.Token(known.Address); ok && k.Census.Qualified {
			token = known.Address.String()
			break
		}
	}
	path := "/tokens/" + token + "/holders"
	f.refused(path, http.StatusForbidden)
	f.key = f.Partner
	var want []api.HolderItem
	for cursor := ""; ; {
		var page api.HolderPage
		r := f.Do(http.MethodGet, "/v1/"+servertest.ChainID+"/token/"+token+"/holders?limit=100"+cursor, f.Partner)
		unmarshal(t, r, &page)
		want = append(want, page.Items...)
		if page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *page.NextCursor
	}
	if len(want) < 11 {
		t.Fatalf("%d holders are too few", len(want))
	}
	var got []object
	for p := 1; ; p++ {
		body := f.get(fmt.Sprintf("%s?ps=10&p=%d", path, p))
		more := body["hasMore"]
		delete(body, "hasMore")
		items, last := itemsOf(t, body)
		got = append(got, items...)
		if last != (len(want)+9)/10 || more != (p < last) {
			t.Errorf("page %d: the last one is %d of %d holders, more %v", p, last, len(want), more)
		}
		if p >= last {
			break
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d holders, want %d", len(got), len(want))
	}
	for i, h := range want {
		same(t, h.Address.String(), []any{got[i]["holder"], got[i]["balance"], got[i]["lastTransferTime"], got[i]["starknetId"], got[i]["balanceSeparated"], got[i]["decimals"]},
			[]any{h.Address.Padded(), h.BalanceRaw, c.BlockAt(h.LastUpdatedBlock).Timestamp, nil, nil, "18"})
	}
	f.refused(path+"?type=erc721", http.StatusNotImplemented)
	f.refused("/tokens/0x99/holders", http.StatusNotFound)
	f.refused("/tokens/"+token+"/holders/overview", http.StatusNotImplemented)
	f.refused("/tokens", http.StatusNotImplemented)
}
