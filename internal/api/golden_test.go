package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// The golden files are requests with their answers in full, one directory per
// operation and one per error code. Run the test with -update to rewrite them,
// and read the difference: it is a change of the contract.

const goldenDir = "testdata/golden"

// golden compares, or rewrites.
type golden struct {
	*world
	files map[string]bool
	codes map[kernel.Code]bool
}

// goldenCase is a request; the key is sent when the headers have none.
type goldenCase struct {
	dir, name    string
	method, path string
	headers      []string
	body         string
}

func (g *golden) run(c goldenCase) {
	g.T.Helper()
	key := g.Key
	if c.method == "" {
		c.method = http.MethodGet
	}
	for i := 0; i < len(c.headers); i += 2 {
		if strings.HasSuffix(c.headers[i], "Api-Key") {
			key = ""
		}
	}
	if strings.HasPrefix(c.name, "no-key") {
		key = ""
	}
	if !slices.Contains(c.headers, "X-Request-Id") {
		c.headers = append(c.headers, "X-Request-Id", "golden-request")
	}
	r := g.Do(c.method, c.path, key, c.headers...)
	if key != "" {
		c.headers = append([]string{"X-Service-Api-Key", key}, c.headers...)
	}
	g.compare(c, r)
}

func (g *golden) compare(c goldenCase, r reply) {
	g.T.Helper()
	if r.StatusCode >= 400 && c.method != http.MethodHead {
		code := r.Envelope().Code
		g.codes[code] = true
		if string(code) != c.dir {
			g.T.Errorf("%s/%s: the code is %s: %s", c.dir, c.name, code, r.Body)
		}
	} else if op := g.Contract.Of(c.method, strings.SplitN(c.path, "?", 2)[0]); op == nil || op.ID != c.dir {
		g.T.Errorf("%s/%s: %s %s is another operation", c.dir, c.name, c.method, c.path)
	}
	file := filepath.Join(goldenDir, c.dir, c.name+".txt")
	g.files[file] = true
	got := g.text(c, r)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			g.T.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			g.T.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		g.T.Error(err)
		return
	}
	if !bytes.Equal(want, got) {
		g.T.Errorf("%s differs; got:\n%s", file, got)
	}
}

var longRun = regexp.MustCompile(`1{100,}`)

// text writes a request and its answer, with what changes from run to run masked.
func (g *golden) text(c goldenCase, r reply) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s\n", c.method, c.path)
	for i := 0; i < len(c.headers); i += 2 {
		fmt.Fprintf(&b, "%s: %s\n", c.headers[i], c.headers[i+1])
	}
	if c.body != "" {
		fmt.Fprintf(&b, "\n%s\n", c.body)
	}
	fmt.Fprintf(&b, "\n%d %s\n", r.StatusCode, http.StatusText(r.StatusCode))
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, v := range r.Header[name] {
			switch name {
			case "Date":
				continue
			case "X-Ratelimit-Remaining":
				v = "<remaining>"
			}
			fmt.Fprintf(&b, "%s: %s\n", name, v)
		}
	}
	b.WriteByte('\n')
	if len(r.Body) > 0 && r.Header.Get("Content-Type") == "text/event-stream" {
		b.Write(r.Body)
	} else if len(r.Body) > 0 {
		var compact bytes.Buffer
		if err := json.Compact(&compact, r.Plain()); err != nil || !bytes.Equal(compact.Bytes(), r.Plain()) {
			g.T.Errorf("%s/%s: not compact JSON: %v", c.dir, c.name, err)
		}
		json.Indent(&b, r.Plain(), "", "  ") //nolint:errcheck // it is JSON
		b.WriteByte('\n')
	}
	text := b.String()
	for _, key := range g.Secrets {
		text = strings.ReplaceAll(text, key, "<key>")
	}
	text = longRun.ReplaceAllStringFunc(text, func(run string) string { return fmt.Sprintf("<%d times 1>", len(run)) })
	return []byte(text)
}

// finish also looks for files that no case stands for.
func (g *golden) finish() {
	g.T.Helper()
	err := filepath.WalkDir(goldenDir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !g.files[path] {
			if *update {
				return os.Remove(path)
			}
			g.T.Errorf("%s stands for nothing any more", path)
		}
		return err
	})
	if err != nil {
		g.T.Fatal(err)
	}
}

// TestGolden holds the corpus, and asks that it has every operation and every code.
func TestGolden(t *testing.T) {
	servertest.Watched(t)
	empty := pebbletest.Open(t, catalog.Tables())
	fixed := func(o *options) {
		o.Cursors = kernel.NewCursors([]byte("the secret of the golden files"))
		o.Chains = append(o.Chains, api.Chain{ID: "SN_MAIN", Store: empty}, api.Chain{ID: "SN_YOUNG", Store: o.Chains[0].Store, Depth: 1 << 20})
		o.Chains[0].Heard = servertest.Hears(o.Now, 44)
		o.Version = "golden"
	}
	g := &golden{newWorld(t, 45, fixed), map[string]bool{}, map[kernel.Code]bool{}}
	for _, c := range g.reads() {
		g.run(c)
	}
	for _, r := range routeTests {
		for name, path := range r.golden(g.world) {
			g.run(goldenCase{dir: r.operation, name: name, path: "/v1/" + chainID + path})
		}
	}
	g.run(goldenCase{dir: "token_holdings_retired", name: "address", path: "/v1/" + chainID + "/address/0x00ABC/token-holdings?limit=10"})
	for _, c := range g.failures() {
		g.run(c)
	}
	for _, c := range g.batches() {
		r := g.Send(g.Request(c.method, c.path, c.body))
		g.compare(c, unnamed(r))
	}
	// One request for the window, one too many.
	limited := g.LimitedKey(account.Limits{LightPerMinute: 1})
	g.Do(http.MethodGet, statusPath, limited)
	g.run(goldenCase{dir: "rate_limited", name: "light", path: statusPath, headers: []string{"X-Service-Api-Key", limited}})

	g.conflict()
	g.verification()
	g.prover()

	h := servertest.NewHooked(t, fixed)
	inner := &golden{&world{h.World}, g.files, g.codes}
	inner.run(goldenCase{dir: "internal_error", name: "panic", path: "/v1/test/panic"})
	post := goldenCase{dir: "payload_too_large", name: "body", method: http.MethodPost, path: "/v1/test/write"}
	inner.compare(post, unnamed(h.Post("application/json", `{"items":["`+strings.Repeat("1", 200)+`"]}`)))
	post.dir, post.name = "unsupported_media_type", "text"
	inner.compare(post, unnamed(h.Post("text/plain", `{"items":[]}`)))
	post.dir, post.name = "invalid_request", "body"
	inner.compare(post, unnamed(h.Post("application/json", `{"items":[1]}`)))
	late := servertest.NewHooked(t, fixed, func(o *options) { o.BodyTimeout = time.Millisecond })
	inner = &golden{&world{late.World}, g.files, g.codes}
	inner.compare(goldenCase{dir: "request_timeout", name: "body", method: http.MethodPost, path: "/v1/test/write"},
		unnamed(late.Read(late.Dial("POST /v1/test/write HTTP/1.1\r\nHost: x\r\nX-Service-Api-Key: "+late.Key+"\r\nContent-Length: 9\r\n\r\n"))))
	inner.compare(goldenCase{dir: "headers_too_large", name: "no-key-headers", method: http.MethodGet, path: "/"},
		unnamed(late.Read(late.Dial("GET / HTTP/1.1\r\nHost: x\r\nX-Large: "+strings.Repeat("1", 140_000)+"\r\n\r\n"))))
	g.finish()

	for code := range kernel.Codes {
		if !g.codes[code] {
			t.Errorf("no golden file for the code %s", code)
		}
	}
	for _, op := range g.Contract.Operations {
		if found, _ := filepath.Glob(filepath.Join(goldenDir, op.ID, "*.txt")); len(found) == 0 && op.ID != "getContractVerification" && op.ID != "getTokenHoldings" { // which have nothing, or are gone
			t.Errorf("no golden file for the operation %s", op.ID)
		}
	}
}

// conflict asks for one key more than a plan allows, as somebody who is signed in.
func (g *golden) conflict() {
	g.T.Helper()
	w := &golden{newWorld(g.T, 3, func(o *options) { o.Accounts = true }), g.files, g.codes}
	_, space := w.Stranger("full", account.Free, account.Limits{})
	for range account.Free.Policy().MaxActiveKeys - 1 {
		w.KeyOf(space, account.Limits{})
	}
	s, err := w.People.Open(g.T.Context(), "ada", space.ID)
	if err != nil {
		g.T.Fatal(err)
	}
	w.Secrets = append(w.Secrets, s.Token)
	w.run(goldenCase{dir: "conflict", name: "no-key-left", method: http.MethodPost, path: "/v1/me/api-keys", headers: []string{"Authorization", "Bearer " + s.Token}})
}

// unnamed masks a request id that the service made.
func unnamed(r reply) reply {
	id := r.Header.Get("X-Request-Id")
	r.Body = bytes.ReplaceAll(r.Body, []byte(id), []byte("<request id>"))
	r.Header.Set("X-Request-Id", "<request id>")
	return r
}

// someToken is the first token of a standard that ever moved.
func (g *golden) someToken(standard simnode.Standard) string {
	for _, m := range slices.Backward(g.moves()) {
		if m.token.Standard == standard {
			return m.token.Address.String()
		}
	}
	g.T.Fatalf("no token of standard %d", standard)
	return ""
}

// reads are good requests for every operation.
func (g *golden) reads() []goldenCase {
	chain := "/v1/" + chainID
	var p page
	g.Get("/blocks?limit=2", &p)
	blocks := *p.NextCursor
	g.Get("/txs?limit=3", &p)
	txs := *p.NextCursor
	block := g.Chain.BlockAt(4)
	cases := []goldenCase{
		{dir: "getStatus", name: "current", path: chain + "/status"},
		{dir: "getStatus", name: "compatibility-path", path: "/api" + chain + "/status"},
		{dir: "getStatus", name: "nothing-indexed", path: "/v1/SN_MAIN/status"},
		{dir: "getStatus", name: "browser", path: chain + "/status", headers: []string{"X-Api-Key", g.Key, "Origin", servertest.StrangeOrigin}},
		{dir: "listBlocks", name: "first-page", path: chain + "/blocks?limit=2"},
		{dir: "listBlocks", name: "second-page", path: chain + "/blocks?limit=2&cursor=" + blocks},
		{dir: "getBlock", name: "accepted-on-l1", path: chain + "/block/4"},
		{dir: "getBlock", name: "by-hash", path: chain + "/block/" + block.Hash.String() + "?tx_limit=1"},
		{dir: "getBlock", name: "finalized", path: chain + "/block/30?tx_limit=1"},
		{dir: "getBlock", name: "latest", path: chain + "/block/latest?tx_limit=1"},
		{dir: "getBlock", name: "head-request", method: http.MethodHead, path: chain + "/block/4"},
		{dir: "listBlockTransactions", name: "first-page", path: chain + "/block/4/txs?limit=2"},
		{dir: "getBlockAtTimestamp", name: "before", path: chain + "/block-at-timestamp?timestamp=2026-01-01T00:00:21Z"},
		{dir: "getBlockAtTimestamp", name: "after", path: chain + "/block-at-timestamp?timestamp=1767225621&closest=after"},
		{dir: "getBlockAtTimestamp", name: "newest", path: chain + "/block-at-timestamp?timestamp=2027-01-01T00:00:00Z"},
		{dir: "listTransactions", name: "first-page", path: chain + "/txs?limit=3"},
		{dir: "listTransactions", name: "second-page", path: chain + "/txs?limit=3&cursor=" + txs},
		{dir: "searchEvents", name: "first-page", path: chain + "/events?limit=3&topic0=" + felt.Selector("Transfer").String()},
		{dir: "searchEvents", name: "oldest-first", path: chain + "/events?limit=2&order=asc&topic0=" + felt.Selector("ContractDeployed").String()},
		{dir: "searchEvents", name: "by-key", path: chain + "/events?limit=2&from_block=0&to_block=40&topic1=0x0&topic0=" + felt.Selector("Transfer").String()},
		{dir: "searchEvents", name: "wide", path: chain + "/events?limit=2&from_block=0&to_block=20000&topic1=0x0&topic0=" + felt.Selector("Transfer").String(),
			headers: []string{"X-Service-Api-Key", g.WalletKey()}},
		{dir: "searchEvents", name: "nothing", path: chain + "/events?topic0=0x1234"},
		{dir: "listContractEvents", name: "first-page", path: chain + "/contract/" + block.Receipts[0].Events[0].From.String() + "/events?limit=2"},
		{dir: "getContract", name: "token", path: chain + "/contract/" + contracts.STRK.String()},
		{dir: "getContract", name: "account", path: chain + "/contract/" + g.Chain.Accounts(40)[2].String()},
		{dir: "getContract", name: "by-deployer", path: chain + "/contract/" + g.someToken(simnode.ERC721)},
		{dir: "listBridgeSignals", name: "first-page", path: chain + "/contract/" + contracts.STRKBridge.String() + "/bridge-signals?limit=2"},
		{dir: "listBridgeSignals", name: "not-a-bridge", path: chain + "/contract/" + contracts.STRK.String() + "/bridge-signals"},
		{dir: "getAddress", name: "account", path: chain + "/address/" + g.Chain.Accounts(40)[0].String()},
		{dir: "getAddress", name: "unknown", path: chain + "/address/0x1234"},
		{dir: "listAddressTransactions", name: "first-page", path: chain + "/address/" + g.Chain.Accounts(40)[0].String() + "/transactions?limit=2"},
		{dir: "listAddressActivity", name: "first-page", path: chain + "/address/" + g.Chain.Accounts(40)[0].String() + "/activity?limit=3"},
		{dir: "listAddressTransfers", name: "received", path: chain + "/address/" + g.Chain.Accounts(40)[0].String() + "/transfers?limit=2&direction=in"},
		{dir: "discoverAssets", name: "first-page", path: chain + "/address/" + g.Chain.Accounts(40)[0].String() + "/assets/discovery?limit=3"},
		{dir: "listMessages", name: "first-page", path: chain + "/messages?limit=3"},
		{dir: "listContractMessages", name: "to-l1", path: chain + "/contract/" + g.Chain.Messages(0, 44)[0].To.String() + "/messages?limit=2"},
		{dir: "getMessage", name: "handled", path: fmt.Sprintf("%s/message/0x%x", chain, g.Chain.Messages(0, 44)[0].Hash)},
		{dir: "getTokenTotalSupply", name: "by-number", path: chain + "/token/" + contracts.STRK.String() + "/total-supply?block_tag=12"},
		{dir: "getTokenTotalSupply", name: "latest", path: chain + "/token/" + contracts.STRK.Padded() + "/total-supply"},
		{dir: "getTokenBalance", name: "by-hash", path: chain + "/token/" + contracts.STRK.String() + "/balance-of/" + contracts.Sequencer.String() + "?block_tag=" + block.Hash.String()},
		{dir: "getTokenBalance", name: "pending", path: chain + "/token/" + contracts.STRK.String() + "/balance-of/0x1?block_tag=pending"},
		{dir: "getTokenControls", name: "upgradeable", path: chain + "/token/" + contracts.STRK.String() + "/controls"},
		{dir: "getTokenControls", name: "proxy", path: chain + "/token/" + g.Chain.Network().DAI.String() + "/controls"},
		{dir: "listTokenPools", name: "first-page", path: chain + "/token/" + contracts.STRK.String() + "/markets/pools?limit=2", headers: []string{"X-Service-Api-Key", g.Partner}},
		{dir: "listTokenPools", name: "nothing-read", path: "/v1/SN_YOUNG/token/" + contracts.STRK.String() + "/markets/pools", headers: []string{"X-Service-Api-Key", g.Partner}},
		{dir: "listTokenHolders", name: "first-page", path: chain + "/token/" + contracts.STRK.String() + "/holders?limit=2", headers: []string{"X-Service-Api-Key", g.Partner}},
		{dir: "screenTokenHolders", name: "top", path: chain + "/token/" + contracts.STRK.String() + "/holders/screening?limit=2", headers: []string{"X-Service-Api-Key", g.Partner}},
		{dir: "getTokenHolderAnalytics", name: "current", path: chain + "/token/" + contracts.STRK.String() + "/holders/analytics", headers: []string{"X-Service-Api-Key", g.Partner}},
		{dir: "readContract", name: "decimals", path: chain + "/contract/" + contracts.STRK.String() + "/read?selector=" + felt.Selector("decimals").String()},
		{dir: "readContract", name: "calldata", path: chain + "/contract/" + contracts.STRK.String() + "/read?block_tag=12&calldata=" + contracts.Sequencer.String() + "&selector=" + felt.Selector("balance_of").String()},
		{dir: "getToken", name: "erc20", path: chain + "/token/" + g.Chain.Network().USDC.String()},
		{dir: "getToken", name: "erc721", path: chain + "/token/" + g.someToken(simnode.ERC721)},
		{dir: "listTokenTransfers", name: "first-page", path: chain + "/token/" + g.Chain.Network().USDC.String() + "/transfers?limit=2"},
		{dir: "listTokenTransfers", name: "erc1155", path: chain + "/token/" + g.someToken(simnode.ERC1155) + "/transfers?limit=2"},
		{dir: "listTransfers", name: "first-page", path: chain + "/transfers?limit=2"},
		{dir: "listTransfers", name: "mints-of-nfts", path: chain + "/transfers?limit=1&type=nft&direction=out&address=0x0"},
		{dir: "listTransfers", name: "nothing", path: chain + "/transfers?symbol=nobody"},
		{dir: "listClasses", name: "first-page", path: chain + "/classes?limit=2"},
		{dir: "listClasses", name: "newest", path: chain + "/classes?limit=2&sort=declared_at_desc"},
		{dir: "getClass", name: "cairo0", path: chain + "/class/" + contracts.Classes().AccountCairo0.Hash.String() + "?instanceLimit=2"},
		{dir: "getClass", name: "sierra", path: chain + "/class/" + contracts.Classes().Account.Hash.String() + "?instanceLimit=2&instanceSort=newest_desc"},
		{dir: "listContractClasses", name: "token", path: chain + "/contract/" + contracts.STRK.String() + "/classes"},
		{dir: "getContractEntrypoints", name: "token", path: chain + "/contract/" + contracts.STRK.String() + "/entrypoints?block_tag=20"},
		{dir: "search", name: "number", path: chain + "/search?q=4"},
		{dir: "search", name: "block", path: chain + "/search?q=" + block.Hash.String()},
		{dir: "search", name: "transaction", path: chain + "/search?q=" + block.Transactions[0].Hash.String()},
		{dir: "search", name: "nothing", path: chain + "/search?q=0x1234"},
		{dir: "getCapabilities", name: "key", path: "/v1/meta/capabilities"},
		{dir: "listChains", name: "all", path: "/v1/meta/chains"},
	}
	etag := g.Do(http.MethodGet, chain+"/block/4", g.Key).Header.Get("ETag")
	cases = append(cases, goldenCase{dir: "getBlock", name: "not-modified", path: chain + "/block/4", headers: []string{"If-None-Match", etag}})
	// One transaction of each kind.
	seen := map[string]bool{}
	for n := range uint64(45) {
		b := g.Chain.BlockAt(n)
		for i := range b.Transactions {
			t, r := &b.Transactions[i], &b.Receipts[i]
			kind := strings.ToLower(strings.ReplaceAll(t.Type.String(), "_", "-"))
			if len(r.MessagesSent) > 0 {
				kind += "-with-message"
			}
			if r.Execution == starknet.Reverted {
				kind += "-reverted"
			}
			if !seen[kind] && len(t.Calldata) < 40 && len(r.Events) < 12 {
				seen[kind] = true
				cases = append(cases, goldenCase{dir: "getTransaction", name: kind, path: chain + "/tx/" + t.Hash.String()})
			}
		}
	}
	for _, kind := range []string{"invoke", "declare", "deploy-account", "l1-handler", "invoke-with-message", "invoke-reverted"} {
		if !seen[kind] {
			g.T.Errorf("the chain has no %s", kind)
		}
	}
	return cases
}

// failures are requests for every code that a caller can cause.
func (g *golden) failures() []goldenCase {
	chain := "/v1/" + chainID
	var p page
	g.Get("/blocks?limit=2", &p)
	cursor := *p.NextCursor
	none, revoked := g.NewKey(account.Prove), g.RevokedKey()
	return []goldenCase{
		{dir: "invalid_request", name: "limit-text", path: chain + "/blocks?limit=ten"},
		{dir: "invalid_request", name: "unknown-parameter", path: chain + "/blocks?lim=2"},
		{dir: "invalid_request", name: "repeated-parameter", path: chain + "/blocks?limit=2&limit=3"},
		{dir: "invalid_request", name: "malformed-query", path: chain + "/blocks?limit=%zz"},
		{dir: "invalid_request", name: "block", path: chain + "/block/seven"},
		{dir: "invalid_request", name: "block-hash", path: chain + "/block/0xseven"},
		{dir: "invalid_request", name: "transaction-hash", path: chain + "/tx/7"},
		{dir: "invalid_request", name: "token", path: chain + "/token/STRK"},
		{dir: "invalid_request", name: "direction", path: chain + "/transfers?direction=in"},
		{dir: "invalid_request", name: "timestamp", path: chain + "/block-at-timestamp?timestamp=yesterday"},
		{dir: "invalid_request", name: "closest", path: chain + "/block-at-timestamp?timestamp=0&closest=near"},
		{dir: "invalid_request", name: "missing-parameter", path: chain + "/search"},
		{dir: "invalid_request", name: "entrypoints-pending", path: chain + "/contract/" + contracts.STRK.String() + "/entrypoints?block_tag=pending"},
		{dir: "invalid_request", name: "class-sort", path: chain + "/classes?sort=name"},
		{dir: "invalid_request", name: "event-name", path: chain + "/events?topic0=Transfer"},
		{dir: "invalid_request", name: "event-filter", path: chain + "/events"},
		{dir: "invalid_request", name: "event-range", path: chain + "/events?topic0=0x1&topic1=0x2&from_block=0&to_block=10000"},
		{dir: "full_range_selector_not_supported", name: "selector", path: chain + "/events?topic0=0x1&topic1=0x2&from_block=0&to_block=10000",
			headers: []string{"X-Service-Api-Key", g.WalletKey()}},
		{dir: "event_key_index_coverage_unavailable", name: "building", path: "/v1/SN_YOUNG/events?topic1=0x2&from_block=0&to_block=10000&topic0=" + felt.Selector("Transfer").String(),
			headers: []string{"X-Service-Api-Key", g.WalletKey()}},
		{dir: "invalid_cursor", name: "changed", path: chain + "/blocks?cursor=" + cursor[:len(cursor)-4] + "AAAA"},
		{dir: "invalid_cursor", name: "of-another-route", path: chain + "/txs?cursor=" + cursor},
		{dir: "conflicting_api_key_headers", name: "both", path: chain + "/status", headers: []string{"X-Service-Api-Key", g.Key, "X-Api-Key", g.Key}},
		{dir: "malformed_api_key_header", name: "bearer", path: chain + "/status", headers: []string{"X-Service-Api-Key", "Bearer " + g.Key}},
		{dir: "malformed_api_key_header", name: "quoted", path: chain + "/status", headers: []string{"X-Api-Key", `"password"`}},
		{dir: "unauthorized", name: "not-a-key", path: chain + "/status", headers: []string{"X-Api-Key", "password"}},
		{dir: "unauthorized", name: "no-key", path: chain + "/status"},
		{dir: "unauthorized", name: "revoked", path: chain + "/status", headers: []string{"X-Service-Api-Key", revoked}},
		{dir: "forbidden", name: "scope", path: chain + "/status", headers: []string{"X-Service-Api-Key", none}},
		{dir: "not_found", name: "block", path: chain + "/block/99999"},
		{dir: "not_found", name: "block-hash", path: chain + "/block/0x1234"},
		{dir: "not_found", name: "transaction", path: chain + "/tx/0x1234"},
		{dir: "not_found", name: "contract", path: chain + "/contract/0x1234"},
		{dir: "not_found", name: "verification", path: chain + "/contract/" + contracts.STRK.String() + "/verification"},
		{dir: "not_found", name: "message", path: chain + "/message/0x1234"},
		{dir: "not_found", name: "timestamp", path: chain + "/block-at-timestamp?timestamp=2020-01-01T00:00:00Z"},
		{dir: "forbidden", name: "partner-route", path: chain + "/token/" + contracts.STRK.String() + "/markets/pools"},
		{dir: "unqualified_token_policy", name: "holders", path: chain + "/token/" + g.unqualified().String() + "/holders", headers: []string{"X-Service-Api-Key", g.Partner}},
		{dir: "not_found", name: "token", path: chain + "/token/0x1234/controls"},
		{dir: "not_found", name: "class", path: chain + "/class/0x1234"},
		{dir: "not_found", name: "contract-classes", path: chain + "/contract/0x1234/classes"},
		{dir: "not_found", name: "chain", path: "/v1/SN_OTHER/status"},
		{dir: "not_found", name: "meta-is-no-chain", path: "/v1/meta/status"},
		{dir: "invalid_request", name: "block-tag", path: chain + "/token/" + contracts.STRK.String() + "/total-supply?block_tag=newest"},
		{dir: "not_found", name: "block-tag-number", path: chain + "/token/" + contracts.STRK.String() + "/total-supply?block_tag=99999"},
		{dir: "not_found", name: "block-tag-hash", path: chain + "/token/" + contracts.STRK.String() + "/total-supply?block_tag=0x1234"},
		{dir: "not_found", name: "contract-read", path: chain + "/contract/0x1234/read?selector=0x1"},
		{dir: "not_found", name: "entry-point", path: chain + "/contract/" + contracts.STRK.String() + "/read?selector=0x1"},
		{dir: "not_found", name: "token-function", path: chain + "/token/" + contracts.CurrentUDC.String() + "/total-supply"},
		{dir: "not_found", name: "token-contract", path: chain + "/token/0x1234/balance-of/0x1"},
		{dir: "contract_call_reverted", name: "read", path: chain + "/contract/" + contracts.STRK.String() + "/read?selector=" + felt.Selector("balance_of").String()},
		{dir: "service_unavailable", name: "no-node", path: "/v1/SN_YOUNG/token/" + contracts.STRK.String() + "/total-supply"},
		{dir: "unsupported_route", name: "no-key-unknown", path: chain + "/nothing"},
		{dir: "unsupported_route", name: "no-key-trailing-slash", path: chain + "/status/"},
		{dir: "method_not_allowed", name: "no-key-delete", method: http.MethodDelete, path: chain + "/status"},
		{dir: "uri_too_long", name: "no-key-query", path: chain + "/search?q=" + strings.Repeat("1", 33_000)},
		{dir: "service_unavailable", name: "nothing-indexed", path: "/v1/SN_MAIN/blocks"},
	}
}

// batches are requests with bodies, good ones and bad ones.
func (g *golden) batches() []goldenCase {
	chain := "/v1/" + chainID
	post := func(dir, name, path, body string) goldenCase {
		return goldenCase{dir: dir, name: name, method: http.MethodPost, path: chain + path, body: body}
	}
	account, tx := g.Chain.Accounts(40)[0].String(), g.Chain.BlockAt(4).Transactions[0].Hash.String()
	many := `{"addresses":["0x1"` + strings.Repeat(`,"0x1"`, 128) + `]}`
	return []goldenCase{
		post("summarizeAddresses", "two", "/address/summaries", `{"addresses":["`+account+`","0x1234"]}`),
		post("describeAddresses", "two", "/address/intelligence", `{"addresses":["`+account+`","`+contracts.STRK.String()+`"]}`),
		post("previewTransactions", "two", "/tx/previews", `{"hashes":["`+tx+`","0x1234"],"includeLogs":true,"logLimitPerTx":1}`),
		post("getWalletState", "explicit", "/query/wallet-state", `{"ownerAddress":"`+account+`","scope":"explicit","tokenAddresses":["`+contracts.STRK.String()+`"],"blockPreference":"explicit","blockNumber":12,"include":{"nonce":true,"classHash":true}}`),
		post("callRpc", "block-number", "/rpc", `{"jsonrpc":"2.0","id":1,"method":"starknet_blockNumber"}`),
		post("callRpc", "receipt", "/rpc", `{"jsonrpc":"2.0","id":"a","method":"starknet_getTransactionReceipt","params":["`+tx+`"]}`),
		post("invalid_request", "batch-key", "/address/summaries", `{"wallets":["0x1"]}`),
		post("invalid_request", "batch-hashes-key", "/tx/previews", `{"txHashes":["0x1"]}`),
		post("invalid_request", "batch-address", "/address/intelligence", `{"addresses":["0x1","seven"]}`),
		post("invalid_request", "batch-too-many", "/address/summaries", many),
		post("invalid_request", "batch-empty", "/address/summaries", `{"addresses":[]}`),
	}
}

// unqualified is a token that nobody has looked at.
func (g *golden) unqualified() felt.Felt {
	for _, token := range g.Chain.Tokens(30) {
		if _, known := g.Known.Chain(chainID).Token(token.Address); !known {
			return token.Address
		}
	}
	g.T.Fatal("every token is known")
	return felt.Felt{}
}
