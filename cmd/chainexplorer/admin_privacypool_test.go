package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/privacypool/ledger"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// emptyIndex is an index without blocks in a data directory.
func emptyIndex(t *testing.T, data, name string) pebble.Engine {
	t.Helper()
	e, err := pebble.Open(pebble.Options{Dir: filepath.Join(data, name), Tables: catalog.Tables()})
	if err != nil {
		t.Fatal(err)
	}
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	b := &store.Batch{}
	b.Put(chain.FormatKey, chain.Format{Layout: chain.Layout, ChainID: felt.MustShortString(name)}.Encode())
	b.Under(lease)
	if err := e.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return e
}

// TestRematerialize: the operator's word reaches a running process, and the index of one
// that is stopped.
func TestRematerialize(t *testing.T) {
	data := t.TempDir()
	main, sepolia := emptyIndex(t, data, "SN_MAIN"), emptyIndex(t, data, "SN_SEPOLIA")
	requests := func(e store.Engine) (n uint64) {
		t.Helper()
		err := e.View(t.Context(), func(r store.Reader) (err error) {
			n, err = ledger.ReadRequest(t.Context(), r)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	b := newBackups("", slog.New(slog.DiscardHandler))
	b.add("SN_MAIN", main)
	mux := http.NewServeMux()
	mux.Handle("POST "+rematerializePath, rematerialize(b, slog.New(slog.DiscardHandler)))
	srv := httptest.NewServer(mux)
	defer srv.Close()
	ask := func(want int, say string, args ...string) {
		t.Helper()
		stdout, stderr, code := output(t, append([]string{"admin", "privacy-pool", "rematerialize"}, args...)...)
		if code != want || !strings.Contains(stdout+stderr, say) {
			t.Errorf("%v ended with %d, want %d and %q:\n%s%s", args, code, want, say, stdout, stderr)
		}
	}
	ask(exitFailure, "not ready yet", "--operator", srv.URL)
	b.open(nil)
	ask(0, "privacy pools of SN_MAIN", "--operator", srv.URL) // the only one
	ask(0, `"requests": 2`, "--operator", srv.URL, "--chain", "SN_MAIN", "--json")
	ask(exitFailure, "which chain? Give one of SN_MAIN", "--operator", srv.URL, "--chain", "SN_SEPOLIA")
	if n := requests(main); n != 2 {
		t.Errorf("%d requests", n)
	}
	ask(exitFailure, "--operator http://ADDRESS", "--data", filepath.Join(data, "SN_MAIN")) // it is in use
	for _, e := range []pebble.Engine{main, sepolia} {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	ask(exitUsage, "one of SN_MAIN, SN_SEPOLIA", "--data", data)
	ask(0, "privacy pools of SN_SEPOLIA", "--data", data, "--chain", "SN_SEPOLIA")
	ask(0, `"requests": 3`, "--data", filepath.Join(data, "SN_MAIN"), "--json")
	ask(exitUsage, "give --operator URL", "--data", data, "--operator", srv.URL)
	ask(exitUsage, "with --chain", "--store", "postgres://nowhere/x")
}
