package kernel_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// TestRefusalsHelp: a refusal says what is wrong, where, and what would be right.
func TestRefusalsHelp(t *testing.T) {
	w := sharedWorld(t, 41)
	chain := "/v1/" + chainID
	large := "0x" + strings.Repeat("f", 64)
	prime := "0x800000000000011000000000000000000000000000000000000000000000001"
	hash := w.Chain.BlockAt(2).Transactions[0].Hash.String()
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
		r := w.Send(w.Request(c.method, c.path, c.body))
		e := r.Envelope()
		if r.StatusCode != c.status || e.Code != c.code {
			t.Errorf("%s %s: %d %s", c.method, c.path, r.StatusCode, r.Body)
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
	for path, to := range map[string]string{"/docs/": "/docs", "/docs/api/": "/docs/api", "/docs/api/auth/": "/docs/api/auth",
		"/docs/?q=\xe9\xff&r=%41": "/docs?q=%E9%FF&r=%41", "/docs/?<\\>\"`^{|}": "/docs?%3C%5C%3E%22%60%5E%7B%7C%7D"} {
		servertest.Expect(t, w.Do(http.MethodGet, path, ""), 308, "", map[string]string{"Location": to})
	}
}

// goWords are those that only a Go programmer knows.
var goWords = regexp.MustCompile(`\b(u?int(8|16|32|64)|float64|struct|unmarshal|Go value|strconv|json:|big\.Int|\[\]string)\b`)

// TestWholeNumbers are whole numbers however they are spelled, and a limit that is
// too large for a machine is too large like any other.
func TestWholeNumbers(t *testing.T) {
	w := sharedWorld(t, 41)
	chain := "/v1/" + chainID
	for a, b := range map[string]string{
		"/blocks?limit=5.0": "/blocks?limit=5", "/blocks?limit=5e0": "/blocks?limit=5", "/blocks?limit=50E-1": "/blocks?limit=5", "/txs?limit=1e1": "/txs?limit=10",
		"/blocks?limit=99999999999999999999": "/blocks?limit=200", "/blocks?limit=-99999999999999999999": "/blocks?limit=1",
		"/blocks?limit=" + strings.Repeat("9", 500): "/blocks?limit=200", "/blocks?limit=1e30": "/blocks?limit=200",
		"/search?q=5.0":                          "/search?q=5",
		"/transfers?from_block=3.0&to_block=9e0": "/transfers?from_block=3&to_block=9",
	} {
		x, y := w.Do(http.MethodGet, chain+a, w.Key), w.Do(http.MethodGet, chain+b, w.Key)
		if x.StatusCode != 200 || string(x.Body) != string(y.Body) {
			t.Errorf("%s: %d %.200s, want %.200s", a, x.StatusCode, x.Body, y.Body)
		}
	}
	// In a path a block has one spelling.
	for _, ref := range []string{"1e1", "5.0", "5e0", "50e-1", "-0", "+5", "5E0", "0.5e1"} {
		for _, path := range []string{"/block/" + ref, "/block/" + ref + "/txs"} {
			servertest.Expect(t, w.Do(http.MethodGet, chain+path, w.Key), 400, kernel.CodeInvalidRequest, nil)
		}
	}
	owner := w.Chain.Accounts(40)[0].String()
	state := func(limit, number string) string {
		return string(w.Send(w.Request(http.MethodPost, chain+"/query/wallet-state",
			`{"ownerAddress":"`+owner+`","blockPreference":"explicit","blockNumber":`+number+`,"limit":`+limit+`}`, "X-Request-Id", "same")).Body)
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
	w := sharedWorld(t, 41)
	ask := func(at string) reply {
		return w.Do(http.MethodGet, "/v1/"+chainID+"/block-at-timestamp?closest=after&timestamp="+strings.ReplaceAll(at, "+", "%2B"), w.Key)
	}
	want := string(ask("2026-01-01T00:00:00Z").Body)
	for _, same := range []string{"2026-01-01t00:00:00z", "2026-01-01T00:00:00+00:00", "2025-12-31T23:59:60Z", "2026-01-01T05:29:60+05:30", "2026-01-01T23:59:00+23:59", "1767225600", "1767225600.0"} {
		if r := ask(same); r.StatusCode != 200 || string(r.Body) != want {
			t.Errorf("%s: %d %s", same, r.StatusCode, r.Body)
		}
	}
	for _, bad := range []string{"2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+00:60", "2026-01-01T00:00:60Z", "2026-01-15T23:59:60Z", "2026-01-01T00:00:61Z", "2026-01-01T0:00:00Z",
		"2026-01-01T00:00:00,5Z", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01%2000:00:00Z"} {
		if r := ask(bad); r.StatusCode != 400 || !strings.Contains(r.Envelope().Message, "query.timestamp: ") {
			t.Errorf("%s: %d %s", bad, r.StatusCode, r.Body)
		}
	}
}

// TestCompressedBodies are read when they are what they say.
func TestCompressedBodies(t *testing.T) {
	w := servertest.NewHooked(t)
	var zipped, bomb bytes.Buffer
	for to, text := range map[*bytes.Buffer]string{&zipped: `{"items":["a"]}`, &bomb: `{"items":["` + strings.Repeat("a", 1000) + `"]}`} {
		z := gzip.NewWriter(to)
		fmt.Fprint(z, text)
		z.Close() //nolint:errcheck // a buffer
	}
	post := func(body, encoding string) reply {
		return w.Send(w.Request(http.MethodPost, "/v1/test/write", body, "Content-Encoding", encoding))
	}
	servertest.Expect(t, post(zipped.String(), "gzip"), 200, "", nil)
	servertest.Expect(t, post(zipped.String(), "GZIP"), 200, "", nil)
	servertest.Expect(t, post(`{"items":["a"]}`, "identity"), 200, "", nil)
	servertest.Expect(t, post(`{"items":["a"]}`, "gzip"), 400, kernel.CodeInvalidRequest, nil)
	servertest.Expect(t, post(zipped.String()[:20], "gzip"), 400, kernel.CodeInvalidRequest, nil)
	servertest.Expect(t, post(bomb.String(), "gzip"), 413, kernel.CodePayloadTooLarge, nil)
	servertest.Expect(t, post(`{"items":["a"]}`, "br"), 415, kernel.CodeUnsupportedMedia, map[string]string{"Accept-Encoding": "gzip"})
	servertest.Expect(t, post(zipped.String(), "gzip, gzip"), 415, kernel.CodeUnsupportedMedia, nil)
}

// TestCodesAreExplained reads the table: every code has a page and says what to do.
func TestCodesAreExplained(t *testing.T) {
	slug := regexp.MustCompile(`^api/[a-z-]+$`)
	for reason, info := range kernel.Reasons {
		if _, ok := kernel.Codes[info.Code]; !ok || !slug.MatchString(info.Slug) || !strings.HasSuffix(info.Cause, ".") || !strings.HasSuffix(info.Cure, ".") {
			t.Errorf("%s: %+v", reason, info)
		}
	}
	for code, info := range kernel.Codes {
		if info.Status < 400 || info.Status > 599 || !slug.MatchString(info.Slug) || info.Title == "" || !strings.HasSuffix(info.Cause, ".") || !strings.HasSuffix(info.Cure, ".") {
			t.Errorf("%s: %+v", code, info)
		}
	}
}
