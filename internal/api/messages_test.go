package api_test

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/simnode"
)

// placed is a message and its index in its transaction.
type placed struct {
	simnode.Message
	index int
}

// allMessages lists the chain's messages, newest first.
func (o *oracle) allMessages() (out []placed) {
	list := o.Chain.Messages(0, o.head())
	for i, m := range list {
		index := 0
		if i > 0 && list[i-1].Block == m.Block && list[i-1].TxIndex == m.TxIndex {
			index = out[i-1].index + 1
		}
		out = append(out, placed{m, index})
	}
	slices.Reverse(out)
	return out
}

func (o *oracle) sameMessages(op, path string, limit int, all []placed, match func(*placed) bool) {
	o.T.Helper()
	want := []object{}
	for i := range all {
		if match(&all[i]) {
			want = append(want, o.wantMessage(&all[i].Message, all[i].index))
		}
	}
	o.sameList(path, want, o.pages(op, path, limit, nil))
}

// messages compares all lists of messages with the chain.
func (o *oracle) messages() {
	o.T.Helper()
	all := o.allMessages()
	for _, limit := range []int{3, 100} {
		o.sameMessages("listMessages", "messages", limit, all, func(*placed) bool { return true })
		o.sameMessages("listMessages", "messages?direction=l1_to_l2", limit, all, func(m *placed) bool { return !m.ToL1 })
		o.sameMessages("listMessages", "messages?direction=l2_to_l1", limit, all, func(m *placed) bool { return m.ToL1 })
	}
	contracts := map[felt.Felt]bool{felt.FromUint64(77): true}
	for i := range all {
		contracts[all[i].From], contracts[all[i].To] = true, true
	}
	for a := range contracts {
		path := "contract/" + a.String() + "/messages"
		of := func(m *placed) bool { return m.From == a || m.To == a }
		o.sameMessages("listContractMessages", path, 2, all, of)
		o.sameMessages("listContractMessages", path+"?direction=l2_to_l1", 25, all, func(m *placed) bool { return of(m) && m.ToL1 })
	}
	for i := 0; i < len(all); i += 1 + len(all)/12 {
		hash, tx := "0x"+hex.EncodeToString(all[i].Hash[:]), o.Chain.BlockAt(all[i].Block).Transactions[all[i].TxIndex].Hash.String()
		same := func(m *placed) bool { return m.Hash == all[i].Hash }
		in := func(m *placed) bool { return m.Block == all[i].Block && m.TxIndex == all[i].TxIndex }
		o.sameMessages("getMessage", "message/"+hash, 1, all, same)
		o.sameMessages("listMessages", "messages?messageHash="+hash, 10, all, same)
		o.sameMessages("listMessages", "messages?txHash="+tx, 1, all, in)
		o.sameMessages("listContractMessages", "contract/"+all[i].To.String()+"/messages?txHash="+tx+"&messageHash="+hash, 10, all,
			func(m *placed) bool { return same(m) && in(m) })
	}
	o.missing("getMessage", chainID+"/message/0x1234")
}

// TestMessageRules asks for what is refused.
func TestMessageRules(t *testing.T) {
	w := newWorld(t, 40)
	for path, want := range map[string]kernel.Code{
		"/messages?direction=up":                         kernel.CodeInvalidRequest,
		"/messages?txHash=seven":                         kernel.CodeInvalidRequest,
		"/messages?messageHash=0x":                       kernel.CodeInvalidRequest,
		"/message/0xnothex":                              kernel.CodeInvalidRequest,
		"/message/0x" + fmt.Sprintf("%065d", 0):          kernel.CodeInvalidRequest,
		"/contract/seven/messages":                       kernel.CodeInvalidRequest,
		"/messages?limit=ten":                            kernel.CodeInvalidRequest,
		"/messages?cursor=AAAA":                          kernel.CodeInvalidCursor,
		"/message/0x" + fmt.Sprintf("%064d", 1):          kernel.CodeNotFound,
		"/message/0x" + fmt.Sprintf("%064d", 1) + "?x=1": kernel.CodeInvalidRequest,
	} {
		if r := w.Do(http.MethodGet, "/v1/"+chainID+path, w.Key); r.Envelope().Code != want {
			t.Errorf("%s: %d %s, want %s", path, r.StatusCode, r.Body, want)
		}
	}
	// A cursor goes with its own filter, and dies with its block.
	var p page
	w.Get("/messages?limit=1", &p)
	if r := w.Do(http.MethodGet, "/v1/"+chainID+"/messages?direction=l1_to_l2&cursor="+*p.NextCursor, w.Key); r.Envelope().Code != kernel.CodeInvalidCursor {
		t.Errorf("another filter's cursor: %d %s", r.StatusCode, r.Body)
	}
	w.Chain.Fork(39)
	w.Chain.Extend(1)
	w.CatchUp()
	if r := w.Do(http.MethodGet, "/v1/"+chainID+"/messages?cursor="+*p.NextCursor, w.Key); r.Envelope().Code != kernel.CodeInvalidCursor {
		t.Errorf("a cursor into a block that is gone: %d %s", r.StatusCode, r.Body)
	}
}
