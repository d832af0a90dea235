package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"

	"chainexplorer/internal/simnode"
)

// tripwire is a node that calls a function at its n-th request, before it answers.
type tripwire struct {
	node http.Handler
	left atomic.Int64
	hit  atomic.Pointer[func()]
}

func (w *tripwire) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if w.left.Add(-1) == 0 {
		(*w.hit.Load())()
	}
	w.node.ServeHTTP(rw, r)
}

func (w *tripwire) arm(n int64, hit func()) {
	w.hit.Store(&hit)
	w.left.Store(n)
}

// killAt runs the indexer until the node's n-th request and kills it there,
// without any chance to tidy up.
func killAt(t *testing.T, w *tripwire, n int64, args ...string) {
	t.Helper()
	cmd := program(t, args...)
	var log bytes.Buffer
	cmd.Stderr = &log
	started := make(chan struct{})
	w.arm(n, func() {
		<-started
		cmd.Process.Kill() //nolint:errcheck // checked by the wait status
	})
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	close(started)
	err := cmd.Wait()
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the indexer ended by itself: %v\n%s", err, log.String())
	}
}

// TestKillNine kills the real program with SIGKILL while it catches up and
// while it follows a chain that forks. After every kill the index is sound, and
// in the end it equals one that was built in one go.
func TestKillNine(t *testing.T) {
	t.Parallel() // it waits for processes
	chain := simnode.New(simnode.Config{Seed: 21, Blocks: 220, L1Lag: 60})
	w := &tripwire{node: simnode.NewNode(chain, simnode.NodeConfig{})}
	srv := httptest.NewServer(w)
	defer srv.Close()
	dir := t.TempDir()
	follow := []string{"index", "--node", srv.URL, "--data", dir, "--batch-mib", "1", "--window", "8", "--undo-blocks", "100"}

	for _, at := range []int64{1, 5, 40, 90, 150} { // catching up
		killAt(t, w, at, follow...)
		fsckClean(t, dir)
	}
	for i, at := range []int64{30, 12, 21} { // at the tail
		chain.Extend(20)
		chain.Fork(10 + 7*i)
		killAt(t, w, at, follow...)
		fsckClean(t, dir)
	}
	head, _ := chain.Head()
	w.arm(-1, nil)
	complete(t, srv.URL, dir, head)
	fresh := t.TempDir()
	complete(t, srv.URL, fresh, head)
	if got, want := fsckClean(t, dir), fsckClean(t, fresh); got != want {
		t.Errorf("digest after kills is %s, of one go %s", got, want)
	}
}

func complete(t *testing.T, url, dir string, head uint64) {
	t.Helper()
	_, stderr, code := outputOf(t, program(t, "index", "--node", url, "--data", dir, "--to", strconv.FormatUint(head, 10)))
	if code != 0 {
		t.Fatalf("index ended with %d:\n%s", code, stderr)
	}
}

// TestStopsOnSignal: SIGTERM ends the program cleanly.
func TestStopsOnSignal(t *testing.T) {
	t.Parallel() // it waits for processes
	chain := simnode.New(simnode.Config{Seed: 22, Blocks: 50})
	w := &tripwire{node: simnode.NewNode(chain, simnode.NodeConfig{})}
	srv := httptest.NewServer(w)
	defer srv.Close()
	dir := t.TempDir()
	cmd := program(t, "index", "--node", srv.URL, "--data", dir)
	started := make(chan struct{})
	w.arm(60, func() { // behind the last block: the program follows the tail
		<-started
		cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // checked by the exit code
	})
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	close(started)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("ended with %v", err)
	}
	fsckClean(t, dir)
}

// TestRefusesWhatIsNotItsOwn: the program says why and what to do.
func TestRefusesWhatIsNotItsOwn(t *testing.T) {
	sepolia := httptest.NewServer(simnode.NewNode(simnode.New(simnode.Config{Seed: 1, Blocks: 10}), simnode.NodeConfig{}))
	defer sepolia.Close()
	dir := t.TempDir()
	complete(t, sepolia.URL, dir, 5)

	other := simnode.Config{Seed: 1, Blocks: 10}
	if err := other.ChainID.UnmarshalText([]byte("0x534e5f4d41494e")); err != nil {
		t.Fatal(err)
	}
	mainnet := httptest.NewServer(simnode.NewNode(simnode.New(other), simnode.NodeConfig{}))
	defer mainnet.Close()
	_, stderr, code := output(t, "index", "--node", mainnet.URL, "--data", dir)
	want := "the index holds chain SN_SEPOLIA and the node serves chain SN_MAIN: use another directory or database, or another node"
	if code != exitFailure || !bytes.Contains([]byte(stderr), []byte(want)) {
		t.Errorf("exit code %d:\n%s", code, stderr)
	}

	// Another first block under the same name.
	twin := httptest.NewServer(simnode.NewNode(simnode.New(simnode.Config{Seed: 2, Blocks: 20}), simnode.NodeConfig{}))
	defer twin.Close()
	_, stderr, code = output(t, "index", "--node", twin.URL, "--data", dir)
	if code != exitFailure || !bytes.Contains([]byte(stderr), []byte("another first block")) {
		t.Errorf("exit code %d:\n%s", code, stderr)
	}
}

// TestOneWriter: a second process on the same directory is told so.
func TestOneWriter(t *testing.T) {
	t.Parallel() // it waits for processes
	chain := simnode.New(simnode.Config{Seed: 22, Blocks: 50})
	w := &tripwire{node: simnode.NewNode(chain, simnode.NodeConfig{})}
	srv := httptest.NewServer(w)
	defer srv.Close()
	dir := t.TempDir()
	first := program(t, "index", "--node", srv.URL, "--data", dir)
	opened := make(chan struct{})
	w.arm(20, func() { close(opened) })
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	<-opened
	for _, args := range [][]string{{"index", "--node", srv.URL, "--data", dir}, {"admin", "fsck", "--data", dir}} {
		_, stderr, code := output(t, args...)
		if code != exitFailure || !bytes.Contains([]byte(stderr), []byte(dir)) {
			t.Errorf("%v: exit code %d:\n%s", args, code, stderr)
		}
	}
	if err := first.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err != nil {
		t.Fatal(err)
	}
}
