package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// TestDamagedFileAtTheStart: a file of one chain in which bytes changed, wherever,
// does not keep the service from starting: the chain is degraded, and the others
// are served.
func TestDamagedFileAtTheStart(t *testing.T) {
	t.Parallel() // it waits for processes
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
	parts := []struct{ from, to float64 }{{0.001, 0.001}, {0.3, 0.6}, {0.999, 0.999}}
	for at := 0.9; at > 0; at -= 0.1 { // what a part holds depends on how much was written at once
		parts = append(parts, struct{ from, to float64 }{at, at + 0.05})
	}
	for i, part := range parts {
		if i > 2 && unreadable > 0 && degraded > 0 {
			break
		}
		sound := map[string][]byte{}
		for _, name := range tables {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			sound[name] = b
			bad := append([]byte(nil), b...)
			size := float64(len(bad))
			for i := int(size * part.from); i <= int(size*part.to); i += 1 << 10 {
				bad[i] ^= 0x40
			}
			if err := os.WriteFile(name, bad, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := startServe(t, args...)
		until(t, "the other chain", func() bool { _, _, head := r.indexing(key, "SN_MAIN"); return head == 9 })
		for n := range 60 { // whoever reads the damage has it known
			if code, body := r.once(fmt.Sprintf("/v1/SN_SEPOLIA/block/%d/txs?limit=100", n), key); code != http.StatusOK && code != http.StatusServiceUnavailable {
				t.Errorf("at %v: block %d: %d %s", part, n, code, body)
			}
		}
		code, body := r.once("/v1/SN_SEPOLIA/status", key)
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

// TestDamageThatIsRead has somebody read what is damaged while nobody writes: that alone makes
// it known.
func TestDamageThatIsRead(t *testing.T) {
	ctx := t.Context()
	o := pebble.Options{Dir: filepath.Join(t.TempDir(), "index"), Logger: slog.New(slog.DiscardHandler)}
	d, err := openDiskStore(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := d.Acquire(ctx, store.Writer, "one", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	table := catalog.Tables()[0]
	var b store.Batch
	b.Under(l)
	random := rand.NewChaCha8([32]byte{1})
	for n := range uint32(1000) {
		value := make([]byte, 1000)
		random.Read(value) //nolint:errcheck // it never fails
		b.Put(store.Key{Table: table, Partition: make([]byte, table.PartitionLen), Sort: binary.BigEndian.AppendUint32(nil, n)}, value)
	}
	if err := errors.Join(d.Commit(ctx, &b), d.Compact(ctx), d.Close()); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(o.Dir, "*.sst"))
	if err != nil || len(tables) != 1 {
		t.Fatalf("tables %v: %v", tables, err)
	}
	file, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	file[len(file)/2] ^= 1
	if err := os.WriteFile(tables[0], file, 0o600); err != nil {
		t.Fatal(err)
	}
	if d, err = openDiskStore(ctx, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if says := d.trouble(); says != "" {
		t.Fatalf("before anybody reads it: %s", says)
	}
	err = d.View(ctx, func(r store.Reader) error {
		for _, err := range r.Walk(ctx, table, nil) {
			if err != nil {
				return err
			}
		}
		return nil
	})
	if !explorer.Unreadable(err) {
		t.Errorf("reading it: %v", err)
	}
	if says := d.trouble(); !strings.HasPrefix(says, "a file of the index is damaged: what is sound can be read") {
		t.Errorf("trouble: %q", says)
	}
}
