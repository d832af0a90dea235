package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/store"
)

// TestRefusalsHelp: a refusal says what is wrong, where, and what would be right.
func TestRefusalsHelp(t *testing.T) {
	w := newWorld(t, 41)
	chain := "/v1/" + chainID
	large := "0x" + strings.Repeat("f", 64)
	prime := "0x800000000000011000000000000000000000000000000000000000000000001"
	hash := w.chain.BlockAt(2).Transactions[0].Hash.String()
	for _, c := range []struct {
		method, path, body string
		status             int
		code               kernel.Code
		says               []string
	}{
		{"DELETE", chain + "/status", "", 405, kernel.CodeMethodNotAllowed, []string{"GET, HEAD and OPTIONS"}},
		{"GET", chain + "/query/wallet-state", "", 405, kernel.CodeMethodNotAllowed, []string{"POST and OPTIONS"}},
		{"GET", chain + "/blocks?lim=5", "", 400, kernel.CodeInvalidRequest, []string{"query.lim: ", "limit and cursor"}},
		{"GET", chain + "/status?x=1", "", 400, kernel.CodeInvalidRequest, []string{"query.x: ", "has none"}},
		{"GET", "/v1/SN_OTHER/status", "", 404, kernel.CodeNotFound, []string{"path.chain: ", chainID + " is"}},
		{"GET", chain + "/status/", "", 404, kernel.CodeUnsupportedRoute, []string{"slash", chain + "/status."}},
		{"POST", chain + "/address/summaries/", "", 404, kernel.CodeUnsupportedRoute, []string{"slash"}},
		{"GET", chain + "/search?q=", "", 400, kernel.CodeInvalidRequest, []string{"query.q: ", "is needed", "block number"}},
		{"GET", chain + "/search", "", 400, kernel.CodeInvalidRequest, []string{"query.q: "}},
		{"GET", chain + "/search?q=" + large, "", 400, kernel.CodeInvalidRequest, []string{"query.q: ", "too large"}},
		{"GET", chain + "/tx/" + prime, "", 400, kernel.CodeInvalidRequest, []string{"path.tx_hash: ", "too large"}},
		{"GET", chain + "/block/" + prime, "", 400, kernel.CodeInvalidRequest, []string{"path.number_or_hash: ", "too large"}},
		{"GET", chain + "/address/" + large, "", 400, kernel.CodeInvalidRequest, []string{"path.address: ", "too large"}},
		{"GET", chain + "/token/" + prime + "/total-supply", "", 400, kernel.CodeInvalidRequest, []string{"path.token: ", "too large"}},
		{"GET", chain + "/token/" + prime + "/transfers", "", 400, kernel.CodeInvalidRequest, []string{"path.token: ", "too large"}},
		{"GET", chain + "/class/" + prime, "", 400, kernel.CodeInvalidRequest, []string{"path.class_hash: ", "too large"}},
		{"GET", chain + "/events?topic0=" + prime, "", 400, kernel.CodeInvalidRequest, []string{"query.topic0: ", "too large"}},
		{"GET", chain + "/events?topic0=Transfer", "", 400, kernel.CodeInvalidRequest, []string{"query.topic0: ", "name"}},
		{"GET", chain + "/messages?txHash=" + prime, "", 400, kernel.CodeInvalidRequest, []string{"query.txHash: ", "too large"}},
		{"GET", chain + "/transfers?token=x", "", 400, kernel.CodeInvalidRequest, []string{"query.token: "}},
		{"GET", chain + "/address/x/transfers", "", 400, kernel.CodeInvalidRequest, []string{"path.address: "}},
		{"POST", chain + "/address/summaries", `{"addresses":["` + prime + `"]}`, 400, kernel.CodeInvalidRequest, []string{"body.addresses[0]: ", "too large"}},
		{"POST", chain + "/tx/previews", `{"HASHES":["` + hash + `"]}`, 400, kernel.CodeInvalidRequest, []string{"body"}},
		{"POST", chain + "/address/summaries", `{"Addresses":["0x1"]}`, 400, kernel.CodeInvalidRequest, []string{"body"}},
		{"POST", chain + "/address/summaries", `{"addresses":["0x1"],"addresses":["0x2"]}`, 400, kernel.CodeInvalidRequest, []string{"body.addresses: ", "twice"}},
		{"POST", chain + "/address/summaries", `{"addresses":["0x1"]} {}`, 400, kernel.CodeInvalidRequest, []string{"body: "}},
		{"POST", chain + "/address/summaries", strings.Repeat("[", 40), 400, kernel.CodeInvalidRequest, []string{"body: "}},
		{"POST", chain + "/query/wallet-state", `{"ownerAddress":"0x1","blockPreference":"explicit","blockNumber":99999999999999999999}`, 400, kernel.CodeInvalidRequest, []string{"body.blockNumber: "}},
		{"POST", chain + "/query/wallet-state", `{"ownerAddress":"0x1","limit":5.5}`, 400, kernel.CodeInvalidRequest, []string{"body.limit: "}},
		{"POST", chain + "/query/wallet-state", `{"ownerAddress":"0x1","limit":1e400}`, 400, kernel.CodeInvalidRequest, []string{"body"}},
		{"POST", chain + "/query/wallet-state", `{"ownerAddress":1}`, 400, kernel.CodeInvalidRequest, []string{"body.ownerAddress: "}},
		{"POST", chain + "/query/wallet-state", `{"ownerAddress":null}`, 400, kernel.CodeInvalidRequest, []string{"body.ownerAddress: "}},
	} {
		r := w.send(w.request(c.method, c.path, c.body))
		e := r.envelope()
		if r.StatusCode != c.status || e.Code != c.code {
			t.Errorf("%s %s: %d %s", c.method, c.path, r.StatusCode, r.body)
		}
		for _, part := range c.says {
			if !strings.Contains(e.Message, part) {
				t.Errorf("%s %s %s: %q does not say %q", c.method, c.path, c.body, e.Message, part)
			}
		}
		if goWords.MatchString(e.Message) {
			t.Errorf("%s %s: a word of Go: %s", c.method, c.path, e.Message)
		}
	}
	for path, to := range map[string]string{"/docs/": "/docs", "/docs/api/": "/docs/api", "/docs/api/auth/": "/docs/api/auth"} {
		expect(t, w.do(http.MethodGet, path, ""), 308, "", map[string]string{"Location": to})
	}
}

// goWords are those that only a Go programmer knows.
var goWords = regexp.MustCompile(`\b(u?int(8|16|32|64)|float64|struct|unmarshal|Go value|strconv|json:|big\.Int|\[\]string)\b`)

// TestWholeNumbers are whole numbers however they are spelled, and a limit that is
// too large for a machine is too large like any other.
func TestWholeNumbers(t *testing.T) {
	w := newWorld(t, 41)
	chain := "/v1/" + chainID
	for a, b := range map[string]string{
		"/blocks?limit=5.0": "/blocks?limit=5", "/blocks?limit=5e0": "/blocks?limit=5", "/blocks?limit=50E-1": "/blocks?limit=5", "/txs?limit=1e1": "/txs?limit=10",
		"/blocks?limit=99999999999999999999": "/blocks?limit=200", "/blocks?limit=-99999999999999999999": "/blocks?limit=1",
		"/blocks?limit=" + strings.Repeat("9", 500): "/blocks?limit=200", "/blocks?limit=1e30": "/blocks?limit=200",
		"/search?q=5.0":                          "/search?q=5",
		"/transfers?from_block=3.0&to_block=9e0": "/transfers?from_block=3&to_block=9",
	} {
		x, y := w.do(http.MethodGet, chain+a, w.key), w.do(http.MethodGet, chain+b, w.key)
		if x.StatusCode != 200 || string(x.body) != string(y.body) {
			t.Errorf("%s: %d %.200s, want %.200s", a, x.StatusCode, x.body, y.body)
		}
	}
	// In a path a block has one spelling.
	for _, ref := range []string{"1e1", "5.0", "5e0", "50e-1", "-0", "+5", "5E0", "0.5e1"} {
		for _, path := range []string{"/block/" + ref, "/block/" + ref + "/txs"} {
			expect(t, w.do(http.MethodGet, chain+path, w.key), 400, kernel.CodeInvalidRequest, nil)
		}
	}
	owner := w.chain.Accounts(40)[0].String()
	state := func(limit, number string) string {
		return string(w.send(w.request(http.MethodPost, chain+"/query/wallet-state",
			`{"ownerAddress":"`+owner+`","blockPreference":"explicit","blockNumber":`+number+`,"limit":`+limit+`}`, "X-Request-Id", "same")).body)
	}
	for _, odd := range []string{state("5.0", "12"), state("5e0", "12.0"), state("50e-1", "1.2e1")} {
		if want := state("5", "12"); odd != want {
			t.Errorf("%s\nwant %s", odd, want)
		}
	}
	if got, want := state("99999999999999999999", "12"), state("25", "12"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestTimes: RFC 3339, all of it and no more.
func TestTimes(t *testing.T) {
	w := newWorld(t, 41)
	ask := func(at string) reply {
		return w.do(http.MethodGet, "/v1/"+chainID+"/block-at-timestamp?closest=after&timestamp="+strings.ReplaceAll(at, "+", "%2B"), w.key)
	}
	want := string(ask("2026-01-01T00:00:00Z").body)
	for _, same := range []string{"2026-01-01t00:00:00z", "2026-01-01T00:00:00+00:00", "2025-12-31T23:59:60Z", "2026-01-01T05:29:60+05:30", "2026-01-01T23:59:00+23:59", "1767225600", "1767225600.0"} {
		if r := ask(same); r.StatusCode != 200 || string(r.body) != want {
			t.Errorf("%s: %d %s", same, r.StatusCode, r.body)
		}
	}
	for _, bad := range []string{"2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+00:60", "2026-01-01T00:00:60Z", "2026-01-15T23:59:60Z", "2026-01-01T00:00:61Z", "2026-01-01T0:00:00Z",
		"2026-01-01T00:00:00,5Z", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01%2000:00:00Z"} {
		if r := ask(bad); r.StatusCode != 400 || !strings.Contains(r.envelope().Message, "query.timestamp: ") {
			t.Errorf("%s: %d %s", bad, r.StatusCode, r.body)
		}
	}
}

// TestCompressedBodies are read when they are what they say.
func TestCompressedBodies(t *testing.T) {
	w := newHooked(t)
	var zipped, bomb bytes.Buffer
	for to, text := range map[*bytes.Buffer]string{&zipped: `{"items":["a"]}`, &bomb: `{"items":["` + strings.Repeat("a", 1000) + `"]}`} {
		z := gzip.NewWriter(to)
		fmt.Fprint(z, text)
		z.Close() //nolint:errcheck // a buffer
	}
	post := func(body, encoding string) reply {
		return w.send(w.request(http.MethodPost, "/v1/test/write", body, "Content-Encoding", encoding))
	}
	expect(t, post(zipped.String(), "gzip"), 200, "", nil)
	expect(t, post(zipped.String(), "GZIP"), 200, "", nil)
	expect(t, post(`{"items":["a"]}`, "identity"), 200, "", nil)
	expect(t, post(`{"items":["a"]}`, "gzip"), 400, kernel.CodeInvalidRequest, nil)
	expect(t, post(zipped.String()[:20], "gzip"), 400, kernel.CodeInvalidRequest, nil)
	expect(t, post(bomb.String(), "gzip"), 413, kernel.CodePayloadTooLarge, nil)
	expect(t, post(`{"items":["a"]}`, "br"), 415, kernel.CodeUnsupportedMedia, map[string]string{"Accept-Encoding": "gzip"})
	expect(t, post(zipped.String(), "gzip, gzip"), 415, kernel.CodeUnsupportedMedia, nil)
}

// TestOneCodeForOneCondition: what is not there is not_found on every route, and a
// reason tells what it is.
func TestOneCodeForOneCondition(t *testing.T) {
	w := newWorld(t, 30, func(o *options) { o.Chains[0].Node = nil })
	strk := w.chain.Tokens(29)[0].Address.String()
	for _, path := range []string{"/block/9999", "/block/0x1", "/block/9999/txs", "/token/" + strk + "/total-supply?block_tag=9999", "/token/" + strk + "/balance-of/0x1?block_tag=0x1",
		"/contract/" + strk + "/entrypoints?block_tag=9999", "/contract/" + strk + "/read?selector=0x1&block_tag=9999", "/block-at-timestamp?timestamp=0"} {
		r := w.do(http.MethodGet, "/v1/"+chainID+path, w.key)
		if e := r.envelope(); r.StatusCode != 404 || e.Code != kernel.CodeNotFound || e.Reason != kernel.ReasonBlockNotFound {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.body)
		}
	}
	r := w.send(w.request(http.MethodPost, "/v1/"+chainID+"/query/wallet-state", `{"ownerAddress":"0x1","blockPreference":"explicit","blockNumber":9999}`))
	if e := r.envelope(); r.StatusCode != 404 || e.Code != kernel.CodeNotFound || e.Reason != kernel.ReasonBlockNotFound {
		t.Errorf("wallet state: %d %s", r.StatusCode, r.body)
	}
	for _, path := range []string{"/token/" + strk + "/total-supply", "/contract/" + strk + "/read?selector=0x1"} {
		if r := w.do(http.MethodGet, "/v1/"+chainID+path, w.key); r.StatusCode != 503 || !nodeIsAway(r) || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.body)
		}
	}
}

// away is a store whose server cannot be reached.
type away struct{ explorer.Index }

func (away) View(context.Context, func(store.Reader) error) error {
	return fmt.Errorf("begin a view: %w: connection refused", store.ErrUnavailable)
}

// TestDatabaseAway: it is a passing trouble, not a fault.
func TestDatabaseAway(t *testing.T) {
	w := newWorld(t, 5, func(o *options) { o.Chains[0].Store = away{o.Chains[0].Store} })
	for _, path := range []string{"/status", "/blocks", "/block/3", "/tx/0x1", "/events?topic0=0x1", "/transfers", "/address/0x1", "/token/0x1", "/search?q=1"} {
		expect(t, w.do(http.MethodGet, "/v1/"+chainID+path, w.key), 503, kernel.CodeServiceUnavailable, map[string]string{"Retry-After": "2"})
	}
	expect(t, w.do(http.MethodGet, "/readyz", ""), 503, "", nil)
	expect(t, w.do(http.MethodGet, "/docs/api", ""), 200, "", nil)
}

// TestCursorOfTheNewestBlock: a list of latest goes on in the block that it began
// with, when there is a newer one.
func TestCursorOfTheNewestBlock(t *testing.T) {
	w := newWorld(t, 41)
	head, _ := w.chain.Head()
	for len(w.chain.BlockAt(head).Transactions) < 3 {
		w.chain.Extend(1)
		head, _ = w.chain.Head()
	}
	w.catchUp()
	first := w.chain.BlockAt(head)
	var hashes []felt.Felt
	cursor := ""
	for page := 0; page == 0 || cursor != ""; page++ {
		var p struct {
			Items []struct {
				TxHash felt.Felt `json:"txHash"`
			}
			NextCursor string
		}
		w.get("/block/latest/txs?limit=1&cursor="+cursor, &p)
		for _, item := range p.Items {
			hashes = append(hashes, item.TxHash)
		}
		cursor = p.NextCursor
		w.chain.Extend(1) // the newest block is another one now
		w.catchUp()
	}
	if len(hashes) != len(first.Transactions) {
		t.Fatalf("%d transactions, want %d", len(hashes), len(first.Transactions))
	}
	for i, h := range hashes {
		if h != first.Transactions[i].Hash {
			t.Errorf("transaction %d is %s, want %s", i, h, first.Transactions[i].Hash)
		}
	}
	// After a fork there is nothing to go on in.
	var p struct{ NextCursor string }
	for p.NextCursor == "" {
		w.chain.Extend(1)
		w.catchUp()
		w.get("/block/latest/txs?limit=1", &p)
	}
	w.chain.Fork(2)
	w.chain.Extend(1)
	w.catchUp()
	expect(t, w.do(http.MethodGet, "/v1/"+chainID+"/block/latest/txs?limit=1&cursor="+p.NextCursor, w.key), 400, kernel.CodeInvalidCursor, nil)
}

// TestEveryListChecksItsCursor: also where there is nothing to list.
func TestEveryListChecksItsCursor(t *testing.T) {
	w := newWorld(t, 30)
	var blocks struct{ NextCursor string }
	w.get("/blocks?limit=1", &blocks)
	strk := w.chain.Tokens(29)[0].Address.String()
	lists := 0
	for path, item := range w.server.OpenAPI().Paths {
		if item.Get == nil {
			continue
		}
		name := ""
		for _, p := range item.Get.Parameters {
			if p.In == "query" && strings.HasSuffix(strings.ToLower(p.Name), "cursor") {
				name = p.Name
			}
		}
		if name == "" {
			continue
		}
		lists++
		for _, address := range []string{"0x1234", strk} {
			target := strings.NewReplacer("{chain}", chainID, "{address}", address, "{token}", address, "{number_or_hash}", "3", "{class_hash}", address, "{message_hash}", address).Replace(path)
			for _, cursor := range []string{"made-up", blocks.NextCursor} {
				if strings.HasSuffix(path, "/blocks") && cursor == blocks.NextCursor {
					continue
				}
				query := "?" + name + "=" + cursor
				if strings.HasSuffix(path, "/events") {
					query += "&topic0=0x1"
				}
				r := w.do(http.MethodGet, target+query, w.partner)
				if e := r.envelope(); e.Code != kernel.CodeInvalidCursor && r.StatusCode != 404 && r.StatusCode != 422 {
					t.Errorf("%s: %d %.200s", target+query, r.StatusCode, r.body)
				}
			}
		}
	}
	if lists < 10 {
		t.Errorf("only %d lists were found", lists)
	}
	expect(t, w.do(http.MethodGet, "/v1/"+chainID+"/contract/0x1234/bridge-signals?cursor=x", w.key), 400, kernel.CodeInvalidCursor, nil)
	expect(t, w.do(http.MethodGet, "/v1/"+chainID+"/contract/0x1234/bridge-signals?cursor=", w.key), 200, "", nil)
}
