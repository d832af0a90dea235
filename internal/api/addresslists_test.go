package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

type cursorPage struct {
	Items      []json.RawMessage
	NextCursor *string
}

func (w *world) cursorPage(path string) (p cursorPage) {
	w.T.Helper()
	r := w.Do(http.MethodGet, path, w.Key)
	if err := json.Unmarshal(r.Body, &p); err != nil || r.StatusCode != http.StatusOK {
		w.T.Fatalf("%s: %d %s", path, r.StatusCode, r.Body)
	}
	return p
}

// TestAddressListCursors: a cursor works under the order and the type that made it
// and under no other.
func TestAddressListCursors(t *testing.T) {
	w := sharedWorld(t, 30)
	base := "/v1/" + chainID + "/address/" + felt.Zero.String() // all mints and burns
	for list, kind := range map[string]string{"transactions": "INVOKE", "activity": "transfer_in", "transfers": "erc20"} {
		queries := []string{"limit=1", "limit=1&order=asc", "limit=1&type=" + kind, "limit=1&order=asc&type=" + kind}
		for i, made := range queries {
			p := w.cursorPage(base + "/" + list + "?" + made)
			if p.NextCursor == nil {
				t.Fatalf("%s?%s has one page", list, made)
			}
			for j, used := range queries {
				path := base + "/" + list + "?" + used + "&cursor=" + url.QueryEscape(*p.NextCursor)
				r := w.Do(http.MethodGet, path, w.Key)
				if ok := r.StatusCode == http.StatusOK; ok != (i == j) || !ok && (r.StatusCode != http.StatusBadRequest || r.Envelope().Code != kernel.CodeInvalidCursor) {
					t.Errorf("%s: the cursor of %s under %s: %d %s", list, made, used, r.StatusCode, r.Body)
				}
			}
		}
	}
}

// TestAddressListParameters: what is no order and no type is refused, and says so.
func TestAddressListParameters(t *testing.T) {
	w := sharedWorld(t, 30)
	base := "/v1/" + chainID + "/address/0x1/"
	for _, c := range []struct {
		path   string
		status int
	}{
		{"transactions?order=asc&type=execute", 200},
		{"transactions?type=l1_handler", 200}, // in whatever case
		{"transactions?type=transfer_in", 400},
		{"transactions?order=up", 400},
		{"activity?order=asc&type=l1_handler", 200},
		{"activity?type=INVOKE", 400},
		{"activity?order=up", 400},
		{"transfers?order=asc&type=nft&invocationType=execute", 200},
		{"transfers?type=INVOKE", 400},
		{"transfers?order=up", 400},
	} {
		r := w.Do(http.MethodGet, base+c.path, w.Key)
		if r.StatusCode != c.status || c.status == 400 && r.Envelope().Code != kernel.CodeInvalidRequest {
			t.Errorf("%s: %d %s, want %d", c.path, r.StatusCode, r.Body, c.status)
		}
	}
}

// TestOldestFirstWhileTheChainMoves: a walk oldest first misses and repeats nothing
// while blocks arrive and forks replace what lies above it, and is refused once the
// block of its cursor is gone.
func TestOldestFirstWhileTheChainMoves(t *testing.T) {
	o := &oracle{world: newWorld(t, 30), checks: map[string]int{}}
	path := "address/" + felt.Zero.String() + "/transactions"
	moves := 0
	got := o.pages("listAddressTransactions", path+"?order=asc", 3, func(n int) {
		switch {
		case n == 2:
			o.fork(4)
			moves++
		case n%4 == 0 && moves < 4:
			o.Chain.Extend(2)
			o.CatchUp()
			moves++
		}
	})
	all, _ := o.deeds()
	want := []object{}
	txs := transactionsOf(felt.Zero, all[felt.Zero])
	for i := len(txs) - 1; i >= 0; i-- {
		want = append(want, o.wantAddressTx(felt.Zero, &txs[i]))
	}
	if moves < 4 {
		t.Fatalf("the chain moved %d times", moves)
	}
	o.sameRows(path, want, got)

	for _, list := range []string{"transactions", "activity", "transfers"} {
		base, last := "/v1/"+chainID+"/address/"+felt.Zero.String()+"/"+list+"?order=asc&limit=10", ""
		for cursor := ""; ; {
			p := o.cursorPage(base + cursor)
			if p.NextCursor == nil {
				break
			}
			last = "&cursor=" + url.QueryEscape(*p.NextCursor)
			cursor = last
		}
		if last == "" {
			t.Fatalf("%s has one page", list)
		}
		o.fork(30) // which takes the block of the last cursor with it
		r := o.Do(http.MethodGet, base+last, o.Key)
		if r.StatusCode != http.StatusBadRequest || r.Envelope().Code != kernel.CodeInvalidCursor {
			t.Errorf("%s: a cursor of a block that is gone: %d %s", list, r.StatusCode, r.Body)
		}
	}
}
