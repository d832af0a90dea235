package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/api"
	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/store"
)

// counted is a store that counts the round trips of its readers, and can stop answering.
type counted struct {
	explorer.Index
	trips, scans atomic.Int64
	stuck        atomic.Bool
}

func (c *counted) View(ctx context.Context, fn func(store.Reader) error) error {
	return c.Index.View(ctx, func(r store.Reader) error { return fn(&countedReader{r, c}) })
}

type countedReader struct {
	store.Reader
	c *counted
}

func (r *countedReader) wait(ctx context.Context) error {
	r.c.trips.Add(1)
	if r.c.stuck.Load() {
		<-ctx.Done()
	}
	return ctx.Err()
}

func (r *countedReader) Get(ctx context.Context, k store.Key) ([]byte, error) {
	if err := r.wait(ctx); err != nil {
		return nil, err
	}
	return r.Reader.Get(ctx, k)
}

func (r *countedReader) GetMany(ctx context.Context, ks []store.Key) ([][]byte, error) {
	if err := r.wait(ctx); err != nil {
		return nil, err
	}
	return r.Reader.GetMany(ctx, ks)
}

func (r *countedReader) Each(ctx context.Context, ks []store.Key, visitor func() store.Visitor) error {
	if err := r.wait(ctx); err != nil {
		return err
	}
	return r.Reader.Each(ctx, ks, visitor)
}

func (r *countedReader) Scan(ctx context.Context, rng store.Range) iter.Seq2[store.Row, error] {
	r.c.trips.Add(1)
	r.c.scans.Add(1)
	return r.Reader.Scan(ctx, rng)
}

// countingWorld is a world over a counted store.
func countingWorld(t *testing.T, blocks int, change ...func(*options)) (*world, *counted) {
	c := &counted{}
	w := newWorld(t, blocks, append(change, func(o *options) {
		c.Index = o.Chains[0].Store
		o.Chains[0].Store = c
	})...)
	return w, c
}

// TestBatchesCostTheSame: a batch of the largest size takes as many round trips as
// a small one that has every kind of address, but for a few histories of classes.
func TestBatchesCostTheSame(t *testing.T) {
	w, c := countingWorld(t, 40)
	o := &oracle{world: w, checks: map[string]int{}}
	_, order := o.deeds()
	if len(order) < 128 {
		order = slices.Concat(order, order)
	}
	var hashes []felt.Felt
	for n := uint64(2); len(hashes) < 100; n++ {
		for i := range w.Chain.BlockAt(n).Transactions {
			hashes = append(hashes, w.Chain.BlockAt(n).Transactions[i].Hash)
		}
	}
	for path, body := range map[string]func(n int) string{
		"/address/summaries":    func(n int) string { return jsonText(object{"addresses": order[:n]}) },
		"/address/intelligence": func(n int) string { return jsonText(object{"addresses": order[:n]}) },
		"/tx/previews":          func(n int) string { return jsonText(object{"hashes": hashes[:min(n, 100)], "includeLogs": true}) },
	} {
		var trips [2]int64
		for i, n := range []int{32, 128} {
			c.trips.Store(0)
			c.scans.Store(0)
			if r := w.PostTo(path, body(n)); r.StatusCode != http.StatusOK {
				t.Fatalf("%s: %d %s", path, r.StatusCode, r.Body)
			}
			trips[i] = c.trips.Load()
		}
		scans := int64(0)
		if path == "/tx/previews" {
			scans = token.MaxHistories // of tokens that were given another class since
		}
		if trips[1] > trips[0]+scans || trips[1] > 20 || c.scans.Load() > scans {
			t.Errorf("%s: %d round trips for 32, %d for the most, %d of them scans", path, trips[0], trips[1], c.scans.Load())
		}
	}
}

// TestBatchesRunOutOfTime: a store that does not answer ends a batch with a hint.
func TestBatchesRunOutOfTime(t *testing.T) {
	servertest.Watched(t)
	w, c := countingWorld(t, 10, func(o *options) { o.Timeout = 200 * time.Millisecond })
	c.stuck.Store(true)
	for _, path := range []string{"/address/summaries", "/address/intelligence"} {
		r := w.PostTo(path, `{"addresses":["0x1"]}`)
		if r.StatusCode != http.StatusServiceUnavailable || r.Envelope().Code != kernel.CodeServiceUnavailable || r.Header.Get("Retry-After") != "2" {
			t.Errorf("%s: %d %v %s", path, r.StatusCode, r.Header, r.Body)
		}
	}
}

// TestBatchRules: wrong keys are refused by name, and a key without the scope.
func TestBatchRules(t *testing.T) {
	w := sharedWorld(t, 30)
	for path, keys := range map[string][]string{
		"/address/summaries":    {"wallets", "owners", "contracts", "address"},
		"/address/intelligence": {"wallets", "owners", "contracts"},
		"/tx/previews":          {"txHashes", "transactions", "hash"},
	} {
		for _, key := range keys {
			r := w.PostTo(path, fmt.Sprintf(`{%q:["0x1"]}`, key))
			if e := r.Envelope(); e.Code != kernel.CodeInvalidRequest || !strings.Contains(e.Message, key) {
				t.Errorf("%s %s: %d %s", path, key, r.StatusCode, r.Body)
			}
		}
		name := map[bool]string{true: "hashes", false: "addresses"}[strings.HasPrefix(path, "/tx")]
		for content, says := range map[string]string{
			jsonText(object{name: slices.Repeat([]string{"0x1"}, 129)}): name,
			jsonText(object{name: []string{"0x1", "0xnothex"}}):         name + "[1]",
			jsonText(object{name: []string{}}):                          name,
			`{}`:                                                        name,
		} {
			if e := w.PostTo(path, content).Envelope(); e.Code != kernel.CodeInvalidRequest || !strings.Contains(e.Message, says) {
				t.Errorf("%s %.60s: %+v", path, content, e)
			}
		}
		req := w.Request(http.MethodPost, "/v1/"+chainID+path, jsonText(object{name: []string{"0x1"}}))
		req.Header.Set("X-Service-Api-Key", w.NewKey(account.Read))
		if r := w.Send(req); r.Envelope().Code != kernel.CodeForbidden || !strings.Contains(r.Header.Get("WWW-Authenticate"), `scope="batch"`) {
			t.Errorf("%s without the scope: %d %s", path, r.StatusCode, r.Body)
		}
	}
}

// named are labels of a test.
type named map[felt.Felt]registry.Label

func (n named) Labels(context.Context, string) (map[felt.Felt]registry.Label, error) { return n, nil }

// TestOperatorsLabels stand in front of the registry's.
func TestOperatorsLabels(t *testing.T) {
	labels := named{
		contracts.STRK:     {Address: contracts.STRK, Name: "Our token", Protocol: "House", Kind: "bank", Source: "ops", Confidence: registry.Medium},
		felt.FromUint64(9): {Address: felt.FromUint64(9), Name: "Nine", Source: "ops", Confidence: registry.Low},
	}
	w := newWorld(t, 5, func(o *options) { o.Labels = labels })
	var got api.Attribution
	w.Get("/address/"+contracts.STRK.String()+"/attribution", &got)
	if !got.Known || *got.Label != "Our token" || got.Confidence != "none" || *got.LabelConfidence != "medium" || got.Source != "indexed_address_attribution" || *got.LabelSource != "ops" || got.Protocol.Name != "House" || *got.Protocol.Kind != "bank" {
		t.Errorf("%+v", got)
	}
	delete(labels, contracts.STRK) // the answer is not kept
	w.Get("/address/"+contracts.STRK.String()+"/attribution", &got)
	if *got.Label != "Starknet Token" || got.Source != "curated_known_token_metadata" {
		t.Errorf("%+v", got)
	}
	r := w.PostTo("/address/intelligence", `{"addresses":["0x9"]}`)
	if !strings.Contains(string(r.Body), `"known":true`) || !strings.Contains(string(r.Body), `"label":"Nine"`) || !strings.Contains(string(r.Body), `"typeLabel":"not_deployed"`) {
		t.Errorf("%s", r.Body)
	}
}

// noNode fails the test when it is asked.
type noNode struct{ t *testing.T }

func (n noNode) CallAt(context.Context, contractcall.Block, []contractcall.Call) ([]contractcall.Result, error) {
	n.t.Error("an indexed route called a contract")
	return nil, contractcall.ErrUnavailable
}

func (n noNode) CallPending(context.Context, []contractcall.Call) (contractcall.Pending, []contractcall.Result, error) {
	n.t.Error("an indexed route called a contract")
	return contractcall.Pending{}, nil, contractcall.ErrUnavailable
}

func (n noNode) ClassHashAt(context.Context, contractcall.Block, felt.Felt) (felt.Felt, bool, error) {
	n.t.Error("an indexed route asked for a class")
	return felt.Zero, false, contractcall.ErrUnavailable
}

func (n noNode) NonceAt(context.Context, contractcall.Block, felt.Felt) (felt.Felt, bool, error) {
	n.t.Error("an indexed route asked for a nonce")
	return felt.Zero, false, contractcall.ErrUnavailable
}

func (n noNode) TraceOf(context.Context, contractcall.Block, felt.Felt) ([]byte, bool, error) {
	n.t.Error("an indexed route asked for a trace")
	return nil, false, contractcall.ErrUnavailable
}

// TestIndexedRoutesNeedNoNode takes the node away and calls every route that is
// not live by its nature.
func TestIndexedRoutesNeedNoNode(t *testing.T) {
	w := newWorld(t, 40, func(o *options) { o.Chains[0].Node = noNode{t} })
	w.Node.Faults().Set(simnode.Fault{Kind: simnode.FaultDrop})
	live := map[string]bool{"getTokenTotalSupply": true, "getTokenBalance": true, "readContract": true, "getWalletState": true, "callRpc": true}
	a, tx := w.Chain.Accounts(39)[0].String(), w.Chain.BlockAt(3).Transactions[0].Hash.String()
	fill := strings.NewReplacer("{chain}", chainID, "{address}", a, "{token}", contracts.STRK.String(), "{number_or_hash}", "3", "{tx_hash}", tx,
		"{message_hash}", fmt.Sprintf("0x%x", w.Chain.Messages(0, 39)[0].Hash), "{class_hash}", contracts.Classes().Account.Hash.String())
	query := map[string]string{"search": "?q=" + a, "searchEvents": "?topic0=" + felt.Selector("Transfer").String(), "getBlockAtTimestamp": "?timestamp=1900000000", "streamFeed": "?kind=block&follow=false",
		"listPrivacyPoolTvl": "?from=2026-01-01T00:00:00Z&to=2026-01-01T01:00:00Z"}
	bodies := map[string]string{"summarizeAddresses": `{"addresses":["` + a + `"]}`, "describeAddresses": `{"addresses":["` + a + `"]}`, "previewTransactions": `{"hashes":["` + tx + `"]}`}
	want := map[string]int{"getContractVerification": http.StatusNotFound, "getTokenHoldings": http.StatusGone}
	called := 0
	for id, path := range w.Operations() {
		if live[id] {
			continue
		}
		method := http.MethodGet
		if bodies[id] != "" {
			method = http.MethodPost
		}
		req := w.Request(method, fill.Replace(path)+query[id], bodies[id])
		req.Header.Set("X-Service-Api-Key", w.Partner)
		if got := w.Send(req); got.StatusCode != max(want[id], http.StatusOK) {
			t.Errorf("%s %s: %d %s", method, req.URL, got.StatusCode, got.Body)
		}
		called++
	}
	if called < 25 {
		t.Errorf("only %d routes", called)
	}
}

// TestPreviewsOfNothing: what is not known is null, and what is known to be empty
// is empty.
func TestPreviewsOfNothing(t *testing.T) {
	w := sharedWorld(t, 30)
	var quiet felt.Felt
	for n := uint64(2); n < 30; n++ {
		b := w.Chain.BlockAt(n)
		for i := range b.Receipts {
			if len(b.Receipts[i].Events) == 0 {
				quiet = b.Transactions[i].Hash
			}
		}
	}
	if quiet.IsZero() {
		t.Fatal("every transaction has events")
	}
	r := w.PostTo("/tx/previews", jsonText(object{"hashes": []any{"0x1234", quiet}, "includeLogs": true}))
	var got struct{ Items []map[string]any }
	if err := json.Unmarshal(r.Body, &got); err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%v: %d %s", err, r.StatusCode, r.Body)
	}
	unknown, known := got.Items[0], got.Items[1]
	for _, name := range []string{"transferCount", "hasBurnToZero", "hasMintFromZero", "tokenTransfersTruncated", "exchangeCallsTruncated", "logCount"} {
		if v, there := unknown[name]; v != nil || !there {
			t.Errorf("%s of a transaction that is not known is %v", name, v)
		}
	}
	if _, there := unknown["logs"]; there {
		t.Errorf("a transaction that is not known has logs: %v", unknown)
	}
	if list, ok := known["logs"].([]any); !ok || len(list) != 0 || known["transferCount"] != 0.0 || known["hasBurnToZero"] != false || known["hasMintFromZero"] != false || known["logCount"] != 0.0 {
		t.Errorf("a transaction without events: %v", known)
	}
}

// TestReservedAddresses: the sender of the first declarations is no account, and
// not a contract that somebody may still deploy.
func TestReservedAddresses(t *testing.T) {
	w := sharedWorld(t, 30) // some of it is finalized
	var s api.AddressSummary
	w.Get("/address/0x1", &s)
	if s.IsAccount == nil || *s.IsAccount || s.ContractExistence != nil || s.ClassHash != nil {
		t.Errorf("%+v", s)
	}
	s = api.AddressSummary{}
	if w.Get("/address/0x1234567", &s); s.IsAccount != nil || s.ContractExistence == nil {
		t.Errorf("%+v", s)
	}
}
