package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// building makes the node tell of a block that is being built: with the first
// transactions of the block after the head of another chain, which then has it.
type building struct {
	mu   sync.Mutex
	text string // of the block with receipts; empty: as the node says
}

func (w *world) build() *building {
	b := &building{}
	f := func(_ context.Context, method, params string) (json.RawMessage, int, error, bool) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.text == "" || !strings.Contains(params, `"pre_confirmed"`) && !strings.Contains(params, `"pending"`) {
			return nil, 0, nil, false
		}
		return json.RawMessage(b.text), 0, nil, true
	}
	w.trouble.Store(&f)
	return b
}

// shows makes a block of the chain look as if its first transactions were being built.
func (b *building) shows(w *world, number uint64, version starknet.SpecVersion, txs int) {
	full := w.chain.BlockAt(number)
	cut := *full
	cut.Transactions, cut.Receipts = full.Transactions[:txs], full.Receipts[:txs]
	var m map[string]any
	text := starknet.AppendBlock(nil, &cut, version)
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), "ACCEPTED_ON_L2", "PRE_CONFIRMED")), &m); err != nil {
		w.t.Fatal(err)
	}
	for _, name := range []string{"block_hash", "new_root", "status"} {
		delete(m, name)
	}
	if version == starknet.V08 {
		delete(m, "block_number")
	} else {
		delete(m, "parent_hash")
	}
	text, err := json.Marshal(m)
	if err != nil {
		w.t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = string(text)
}

// Who wants what is pre-confirmed gets it while its block is being built, once, and
// again when the block is there; who does not, gets it then only.
func TestPreConfirmed(t *testing.T) {
	for _, version := range []starknet.SpecVersion{starknet.V09, starknet.V010} {
		config := simnode.Config{Seed: 11, Blocks: 11, TxPerBlock: 6}
		future := simnode.New(config).BlockAt(10) // what comes after block 9
		config.Blocks = 10
		bubble(t, setup{version: version, chain: config}, func(t *testing.T, w *world) {
			ahead := &world{t: t, chain: simnode.New(simnode.Config{Seed: 11, Blocks: 11, TxPerBlock: 6})}
			b := w.build()
			c := w.connect()
			ids := map[string]string{}
			for what, params := range map[string]string{
				"events early": `{"finality_status":"PRE_CONFIRMED"}`, "events": `{"finality_status":"ACCEPTED_ON_L2"}`,
				"txs early": `{"finality_status":["PRE_CONFIRMED"]}`, "txs both": `{"finality_status":["PRE_CONFIRMED","ACCEPTED_ON_L2"]}`, "txs": `{}`,
				"receipts early": `{"finality_status":["PRE_CONFIRMED"]}`, "receipts": `{}`,
			} {
				method := map[string]string{"events": "subscribeEvents", "txs": "subscribeNewTransactions", "receipts": "subscribeNewTransactionReceipts"}[strings.Fields(what)[0]]
				ids[what] = c.subscribe(method, params)
			}
			synctest.Wait()
			before := map[string]int{}
			for what, id := range ids {
				before[what] = len(c.got(id))
			}
			fresh := func(what string) []note { return c.got(ids[what])[before[what]:] }
			count := func(want map[string]int) {
				t.Helper()
				for what := range ids {
					if got := len(fresh(what)); got != want[what] {
						t.Errorf("%s: %s: %d notifications, want %d", version, what, got, want[what])
					}
				}
			}
			eventsOf := func(txs int) (n int) {
				for _, r := range future.Receipts[:txs] {
					n += len(r.Events)
				}
				return n
			}
			all := len(future.Transactions)
			if all < 3 {
				t.Fatal("the block is too small")
			}
			b.shows(ahead, 10, version, 2)
			time.Sleep(3 * time.Second)
			count(map[string]int{"events early": eventsOf(2), "txs early": 2, "txs both": 2, "receipts early": 2})
			b.shows(ahead, 10, version, 3)
			time.Sleep(3 * time.Second)
			count(map[string]int{"events early": eventsOf(3), "txs early": 3, "txs both": 3, "receipts early": 3})
			for what, member := range map[string]string{"events early": "block_number", "txs both": "transaction_hash", "receipts early": "block_number"} {
				r := fresh(what)[0].Result.(map[string]any)
				if _, hash := r["block_hash"]; hash || r["finality_status"] != "PRE_CONFIRMED" || r[member] == nil {
					t.Errorf("%s: %s: %v", version, what, r)
				}
			}
			w.chain.Extend(1)
			if w.chain.BlockAt(10).Hash != future.Hash {
				t.Fatal("another future")
			}
			time.Sleep(3 * time.Second) // the node still shows what is not being built any more
			count(map[string]int{"events early": eventsOf(3) + eventsOf(all), "events": eventsOf(all), "txs early": 3, "txs both": 3 + all, "txs": all,
				"receipts early": 3, "receipts": all})
			if r := fresh("txs both")[3].Result.(map[string]any); r["finality_status"] != "ACCEPTED_ON_L2" {
				t.Errorf("accepted as %v", r["finality_status"])
			}
			for _, id := range ids {
				c.call("unsubscribe", `["`+id+`"]`)
			}
			time.Sleep(2 * time.Second)
			asked := w.fetches.Load()
			time.Sleep(10 * time.Second)
			if n := w.fetches.Load() - asked; n != 0 {
				t.Errorf("%d reads though nobody wants to know", n)
			}
		})
	}
}

// In 0.8 a transaction comes once: when it is pending, or with its block.
func TestPendingTransactions(t *testing.T) {
	config := simnode.Config{Seed: 11, Blocks: 10, TxPerBlock: 6}
	bubble(t, setup{version: starknet.V08, chain: config}, func(t *testing.T, w *world) {
		ahead := &world{t: t, chain: simnode.New(simnode.Config{Seed: 11, Blocks: 11, TxPerBlock: 6})}
		b := w.build()
		early := w.connect()
		hashes := early.subscribe("subscribePendingTransactions", `[]`)
		b.shows(ahead, 10, starknet.V08, 2)
		time.Sleep(3 * time.Second)
		if got := len(early.got(hashes)); got != 2 {
			t.Errorf("%d pending", got)
		}
		late := w.connect()
		whole := late.subscribe("subscribePendingTransactions", `[true]`)
		time.Sleep(2 * time.Second)
		if got := len(late.got(whole)); got != 2 {
			t.Errorf("%d pending for the one that came later", got)
		}
		w.chain.Extend(1)
		time.Sleep(2 * time.Second)
		txs := w.chain.BlockAt(10).Transactions
		for c, id := range map[*client]string{early: hashes, late: whole} {
			got := c.got(id)
			if len(got) != len(txs) {
				t.Fatalf("%d transactions of %d", len(got), len(txs))
			}
			for i, n := range got {
				hash := n.Result
				if m, ok := hash.(map[string]any); ok {
					hash = m["transaction_hash"]
				}
				if hash != txs[i].Hash.String() {
					t.Errorf("transaction %d is %v", i, n.Result)
				}
			}
		}
	})
}

func invoke(sender, to felt.Felt, nonce uint64) string {
	calldata := []felt.Felt{felt.FromUint64(1), contracts.STRK, contracts.SelFnTransfer, felt.FromUint64(3), to, felt.FromUint64(5), felt.Zero}
	text, _ := json.Marshal(calldata)
	return fmt.Sprintf(`{"type":"INVOKE","version":"0x3","sender_address":%q,"calldata":%s,"signature":["0x1","0x2"],"nonce":%q,"tip":"0x0",
		"paymaster_data":[],"account_deployment_data":[],"nonce_data_availability_mode":"L1","fee_data_availability_mode":"L1",
		"resource_bounds":{"l1_gas":{"max_amount":"0x10","max_price_per_unit":"0x10"},"l2_gas":{"max_amount":"0x1000000","max_price_per_unit":"0x1000000000"},
		"l1_data_gas":{"max_amount":"0x1000","max_price_per_unit":"0x10000000"}}}`, sender, text, felt.FromUint64(nonce))
}

// The status of a transaction comes as a node tells it, from before it was sent until
// it is accepted on L1, and then nothing is asked any more.
func TestTransactionStatus(t *testing.T) {
	for _, version := range versions {
		bubble(t, setup{version: version, chain: simnode.Config{Seed: 4, Blocks: 20, TxPerBlock: 1, L1Lag: 2}}, func(t *testing.T, w *world) {
			mine, node, other := w.connect(), w.direct(), w.connect()
			sender := w.chain.Accounts(19)[1]
			nonce, _ := w.chain.NonceAt(sender, 19)
			sent := mine.call("addInvokeTransaction", "["+invoke(sender, felt.FromUint64(7), nonce)+"]")
			var tx struct {
				Hash felt.Felt `json:"transaction_hash"`
			}
			if err := json.Unmarshal(sent.Result, &tx); err != nil || sent.Error != nil {
				t.Fatalf("%s: %+v %v", version, sent.Error, err)
			}
			unknown := other.subscribe("subscribeTransactionStatus", `["0x123456"]`)
			old := w.chain.BlockAt(3).Transactions[0].Hash.String()
			oldHere, oldThere := mine.subscribe("subscribeTransactionStatus", `["`+old+`"]`), node.subscribe("subscribeTransactionStatus", `["`+old+`"]`)
			here, there := mine.subscribe("subscribeTransactionStatus", `["`+tx.Hash.String()+`"]`), node.subscribe("subscribeTransactionStatus", `["`+tx.Hash.String()+`"]`)
			late := ""
			for step := range 6 {
				time.Sleep(3 * time.Second)
				same(t, fmt.Sprintf("%s: step %d", version, step), mine, here, node, there)
				same(t, "an old one", mine, oldHere, node, oldThere)
				if step == 2 {
					late = other.subscribe("subscribeTransactionStatus", `{"transaction_hash":"`+tx.Hash.Padded()+`"}`)
					synctest.Wait() // it is told how the transaction stands before that changes
				}
				w.chain.Extend(1)
			}
			var seen []string
			for _, n := range mine.got(here) {
				seen = append(seen, n.Result.(map[string]any)["status"].(map[string]any)["finality_status"].(string))
			}
			if fmt.Sprint(seen) != "[RECEIVED ACCEPTED_ON_L2 ACCEPTED_ON_L1]" || len(other.got(unknown)) != 0 || len(other.got(late)) != 2 {
				t.Errorf("%s: statuses %v; %d of one that is unknown, %d for who came late", version, seen, len(other.got(unknown)), len(other.got(late)))
			}
			other.call("unsubscribe", `["`+unknown+`"]`)
			time.Sleep(2 * time.Second)
			before := w.node.Requests("starknet_getTransactionStatus")
			w.chain.Extend(3)
			time.Sleep(time.Minute)
			if n := w.node.Requests("starknet_getTransactionStatus") - before; n != 0 {
				t.Errorf("%s: asked %d times for what is settled", version, n)
			}
		})
	}
}

// A fork takes a transaction back: what becomes of it is told, and a node that lags is
// not taken for a fork.
func TestStatusAfterAFork(t *testing.T) {
	bubble(t, setup{chain: simnode.Config{Seed: 4, Blocks: 20, TxPerBlock: 1, L1Lag: -1}}, func(t *testing.T, w *world) {
		answer := ""
		f := func(_ context.Context, method, _ string) (json.RawMessage, int, error, bool) {
			if method != "starknet_getTransactionStatus" {
				return nil, 0, nil, false
			}
			if answer == "" {
				return nil, 29, nil, true
			}
			return json.RawMessage(`{"finality_status":"` + answer + `"}`), 0, nil, true
		}
		w.trouble.Store(&f)
		c := w.connect()
		id := c.subscribe("subscribeTransactionStatus", `["0xabc"]`)
		steps := func(s string, fork bool) {
			synctest.Wait()
			answer = s
			if fork {
				w.chain.Fork(1)
			}
			w.chain.Extend(1)
			time.Sleep(5 * time.Second)
		}
		steps("RECEIVED", false)
		steps("ACCEPTED_ON_L2", false)
		steps("RECEIVED", false) // a node that lags
		steps("ACCEPTED_ON_L2", false)
		steps("RECEIVED", true)
		steps("ACCEPTED_ON_L2", false)
		steps("", true)
		steps("ACCEPTED_ON_L2", false)
		var seen []string
		for _, n := range c.got(id) {
			seen = append(seen, n.Result.(map[string]any)["status"].(map[string]any)["finality_status"].(string))
		}
		if fmt.Sprint(seen) != "[RECEIVED ACCEPTED_ON_L2 RECEIVED ACCEPTED_ON_L2 ACCEPTED_ON_L2]" {
			t.Errorf("statuses %v", seen)
		}
	})
}

// While the blocks before the one that is being built are still on their way, nothing of it is told twice.
func TestPreConfirmedAhead(t *testing.T) {
	for _, version := range []starknet.SpecVersion{starknet.V09, starknet.V010} {
		bubble(t, setup{version: version, chain: simnode.Config{Seed: 11, Blocks: 10, TxPerBlock: 6}}, func(t *testing.T, w *world) {
			ahead := &world{t: t, chain: simnode.New(simnode.Config{Seed: 11, Blocks: 13, TxPerBlock: 6})}
			b := w.build()
			c := w.connect()
			id := c.subscribe("subscribeNewTransactions", `{"finality_status":["PRE_CONFIRMED"]}`)
			b.shows(ahead, 12, version, 2)
			for range 3 { // blocks 10 and 11, and then the block itself
				time.Sleep(3 * time.Second)
				if got := len(c.got(id)); got != 2 {
					t.Errorf("%s: %d of 2 that are pre-confirmed were told", version, got)
				}
				w.chain.Extend(1)
			}
			time.Sleep(3 * time.Second) // until the block is heard of: before, it may be told as pre-confirmed
			b.shows(ahead, 12, version, 3)
			time.Sleep(3 * time.Second) // nor anything of it once it is there
			if got := len(c.got(id)); got != 2 {
				t.Errorf("%s: %d were told", version, got)
			}
		})
	}
}

// A status that was on its way while the chain forked is one of the chain before: what
// became of the transaction is told nevertheless.
func TestStatusOverAFork(t *testing.T) {
	bubble(t, setup{chain: simnode.Config{Seed: 4, Blocks: 20, TxPerBlock: 1, L1Lag: -1}}, func(t *testing.T, w *world) {
		asked := 0
		f := func(_ context.Context, method, _ string) (json.RawMessage, int, error, bool) {
			if method != "starknet_getTransactionStatus" {
				return nil, 0, nil, false
			}
			asked++
			switch {
			case asked == 1:
				w.chain.Fork(1)
				w.chain.Extend(2)
				time.Sleep(5 * time.Second) // the answer takes long, and the fork is told of meanwhile
				return json.RawMessage(`{"finality_status":"ACCEPTED_ON_L2"}`), 0, nil, true
			case asked < 5:
				return json.RawMessage(`{"finality_status":"RECEIVED"}`), 0, nil, true
			}
			return json.RawMessage(`{"finality_status":"ACCEPTED_ON_L2"}`), 0, nil, true
		}
		w.trouble.Store(&f)
		c := w.connect()
		id := c.subscribe("subscribeTransactionStatus", `["0xabc"]`)
		for range 6 {
			time.Sleep(10 * time.Second)
			w.chain.Extend(1)
		}
		var seen []string
		for _, n := range c.got(id) {
			seen = append(seen, n.Result.(map[string]any)["status"].(map[string]any)["finality_status"].(string))
		}
		if fmt.Sprint(seen) != "[ACCEPTED_ON_L2 RECEIVED ACCEPTED_ON_L2]" {
			t.Errorf("statuses %v", seen)
		}
	})
}
