package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"chainexplorer/internal/simnode"
)

// gathered is what several goroutines write, in one text.
type gathered struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (g *gathered) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.Write(b)
}

func (g *gathered) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.String()
}

// collector takes traces.
func collector(t *testing.T) (*gathered, string) {
	t.Helper()
	got := &gathered{}
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			if z, err := gzip.NewReader(r.Body); err == nil {
				body = z
			}
		}
		io.Copy(got, body) //nolint:errcheck // the test looks at what came
	}))
	t.Cleanup(srv.Close)
	return got, srv.URL
}

// TestSecretsStaySecret sends every kind of secret in every place where somebody may
// put it, right and wrong, to a process that logs all it can, and looks for it in the
// log, the metrics, the traces and the answers.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel() // it waits for processes
	chain := simnode.New(simnode.Config{Seed: 44, Blocks: 6})
	node := httptest.NewServer(simnode.NewNode(chain, simnode.NodeConfig{}))
	defer node.Close()
	control := filepath.Join(t.TempDir(), "control.db")
	succeed(t, control, "workspace", "create", "acme", "--plan", "enterprise")
	revoked := succeed(t, control, "key", "create", "--workspace", "acme")
	succeed(t, control, "key", "revoke", publicID.FindString(revoked))
	internal, _, _ := output(t, "admin", "key", "internal", "billing")
	setting := regexp.MustCompile(`billing:[a-z,]+:[0-9a-f]{64}`).FindString(internal)
	secrets := map[string]string{
		"key":         keyText.FindString(succeed(t, control, "key", "create", "--workspace", "acme", "--label", "laptop")),
		"revoked key": keyText.FindString(revoked),
		"internal":    keyText.FindString(internal),
		"session":     regexp.MustCompile(`ses\.[A-Za-z0-9_-]{43}`).FindString(succeed(t, control, "session", "create", "--workspace", "acme")),
		"link":        regexp.MustCompile(`lnk\.[A-Za-z0-9_-]{43}`).FindString(succeed(t, control, "login", "--workspace", "acme", "--user", "ada")),
		"code":        codeText.FindString(succeed(t, control, "codes", "create", "--plan", "wallet")),
		"bare code":   strings.ReplaceAll(codeText.FindString(succeed(t, control, "codes", "create", "--plan", "wallet")), "-", ""),
		"operator":    "operators-own-token-1234567",
	}
	for name, s := range secrets {
		if s == "" {
			t.Fatalf("no %s", name)
		}
	}
	traces, endpoint := collector(t)
	log := &gathered{}
	cmd := program(t, "serve", "--listen=127.0.0.1:0", "--metrics=127.0.0.1:0", "--node", node.URL, "--data", t.TempDir(), "--control", control,
		"--log-level=debug", "--trace-endpoint", endpoint, "--internal-key", setting, "--anonymous-per-minute=0")
	cmd.Env = append(cmd.Env, "CHAINEXPLORER_OPERATOR_TOKEN="+secrets["operator"])
	r := startInto(t, cmd, log)
	r.get("/v1/SN_SEPOLIA/status", secrets["key"], http.StatusOK)

	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	sent := 0
	send := func(where, secret, method, path, content string, own bool, change func(*http.Request)) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, r.base+path, strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		if content != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		if change != nil {
			change(req)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		defer res.Body.Close() //nolint:errcheck // read to its end
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		sent++
		if text := fmt.Sprint(res.Header) + string(body); !own && strings.Contains(text, secret[9:]) {
			t.Errorf("%s: the answer repeats it: %d %.300s", where, res.StatusCode, text)
		}
	}
	const status, me = "/v1/SN_SEPOLIA/status", "/v1/me/api-keys"
	key := func(h *http.Request) { h.Header.Set("X-Service-Api-Key", secrets["key"]) }
	for name, s := range secrets {
		// It looks like anything: it is hidden where it belongs and in the log, and nowhere else.
		plain := name == "bare code"
		for _, header := range []string{"X-Service-Api-Key", "X-Api-Key", "Authorization", "Cookie", "X-Request-Id", "User-Agent", "Referer", "Origin", "X-Internal-Key",
			"X-Service-Internal-Caller", "Idempotency-Key", "If-None-Match", "Traceparent", "X-Forwarded-For", "Accept", "Content-Type", "Content-Encoding", "X-Csrf-Token"} {
			if plain && slices.Contains([]string{"X-Request-Id", "User-Agent", "X-Forwarded-For"}, header) {
				continue
			}
			for form, value := range map[string]string{"": s, " as bearer": "Bearer " + s, " in quotes": `"` + s + `"`, " as a cookie": "chainexplorer_session=" + s, " as basic": "Basic " + base64.StdEncoding.EncodeToString([]byte(s))} {
				for _, path := range []string{status, me, "/nowhere"} {
					send(name+" in "+header+form+" at "+path, s, http.MethodGet, path, "", false, func(h *http.Request) { h.Header.Set(header, value) })
				}
			}
			send(name+" in "+header+" of a change", s, http.MethodPost, me, "", true, func(h *http.Request) { h.Header.Set(header, "Bearer "+s) })
			send(name+" in "+header+" beside a key", s, http.MethodGet, status, "", false, func(h *http.Request) { key(h); h.Header.Add(header, s) })
		}
		send(name+" as a code", s, http.MethodPost, "/v1/me/redeem-code", `{"code":"`+s+`"}`, false, func(h *http.Request) { h.Header.Set("Authorization", "Bearer "+secrets["session"]) })
		send(name+" as a link", s, http.MethodGet, "/login/link?token="+s, "", true, nil)
		for _, path := range []string{"/metrics", "/metrics?x=" + s} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.operator+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+s)
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(log, res.Body); err != nil { // metrics are looked through with the log
				t.Fatal(err)
			}
			res.Body.Close() //nolint:errcheck // read to its end
		}
		if plain {
			for _, path := range []string{"/" + s, "/v1/me/redeem-code/" + strings.ToLower(s), "/docs/" + s + "/x"} {
				send(name+" in an address", s, http.MethodGet, path, "", false, key)
			}
			continue
		}
		for _, path := range []string{"/" + s, "/v1/" + s + "/status", "/v1/SN_SEPOLIA/tx/" + s, "/v1/SN_SEPOLIA/block/" + s, "/v1/SN_SEPOLIA/rpc/" + s, "/rpc/v0_10/SN_SEPOLIA/" + s, me + "/" + s,
			"/docs/" + s, status + "?api_key=" + s, status + "?" + s, "/?token=" + s, "/status?token=" + s, "/v1/SN_SEPOLIA/blocks?limit=" + s, "/v1/SN_SEPOLIA/blocks?cursor=" + s, "/nowhere?x=" + s} {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodOptions} {
				send(name+" in an address", s, method, path, "", false, nil)
				send(name+" in an address with a key", s, method, path, "", false, key)
			}
		}
		quoted, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		for path, content := range map[string]string{"/v1/SN_SEPOLIA/address/summaries": `{"addresses":[` + string(quoted) + `]}`, "/v1/SN_SEPOLIA/rpc": `{"jsonrpc":"2.0","id":1,"method":` + string(quoted) + `,"params":[` + string(quoted) + `]}`,
			"/v1/SN_SEPOLIA/tx/previews": `{"txHashes":[` + string(quoted) + `],` + string(quoted) + `:1}`, "/v1/SN_SEPOLIA/address/activity": s} {
			send(name+" in a body at "+path, s, http.MethodPost, path, content, false, key)
		}
		for _, text := range []string{s + "\r\n\r\n", s + " / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "GET / " + s + "\r\n\r\n", "GET / HTTP/1.1\r\nHost: " + s + "\r\nConnection: close\r\n\r\n", "GET / HTTP/1.1\r\n" + s + "\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: " + s + "\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: " + s + "\r\n\r\n"} {
			c := r.hold(r.base, text)
			reply, _ := io.ReadAll(io.LimitReader(c, 1<<10)) // closed, or kept open for the next request
			c.Close()                                        //nolint:errcheck // a test's
			if strings.Contains(string(reply), s[9:]) {
				t.Errorf("%s on the wire: the answer repeats it: %q", name, reply)
			}
		}
	}
	r.stop() // sends the last traces
	if !strings.Contains(log.String(), "chainexplorer_api_requests_total") || !strings.Contains(log.String(), `"internal_billing"`) || !strings.Contains(traces.String(), "/v1/SN_SEPOLIA/status") {
		t.Errorf("there is nothing to look through: %d bytes of log and metrics, %d of traces", len(log.String()), len(traces.String()))
	}
	for name, s := range secrets {
		for where, text := range map[string]string{"log or the metrics": r.log + log.String(), "traces": traces.String()} {
			if name == "bare code" && where == "traces" {
				continue
			}
			if i := strings.Index(strings.ToLower(text), strings.ToLower(s[9:])); i >= 0 {
				t.Errorf("the %s hold the %s: %.400q", where, name, text[max(i-300, 0):min(i+60, len(text))])
			}
		}
	}
	t.Logf("%d requests", sent)
}
