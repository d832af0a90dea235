package upstream_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/relay/upstream"
	"chainexplorer/internal/simprover"
)

// params is a request as callers write it: with spaces, and members in their own order.
func params(size int) []byte {
	data := strings.Repeat(`"0x123456789abcdef",`, size/20)
	return []byte(`{ "transaction": {"type":"INVOKE","version":"0x3","sender_address":"0x1","calldata":[` + data + `"0x2"],
		"signature":["0x1","0x2"],"nonce":"0x0","resource_bounds":{"l1_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"},
		"l2_gas":{"max_amount":"0x5f5e100","max_price_per_unit":"0x0"},"l1_data_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"}},
		"tip":"0x0","paymaster_data":[],"account_deployment_data":[],"nonce_data_availability_mode":"L1",
		"fee_data_availability_mode":"L1"}, "block_id":{"block_number":7} }`)
}

func serve(t *testing.T, o upstream.Options) (*simprover.Prover, *upstream.Prover) {
	t.Helper()
	sim := simprover.New(simprover.Options{MaxBody: 64 << 20})
	server := httptest.NewServer(sim)
	t.Cleanup(server.Close)
	o.URL = server.URL
	p, err := upstream.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return sim, p
}

// TestOutcomes holds every answer and fault of a prover against what the relay must make
// of it. A request that the prover heard is heard once.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	type want struct {
		kind  upstream.Kind
		class string
		code  int64
		alert bool
		heard int
	}
	refused := func(code int64) want { return want{upstream.Refused, "refused", code, false, 1} }
	absorbed := func(class string, alert bool) want { return want{upstream.Unavailable, class, 0, alert, 1} }
	unknown := func(class string) want { return want{upstream.Unknown, class, 0, false, 1} }
	busy := func(class string) want { return want{upstream.Busy, class, 0, false, 1} }
	succeeded := want{upstream.Succeeded, "result", 0, false, 1}
	unsent := want{upstream.Unsent, "write", 0, false, 0}
	table := map[simprover.Answer]want{
		simprover.Proof: succeeded, simprover.Screened: succeeded, simprover.Gzip: succeeded, simprover.WrongType: succeeded,
		simprover.BlockNotFound: refused(24), simprover.Invalid: refused(55), simprover.OldVersion: refused(61),
		simprover.BadInput: refused(1000), simprover.BadType: refused(1001),
		simprover.Blocked:    {upstream.Refused, "screening", 10000, false, 1},
		simprover.Sanctioned: {upstream.Refused, "screening", 10000, false, 1},
		simprover.Reverted:   {upstream.Refused, "reverted", -32603, false, 1},
		simprover.Internal:   absorbed("internal", false), simprover.Bare: absorbed("internal", false),
		simprover.OddData: absorbed("internal", false), simprover.BusyNow: busy("busy"),
		simprover.BadParams: absorbed("not_understood", true), simprover.NoMethod: absorbed("not_understood", true),
		simprover.NodeCode: absorbed("node", true), simprover.OtherCode: absorbed("other", true),
		simprover.HTTP302: absorbed("http_3xx", true), simprover.HTTP404: absorbed("http_404", true),
		simprover.HTTP413: absorbed("http_413", true), simprover.HTTP429: busy("http_429"), simprover.HTTP503: busy("http_503"),
		simprover.HTTP500: unknown("http_500"), simprover.HTTP502: unknown("http_502"), simprover.HTTP504: unknown("http_504"),
		simprover.Early: {upstream.Unavailable, "http_413", 0, true, 0},
		simprover.HTML:  unknown("unreadable"), simprover.Empty: unknown("unreadable"), simprover.NoResult: unknown("unreadable"),
		simprover.NoProof: unknown("unreadable"), simprover.WrongID: unknown("unreadable"), simprover.Twice: unknown("unreadable"),
		simprover.Half: unknown("unreadable"), simprover.HalfChunked: unknown("unreadable"), simprover.HalfGzip: unknown("unreadable"),
		simprover.Unpackable: unknown("unreadable"), simprover.Huge: unknown("unreadable"), simprover.Drip: unknown("unreadable"),
		simprover.Silence:     unknown("timeout"),
		simprover.ResetBefore: unsent, simprover.ResetDuring: unsent,
		simprover.ResetAfter: unknown("no_answer"), simprover.CloseAfter: unknown("no_answer"),
	}
	for _, a := range simprover.Answers {
		t.Run(string(a), func(t *testing.T) {
			t.Parallel()
			w, ok := table[a]
			if !ok {
				t.Fatal("the table does not say what becomes of this answer")
			}
			sim, p := serve(t, upstream.Options{MaxResponse: 1 << 20})
			sim.Next(a)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if a == simprover.Drip || a == simprover.Silence {
				go func() { // the relay's patience ends after the prover has the request
					for len(sim.Heard()) == 0 && ctx.Err() == nil {
						time.Sleep(time.Millisecond)
					}
					cancel()
				}()
			}
			body := params(100 << 10)
			if w.kind == upstream.Unsent {
				body = params(32 << 20) // more than the buffers of a connection hold
			}
			kept := bytes.Clone(body)
			got := p.Prove(ctx, body)
			if a == simprover.Drip && got.Class == "timeout" {
				w.class = got.Class // not even the headers had dripped through
			}
			if got.Kind != w.kind || got.Class != w.class || got.Code != w.code || got.Alert != w.alert {
				t.Errorf("outcome %v %q, code %d, alert %t; want %v %q, %d, %t",
					got.Kind, got.Class, got.Code, got.Alert, w.kind, w.class, w.code, w.alert)
			}
			if (got.Result != nil) != (w.kind == upstream.Succeeded) || (got.Error != nil) != (w.kind == upstream.Refused) {
				t.Errorf("%d bytes of a result and %d of an error for %v", len(got.Result), len(got.Error), got.Kind)
			}
			heard := sim.Heard()
			if len(heard) != w.heard {
				t.Errorf("the prover heard %d requests, want %d", len(heard), w.heard)
			}
			if len(heard) == 1 && heard[0].Digest != sha256.Sum256(kept) {
				t.Error("the prover heard other bytes than the caller's")
			}
			if !bytes.Equal(body, kept) {
				t.Error("the caller's bytes were changed")
			}
		})
	}
}

// TestTornSmall: bytes that fit into the connection's buffers may have been read before
// it was torn. The prover did not; the relay cannot know.
func TestTornSmall(t *testing.T) {
	t.Parallel()
	sim, p := serve(t, upstream.Options{})
	for _, a := range []simprover.Answer{simprover.ResetBefore, simprover.ResetDuring} {
		sim.Next(a)
		if got := p.Prove(t.Context(), params(2000)); got.Kind != upstream.Unknown || got.Class != "no_answer" {
			t.Errorf("%s: %v %q", a, got.Kind, got.Class)
		}
	}
}

// TestVerbatim: results and errors are passed on as the prover wrote them.
func TestVerbatim(t *testing.T) {
	t.Parallel()
	result := "{ \"proof\" : \"QUFB\",\n \"proof_facts\":[ \"0x01\"],\"more\":1e2, \"l2_to_l1_messages\":[]}"
	failure := "{\"data\": {\"b\":1, \"a\":[ ]},\t\"message\":\"\\u0041\",\"code\":1000}"
	for _, x := range []struct {
		document string
		result   string
		failure  string
	}{
		{document: "\n{\"id\":1,\"result\":" + result + ",\"jsonrpc\":\"2.0\"}\n", result: result},
		{document: `{"id":1,"jsonrpc":"2.0","error":null,"result":` + result + `}`, result: result},
		{document: `{"jsonrpc":"2.0","id":1,"error":` + failure + `}`, failure: failure},
		{document: `{"jsonrpc":"2.0","id":1,"result":null,"error":` + failure + `}`, failure: failure},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, x.document) }))
		t.Cleanup(server.Close)
		p, err := upstream.New(upstream.Options{URL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		got := p.Prove(t.Context(), params(0))
		if string(got.Result) != x.result || string(got.Error) != x.failure {
			t.Errorf("%s: result %q, error %q", x.document, got.Result, got.Error)
		}
	}
}

// TestUnreadableErrors: a failure that does not say its code is no answer, and one
// without a message neither.
func TestUnreadableErrors(t *testing.T) {
	t.Parallel()
	for _, document := range []string{
		`{"jsonrpc":"2.0","id":1,"error":{"code":null,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":"24","message":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":24.5,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":24}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":24,"code":55,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"error":"24"}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":24,"message":"x"},"result":{"proof":"QUFB"}}`,
		`{"jsonrpc":"1.0","id":1,"result":{"proof":"QUFB"}}`,
		`{"jsonrpc":"2.0","id":"1","result":{"proof":"QUFB"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"proof":"QUFB"}}{}`,
		`{"jsonrpc":"2.0","id":1,"result":{"proof":"` + "\xff" + `"}}`,
		`[{"jsonrpc":"2.0","id":1,"result":{"proof":"QUFB"}}]`,
		`{"jsonrpc":"2.0","id":1}`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, document) }))
		t.Cleanup(server.Close)
		p, err := upstream.New(upstream.Options{URL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Prove(t.Context(), params(0)); got.Kind != upstream.Unknown || got.Class != "unreadable" {
			t.Errorf("%s: %v %q, want an unknown delivery", document, got.Kind, got.Class)
		}
	}
}

// TestNobodyThere: what was never sent may be sent again.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := upstream.New(upstream.Options{URL: "http://" + address})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Prove(t.Context(), params(0)); got.Kind != upstream.Unsent || got.Class != "connect" {
		t.Errorf("outcome %v %q", got.Kind, got.Class)
	}
	if err := p.Ready(t.Context()); err == nil {
		t.Error("ready without a prover")
	}
	_, live := serve(t, upstream.Options{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got := live.Prove(ended, params(0)); got.Kind != upstream.Unsent {
		t.Errorf("of a caller who is gone: %v %q", got.Kind, got.Class)
	}
}

// TestDeaf: a prover that takes the connection and does not listen does not have the
// request, however long it is waited for.
func TestDeaf(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p, err := upstream.New(upstream.Options{URL: "http://" + l.Addr().String(), Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Prove(t.Context(), params(64<<20)); got.Kind != upstream.Unsent || got.Class != "write" {
		t.Errorf("outcome %v %q", got.Kind, got.Class)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	sim := simprover.New(simprover.Options{})
	server := httptest.NewUnstartedServer(sim)
	server.EnableHTTP2 = true // a prover may offer it
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	trusting, err := upstream.New(upstream.Options{URL: server.URL, TLS: &tls.Config{RootCAs: roots}})
	if err != nil {
		t.Fatal(err)
	}
	if got := trusting.Prove(t.Context(), params(900<<10)); got.Kind != upstream.Succeeded {
		t.Errorf("outcome %v %q", got.Kind, got.Class)
	}
	wary, err := upstream.New(upstream.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if got := wary.Prove(t.Context(), params(0)); got.Kind != upstream.Unsent || got.Class != "tls" {
		t.Errorf("of a prover that nobody vouches for: %v %q", got.Kind, got.Class)
	}
	if n := len(sim.Heard()); n != 1 {
		t.Errorf("the prover heard %d requests", n)
	}
}

// TestRequest: what goes out beside the caller's document.
func TestRequest(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("Retry-After", "17")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)
	p, err := upstream.New(upstream.Options{URL: strings.Replace(server.URL, "http://", "http://me:secret@", 1) + "/v1/prove?a=b"})
	if err != nil {
		t.Fatal(err)
	}
	if outcome := p.Prove(t.Context(), params(0)); outcome.RetryAfter != 17*time.Second {
		t.Errorf("wait %v, want 17s", outcome.RetryAfter)
	}
	if user, password, ok := got.BasicAuth(); !ok || user != "me" || password != "secret" {
		t.Error("the address's password was not sent")
	}
	if got.URL.RequestURI() != "/v1/prove?a=b" || got.Header.Get("Content-Type") != "application/json" || got.Header.Get("Idempotency-Key") != "" {
		t.Errorf("request to %s with %v", got.URL, got.Header)
	}
	var call struct {
		Version string          `json:"jsonrpc"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(body, &call); err != nil || call.Version != "2.0" || call.Method != "starknet_proveTransaction" || !bytes.Equal(call.Params, params(0)) {
		t.Errorf("call %s: %v", body, err)
	}
	if strings.Contains(p.Address(), "secret") {
		t.Error("the address that is shown holds the password")
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	sim, p := serve(t, upstream.Options{})
	sim.Next(simprover.ResetBefore) // is for a proof
	if err := p.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	other, err := upstream.New(upstream.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("of a server that is no prover: %v", err)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "prover:9", "ftp://prover", "http://", "http://me:s3cret@%zz", "http://prover/#part", "https:prover"} {
		_, err := upstream.New(upstream.Options{URL: bad})
		if err == nil {
			t.Errorf("%q is taken for an address", bad)
		} else if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the error repeats the password: %v", err)
		}
	}
}

// FuzzAnswer: whatever the prover sends, a success has a proof in it, and the words for
// metrics are of a fixed set.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 51\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"proof\":\"QUFB\"}} "))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"err\r\n"))
	f.Add([]byte("HTTP/1.1 503 x\r\nRetry-After: 99999999999\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":24,\"message\":\"\"}}"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { l.Close() })
	answers := make(chan []byte)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			request, err := http.ReadRequest(bufio.NewReader(conn))
			if err == nil {
				io.Copy(io.Discard, request.Body) //nolint:errcheck // it is not looked at
			}
			conn.Write(<-answers) //nolint:errcheck // the client may have enough
			conn.Close()
		}
	}()
	classes := []string{
		"result", "refused", "screening", "reverted", "internal", "busy", "not_understood", "node", "other", "unreadable", "no_answer",
		"http_429", "http_503", "http_401", "http_403", "http_404", "http_413", "http_3xx", "http_4xx", "http_500", "http_502", "http_504", "http_5xx",
	}
	p, err := upstream.New(upstream.Options{URL: "http://" + l.Addr().String(), Timeout: 10 * time.Second, MaxResponse: 1 << 16})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		go func() { answers <- answer }()
		got := p.Prove(t.Context(), params(0))
		if !slices.Contains(classes, got.Class) {
			t.Errorf("class %q", got.Class)
		}
		if got.Kind == upstream.Succeeded && (!json.Valid(got.Result) || !bytes.Contains(got.Result, []byte("proof"))) {
			t.Errorf("succeeded with %q", got.Result)
		}
		if got.RetryAfter < 0 || got.RetryAfter > 24*time.Hour {
			t.Errorf("wait %v", got.RetryAfter)
		}
	})
}
