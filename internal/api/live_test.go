package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
)

// wantLive is the block part of a live answer.
func (o *oracle) wantLive(tag string, n uint64) object {
	b := o.Chain.BlockAt(n)
	finality := "ACCEPTED_ON_L2"
	if l1, ok := o.Chain.L1Head(); ok && n <= l1 {
		finality = "ACCEPTED_ON_L1"
	}
	return object{"chainId": chainID, "blockTag": tag, "blockNumber": n, "blockHash": b.Hash, "finalityStatus": finality, "basedOn": nil}
}

func (o *oracle) wantPending(head uint64) object {
	return object{"chainId": chainID, "blockTag": "pending", "blockNumber": head + 1, "blockHash": nil, "finalityStatus": "PRE_CONFIRMED",
		"basedOn": object{"blockNumber": head, "blockHash": o.Chain.BlockAt(head).Hash}}
}

func with(o object, more object) object {
	for k, v := range more {
		o[k] = v
	}
	return o
}

// live compares supplies, balances and reads with what the chain knows, at many
// blocks and under every kind of tag.
func (o *oracle) live(head uint64) {
	o.T.Helper()
	tokens := o.Chain.Tokens(head)
	for n := uint64(0); n <= head; n += 1 + head/6 {
		b := o.Chain.BlockAt(n)
		for i, token := range tokens {
			if token.Standard != simnode.ERC20 || token.Block > n || i > 8 {
				continue
			}
			tag := fmt.Sprint(n)
			if i%2 == 1 {
				tag = b.Hash.Padded()
			}
			path := chainID + "/token/" + token.Address.String()
			o.same("getTokenTotalSupply", path+"/total-supply?block_tag="+tag, with(o.wantLive(tag, n), object{
				"tokenAddress": token.Address, "totalSupplyRaw": o.Chain.SupplyAt(token.Address, n).String(), "source": "contract_call"}))
			holders := o.Chain.Holders(token.Address, head)
			for k := 0; k < len(holders); k += 1 + len(holders)/3 {
				o.balance(path, tag, token.Address, holders[k].Address, o.wantLive(tag, n), n)
			}
		}
	}
	strk := chainID + "/token/" + contracts.STRK.String()
	supply := object{"tokenAddress": contracts.STRK, "totalSupplyRaw": o.Chain.SupplyAt(contracts.STRK, head).String(), "source": "contract_call"}
	o.same("getTokenTotalSupply", strk+"/total-supply", with(o.wantLive("latest", head), supply))
	o.same("getTokenTotalSupply", strk+"/total-supply?block_tag=pending", with(o.wantPending(head), supply))
	o.balance(strk, "pending", contracts.STRK, contracts.Sequencer, o.wantPending(head), head)
	o.balance(strk, "latest", contracts.STRK, felt.FromUint64(12345), o.wantLive("latest", head), head)

	read := chainID + "/contract/" + contracts.STRK.String() + "/read?selector="
	low, high := felt.SplitU256([32]byte(o.Chain.BalanceAt(contracts.STRK, contracts.Sequencer, head/2).FillBytes(make([]byte, 32))))
	number := contracts.Sequencer.Big().String()
	for _, calldata := range []string{contracts.Sequencer.Padded(), number} {
		tag := fmt.Sprint(head / 2)
		o.same("readContract", read+felt.Selector("balanceOf").String()+"&calldata="+calldata+"&block_tag="+tag, with(o.wantLive(tag, head/2), object{
			"contractAddress": contracts.STRK, "selector": felt.Selector("balanceOf"), "result": []felt.Felt{low, high}, "resultLength": 2, "resultTruncated": false}))
	}
	// What a fork took away cannot be asked for any more.
	for _, gone := range o.orphans {
		r := o.Do(http.MethodGet, "/v1/"+strk+"/total-supply?block_tag="+gone.block.String(), o.Key)
		if r.StatusCode != http.StatusNotFound || r.Envelope().Code != kernel.CodeNotFound || r.Envelope().Reason != kernel.ReasonBlockNotFound {
			o.T.Fatalf("supply at an orphan: %d %s", r.StatusCode, r.Body)
		}
	}
}

func (o *oracle) balance(path, tag string, token, owner felt.Felt, want object, n uint64) {
	o.T.Helper()
	balance := o.Chain.BalanceAt(token, owner, n).String()
	var indexed object // of the same block, and from transfers alone
	var reason any
	if tag != "pending" {
		indexed = object{"balanceRaw": balance, "blockNumber": n, "blockHash": o.Chain.BlockAt(n).Hash, "lastChangedBlock": o.lastTransfer(token, owner, n),
			"source": "indexed_transfer_history", "agrees": true}
	} else {
		reason = "pending_block"
	}
	o.same("getTokenBalance", path+"/balance-of/"+owner.String()+"?block_tag="+tag, with(want, object{
		"tokenAddress": token, "ownerAddress": owner, "tokenId": nil, "balanceRaw": balance, "source": "contract_call", "indexedBalance": indexed, "indexedBalanceUnavailableReason": reason}))
}

// lastTransfer is the newest block up to one that moved a token from or to an
// address; nil when there is none.
func (o *oracle) lastTransfer(token, owner felt.Felt, n uint64) any {
	var last any
	for _, ref := range o.Chain.Events(simnode.EventFilter{To: n, Addresses: []felt.Felt{token}, Keys: [][]felt.Felt{{contracts.SelTransfer}}}) {
		if list, _ := transfer.Decode(ref.Event); len(list) == 1 && (list[0].From == owner || list[0].To == owner) {
			last = ref.Block.Number
		}
	}
	return last
}

// TestLiveFailures asks for what cannot be answered: each has a code of its own.
func TestLiveFailures(t *testing.T) {
	servertest.Watched(t)
	w := sharedWorld(t, 30)
	strk := "/token/" + contracts.STRK.String()
	var nft, multi felt.Felt
	for _, token := range w.Chain.Tokens(29) {
		switch token.Standard {
		case simnode.ERC721:
			nft = token.Address
		case simnode.ERC1155:
			multi = token.Address
		}
	}
	for _, tt := range []struct {
		path   string
		status int
		code   kernel.Code // or a reason, which is finer
	}{
		{strk + "/total-supply?block_tag=30", 404, kernel.Code(kernel.ReasonBlockNotFound)},
		{strk + "/total-supply?block_tag=9223372036854775807", 404, kernel.Code(kernel.ReasonBlockNotFound)},
		{strk + "/total-supply?block_tag=0x0", 404, kernel.Code(kernel.ReasonBlockNotFound)},
		{strk + "/total-supply?block_tag=9223372036854775808", 400, kernel.CodeInvalidRequest},
		{strk + "/total-supply?block_tag=-1", 400, kernel.CodeInvalidRequest},
		{strk + "/total-supply?block_tag=07", 400, kernel.CodeInvalidRequest},
		{strk + "/total-supply?block_tag=0xzz", 400, kernel.CodeInvalidRequest},
		{strk + "/total-supply?block_tag=Latest", 400, kernel.CodeInvalidRequest},
		{"/token/strk/total-supply", 400, kernel.CodeInvalidRequest},
		{strk + "/balance-of/me", 400, kernel.CodeInvalidRequest},
		{"/token/0x1234/total-supply", 404, kernel.Code(kernel.ReasonNotAToken)},
		{"/token/" + contracts.CurrentUDC.String() + "/total-supply", 404, kernel.Code(kernel.ReasonNotAToken)},
		{"/token/" + contracts.CurrentUDC.String() + "/balance-of/0x1?block_tag=pending", 404, kernel.Code(kernel.ReasonNotAToken)},
		{"/token/" + multi.String() + "/balance-of/0x1", 422, kernel.CodeCallReverted},
		{"/token/" + nft.String() + "/total-supply", 404, kernel.Code(kernel.ReasonNotAToken)},
		{"/contract/0x1234/read?selector=0x1", 404, kernel.Code(kernel.ReasonContractNotFound)},
		{"/contract/" + contracts.STRK.String() + "/read?selector=0x1", 404, kernel.Code(kernel.ReasonEntryPointNotFound)},
		{"/contract/" + w.Chain.Network().DAI.String() + "/read?selector=0x1", 404, kernel.Code(kernel.ReasonEntryPointNotFound)}, // behind a proxy
		{"/contract/" + contracts.STRK.String() + "/read?selector=transfer", 400, kernel.CodeInvalidRequest},
		{"/contract/" + contracts.STRK.String() + "/read", 400, kernel.CodeInvalidRequest},
		{"/contract/" + contracts.STRK.String() + "/read?selector=" + felt.Selector("balanceOf").String(), 422, kernel.CodeCallReverted},
		{"/contract/" + contracts.STRK.String() + "/read?selector=0x1&calldata=" + new(big.Int).Lsh(big.NewInt(1), 255).String(), 400, kernel.CodeInvalidRequest},
		{"/contract/" + contracts.STRK.String() + "/read?selector=0x1&calldata=1e3", 400, kernel.CodeInvalidRequest},
		{"/contract/" + contracts.STRK.String() + "/read?selector=0x1" + strings.Repeat("&calldata=1", 257), 400, kernel.CodeInvalidRequest},
	} {
		r := w.Do(http.MethodGet, "/v1/"+chainID+tt.path, w.Key)
		e := r.Envelope()
		code := e.Code
		if e.Reason != "" && code == kernel.CodeNotFound { // the one code for what is not there
			code = kernel.Code(e.Reason)
		}
		if r.StatusCode != tt.status || code != tt.code {
			t.Errorf("GET %s: %d %s, want %d %s", tt.path, r.StatusCode, r.Body, tt.status, tt.code)
		}
	}
}

// TestNodeAway takes the node away: live routes say so, indexed ones go on.
func TestNodeAway(t *testing.T) {
	servertest.Watched(t)
	w := newWorld(t, 30)
	supply := "/v1/" + chainID + "/token/" + contracts.STRK.String() + "/total-supply"
	for name, fault := range map[string]simnode.Fault{
		"drops":   {Kind: simnode.FaultDrop},
		"refuses": {Kind: simnode.FaultHTTPStatus, Status: http.StatusBadGateway},
		"lags":    {Kind: simnode.FaultHeadLag, Blocks: 10},
		"fails":   {Kind: simnode.FaultRPCError, Code: -32603},
	} {
		w.Node.Faults().Set(fault)
		r := w.Do(http.MethodGet, supply, w.Key)
		if r.StatusCode != http.StatusServiceUnavailable || !nodeIsAway(r) || r.Header.Get("Retry-After") == "" {
			t.Errorf("node %s: %d %s", name, r.StatusCode, r.Body)
		}
		if strings.Contains(string(r.Body), "127.0.0.1") {
			t.Errorf("node %s: the address of the node is told: %s", name, r.Body)
		}
		var b struct{ BlockNumber uint64 }
		w.Get("/block/latest", &b)
		if b.BlockNumber != 29 {
			t.Errorf("block %d", b.BlockNumber)
		}
	}
	w.Node.Faults().Clear()
	if r := w.Do(http.MethodGet, supply, w.Key); r.StatusCode != http.StatusOK {
		t.Errorf("after the node came back: %d %s", r.StatusCode, r.Body)
	}
}

// nodeOf is a node that answers as a test likes.
type nodeOf struct {
	api.Node
	answer func(contractcall.Call) contractcall.Result
	err    error
	wait   bool
	asked  []contractcall.Block
}

func (n *nodeOf) CallAt(ctx context.Context, at contractcall.Block, calls []contractcall.Call) ([]contractcall.Result, error) {
	n.asked = append(n.asked, at)
	if n.wait {
		<-ctx.Done()
		return nil, fmt.Errorf("%w: %w", contractcall.ErrUnavailable, ctx.Err())
	}
	out := make([]contractcall.Result, len(calls))
	for i, c := range calls {
		out[i] = n.answer(c)
	}
	return out, n.err
}

// TestAmounts looks at every form of answer, through a node that gives it.
func TestAmounts(t *testing.T) {
	stub := &nodeOf{}
	w := newWorld(t, 5, func(o *options) { o.Chains[0].Node = stub })
	max128 := felt.MustParse("0xffffffffffffffffffffffffffffffff")
	camel := felt.Selector("totalSupply")
	values := func(fs ...felt.Felt) contractcall.Result { return contractcall.Result{Values: fs} }
	for name, tt := range map[string]struct {
		snake, camel contractcall.Result
		want         string // amount, or code
	}{
		"u256":               {values(max128, max128), contractcall.Result{Fault: contractcall.NoEntryPoint}, "115792089237316195423570985008687907853269984665640564039457584007913129639935"},
		"felt":               {contractcall.Result{Fault: contractcall.NoEntryPoint}, values(felt.FromUint64(7)), "7"},
		"snake first":        {values(felt.FromUint64(1), felt.Zero), values(felt.FromUint64(2), felt.Zero), "1"},
		"camel after revert": {contractcall.Result{Fault: contractcall.Reverted, Reason: "x"}, values(felt.FromUint64(9)), "9"},
		"high part too big":  {values(felt.Zero, felt.MustParse("0x100000000000000000000000000000000")), contractcall.Result{}, "not_a_token"},
		"three values":       {values(felt.Zero, felt.Zero, felt.Zero), contractcall.Result{}, "not_a_token"},
		"nothing":            {values(), contractcall.Result{}, "not_a_token"},
		"neither":            {contractcall.Result{Fault: contractcall.NoEntryPoint}, contractcall.Result{Fault: contractcall.NoEntryPoint}, "not_a_token"},
		"one reverts":        {contractcall.Result{Fault: contractcall.NoEntryPoint}, contractcall.Result{Fault: contractcall.Reverted, Reason: "paused"}, "contract_call_reverted"},
	} {
		stub.answer = func(c contractcall.Call) contractcall.Result {
			if c.Selector == camel {
				return tt.camel
			}
			return tt.snake
		}
		r := w.Do(http.MethodGet, "/v1/"+chainID+"/token/0x5/total-supply?block_tag=3", w.Key)
		var got struct{ TotalSupplyRaw, Code, Reason string }
		if err := json.Unmarshal(r.Body, &got); err != nil || got.TotalSupplyRaw+strings.TrimPrefix(got.Code, "not_found")+got.Reason != tt.want {
			t.Errorf("%s: %d %s, want %s", name, r.StatusCode, r.Body, tt.want)
		}
	}
	if at := stub.asked[0]; at.Number != 3 || at.Hash != w.Chain.BlockAt(3).Hash {
		t.Errorf("asked at %+v", at)
	}
	stub.err = fmt.Errorf("gone: %w", contractcall.ErrBlockUnknown)
	if r := w.Do(http.MethodGet, "/v1/"+chainID+"/token/0x5/total-supply", w.Key); !nodeIsAway(r) {
		t.Errorf("a block that the node does not have: %d %s", r.StatusCode, r.Body)
	}
	stub.err = errors.New("a mistake of ours")
	if r := w.Do(http.MethodGet, "/v1/"+chainID+"/token/0x5/total-supply", w.Key); r.Envelope().Code != kernel.CodeInternal {
		t.Errorf("another error: %d %s", r.StatusCode, r.Body)
	}
	many := make([]felt.Felt, 10_001)
	stub.err, stub.answer = nil, func(contractcall.Call) contractcall.Result { return values(many...) }
	var read api.ContractRead
	w.Get("/contract/0x5/read?selector=0x6", &read)
	if len(read.Result) != 10_000 || read.ResultLength != 10_001 || !read.ResultTruncated {
		t.Errorf("%d of %d, %t", len(read.Result), read.ResultLength, read.ResultTruncated)
	}
}

// TestSlowNode: a node that never answers ends the request in time, and takes no
// more than its share of the requests at work.
func TestSlowNode(t *testing.T) {
	servertest.Watched(t)
	stub := &nodeOf{wait: true}
	w := newWorld(t, 5, func(o *options) { o.Chains[0].Node, o.Timeout = stub, 50*time.Millisecond })
	r := w.Do(http.MethodGet, "/v1/"+chainID+"/token/0x5/total-supply", w.Key)
	if r.StatusCode != http.StatusServiceUnavailable || !nodeIsAway(r) {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
}

// nodeIsAway says whether an answer is a 503 for want of a node.
func nodeIsAway(r reply) bool {
	e := r.Envelope()
	return e.Code == kernel.CodeServiceUnavailable && e.Reason == kernel.ReasonNodeUnavailable
}

// TestBalanceOfID: an ERC-1155 contract tells the balance of an id.
func TestBalanceOfID(t *testing.T) {
	w := sharedWorld(t, 60)
	checked := 0
	for _, k := range w.Chain.Tokens(59) {
		if k.Standard != simnode.ERC1155 {
			continue
		}
		for _, owner := range w.Chain.Accounts(59) {
			for id := range uint64(3) {
				want := w.Chain.MultiBalanceAt(k.Address, id, owner, 59)
				if want.Sign() == 0 && checked > 0 {
					continue
				}
				for _, spelled := range []string{fmt.Sprint(id), fmt.Sprintf("0x%x", id)} {
					var got api.BalanceOf
					w.Get("/token/"+k.Address.String()+"/balance-of/"+owner.String()+"?token_id="+spelled, &got)
					if got.BalanceRaw != want.String() || got.TokenID == nil || *got.TokenID != spelled || got.IndexedBalance != nil {
						t.Errorf("%s of id %s: %+v, want %s", k.Address, spelled, got, want)
					}
				}
				if want.Sign() > 0 {
					checked++
				}
			}
		}
		for _, bad := range []string{"x", "0x", "-1", "1.5", "0x1" + strings.Repeat("0", 64)} {
			r := w.Do(http.MethodGet, "/v1/"+chainID+"/token/"+k.Address.String()+"/balance-of/0x1?token_id="+bad, w.Key)
			if e := r.Envelope(); e.Code != kernel.CodeInvalidRequest || !strings.Contains(e.Message, "token_id") {
				t.Errorf("token_id=%s: %d %s", bad, r.StatusCode, r.Body)
			}
		}
	}
	if checked == 0 {
		t.Error("nobody holds anything of an ERC-1155 contract")
	}
}

// TestZeroHolder: nothing is said of what transfers leave with the zero address.
func TestZeroHolder(t *testing.T) {
	w := sharedWorld(t, 30)
	var b api.BalanceOf
	w.Get("/token/"+contracts.STRK.String()+"/balance-of/0x0", &b)
	if why := b.IndexedBalanceUnavailableReason; b.IndexedBalance != nil || why == nil || *why != "negative_balance" {
		t.Errorf("%+v, %v", b.IndexedBalance, why)
	}
}

// TestLongAnswers: a contract that answers with more than is read will do so again, so that nobody is told to come back.
func TestLongAnswers(t *testing.T) {
	stub := &nodeOf{answer: func(contractcall.Call) contractcall.Result { return contractcall.Result{} },
		err: fmt.Errorf("%w: %w", contractcall.ErrUnavailable, contractcall.ErrTooLong)}
	w := newWorld(t, 5, func(o *options) { o.Chains[0].Node = stub })
	token := contracts.STRK.String()
	wallet := jsonText(object{"ownerAddress": "0x1", "scope": "explicit", "tokenAddresses": []any{contracts.STRK}})
	for _, r := range []reply{
		w.Do(http.MethodGet, "/v1/"+chainID+"/contract/"+token+"/read?selector=0x1", w.Key), w.Do(http.MethodGet, "/v1/"+chainID+"/token/"+token+"/total-supply", w.Key),
		w.Do(http.MethodGet, "/v1/"+chainID+"/token/"+token+"/balance-of/0x1", w.Key), w.Send(w.Request(http.MethodPost, "/v1/"+chainID+"/query/wallet-state", wallet)),
	} {
		if r.StatusCode != http.StatusUnprocessableEntity || r.Envelope().Code != kernel.CodeCallReverted || r.Header.Get("Retry-After") != "" || !strings.Contains(r.Envelope().Message, "8 MiB") {
			t.Errorf("%d %s", r.StatusCode, r.Body)
		}
	}
}
