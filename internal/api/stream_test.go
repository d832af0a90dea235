package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
)

var _ = tested(routeTest{
	operation: "streamFeed", evidence: eventList, truth: (*oracle).stream,
	golden: func(w *world) map[string]string {
		head, _ := w.Chain.Head()
		return map[string]string{
			"blocks": fmt.Sprintf("/stream?kind=block&follow=false&from_block=%d", head-1),
			"none":   "/stream?kind=event&address=0x1234&follow=false",
		}
	},
})

// stream compares what streams tell of the chain so far with the chain.
func (o *oracle) stream() {
	o.T.Helper()
	head, _ := o.Chain.Head()
	transfers := felt.Selector("Transfer")
	var blocks, events []string
	for n := range head + 1 {
		blocks = append(blocks, o.Chain.BlockAt(n).Hash.String())
	}
	for _, e := range o.Chain.Events(simnode.EventFilter{To: head, Keys: [][]felt.Felt{{transfers}}}) {
		events = append(events, fmt.Sprint(e.Block.Transactions[e.TxIndex].Hash, e.Index))
	}
	for query, want := range map[string][]string{"kind=block": blocks, "kind=event&topic0=" + transfers.String(): events} {
		r := o.Do(http.MethodGet, "/v1/"+chainID+"/stream?from_block=0&follow=false&"+query, o.Key)
		var got []string
		for line := range strings.Lines(string(r.Body)) {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok {
				continue
			}
			var m struct {
				Items []struct {
					BlockHash felt.Felt
					TxHash    *felt.Felt
					LogIndex  int
				}
			}
			if err := json.Unmarshal([]byte(data), &m); err != nil {
				o.T.Fatal(err)
			}
			for _, item := range m.Items {
				if item.TxHash != nil {
					got = append(got, fmt.Sprint(*item.TxHash, item.LogIndex))
				} else {
					got = append(got, item.BlockHash.String())
				}
			}
		}
		if r.StatusCode != http.StatusOK || !slices.Equal(got, want) {
			o.T.Errorf("%s: %d, %d items, the chain has %d", query, r.StatusCode, len(got), len(want))
		}
		o.checks["streamFeed"]++
	}
}
