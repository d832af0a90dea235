package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chainexplorer/internal/simnode"
)

// contents are the files below a directory.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		found[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestLostBlocks: a log that was cut short by damage is told by fsck and by the
// service, which indexes the blocks again.
func TestLostBlocks(t *testing.T) {
	t.Parallel() // it waits for processes
	chain := simnode.New(simnode.Config{Seed: 81, Blocks: 150})
	srv := httptest.NewServer(simnode.NewNode(chain, simnode.NodeConfig{}))
	defer srv.Close()
	data := filepath.Join(t.TempDir(), "data")
	r := startServe(t, "--data", data, "--node", srv.URL)
	control := filepath.Join(data, "control.db")
	succeed(t, control, "workspace", "create", "acme", "--plan", "enterprise")
	key := keyText.FindString(succeed(t, control, "key", "create", "--workspace", "acme"))
	r.untilHead(key, 149)
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.cmd.Wait() //nolint:errcheck // it was killed
	logs, err := filepath.Glob(filepath.Join(data, "SN_SEPOLIA", "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("no log: %v", err)
	}
	for _, name := range logs[len(logs)-1:] { // of an older one the store itself finds that it is cut
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, info.Size()*2/3); err != nil {
			t.Fatal(err)
		}
	}
	before := contents(t, filepath.Join(data, "SN_SEPOLIA"))
	stdout, stderr, code := outputOf(t, program(t, "admin", "fsck", "--data", data))
	if code != exitFailure || !strings.Contains(stdout, "lost          commits up to block 149 had been acknowledged") || !strings.Contains(stderr, "is sound and incomplete") {
		t.Errorf("fsck ended with %d:\n%s%s", code, stdout, stderr)
	}
	// Whatever was found, a line for each chain and one for all are there.
	for _, want := range []string{"\nsummary       SN_SEPOLIA: sound and incomplete, ", "\ntotal         0 of 1 indexes clean, control database clean\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("fsck does not print %q:\n%s", want, stdout)
		}
	}
	for name, b := range contents(t, filepath.Join(data, "SN_SEPOLIA")) {
		if !bytes.Equal(before[name], b) {
			t.Errorf("fsck changed %s", name)
		}
	}
	r = startServe(t, "--data", data, "--node", gone(t))
	if status, reason, head := r.indexing(key, "SN_SEPOLIA"); status != "degraded" || !strings.Contains(reason, "up to block 149 had been acknowledged") || head >= 149 {
		t.Errorf("status %s (%s), head %d", status, reason, head)
	}
	r.stop()
	r = startServe(t, "--data", data, "--node", srv.URL)
	until(t, "the blocks again", func() bool {
		status, _, head := r.indexing(key, "SN_SEPOLIA")
		return status != "degraded" && head == 149
	})
	r.stop()
	fsckClean(t, filepath.Join(data, "SN_SEPOLIA"))
}

// TestAllBlocksLost: a store whose whole log is gone had no block, which is not
// block 0.
func TestAllBlocksLost(t *testing.T) {
	dir := t.TempDir()
	complete(t, simulated(t, "SN_SEPOLIA", 5), dir, 4)
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("no log: %v", err)
	}
	for _, name := range logs {
		if err := os.Truncate(name, 0); err != nil {
			t.Fatal(err)
		}
	}
	stdout, stderr, code := outputOf(t, program(t, "admin", "fsck", "--data", dir))
	if !strings.Contains(stdout+stderr, "commits up to block 4 had been acknowledged, and the store had no block when") || code != exitFailure {
		t.Errorf("fsck ended with %d:\n%s%s", code, stdout, stderr)
	}
}

// TestFsckOfADataDirectory: all chains and the control database are checked, and
// one that is damaged does not hide the others.
func TestFsckOfADataDirectory(t *testing.T) {
	t.Parallel() // it waits for processes
	data := filepath.Join(t.TempDir(), "data")
	args := []string{"--data", data, "--chain", "SN_MAIN=" + simulated(t, "SN_MAIN", 10), "--chain", "SN_SEPOLIA=" + simulated(t, "SN_SEPOLIA", 10)}
	r := startServe(t, args...)
	file := filepath.Join(data, "control.db")
	succeed(t, file, "workspace", "create", "acme", "--plan", "enterprise")
	key := keyText.FindString(succeed(t, file, "key", "create", "--workspace", "acme"))
	for range 40 {
		succeed(t, file, "key", "create", "--workspace", "acme", "--label", strings.Repeat("x", 60))
	}
	r.untilHead(key, 9)
	until(t, "the other chain", func() bool { _, _, head := r.indexing(key, "SN_MAIN"); return head == 9 })
	r.stop()
	stdout, stderr, code := output(t, "admin", "fsck", "--data", data)
	if code != 0 || strings.Count(stdout, "\nclean\n") != 3 || !strings.Contains(stdout, filepath.Join(data, "SN_MAIN")) || !strings.Contains(stdout, filepath.Join(data, "SN_SEPOLIA")) {
		t.Fatalf("fsck ended with %d:\n%s%s", code, stdout, stderr)
	}
	// A page of the control database is damaged.
	sound, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(sound)
	for at := 4096; at+4096 <= len(damaged); at += 4096 {
		copy(damaged[at+8:at+64], bytes.Repeat([]byte{0xff}, 56))
	}
	if err := os.WriteFile(file, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code = output(t, "admin", "fsck", "--data", data)
	if code != exitFailure || strings.Count(stdout, "\nclean\n") != 2 || !strings.HasSuffix(stdout, "\ntotal         2 of 2 indexes clean, control database damaged\n") || !strings.Contains(stderr, "is damaged: restore it") {
		t.Errorf("fsck ended with %d:\n%s%s", code, stdout, stderr)
	}
	// All of it is gone: it is not made anew in silence.
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{append([]string{"serve", "--listen=127.0.0.1:0"}, args...), {"admin", "workspace", "create", "x", "--control", file}, {"admin", "fsck", "--data", data}} {
		if stdout, stderr, code := output(t, args...); code != exitFailure || !strings.Contains(stdout+stderr, "the file is empty") {
			t.Errorf("%v ended with %d:\n%s%s", args[:2], code, stdout, stderr)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Size() != 0 {
		t.Errorf("the file was changed (%v)", err)
	}
	// A file that is missing beside an index is made, with a warning.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	r = startServe(t, args...)
	if !strings.Contains(r.log, "keys that were made before are void") {
		t.Errorf("no warning of void keys:\n%s", r.log)
	}
	r.stop()
}
