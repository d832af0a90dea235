package api_test

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

var update = flag.Bool("update", false, "rewrite evidence.json and the golden files from what the tests see")

// newest lists the chain's blocks, newest first, and their transactions.
func (o *oracle) newest() (blocks, txs []object) {
	head, _ := o.Chain.Head()
	for n := int(head); n >= 0; n-- {
		b := o.Chain.BlockAt(uint64(n))
		blocks = append(blocks, wantBlockItem(b))
		for i := len(b.Transactions) - 1; i >= 0; i-- {
			txs = append(txs, wantFeedItem(b, i))
		}
	}
	return blocks, txs
}

// everything compares every route and page with the chain as it is now: all
// blocks, or from a number upwards all and below it every fifth.
func (o *oracle) everything(from uint64) {
	o.T.Helper()
	head, _ := o.Chain.Head()
	o.status()
	blocks, txs := o.newest()
	for _, limit := range []int{2, 7, 25, 200} {
		o.sameList("blocks", blocks, o.pages("listBlocks", "blocks", limit, nil))
	}
	for _, limit := range []int{17, 50, 200} {
		o.sameList("txs", txs, o.pages("listTransactions", "txs", limit, nil))
	}
	for n := range head + 1 {
		if n >= from || n%5 == 0 {
			o.block(o.Chain.BlockAt(n))
		}
	}
	o.same("getBlock", chainID+"/block/latest", wantBlock(o.Chain.BlockAt(head), 50))
	o.sameList("latest txs", wantPreviews(o.Chain.BlockAt(head), 0, 1000), o.pages("listBlockTransactions", "block/latest/txs", 3, nil))
	o.times()
	o.events(head)
	o.messages()
	o.addresses()
	o.contracts()
	o.wallets()
	o.live(head)
	o.controls(head)
	o.tokens(head)
	o.pools(head)
	o.classes(head)
	o.holders(head)
	for _, r := range routeTests {
		r.truth(o)
	}
	o.absent(head)
}

// events compares searches of both routes with the chain; events_test.go has
// every shape of them.
func (o *oracle) events(head uint64) {
	o.T.Helper()
	all := o.Chain.Events(simnode.EventFilter{To: head})
	for i := 0; i < len(all); i += 1 + len(all)/3 {
		e := all[i].Event
		for op, search := range map[string]struct {
			path string
			f    simnode.EventFilter
		}{
			"searchEvents":       {"events?topic0=" + e.Keys[0].String(), simnode.EventFilter{To: head, Keys: [][]felt.Felt{{e.Keys[0]}}}},
			"listContractEvents": {"contract/" + e.From.String() + "/events?order=desc", simnode.EventFilter{To: head, Addresses: []felt.Felt{e.From}}},
		} {
			want := []object{}
			refs := o.Chain.Events(search.f)
			for j := len(refs) - 1; j >= 0; j-- {
				want = append(want, o.wantEvent(&refs[j]))
			}
			o.sameList(search.path, want, o.eventPages(op, search.path))
		}
	}
}

func (o *oracle) eventPages(op, path string) (rows []json.RawMessage) {
	o.T.Helper()
	if o.through != nil {
		return o.walk(op, path, 100)
	}
	next := ""
	for {
		var p page
		full := chainID + "/" + path + "&limit=100" + next
		r := o.Do(http.MethodGet, "/v1/"+full, o.Key)
		if err := json.Unmarshal(r.Body, &p); err != nil || r.StatusCode != http.StatusOK {
			o.T.Fatalf("GET %s: %d %v %s", full, r.StatusCode, err, r.Body)
		}
		o.checked(op, full, r)
		rows = append(rows, p.Items...)
		if p.NextCursor == nil {
			return rows
		}
		next = "&cursor=" + url.QueryEscape(*p.NextCursor)
	}
}

func (o *oracle) status() {
	o.T.Helper()
	head, _ := o.Chain.Head()
	transactions, events := 0, 0
	for n := range head + 1 {
		b := o.Chain.BlockAt(n)
		transactions += len(b.Transactions)
		for i := range b.Receipts {
			events += len(b.Receipts[i].Events)
		}
	}
	now, headTime := iso(uint64(o.Clock.Now().Unix())), o.Chain.BlockAt(head).Timestamp
	want := object{
		"chainId": chainID, "headBlockNumber": head, "headBlockHash": o.Chain.BlockAt(head).Hash, "finalizedBlockNumber": head - depth,
		"l1AcceptedProof": nil, "latestIndexedBlockNumber": head, "earliestIndexedBlockNumber": 0, "indexedBlockSpan": head + 1, "lagBlocks": 0,
		"l1SettlementLatencySeconds": nil, "totalTransactions": transactions, "totalEvents": events,
		"indexing": object{"status": "current", "reasonCode": nil, "reason": nil}, "agreement": nil, "lastFork": nil,
		"headObservedAt": now, "latestIndexedBlockTimestampIso": iso(headTime), "latestIndexedBlockAgeSeconds": max(0, o.Clock.Now().Unix()-int64(headTime)),
		"nodes":                       object{"configured": 1, "healthy": 1, "observedAt": now, "items": []any{object{"name": "node-1", "status": "healthy", "headBlockNumber": 0, "lastHeardAt": now}}},
		"verification":                object{"verifiedBlocks": 0, "notCheckedBlocks": head + 1, "unverifiedBlocks": 0, "unknownBlocks": 0, "firstUnverifiedBlockNumber": nil, "audit": nil},
		"latestL1AcceptedBlockNumber": nil, "l1Finality": object{"watermarkBlockNumber": nil, "watermarkAgeSeconds": nil, "lastDivergenceAt": nil,
			"quorum": object{"endpointsConfigured": nil, "endpointsHealthy": nil, "status": "not_reported", "observedAt": nil}},
	}
	if n, ok := o.Chain.L1Head(); ok {
		want["latestL1AcceptedBlockNumber"] = n
		want["l1Finality"].(object)["watermarkBlockNumber"] = n
		want["l1Finality"].(object)["watermarkAgeSeconds"] = max(0, o.Clock.Now().Unix()-int64(o.Chain.BlockAt(n).Timestamp))
	}
	if list := o.Chain.Reorgs(); len(list) > 0 {
		last := list[len(list)-1]
		want["lastFork"] = object{"count": len(list), "ancestorBlock": last.StartNumber - 1, "depthBlocks": last.EndNumber - last.StartNumber + 1,
			"belowL1": o.belowL1}
	}
	// The digest is compared with that of an index that never saw a fork.
	want["indexDigest"] = o.cleanDigest()
	o.same("getStatus", chainID+"/status", want)
}

// cleanDigest indexes the chain as it is now from nothing.
func (o *oracle) cleanDigest() string {
	o.T.Helper()
	fresh := pebbletest.Open(o.T, catalog.Tables())
	o.IndexInto(fresh)
	var digest string
	err := fresh.View(o.T.Context(), func(r store.Reader) error {
		state, err := chain.Read(o.T.Context(), r)
		digest = hex.EncodeToString(state.Head.Digest[:])
		return err
	})
	if err != nil {
		o.T.Fatal(err)
	}
	return digest
}

func (o *oracle) block(b *starknet.Block) {
	o.T.Helper()
	number, hash := fmt.Sprint(b.Number), b.Hash.String()
	o.same("getBlock", chainID+"/block/"+number, wantBlock(b, 50))
	o.same("getBlock", chainID+"/block/"+b.Hash.Padded()+"?tx_limit=2", wantBlock(b, 2))
	o.sameList("block txs", wantPreviews(b, 0, 1000), o.pages("listBlockTransactions", "block/"+number+"/txs", 1+int(b.Number%5), nil))
	o.sameList("block txs", wantPreviews(b, 0, 1000), o.pages("listBlockTransactions", "block/"+hash+"/txs", 100, nil))
	found := object{"blocks": []object{{"blockNumber": b.Number, "blockHash": b.Hash}}, "transactions": []object{}, "addresses": []object{}, "classes": []object{}, "tokens": []object{}}
	o.same("search", chainID+"/search?q="+number, found)
	o.same("search", chainID+"/search?q="+hash, found)

	messages := o.Chain.Messages(b.Number, b.Number)
	for i := range b.Transactions {
		ref := simnode.TxRef{Block: b, Index: i, Transaction: &b.Transactions[i], Receipt: &b.Receipts[i]}
		var own []simnode.Message
		for _, m := range messages {
			if m.TxIndex == i {
				own = append(own, m)
			}
		}
		hash := b.Transactions[i].Hash
		o.same("getTransaction", chainID+"/tx/"+hash.String(), o.wantTx(ref, own, o.wantTxTransfers(b, i), 96))
		if i%5 == 0 {
			o.same("getTransaction", chainID+"/tx/0X"+strings.ToUpper(hash.Padded()[2:])+"?logLimit=1", o.wantTx(ref, own, o.wantTxTransfers(b, i), 1))
			o.same("search", chainID+"/search?q="+hash.String(), object{"blocks": []object{}, "addresses": []object{}, "classes": []object{}, "tokens": []object{},
				"transactions": []object{{"txHash": hash, "blockNumber": b.Number, "txIndex": i}}})
		}
	}
}

// times asks for every second around the chain.
func (o *oracle) times() {
	o.T.Helper()
	head, _ := o.Chain.Head()
	first, last := o.Chain.BlockAt(0).Timestamp, o.Chain.BlockAt(head).Timestamp
	for at := first - 2; at <= last+2; at++ {
		var before, after *starknet.Block
		for n := range head + 1 {
			b := o.Chain.BlockAt(n)
			if b.Timestamp <= at {
				before = b
			}
			if b.Timestamp >= at && after == nil {
				after = b
			}
		}
		for closest, chosen := range map[string]*starknet.Block{"before": before, "after": after} {
			path := fmt.Sprintf("%s/block-at-timestamp?timestamp=%s&closest=%s", chainID, url.QueryEscape(iso(at)), closest)
			if chosen == nil {
				o.missing("getBlockAtTimestamp", path)
				continue
			}
			o.same("getBlockAtTimestamp", path, object{"chainId": chainID, "source": "indexed_blocks", "block": wantTimed(chosen),
				"previousBlock": wantTimed(before), "nextBlock": wantTimed(after),
				"query": object{"timestampIso": iso(at), "timestampUnix": at, "closest": closest}})
		}
	}
}

// absent asks for what the chain does not have, or no longer.
func (o *oracle) absent(head uint64) {
	o.T.Helper()
	o.missing("getBlock", fmt.Sprintf("%s/block/%d", chainID, head+1))
	o.missing("listBlockTransactions", fmt.Sprintf("%s/block/%d/txs", chainID, head+1))
	o.missing("getTransaction", chainID+"/tx/0x123")
	o.missing("getToken", chainID+"/token/0x123")
	empty := object{"blocks": []object{}, "transactions": []object{}, "addresses": []object{}, "classes": []object{}, "tokens": []object{}}
	o.same("search", fmt.Sprintf("%s/search?q=%d", chainID, head+1), empty)
	for _, gone := range o.orphans {
		o.missing("getBlock", chainID+"/block/"+gone.block.String())
		o.missing("getTransaction", chainID+"/tx/"+gone.tx.String())
		o.same("search", chainID+"/search?q="+gone.block.String(), empty)
	}
}

// orphan is what a fork took away.
type orphan struct{ block, tx felt.Felt }

// fork replaces the newest blocks and remembers what was there.
func (o *oracle) fork(n int) {
	o.T.Helper()
	head, _ := o.Chain.Head()
	for i := range uint64(n) {
		b := o.Chain.BlockAt(head - i)
		if len(b.Transactions) > 0 {
			o.orphans = append(o.orphans, orphan{b.Hash, b.Transactions[0].Hash})
		}
	}
	l1, ok := o.Chain.L1Head()
	o.belowL1 = ok && head-uint64(n) < l1
	o.Chain.Fork(n)
	o.Chain.Extend(1) // a fork shows when the next block does not fit
	o.CatchUp()
}

// TestGroundTruth compares every route and every page with the chain, while
// blocks arrive and forks replace some, also below the finalized tier and
// below what L1 had accepted.
func TestGroundTruth(t *testing.T) {
	skipRaced(t)
	o := &oracle{world: newWorld(t, 44), checks: map[string]int{}}
	o.everything(0)
	for _, step := range []struct {
		name string
		from uint64 // where the blocks that it can change begin
		do   func()
	}{
		{"new blocks", 42, func() { o.Chain.Extend(5); o.CatchUp() }},
		{"fork above the finalized tier", 42, func() { o.fork(4) }},
		{"fork below the finalized tier", 28, func() { o.fork(20) }},
		{"fork below L1", 0, func() { o.fork(36) }},
	} {
		step.do()
		o.everything(step.from)
		if t.Failed() {
			t.Fatalf("after %s", step.name)
		}
	}
	o.movingPages()
	o.meta()
	o.evidence()
}

// TestExtremes compares blocks, transactions, events and addresses of a chain with the largest
// of amounts, and with an account that calls itself.
func TestExtremes(t *testing.T) {
	skipRaced(t)
	o := &oracle{world: &world{servertest.NewExtreme(t, 18)}, checks: map[string]int{}}
	head, _ := o.Chain.Head()
	for n := range head + 1 {
		o.block(o.Chain.BlockAt(n))
	}
	o.events(head)
	o.addresses()
}

// movingPages walks the lists while the chain changes between the pages.
func (o *oracle) movingPages() {
	o.T.Helper()
	// New blocks: the walk shows what there was when it began, without repeats or gaps.
	_, txs := o.newest()
	grow := func(n int) {
		if n%3 == 0 {
			o.Chain.Extend(1)
			o.CatchUp()
		}
	}
	o.sameRows("txs while blocks arrive", txs, o.pages("listTransactions", "txs", 20, grow))
	blocks, _ := o.newest()
	o.sameRows("blocks while blocks arrive", blocks, o.pages("listBlocks", "blocks", 4, grow))

	// A fork in the middle of a walk: from below the blocks that it replaces the list goes on
	// as if nothing had been, and from one of them it does not.
	for _, list := range []struct {
		id, path string
		deep     int // rows down to where the fork does not reach
		want     func() []object
	}{
		{"listTransactions", "txs", 80, func() []object { _, txs := o.newest(); return txs }},
		{"listBlocks", "blocks", 20, func() []object { blocks, _ := o.newest(); return blocks }},
	} {
		inside, below := o.page(list.id, list.path, 2, nil).NextCursor, o.page(list.id, list.path, list.deep, nil).NextCursor
		left := len(list.want()) - list.deep
		o.fork(5)
		r := o.Do(http.MethodGet, fmt.Sprintf("/v1/%s/%s?limit=2&cursor=%s", chainID, list.path, url.QueryEscape(*inside)), o.Key)
		if r.StatusCode != http.StatusBadRequest || r.Envelope().Code != kernel.CodeInvalidCursor {
			o.T.Fatalf("%s: a cursor of a block that is gone: %d %s", list.path, r.StatusCode, r.Body)
		}
		var rest []json.RawMessage
		for cursor := below; cursor != nil; {
			p := o.page(list.id, list.path, 30, cursor)
			rest, cursor = append(rest, p.Items...), p.NextCursor
		}
		all := list.want()
		o.sameList(list.path+" after a fork", all[len(all)-left:], rest)
	}

	// The list of a block that a fork took away does not go on in another block.
	head, _ := o.Chain.Head()
	number := head
	for len(o.Chain.BlockAt(number).Transactions) < 3 {
		number--
	}
	path := fmt.Sprintf("block/%d/txs", number)
	cursor := o.page("listBlockTransactions", path, 1, nil).NextCursor
	o.fork(int(head-number) + 1)
	r := o.Do(http.MethodGet, fmt.Sprintf("/v1/%s/%s?limit=1&cursor=%s", chainID, path, url.QueryEscape(*cursor)), o.Key)
	if r.StatusCode != http.StatusBadRequest || r.Envelope().Code != kernel.CodeInvalidCursor {
		o.T.Fatalf("a cursor of a block that is gone: %d %s", r.StatusCode, r.Body)
	}
}
