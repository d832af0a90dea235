package voyager_test

import (
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/starknet"
)

func TestEvents(t *testing.T) {
	f := feedOf(servertest.Shared(t, blocks))
	c := truth{f.Chain}
	every := func(place, *starknet.Event) bool { return true }
	same(t, "all", ids(f.untilLast("/events", 100)), c.events(every))

	contract := c.Tokens(c.head())[0].Address
	of := func(_ place, e *starknet.Event) bool { return e.From == contract }
	path := "/events?contract=" + contract.String()
	same(t, "of a contract, until short", ids(f.untilShort(path, 50)), c.events(of))
	same(t, "of a contract, until last", ids(f.untilLast(path, 100)), c.events(of))

	const number = 12
	in := func(p place, _ *starknet.Event) bool { return p.block == number }
	same(t, "of a block", ids(f.untilLast("/events?blockHash="+c.BlockAt(number).Hash.String(), 10)), c.events(in))
	hash := c.BlockAt(number).Transactions[0].Hash
	by := func(p place, _ *starknet.Event) bool { return p.block == number && p.tx == 0 }
	same(t, "of a transaction", ids(f.untilShort("/events?txnHash="+hash.String(), 10)), c.events(by))
	same(t, "of it, in its block", ids(f.untilShort("/events?txnHash="+hash.String()+"&blockHash="+c.BlockAt(number).Hash.String(), 10)), c.events(by))
	if items, last := f.page("/events?txnHash="+hash.String()+"&blockHash=0x5", 1, 10); len(items) != 0 || last != 1 {
		t.Errorf("a transaction in a block that it is not in has %d events", len(items))
	}
	if text := f.refused("/events?blockHash=0x5", http.StatusNotFound); text != "Block not found" {
		t.Error(text)
	}
	if text := f.refused("/events?txnHash=0x5", http.StatusNotFound); text != "Transaction not found" {
		t.Error(text)
	}
}

func TestEventsOfAPeriod(t *testing.T) {
	f := feedOf(servertest.Shared(t, blocks))
	c := truth{f.Chain}
	contract := c.Tokens(c.head())[0].Address
	at := func(n uint64) uint64 { return c.BlockAt(n).Timestamp }
	for _, p := range []struct {
		query    string
		from, to uint64 // block times
	}{
		{fmt.Sprintf("timestampFrom=%d&timestampTo=%d", at(20), at(31)), at(20), at(31)},
		{fmt.Sprintf("timestampFrom=%d", at(50)-1), at(50) - 1, 1 << 62},
		{fmt.Sprintf("timestampTo=%d", at(4)+1), 0, at(4) + 1},
		{fmt.Sprintf("timestampFrom=%d", at(c.head())+1), 1 << 61, 1 << 62},
		{"timestampTo=5", 0, 5},
	} {
		during := func(w place, _ *starknet.Event) bool { n := at(w.block); return n >= p.from && n <= p.to }
		same(t, p.query, ids(f.untilLast("/events?"+p.query, 50)), c.events(during))
		both := func(w place, e *starknet.Event) bool { return e.From == contract && during(w, e) }
		same(t, p.query, ids(f.untilLast("/events?contract="+contract.String()+"&"+p.query, 10)), c.events(both))
	}
}

// TestEventFields holds every field against the chain and against what the API says of the event.
func TestEventFields(t *testing.T) {
	f := feedOf(servertest.Shared(t, blocks))
	c := truth{f.Chain}
	kinds := map[string]int{}
	for n := range uint64(40) {
		b := c.BlockAt(n)
		items := f.untilLast("/events?blockHash="+b.Hash.String(), 100)
		slices.Reverse(items)
		at := 0
		for i := range b.Transactions {
			if len(b.Receipts[i].Events) == 0 {
				continue
			}
			var tx api.Tx
			f.Get("/tx/"+b.Transactions[i].Hash.String()+"?logLimit=1000", &tx)
			for j := range b.Receipts[i].Events {
				e, log := &b.Receipts[i].Events[j], &tx.Logs[j]
				id := fmt.Sprintf("%s_%d", b.Transactions[i].Hash, j)
				want := object{"blockNumber": n, "transactionNumber": i, "number": j, "fromAddress": e.From.Padded(), "classHash": nil,
					"transactionHash": b.Transactions[i].Hash, "blockId": b.Hash, "blockHash": b.Hash, "timestamp": b.Timestamp, "id": id, "eventId": id,
					"classAlias": log.ClassAlias, "contractAlias": log.ContractAlias, "name": log.EventName, "nestedName": log.EventName, "nestedEventNames": []any{},
					"selector": e.Keys[0], "keys": e.Keys, "data": append([]felt.Felt{}, e.Data...)}
				if log.EventTimeClassHash != nil {
					want["classHash"] = log.EventTimeClassHash.Padded()
				}
				kinds[log.DecodingStatus]++
				if log.DecodingStatus == "decoded" {
					want["dataDecoded"], want["keyDecoded"] = told(log.DecodedFields, "data"), told(log.DecodedFields, "key")
					for _, d := range log.DecodedFields {
						kinds[d.Kind]++
					}
				}
				same(t, id, items[at], want)
				at++
			}
		}
		if at != len(items) {
			t.Fatalf("block %d: %d events, want %d", n, len(items), at)
		}
	}
	for _, kind := range []string{"decoded", "u256", "address"} {
		if kinds[kind] == 0 {
			t.Errorf("no event was of kind %s: %v", kind, kinds)
		}
	}
}

// told is what the feed must make of the fields of the API.
func told(fields []api.DecodedField, source string) []any {
	out := []any{}
	for _, d := range fields {
		if d.Source != source {
			continue
		}
		var value any
		switch {
		case len(d.RawValues) == 1:
			value = d.RawValues[0]
		case d.Kind == "u256":
			n := new(big.Int).Lsh(d.RawValues[1].Big(), 128)
			value = fmt.Sprintf("0x%x", n.Or(n, d.RawValues[0].Big()))
		case d.Kind == "text" && d.TextValue != nil:
			value = *d.TextValue
		default:
			value = append([]felt.Felt{}, d.RawValues...)
		}
		out = append(out, object{"name": d.Label, "value": value, "type": d.Type})
	}
	return out
}

// TestPagesWhileTheChainGrows pages on while blocks come: the list is that of its first page.
func TestPagesWhileTheChainGrows(t *testing.T) {
	f := feedOf(servertest.New(t, 30))
	c := truth{f.Chain}
	contract := c.Tokens(c.head())[0].Address
	for path, list := range map[string]func() []string{
		"/events":                               func() []string { return c.events(func(place, *starknet.Event) bool { return true }) },
		"/events?contract=" + contract.String(): func() []string { return c.events(func(_ place, e *starknet.Event) bool { return e.From == contract }) },
		"/txns":                                 func() []string { return hashes(c.txs(nil)) },
		"/blocks": func() []string {
			var out []object
			for n := range c.head() + 1 {
				out = append(out, c.block(n))
			}
			slices.Reverse(out)
			return hashes(out)
		},
	} {
		name := ids
		if !strings.HasPrefix(path, "/events") {
			name = hashes
		}
		want := list()
		var got []string
		for p := 1; ; p++ {
			items, last := f.page(path, p, 10)
			got = append(got, name(items)...)
			if p == 1 || p == 3 {
				f.Chain.Extend(2)
				f.CatchUp()
			}
			if p >= last {
				break
			}
		}
		same(t, path, got, want)
		if items, _ := f.page(path, 1, 10); name(items)[0] != list()[0] {
			t.Errorf("%s: the first page is not of the newest chain", path)
		}
	}
}

func hashes(items []object) (out []string) {
	for _, i := range items {
		out = append(out, fmt.Sprint(i["hash"]))
	}
	return out
}

// TestForks undoes the blocks that a list began at, between its pages: branches are never mixed.
func TestForks(t *testing.T) {
	f := feedOf(servertest.New(t, 40))
	c := truth{f.Chain}
	contract := c.Tokens(c.head())[0].Address
	account := c.Accounts(10)[0]
	for _, path := range []string{"/events", "/events?contract=" + contract.String(), "/txns", "/txns?to=" + account.String(), "/blocks"} {
		f.page(path, 1, 10)
		f.page(path, 2, 10)
		f.Chain.Fork(3)
		f.Chain.Extend(1)
		f.CatchUp()
		if text := f.refused(path+sep(path)+"p=3&ps=10", http.StatusConflict); !strings.Contains(text, "p=1") {
			t.Errorf("%s after a fork: %q", path, text)
		}
		// The next walk is of the new branch, and exact.
		switch {
		case strings.HasPrefix(path, "/events?"):
			same(t, path, ids(f.untilLast(path, 10)), c.events(func(_ place, e *starknet.Event) bool { return e.From == contract }))
		case strings.HasPrefix(path, "/events"):
			same(t, path, ids(f.untilLast(path, 10)), c.events(func(place, *starknet.Event) bool { return true }))
		case path == "/txns":
			same(t, path, hashes(f.untilLast(path, 10)), hashes(c.txs(nil)))
		case path == "/blocks":
			same(t, path, len(f.untilLast(path, 10)), c.head()+1)
		default:
			same(t, path, hashes(f.untilLast(path, 10)), hashes(c.txs(func(n uint64, i int) bool { return c.has(account, n, i) })))
		}
	}
	// A list of an old block does not care.
	old := "/events?blockHash=" + c.BlockAt(5).Hash.String()
	first, _ := f.page(old, 1, 10)
	f.Chain.Fork(2)
	f.Chain.Extend(1)
	f.CatchUp()
	second, _ := f.page(old, 2, 10)
	same(t, old, append(ids(first), ids(second)...), c.events(func(p place, _ *starknet.Event) bool { return p.block == 5 })[:len(first)+len(second)])
}

func sep(path string) string {
	if strings.Contains(path, "?") {
		return "&"
	}
	return "?"
}

// TestJumps asks for pages in any order.
func TestJumps(t *testing.T) {
	f := feedOf(servertest.New(t, blocks))
	c := truth{f.Chain}
	contract := c.Tokens(c.head())[0].Address
	all := c.events(func(place, *starknet.Event) bool { return true })
	of := c.events(func(_ place, e *starknet.Event) bool { return e.From == contract })
	cut := func(list []string, p int) []string { return list[min(len(list), (p-1)*10):min(len(list), p*10)] }
	for _, p := range []int{40, 2, 17, 1, 9, 33} {
		items, last := f.page("/events", p, 10)
		same(t, fmt.Sprintf("page %d of all", p), ids(items), cut(all, p))
		if last != (len(all)+9)/10 {
			t.Errorf("the last page is %d, want %d", last, (len(all)+9)/10)
		}
	}
	path := "/events?contract=" + contract.String()
	for _, p := range []int{11, 4, 21, 8, 1, 30, 31} { // each at most ten behind one that was asked for
		items, last := f.page(path, p, 10)
		same(t, fmt.Sprintf("page %d of the contract", p), ids(items), cut(of, p))
		if want := min(p+1, (len(of)+9)/10); last != want {
			t.Errorf("page %d: the last page is %d, want %d", p, last, want)
		}
	}
	if text := f.refused(path+"&p=60&ps=10", http.StatusBadRequest); !strings.Contains(text, "p=1") {
		t.Error(text)
	}
	// Nobody else knows where this caller is.
	other := f
	other.key = f.NewKey(account.DefaultScopes)
	other.refused(path+"&p=31&ps=10", http.StatusBadRequest)
	// What nobody asked for lately is forgotten.
	f.Clock.Advance(time.Hour)
	f.refused(path+"&p=31&ps=10", http.StatusBadRequest)
}

// TestWalksCost: pages that are passed over are paid for, and the transactions of an address are heavy as they are in the API.
func TestWalksCost(t *testing.T) {
	f := feedOf(servertest.New(t, 40))
	token := f.Chain.Tokens(1)[0].Address.String()
	f.key = f.LimitedKey(account.Limits{LightPerMinute: 1, HeavyPerMinute: 7, Burst: 20})
	left := func(path, want string) {
		t.Helper()
		r := f.Do(http.MethodGet, "/beta"+path, f.key)
		if h := r.Header; r.StatusCode != http.StatusOK || h.Get("X-Ratelimit-Remaining") != want || h.Get("X-Service-Route-Class") != "heavy" {
			t.Errorf("%s: %d, %s %s left, want %s heavy", path, r.StatusCode, h.Get("X-Ratelimit-Remaining"), h.Get("X-Service-Route-Class"), want)
		}
	}
	left("/events?contract="+token+"&ps=10&p=3", "4")
	left("/events?contract="+token+"&ps=10&p=3", "3") // it is known now
	left("/txns?to="+token, "2")
	if r := f.Do(http.MethodGet, "/beta/events?contract="+token+"&ps=10&p=9", f.key); r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Retry-After") == "" {
		t.Errorf("more pages than the budget allows: %d", r.StatusCode)
	}
}
