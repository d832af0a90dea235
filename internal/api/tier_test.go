package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/starknet"
)

// wantTier is the tier of a block and what it rests on.
func (w *world) wantTier(number uint64) (tier string, basis any) {
	head, _ := w.Chain.Head()
	switch {
	case w.Chain.BlockAt(number).Status == starknet.AcceptedOnL1:
		return "finalized", "l1_acceptance"
	case number+depth <= head:
		return "finalized", "finality_depth"
	}
	return "head", nil
}

// TestTierAndItsBasis: no row is called finalized above finalizedBlockNumber but
// for the acceptance by L1, and every row says which of the two it is.
func TestTierAndItsBasis(t *testing.T) {
	w := newWorld(t, 60) // the head is block 59
	type row struct {
		BlockNumber uint64
		SourceTier  string
		Basis       *string `json:"sourceTierBasis"`
	}
	for _, c := range []struct {
		name string
		l1   uint64
	}{{"L1 behind the depth", 30}, {"L1 at the depth", 59 - depth}, {"L1 above the depth", 55}} {
		w.leave(chain.L1Key, chain.L1{Number: c.l1, Hash: w.Chain.BlockAt(c.l1).Hash}.Encode())
		w.Clock.Advance(1e10) // past what is kept of answers
		seen := map[string]int{}
		for _, path := range []string{"transfers", "messages"} {
			var cursor string
			for {
				r := w.Do(http.MethodGet, "/v1/"+chainID+"/"+path+"?limit=100"+cursor, w.Key)
				var page struct {
					Items      []row
					NextCursor *string
				}
				if err := json.Unmarshal(r.Body, &page); err != nil || r.StatusCode != 200 {
					t.Fatalf("%s: %d %s", path, r.StatusCode, r.Body)
				}
				for _, got := range page.Items {
					tier, basis := "head", "none"
					switch {
					case got.BlockNumber <= c.l1:
						tier, basis = "finalized", "l1_acceptance"
					case got.BlockNumber+depth <= 59:
						tier, basis = "finalized", "finality_depth"
					}
					said := "none"
					if got.Basis != nil {
						said = *got.Basis
					}
					if got.SourceTier != tier || said != basis {
						t.Fatalf("%s, %s: block %d is %s by %s, want %s by %s", c.name, path, got.BlockNumber, got.SourceTier, said, tier, basis)
					}
					seen[basis]++
				}
				if page.NextCursor == nil {
					break
				}
				cursor = "&cursor=" + *page.NextCursor
			}
		}
		if seen["l1_acceptance"] == 0 || seen["none"] == 0 || (c.l1 < 59-depth) != (seen["finality_depth"] > 0) {
			t.Errorf("%s: the rows prove little: %s", c.name, fmt.Sprint(seen))
		}
	}
}
