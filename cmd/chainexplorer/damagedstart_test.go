package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamagedFileAtTheStart: a file of one chain in which a byte changed, wherever,
// does not keep the service from starting: the chain is degraded, and the others
// are served.
func TestDamagedFileAtTheStart(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	args := []string{"--data", data, "--chain", "SN_MAIN=" + simulated(t, "SN_MAIN", 10), "--chain", "SN_SEPOLIA=" + simulated(t, "SN_SEPOLIA", 60)}
	r := startServe(t, args...)
	file := filepath.Join(data, "control.db")
	succeed(t, file, "workspace", "create", "acme", "--plan", "enterprise")
	key := keyText.FindString(succeed(t, file, "key", "create", "--workspace", "acme"))
	r.untilHead(key, 59)
	r.stop()
	startServe(t, args...).stop() // which makes a table of the log
	tables, err := filepath.Glob(filepath.Join(data, "SN_SEPOLIA", "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	unreadable, degraded := 0, 0
	for _, part := range []float64{0.001, 0.5, 0.999} {
		sound := map[string][]byte{}
		for _, name := range tables {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			sound[name] = b
			bad := append([]byte(nil), b...)
			bad[int(float64(len(bad))*part)] ^= 0x40
			if err := os.WriteFile(name, bad, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var r *running
		var code int
		var body string
		for range 12 { // each start adds a table, until they are merged, by which damage in the middle is met
			if r != nil {
				r.stop()
			}
			r = startServe(t, args...)
			until(t, "the other chain", func() bool { _, _, head := r.indexing(key, "SN_MAIN"); return head == 9 })
			if code, body = r.once("/v1/SN_SEPOLIA/status", key); code != http.StatusOK || strings.Contains(body, "degraded") {
				break
			}
		}
		ready, says := r.once("/readyz", "")
		switch text := body; {
		case code == http.StatusServiceUnavailable: // not even its head can be read
			unreadable++
			if ready != http.StatusServiceUnavailable || !strings.Contains(string(says), `"SN_SEPOLIA":"unavailable"`) || !strings.Contains(string(says), `"SN_MAIN":"ready"`) {
				t.Errorf("at %v: readyz: %d %s", part, ready, says)
			}
		case code == http.StatusOK && strings.Contains(text, `"status":"degraded","reasonCode":"storage","reason":"a file of the index is damaged`):
			degraded++
			if ready != http.StatusOK || !strings.Contains(string(says), "degraded") {
				t.Errorf("at %v: readyz: %d %s", part, ready, says)
			}
		case code != http.StatusOK:
			t.Errorf("at %v: status: %d %s", part, code, body)
		}
		r.stop()
		for name, b := range sound {
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if unreadable == 0 || degraded == 0 {
		t.Errorf("unreadable %d times and degraded %d times: the damage was not met", unreadable, degraded)
	}
}
