package gateway_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/servertest"
)

// TestWhoMayCall is the matrix of the gateway: address, kind of key, how the key is
// sent, origin of the page, and method. A refusal is a JSON-RPC failure without an id.
func TestWhoMayCall(t *testing.T) {
	internal, setting, err := account.NewConfigured(rand.Reader, "matrix", account.Read)
	if err != nil {
		t.Fatal(err)
	}
	configured, err := account.ParseConfigured(setting)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, 5, func(o *servertest.Options) {
		if err := o.Keys.Configure([]account.ConfiguredKey{configured}); err != nil {
			t.Fatal(err)
		}
	})
	bound, err := w.Repo.CreateKey(t.Context(), account.NewKey{WorkspaceID: w.Space.ID, Origins: servertest.AllowedOrigin,
		Limits: account.Limits{LightPerMinute: 1e9, HeavyPerMinute: 1e9, BatchPerMinute: 1e9, Burst: 1e9}})
	if err != nil {
		t.Fatal(err)
	}
	w.Secrets = append(w.Secrets, internal, bound.Plaintext)
	expired := w.ExpiringKey(time.Hour)
	w.Clock.Advance(2 * time.Hour)
	number := request("7", "starknet_chainId", "")
	const good, invalid, unauthorized, forbidden = 200, 400, 401, 403
	keys := []struct {
		name, key string
		outcome   int
	}{
		{"default", w.Key, good}, {"internal", internal, good}, {"bound", bound.Plaintext, good}, {"batch", w.NewKey(account.Batch), forbidden},
		{"revoked", w.RevokedKey(), unauthorized}, {"expired", expired, unauthorized},
	}
	forms := []struct {
		name    string
		send    func(path, key string) (string, []string)
		outcome int
	}{
		{"long header", func(p, k string) (string, []string) { return p, []string{"X-Service-Api-Key", k} }, good},
		{"short header", func(p, k string) (string, []string) { return p, []string{"X-Api-Key", k} }, good},
		{"address", func(p, k string) (string, []string) { return p + "/" + k, nil }, good},
		{"address and header", func(p, k string) (string, []string) { return p + "/" + k, []string{"X-Api-Key", k} }, invalid},
		{"query", func(p, k string) (string, []string) { return p + "?key=" + k, nil }, invalid},
		{"bearer", func(p, k string) (string, []string) { return p, []string{"Authorization", "Bearer " + k} }, unauthorized},
		{"header and bearer", func(p, k string) (string, []string) {
			return p, []string{"X-Service-Api-Key", k, "Authorization", "Bearer " + k}
		}, invalid},
		{"internal header", func(p, k string) (string, []string) { return p, []string{"X-Internal-Key", k} }, unauthorized},
		{"nothing", func(p, _ string) (string, []string) { return p, nil }, unauthorized},
	}
	for _, path := range []string{rpcPath, "/api" + rpcPath, "/rpc/v0_10/" + servertest.ChainID} {
		for _, key := range keys {
			for _, form := range forms {
				for _, origin := range []string{"", servertest.StrangeOrigin, servertest.AllowedOrigin} {
					for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodHead, http.MethodOptions} {
						at, headers := form.send(path, key.key)
						if origin != "" {
							headers = append(headers, "Origin", origin)
						}
						want := form.outcome
						if want == good {
							want = key.outcome
						}
						if want == good && (key.name == "bound" || key.name == "internal") && origin == servertest.StrangeOrigin {
							want = forbidden
						}
						where := strings.Join([]string{path, key.name + " key", form.name, origin, method}, ", ")
						if method != http.MethodPost {
							switch { // GET is for WebSocket, with the same key
							case method == http.MethodOptions:
								want = http.StatusNoContent
							case want == good:
								want = http.StatusUpgradeRequired
							}
							r := w.Do(method, at, "", headers...)
							if r.StatusCode != want {
								t.Errorf("%s: status %d, want %d: %s", where, r.StatusCode, want, r.Body)
							}
							if account.HoldsKey(string(r.Body)) {
								t.Errorf("%s repeats the key", where)
							}
							continue
						}
						r := w.post(at, "", number, headers...)
						a := w.one(r)
						if r.StatusCode != want || (a.Error == nil) != (want == good) || want != good && string(a.ID) != "null" {
							t.Errorf("%s: status %d, want %d: %s", where, r.StatusCode, want, r.Body)
						}
						if got := r.Header.Get("WWW-Authenticate"); (got != "") != (want == unauthorized || want == forbidden) {
							t.Errorf("%s: WWW-Authenticate %q", where, got)
						}
						if account.HoldsKey(string(r.Body)) {
							t.Errorf("%s repeats the key", where)
						}
					}
				}
			}
		}
	}
}

// TestEveryRequestIsPaidFor: what fails as a whole costs like the cheapest call, and
// every answer to a key tells what is left, that to a batch the least of its calls.
func TestEveryRequestIsPaidFor(t *testing.T) {
	w := newWorld(t, 5)
	key, err := w.Repo.CreateKey(t.Context(), account.NewKey{WorkspaceID: w.Space.ID, Limits: account.Limits{LightPerMinute: 6, HeavyPerMinute: 9, Burst: 9}})
	if err != nil {
		t.Fatal(err)
	}
	w.Secrets = append(w.Secrets, key.Plaintext)
	const number = `{"jsonrpc":"2.0","id":1,"method":"starknet_blockNumber"}`
	for i, c := range []struct {
		body   string
		status int
		class  string
		left   string
	}{
		{`{`, 400, "light", "5"},
		{`[` + number + `,` + number + `]`, 200, "light", "3"},
		{`[]`, 400, "light", "2"},
		{`nothing`, 400, "light", "1"},
		{number, 200, "light", "0"},
		{`{`, 429, "light", "0"},
	} {
		r := w.post(rpcPath, key.Plaintext, c.body)
		h := r.Header
		if r.StatusCode != c.status || h.Get("X-Ratelimit-Limit") != "6" || h.Get("X-Ratelimit-Remaining") != c.left || h.Get("X-Service-Route-Class") != c.class || h.Get("X-Ratelimit-Policy") != "light;w=60" {
			t.Errorf("%d: status %d, %s of %s left, %s: %s", i, r.StatusCode, h.Get("X-Ratelimit-Remaining"), h.Get("X-Ratelimit-Limit"), h.Get("X-Service-Route-Class"), r.Body)
		}
		if (h.Get("Retry-After") != "") != (c.status == 429) {
			t.Errorf("%d: Retry-After %q", i, h.Get("Retry-After"))
		}
	}
}

// TestRefusalsArePaidFor: a key that may not use the gateway, not from that page, or asks
// for a chain that is not there, draws on its budget as it does on every other route.
func TestRefusalsArePaidFor(t *testing.T) {
	w := newWorld(t, 5)
	limits := account.Limits{LightPerMinute: 4, HeavyPerMinute: 9, Burst: 9}
	scopeless, err := w.Repo.CreateKey(t.Context(), account.NewKey{WorkspaceID: w.Space.ID, Scopes: account.Write, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	bound, err := w.Repo.CreateKey(t.Context(), account.NewKey{WorkspaceID: w.Space.ID, Limits: limits, Origins: account.Origins(servertest.AllowedOrigin)})
	if err != nil {
		t.Fatal(err)
	}
	w.Secrets = append(w.Secrets, scopeless.Plaintext, bound.Plaintext)
	const number = `{"jsonrpc":"2.0","id":1,"method":"starknet_blockNumber"}`
	for i, c := range []struct {
		method, path, key string
		status            int
		left              string
	}{
		{"POST", rpcPath, scopeless.Plaintext, 403, "3"},
		{"GET", rpcPath, scopeless.Plaintext, 403, "2"}, // WebSocket
		{"POST", "/rpc/v0_10/" + servertest.ChainID, scopeless.Plaintext, 403, "1"},
		{"POST", rpcPath, scopeless.Plaintext, 403, "0"},
		{"POST", rpcPath, scopeless.Plaintext, 429, "0"},
		{"GET", rpcPath, scopeless.Plaintext, 429, "0"},
		{"POST", rpcPath, bound.Plaintext, 403, "3"},
		{"POST", "/v1/SN_NONE/rpc", bound.Plaintext, 404, "2"},
		{"GET", rpcPath, bound.Plaintext, 426, "1"},
	} {
		headers := []string{"X-Service-Api-Key", c.key}
		if c.status == 403 {
			headers = append(headers, "Origin", servertest.StrangeOrigin)
		}
		var r servertest.Reply
		if c.method == "POST" {
			r = w.post(c.path, "", number, headers...)
		} else {
			r = w.Do(c.method, c.path, "", headers...)
		}
		h := r.Header
		if r.StatusCode != c.status || h.Get("X-Ratelimit-Limit") != "4" || h.Get("X-Ratelimit-Remaining") != c.left || h.Get("X-Ratelimit-Policy") != "light;w=60" || h.Get("X-Service-Route-Class") != "light" {
			t.Errorf("%d: status %d, %s of %s left, %s: %s", i, r.StatusCode, h.Get("X-Ratelimit-Remaining"), h.Get("X-Ratelimit-Limit"), h.Get("X-Service-Route-Class"), r.Body)
		}
		if (h.Get("WWW-Authenticate") != "") != (c.status == 403) || (h.Get("Retry-After") != "") != (c.status == 429) {
			t.Errorf("%d: WWW-Authenticate %q, Retry-After %q", i, h.Get("WWW-Authenticate"), h.Get("Retry-After"))
		}
	}
	if r := w.post(rpcPath, "", number); r.StatusCode != 401 || r.Header.Get("X-Service-Route-Class") != "light" {
		t.Errorf("without a key: %d of class %q", r.StatusCode, r.Header.Get("X-Service-Route-Class"))
	}
}
