package pages_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/starknet"
)

// TestTrace shows what a node tells of transactions of each type, and that it fits their
// receipts.
func TestTrace(t *testing.T) {
	w := sharedWorld(t, txBlocks)
	seen := map[string]bool{}
	for n := uint64(1); n < txBlocks; n++ {
		b := w.Chain.BlockAt(n)
		for i := range b.Transactions {
			tx, r := &b.Transactions[i], &b.Receipts[i]
			kind := tx.Type.String() + r.Execution.String()
			if seen[kind] {
				continue
			}
			seen[kind] = true
			page := w.page("/tx/" + tx.Hash.String() + "/trace")
			if !strings.Contains(page, "fits the receipt") {
				t.Errorf("%s %s: the trace does not fit", kind, tx.Hash)
			}
			if reverted := r.Execution == starknet.Reverted; reverted != strings.Contains(page, "<p>Reverted: ") {
				t.Errorf("%s %s: reverted is %v", kind, tx.Hash, reverted)
			}
			got := values(page)
			calls, _ := starknet.AccountCalls(tx.Calldata)
			for _, c := range calls {
				if tx.Type == starknet.Invoke && r.Execution == starknet.Succeeded && !strings.Contains(strings.Join(got, " "), c.To.String()) {
					t.Errorf("%s %s: the call of %s is not shown", kind, tx.Hash, c.To)
				}
			}
		}
	}
	if len(seen) < 5 {
		t.Errorf("the chain has only %v", seen)
	}
}

// oddNode answers traces as it likes.
type oddNode struct {
	api.Node
	trace string
	found bool
	err   error
}

func (n *oddNode) TraceOf(context.Context, contractcall.Block, felt.Felt) ([]byte, bool, error) {
	return []byte(n.trace), n.found, n.err
}

// TestTraceThatIsNone: where a node has no trace, cannot be asked or tells nonsense, the page
// says so, and is bounded by what it shows.
func TestTraceThatIsNone(t *testing.T) {
	node := &oddNode{}
	w := &world{servertest.New(t, 6, func(o *servertest.Options) { node.Node, o.Chains[0].Node = o.Chains[0].Node, node })}
	path := "/tx/" + w.Chain.BlockAt(4).Transactions[0].Hash.String() + "/trace"
	call := func(inner string) string {
		return `{"contract_address":"0x1","entry_point_selector":"0x2","class_hash":"0x3","calldata":["0x4"],"result":[],"call_type":"CALL","entry_point_type":"EXTERNAL","events":[],"messages":[],"calls":[` + inner + `]}`
	}
	deep := call("")
	for range 60 {
		deep = call(deep)
	}
	for _, c := range []struct {
		node oddNode
		want string
	}{
		{oddNode{}, "The node has no trace of this transaction."},
		{oddNode{err: fmt.Errorf("%w: gone", contractcall.ErrUnavailable)}, "No node could be asked in time."},
		{oddNode{trace: `[]`, found: true}, "cannot be read"},
		{oddNode{trace: `{"execute_invocation":{"contract_address":7}}`, found: true}, "cannot be read"},
		{oddNode{trace: `{}`, found: true}, "The trace is empty."},
		{oddNode{trace: strings.Repeat(" ", 9<<20) + `{}`, found: true}, "larger than this page takes in"},
		{oddNode{trace: `{"execute_invocation":` + call("") + `}`, found: true}, "differs from the receipt"},
		{oddNode{trace: `{"execute_invocation":` + deep + `}`, found: true}, "Not all calls are shown."},
		{oddNode{trace: `{"execute_invocation":` + call(strings.Repeat(call("")+",", 2000)+call("")) + `}`, found: true}, "Not all calls are shown."},
		{oddNode{trace: `{"execute_invocation":{"revert_reason":"<script>alert(1)</script>\n0x4f7574206f6620676173"}}`, found: true}, "Out of gas"},
	} {
		node.trace, node.found, node.err = c.node.trace, c.node.found, c.node.err
		page := w.page(path)
		if !strings.Contains(page, c.want) {
			t.Errorf("%.60q: the page lacks %q: %s", c.node.trace, c.want, clip(page))
		}
		if len(page) > 300_000 || strings.Contains(page, "<script>alert") {
			t.Errorf("%.60q: a page of %d bytes", c.node.trace, len(page))
		}
	}
	for path, status := range map[string]int{"/tx/0xdead/trace": 404, "/tx/x/trace": 400} {
		w.look("/"+chainID+path, status)
	}
}
