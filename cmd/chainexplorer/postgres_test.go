package main

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store/postgres"
	"chainexplorer/internal/store/postgres/pgtest"
)

// separately runs the program as users do, to its end.
func separately(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return outputOf(t, program(t, args...))
}

// postgresDigest checks an index on the server and returns its digest.
func postgresDigest(t *testing.T, url string) string {
	t.Helper()
	stdout, stderr, code := separately(t, "admin", "fsck", "--store", url, "--chain", "SN_SEPOLIA")
	m := digestLine.FindStringSubmatch(stdout)
	if code != 0 || !strings.Contains(stdout, "\nclean\nsummary ") || m == nil {
		t.Fatalf("fsck ended with %d:\n%s%s", code, stdout, stderr)
	}
	return m[1]
}

// TestIndexIntoPostgres: the same chain gives the same digest in both engines, and
// a copy in either direction keeps it.
func TestIndexIntoPostgres(t *testing.T) {
	t.Parallel() // it waits for processes
	chain := simnode.New(simnode.Config{Seed: 31, Blocks: 70, L1Lag: 50})
	srv := httptest.NewServer(simnode.NewNode(chain, simnode.NodeConfig{}))
	defer srv.Close()
	index := func(args ...string) {
		t.Helper()
		head, _ := chain.Head()
		_, stderr, code := separately(t, append([]string{"index", "--node", srv.URL, "--batch-mib", "1", "--undo-blocks", "60",
			"--to", strconv.FormatUint(head, 10)}, args...)...)
		if code != 0 {
			t.Fatalf("index ended with %d:\n%s", code, stderr)
		}
	}
	dir, indexed, copied, back := t.TempDir(), pgtest.Database(t), pgtest.Database(t), t.TempDir()
	index("--store", indexed)
	chain.Fork(20)
	chain.Extend(30)
	index("--store", indexed)
	index("--data", dir)
	want := fsckClean(t, dir)
	if got := postgresDigest(t, indexed); got != want {
		t.Errorf("digest %s on PostgreSQL, %s on Pebble", got, want)
	}
	exports := t.TempDir()
	for name, from := range map[string][]string{"pebble": {"--data", dir}, "postgres": {"--store", indexed, "--chain", "SN_SEPOLIA"}} {
		args := append([]string{"admin", "export", "--dir", filepath.Join(exports, name), "--finality-depth", "9", "--blocks-per-file", "32", "--family", "blocks,transactions,events", "--family", "transfers,balances,messages,contracts,classes"}, from...)
		if stdout, stderr, code := separately(t, args...); code != 0 {
			t.Fatalf("export ended with %d:\n%s%s", code, stdout, stderr)
		}
	}
	sameFolders(t, filepath.Join(exports, "postgres"), filepath.Join(exports, "pebble"))
	transfer := func(args ...string) {
		t.Helper()
		stdout, stderr, code := separately(t, append([]string{"admin", "copy"}, args...)...)
		if code != 0 || !strings.HasSuffix(stdout, "\nequal\n") || !strings.Contains(stdout, want) {
			t.Fatalf("copy ended with %d:\n%s%s", code, stdout, stderr)
		}
	}
	transfer("--from", "pebble:"+dir, "--to", copied)
	if got := postgresDigest(t, copied); got != want {
		t.Errorf("the copy has digest %s, want %s", got, want)
	}
	transfer("--from", copied, "--to", "pebble:"+back, "--chain", "SN_SEPOLIA")
	if got := fsckClean(t, back); got != want {
		t.Errorf("the copy of the copy has digest %s, want %s", got, want)
	}
	chain.Extend(5) // the copy goes on as an index of its own
	index("--store", copied)
	index("--data", dir)
	if got, want := postgresDigest(t, copied), fsckClean(t, dir); got != want {
		t.Errorf("the copy went on to digest %s, want %s", got, want)
	}
	for name, args := range map[string][]string{
		"not empty":    {"admin", "copy", "--from", "pebble:" + dir, "--to", copied},
		"no chain":     {"admin", "copy", "--from", copied, "--to", "pebble:" + t.TempDir()},
		"no index":     {"admin", "copy", "--from", "pebble:" + t.TempDir(), "--to", copied},
		"odd place":    {"admin", "copy", "--from", dir, "--to", copied},
		"two places":   {"index", "--node", srv.URL, "--store", copied, "--data", dir},
		"no place":     {"index", "--node", srv.URL},
		"odd store":    {"index", "--node", srv.URL, "--store", "mysql://x"},
		"api on files": {"api", "--chain", "SN_MAIN"},
		"fsck of both": {"admin", "fsck", "--store", copied, "--data", dir, "--chain", "SN_SEPOLIA"},
	} {
		if stdout, _, code := separately(t, args...); code == 0 {
			t.Errorf("%s: succeeded with\n%s", name, stdout)
		}
	}
}

// TestIndexIntoCitus: a chain on a real cluster has the digest that it has on
// Pebble. The cluster's index of SN_SEPOLIA is dropped before and after.
func TestIndexIntoCitus(t *testing.T) {
	url := os.Getenv("TEST_CITUS_URL")
	if url == "" {
		t.Skip("TEST_CITUS_URL is not set")
	}
	drop := func() {
		if err := postgres.Drop(context.Background(), postgres.Options{URL: url, Schema: "chain_sn_sepolia"}); err != nil {
			t.Error(err)
		}
	}
	drop()
	defer drop()
	chain := simnode.New(simnode.Config{Seed: 32, Blocks: 120, L1Lag: 30})
	srv := httptest.NewServer(simnode.NewNode(chain, simnode.NodeConfig{}))
	defer srv.Close()
	for range 2 {
		head, _ := chain.Head()
		_, stderr, code := separately(t, "index", "--node", srv.URL, "--store", url, "--store-shards", "4", "--undo-blocks", "50", "--to", strconv.FormatUint(head, 10))
		if code != 0 {
			t.Fatalf("index ended with %d:\n%s", code, stderr)
		}
		chain.Fork(10)
		chain.Extend(12)
	}
	head, _ := chain.Head()
	_, stderr, code := separately(t, "index", "--node", srv.URL, "--store", url, "--to", strconv.FormatUint(head, 10))
	if code != 0 {
		t.Fatalf("index ended with %d:\n%s", code, stderr)
	}
	dir := t.TempDir()
	complete(t, srv.URL, dir, head)
	if got, want := postgresDigest(t, url), fsckClean(t, dir); got != want {
		t.Errorf("digest %s on Citus, %s on Pebble", got, want)
	}
}
