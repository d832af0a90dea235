package voyager_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/starknet"
)

func TestBlocks(t *testing.T) {
	f := feedOf(servertest.Shared(t, blocks))
	c := truth{f.Chain}
	var want []object
	for n := int(c.head()); n >= 0; n-- {
		want = append(want, c.block(uint64(n)))
	}
	same(t, "until short", f.untilShort("/blocks", 25), want)
	same(t, "until last", f.untilLast("/blocks", 10), want)
	items, last := f.page("/blocks", 3, 10)
	same(t, "page 3", items, want[20:30])
	if last != (len(want)+9)/10 {
		t.Errorf("the last page is %d of %d blocks", last, len(want))
	}
	if items, _ := f.page("/blocks", 99, 10); len(items) != 0 {
		t.Errorf("%d blocks behind all", len(items))
	}
	for _, n := range []uint64{0, 7, c.head()} {
		b := c.BlockAt(n)
		detail := c.block(n)
		for name, v := range (object{"prevBlockHash": nil, "nextBlockHash": nil, "confirmations": c.head() - n, "sequencerAddress": b.Sequencer.Padded(), "totalFee": nil, "timeToMine": nil,
			"version": b.StarknetVersion, "ethGasPrice": b.L1GasPrice.InWei, "strkGasPrice": b.L1GasPrice.InFri, "l1AcceptTime": nil}) {
			detail[name] = v
		}
		if n > 0 {
			detail["prevBlockHash"] = b.ParentHash
		}
		if n < c.head() {
			detail["nextBlockHash"] = c.BlockAt(n + 1).Hash
		}
		same(t, "by number", f.get(fmt.Sprintf("/blocks/%d", n)), detail)
		same(t, "by hash", f.get("/blocks/"+b.Hash.Padded()), detail)
	}
	for _, ref := range []string{"9999999", "0x123", "pre_confirmed", "pending"} {
		if text := f.refused("/blocks/"+ref, http.StatusNotFound); text != "Block not found" {
			t.Errorf("block %s: %q", ref, text)
		}
	}
	for _, ref := range []string{"latest", "-1", "0xzz", "1e2", "99999999999999999999"} {
		f.refused("/blocks/"+ref, http.StatusBadRequest)
	}
}

func TestTransactions(t *testing.T) {
	f := feedOf(servertest.Shared(t, blocks))
	c := truth{f.Chain}
	all := c.txs(nil)
	got := f.untilLast("/txns?rejected=false", 50)
	same(t, "all", aliasless(got), all)
	if n := len(f.untilShort("/txns", 100)); n != len(all) {
		t.Errorf("%d transactions until a short page, want %d", n, len(all))
	}
	const number = 17
	in := c.txs(func(n uint64, _ int) bool { return n == number })
	for _, ref := range []string{"17", c.BlockAt(number).Hash.String()} {
		same(t, "of a block", aliasless(f.untilLast("/txns?block="+ref, 10)), in)
	}
	for i, name := range []string{"DEPLOY", "INVOKE", "DECLARE", "L1_HANDLER", "DEPLOY_ACCOUNT"} {
		for n := range uint64(5) {
			of := c.txs(func(at uint64, j int) bool { return at == n && c.BlockAt(at).Transactions[j].Type.String() == name })
			same(t, name, aliasless(f.untilShort(fmt.Sprintf("/txns?block=%d&type=%d", n, i), 10)), orNone(of))
			same(t, name, aliasless(f.untilShort(fmt.Sprintf("/txns?block=%d&type=%s", n, strings.ToLower(name)), 10)), orNone(of))
		}
	}
	same(t, "no filter", f.get("/txns?block=&type=null"), f.get("/txns"))
}

// aliasless takes the names of the registry off, which have a test of their own.
func aliasless(items []object) []object {
	out := []object{}
	for _, i := range items {
		i["contractAlias"], i["classAlias"] = nil, nil
		out = append(out, i)
	}
	return out
}

func orNone(items []object) []object { return append([]object{}, items...) }

// has says whether an address has a part in a transaction.
func (c truth) has(of felt.Felt, n uint64, i int) bool {
	b := c.BlockAt(n)
	t, r := &b.Transactions[i], &b.Receipts[i]
	switch t.Type {
	case starknet.L1Handler:
		return t.ContractAddress == of
	case starknet.DeployAccount, starknet.Deploy:
		return r.ContractAddress == of
	case starknet.Declare:
		return t.Sender == of
	}
	if v, _ := t.PlainVersion(); v == 0 { // it names what it calls, and no account that signed a list of calls
		return t.ContractAddress == of
	}
	calls, _ := starknet.AccountCalls(t.Calldata)
	return senderOf(t) == of || slices.ContainsFunc(calls, func(call starknet.Call) bool { return call.To == of })
}

func TestTransactionsOfAnAddress(t *testing.T) {
	f := feedOf(servertest.Shared(t, blocks))
	c := truth{f.Chain}
	account := c.Accounts(c.head())[0]
	token := c.Tokens(c.head())[0].Address
	for _, of := range []felt.Felt{account, token} {
		want := c.txs(func(n uint64, i int) bool { return c.has(of, n, i) })
		if len(want) < 12 {
			t.Fatalf("%s has a part in %d transactions, too few to tell", of, len(want))
		}
		path := "/txns?to=" + of.Padded()
		same(t, "until last", aliasless(f.untilLast(path, 10)), want)
		same(t, "until short", aliasless(f.untilShort(path, 10)), want)
		_, last := f.page(path, 1, 10)
		if last != (len(want)+9)/10 {
			t.Errorf("the last page is %d of %d transactions", last, len(want))
		}
		typed := slices.DeleteFunc(slices.Clone(want), func(o object) bool { return o["type"] != "INVOKE" })
		same(t, "by type", aliasless(f.untilShort(path+"&type=1", 10)), typed)
		full := len(typed) / 10 // what is of a type is not counted: there is one page more, until there is none
		for p := 1; p <= full+1; p++ {
			if _, last := f.page(path+"&type=1", p, 10); len(typed)%10 > 0 && last != min(p+1, full+1) {
				t.Errorf("by type the last page is %d on page %d of %d rows", last, p, len(typed))
			}
		}
	}
	same(t, "of nobody", f.get("/txns?to=0x1234567"), object{"items": []any{}, "lastPage": 1})
}

func TestTransaction(t *testing.T) {
	f := feedOf(servertest.Shared(t, blocks))
	c := truth{f.Chain}
	seen := map[string]int{}
	for n := range c.head() + 1 {
		b := c.BlockAt(n)
		for i := range b.Transactions {
			tx, r := &b.Transactions[i], &b.Receipts[i]
			kind := tx.Type.String() + r.Execution.String()
			if seen[kind]++; seen[kind] > 2 {
				continue
			}
			got := f.get("/txns/" + tx.Hash.Padded())
			got["contractAlias"], got["classAlias"] = nil, nil
			events, _ := itemsOf(t, object{"items": got["receipt"].(object)["events"], "lastPage": 1.0})
			delete(got, "receipt")
			want := c.tx(n, i)
			for name, v := range (object{"blockId": b.Hash, "actualFeeUnit": r.FeeUnit.String(), "executionStatus": "Succeeded", "senderAddress": nil,
				"contractAddressSalt": nil, "maxFee": nil, "nonce": nil, "version": tx.Version, "selector": nil, "signature": append([]felt.Felt{}, tx.Signature...), "revertError": nil, "calldata": nil, "constructorCalldata": nil}) {
				want[name] = v
			}
			if r.Execution == starknet.Reverted {
				want["executionStatus"], want["revertError"] = "Reverted", r.RevertReason
			}
			if tx.HasNonce {
				want["nonce"] = tx.Nonce
			}
			switch tx.Type {
			case starknet.L1Handler:
				want["selector"] = tx.EntryPointSelector
			case starknet.DeployAccount:
				want["senderAddress"], want["contractAddressSalt"] = r.ContractAddress.Padded(), tx.ContractAddressSalt
			case starknet.Deploy:
				want["contractAddressSalt"] = tx.ContractAddressSalt
			default:
				want["senderAddress"] = senderOf(tx).Padded()
			}
			v, _ := tx.PlainVersion()
			if v < 3 && tx.Type != starknet.L1Handler && tx.Type != starknet.Deploy {
				want["maxFee"] = tx.MaxFee.Big().String()
			}
			if v == 0 && tx.Type == starknet.Invoke {
				want["selector"] = tx.EntryPointSelector
			}
			switch tx.Type {
			case starknet.Invoke, starknet.L1Handler:
				want["calldata"] = append([]felt.Felt{}, tx.Calldata...)
			case starknet.Deploy, starknet.DeployAccount:
				want["constructorCalldata"] = append([]felt.Felt{}, tx.ConstructorCalldata...)
			}
			same(t, kind, got, want)
			if len(events) != len(r.Events) {
				t.Errorf("%s: %d events, want %d", tx.Hash, len(events), len(r.Events))
			}
			for j := range min(len(events), len(r.Events)) {
				e := events[j]
				same(t, "event", []any{e["id"], e["blockNumber"], e["blockHash"], e["fromAddress"], e["timestamp"], e["selector"]},
					[]any{fmt.Sprintf("%s_%d", tx.Hash, j), n, b.Hash, r.Events[j].From.Padded(), b.Timestamp, r.Events[j].Keys[0]})
			}
		}
	}
	if len(seen) < 5 {
		t.Errorf("only %v were seen", seen)
	}
	if text := f.refused("/txns/0x1234", http.StatusNotFound); text != "Transaction not found" {
		t.Error(text)
	}
	f.refused("/txns/nothing", http.StatusBadRequest)
}

func TestKeys(t *testing.T) {
	w := servertest.New(t, 5)
	f := feedOf(w)
	for _, path := range []string{"/beta/blocks", "/" + servertest.ChainID + "/beta/blocks", "/beta/nothing", "/beta/contracts"} {
		r := w.Do(http.MethodGet, path, "")
		if r.StatusCode != http.StatusUnauthorized || string(r.Body) != `{"message":"Missing Authentication Token"}` || r.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s without a key: %d %s", path, r.StatusCode, r.Body)
		}
	}
	for name, key := range map[string]string{"revoked": w.RevokedKey(), "strange": "svc_live_" + strings.Repeat("a", 43), "none": "hello"} {
		r := w.Do(http.MethodGet, "/beta/blocks", "", "x-api-key", key)
		if r.StatusCode != http.StatusUnauthorized || strings.Contains(string(r.Body), key) {
			t.Errorf("%s key: %d %s", name, r.StatusCode, r.Body)
		}
	}
	if r := w.Do(http.MethodGet, "/beta/blocks", "", "x-api-key", w.NewKey(account.Write)); r.StatusCode != http.StatusForbidden {
		t.Errorf("without the scope: %d %s", r.StatusCode, r.Body)
	}
	if r := w.Do(http.MethodGet, "/beta/blocks", w.Key, "x-api-key", w.Key); r.StatusCode != http.StatusBadRequest {
		t.Errorf("two keys: %d %s", r.StatusCode, r.Body)
	}
	if r := w.Do(http.MethodGet, "/beta/blocks?key="+w.Key, w.Key); r.StatusCode != http.StatusBadRequest || strings.Contains(string(r.Body), w.Key) {
		t.Errorf("a key in the query: %d %s", r.StatusCode, r.Body)
	}
	same(t, "our own header", decode(t, w.Do(http.MethodGet, "/beta/blocks", w.Key)), f.get("/blocks"))
	same(t, "the chain's own base", decode(t, w.Do(http.MethodGet, "/"+servertest.ChainID+"/beta/blocks", w.Key)), f.get("/blocks"))
	r := w.Do(http.MethodGet, "/beta/blocks", w.Key)
	if h := r.Header; h.Get("X-Service-Route-Class") != "light" || h.Get("X-Ratelimit-Remaining") == "" || h.Get("Cache-Control") != "private, no-store" {
		t.Errorf("headers: %v", h)
	}
	if r := w.Do(http.MethodPost, "/beta/blocks", w.Key); r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") == "" {
		t.Errorf("POST: %d %s", r.StatusCode, r.Body)
	}
	if r := w.Do(http.MethodHead, "/beta/blocks", w.Key); r.StatusCode != http.StatusOK || len(r.Body) > 0 {
		t.Errorf("HEAD: %d %s", r.StatusCode, r.Body)
	}
	f.key = w.LimitedKey(account.Limits{LightPerMinute: 2, HeavyPerMinute: 1, Burst: 10})
	f.get("/blocks")
	f.get("/events")
	f.get("/blocks")
	for _, path := range []string{"/blocks", "/events"} {
		r := w.Do(http.MethodGet, "/beta"+path, f.key)
		if r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %v", path, r.StatusCode, r.Header)
		}
	}
}

func TestBadRequests(t *testing.T) {
	f := feedOf(servertest.Shared(t, blocks))
	for _, path := range []string{
		"/blocks?p=0", "/blocks?p=-1", "/blocks?p=1.5", "/blocks?p=x", "/blocks?p=99999999999999999999", "/blocks?p=", "/blocks?p=1&p=2",
		"/blocks?ps=0", "/blocks?ps=-10", "/blocks?ps=x", "/blocks?ps=99999999999", "/blocks?page=1", "/blocks?p=1;ps=2", "/blocks?%zz",
		"/blocks/1?p=1", "/txns?to=x", "/txns?to=", "/txns?type=5", "/txns?type=1", "/txns?block=x", "/txns?rejected=maybe", "/txns?to=0x1&block=1",
		"/events?contract=0x1&txnHash=0x2", "/events?contract=0x1&blockHash=0x2", "/events?contract=x", "/events?txnHash=x", "/events?blockHash=17",
		"/events?timestampFrom=x", "/events?timestampTo=-1", "/events?timestampFrom=2&timestampTo=1", "/events?txnHash=0x1&timestampTo=5",
		"/events?contract=0x" + strings.Repeat("f", 64), "/events?contract=0x1&p=500",
	} {
		if text := f.refused(path, http.StatusBadRequest); text == "" {
			t.Errorf("%s: no reason", path)
		}
	}
	f.refused("/txns?rejected=true", http.StatusNotImplemented)
	for path, want := range map[string]int{"/meta-txns": 501, "/contracts": 501, "/nothing": 404, "/blocks/1/2": 404} {
		f.refused(path, want)
	}
	for ps, want := range map[int]int{1: 10, 10: 10, 24: 10, 25: 25, 26: 50, 50: 50, 99: 50, 100: 60, 101: 50, 1000: 50} {
		if items, _ := f.page("/blocks", 1, ps); len(items) != min(want, blocks) {
			t.Errorf("ps=%d: %d items, want %d", ps, len(items), want)
		}
	}
	if items, _ := itemsOf(t, f.get("/blocks")); len(items) != 25 {
		t.Errorf("%d items by default", len(items))
	}
}

func unmarshal(t *testing.T, r servertest.Reply, out any) {
	t.Helper()
	if err := json.Unmarshal(r.Plain(), out); err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%d: %v in %.200s", r.StatusCode, err, r.Plain())
	}
}

// list reads an answer that is a list.
func list(t *testing.T, r servertest.Reply) (out []any) {
	t.Helper()
	unmarshal(t, r, &out)
	return out
}
