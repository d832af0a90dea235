package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ask puts one request to the operator's address.
func (r *running) ask(method, path string, change func(*http.Request)) (int, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.operator+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if change != nil {
		change(req)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// TestOperatorAddress: who may ask what of the operator's address.
func TestOperatorAddress(t *testing.T) {
	const secret = "0123456789abcdef-secret"
	node, dir := simulated(t, "SN_MAIN", 3), t.TempDir()
	file := filepath.Join(dir, "token")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	token := func(s string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+s) }
	}
	named := func(s string) func(*http.Request) { return func(r *http.Request) { r.Host = s } }
	foreign := func(r *http.Request) {
		token(secret)(r)
		r.Header.Set("Origin", "https://elsewhere.example")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}
	type call struct {
		name, method, path string
		change             func(*http.Request)
		want               int
	}
	check := func(t *testing.T, r *running, calls []call) {
		t.Helper()
		for _, c := range calls {
			if code, body := r.ask(c.method, c.path, c.change); code != c.want {
				t.Errorf("%s: %d, want %d: %.200s", c.name, code, c.want, body)
			}
		}
	}
	const get, post = http.MethodGet, http.MethodPost
	t.Run("with a token", func(t *testing.T) {
		r := startServe(t, "--node", node, "--data", filepath.Join(dir, "a"), "--metrics", "127.0.0.1:0", "--backup-dir", filepath.Join(dir, "backups"),
			"--operator-token-file", file, "--operator-host", "explorer.internal")
		defer r.stop()
		if strings.Contains(r.log, secret) {
			t.Error("the token is logged")
		}
		check(t, r, []call{
			{"health", get, "/healthz", nil, 200},
			{"metrics without", get, "/metrics", nil, 401},
			{"metrics", get, "/metrics", token(secret), 200},
			{"another token", get, "/metrics", token("0123456789abcdef-secres"), 401},
			{"backup without", post, "/backup", nil, 401},
			{"backup from another origin", post, "/backup", foreign, 403},
			{"backup", post, "/backup", token(secret), 200},
			{"profile without", get, "/debug/pprof/heap", nil, 401},
			{"profile", get, "/debug/pprof/heap", token(secret), 200},
			{"a long profile", get, "/debug/pprof/profile?seconds=600", token(secret), 400},
			{"a foreign name", get, "/healthz", named("rebound.example:9464"), 421},
			{"a known name", get, "/healthz", named("explorer.internal:9464"), 200},
			{"this machine", get, "/healthz", named("localhost"), 200},
		})
	})
	t.Run("without", func(t *testing.T) {
		r := startServe(t, "--node", node, "--data", filepath.Join(dir, "b"), "--metrics", "127.0.0.1:0")
		defer r.stop()
		check(t, r, []call{
			{"metrics", get, "/metrics", nil, 200},
			{"metrics by a foreign name", get, "/metrics", named("rebound.example"), 421},
			{"backup", post, "/backup", nil, 404},
			{"profile", get, "/debug/pprof/heap", nil, 404},
		})
	})
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"reached by others": {[]string{"--metrics", "0.0.0.0:0"}, "is reached by others"},
		"a short token":     {[]string{"--metrics", "127.0.0.1:0", "--operator-token", "short"}, "16 characters or more"},
		"two tokens":        {[]string{"--metrics", "127.0.0.1:0", "--operator-token", secret, "--operator-token-file", file}, "not both"},
	} {
		_, stderr, code := output(t, append([]string{"serve", "--listen=127.0.0.1:0", "--node", node, "--data", t.TempDir()}, c.args...)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d:\n%s", name, code, stderr)
		}
	}
}

// TestKeyRotate: the new key has the rights of the old one, which is revoked.
func TestKeyRotate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "control.db")
	succeed(t, file, "workspace", "create", "acme")
	made := succeed(t, file, "key", "create", "--workspace", "acme", "--scope", "read", "--label", "site")
	id := strings.Fields(made[strings.Index(made, "\nid ")+1:])[1]
	rotated := succeed(t, file, "key", "rotate", id)
	if keyText.FindString(rotated) == "" || keyText.FindString(rotated) == keyText.FindString(made) || !strings.Contains(rotated, "revoked    "+id) {
		t.Errorf("rotate printed %s", rotated)
	}
	list := succeed(t, file, "key", "list")
	if strings.Count(list, "site") != 2 || strings.Count(list, "revoked") != 1 {
		t.Errorf("keys are\n%s", list)
	}
	if _, stderr, code := output(t, "admin", "key", "rotate", id, "--control", file); code != exitFailure || !strings.Contains(stderr, "the key is revoked") {
		t.Errorf("once more: %d %s", code, stderr)
	}
}
