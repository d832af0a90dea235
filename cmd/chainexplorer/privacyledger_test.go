package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"chainexplorer/internal/simnode"
)

// accountant is an indexer in a directory, whose job keeps the ledger of a lively pool.
type accountant struct {
	*process
	ended chan struct{}
}

func startAccountant(t *testing.T, args ...string) *accountant {
	t.Helper()
	a := &accountant{startProcess(t, args...), make(chan struct{})}
	go func() {
		defer close(a.ended)
		a.cmd.Wait() //nolint:errcheck // it is killed, or ends because its disk is full
	}()
	return a
}

// stop sends a signal and waits for the end.
func (a *accountant) stop(s syscall.Signal) {
	a.t.Helper()
	a.signal(s)
	<-a.ended
}

var ledgerSample = regexp.MustCompile(`(?m)^chainexplorer_privacy_pool_ledger_(\w+)\{.*?(?:ledger|status|reason)="(\w+)".*?\} (\S+)$`)

// ledger is what the metrics say of it; nothing while they cannot be read.
func (a *accountant) ledger() map[string]float64 {
	a.t.Helper()
	var address string
	select {
	case address = <-a.operator:
		a.operator <- address
	case <-a.ended:
		return nil
	}
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodGet, address+"/metrics", nil)
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer an operator's token")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil
	}
	out := map[string]float64{}
	for _, m := range ledgerSample.FindAllStringSubmatch(string(text), -1) {
		if out[m[1]+" "+m[2]], err = strconv.ParseFloat(m[3], 64); err != nil {
			a.t.Fatal(err)
		}
	}
	return out
}

// until polls the metrics of the ledger.
func (a *accountant) until(what string, ok func(l map[string]float64) bool) {
	a.t.Helper()
	a.poll(20*time.Millisecond, what, ok)
}

// catch polls as often as it can, for what does not last. Metrics take more of the
// process than its work does.
func (a *accountant) catch(what string, ok func(l map[string]float64) bool) {
	a.t.Helper()
	a.poll(2*time.Millisecond, what, ok)
}

func (a *accountant) poll(every time.Duration, what string, ok func(l map[string]float64) bool) {
	a.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(every) {
		if ok(a.ledger()) {
			return
		}
		if time.Now().After(deadline) {
			a.t.Fatalf("%s did not happen: %v\n%s", what, a.ledger(), a.text())
		}
	}
}

// simulatedPools is a file of the registry with the classes of the simulated pool.
func simulatedPools(t *testing.T, chain *simnode.Chain) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("version: 1\nchains:\n  SN_SEPOLIA:\n    privacyPools:\n")
	for _, p := range chain.Network().Registry().PrivacyPools {
		fmt.Fprintf(&b, "      - address: %s\n        name: %s\n        feeToken: %s\n        classes:\n", p.Address, p.Name, p.FeeToken) //nolint:errcheck // a builder never fails
		for _, c := range p.Classes {
			fmt.Fprintf(&b, "          - {hash: %s, generation: %s}\n", c.Hash, c.Generation) //nolint:errcheck // as above
		}
	}
	file := filepath.Join(t.TempDir(), "registry.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestLedgerOutlivesProcesses: the process that makes the ledger is killed while it makes
// it, killed again while it makes another beside the one that is served, and runs out of
// disk. Each time the ledger is what the events say, by the checker that makes it anew from
// nothing, and the next process goes on.
func TestLedgerOutlivesProcesses(t *testing.T) {
	t.Parallel() // it waits for processes
	chain := simnode.New(simnode.Config{Seed: 81, Blocks: 60, PoolUses: 10, TxPerBlock: 1, BlockTime: 20 * time.Minute, L1Lag: -1})
	srv := httptest.NewServer(simnode.NewNode(chain, simnode.NodeConfig{}))
	defer srv.Close()
	disk, noDisk := maybeSmallDisk(t, "128")
	data := filepath.Join(disk, "index")
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("an operator's token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *accountant {
		return startAccountant(t, "index", "--node", srv.URL, "--data", data, "--verify", "off", "--min-free", "0", "--undo-blocks", "50", "--registry", simulatedPools(t, chain), "--finality-depth", "5", "--operator-token-file", token)
	}
	served := func(generation float64) func(map[string]float64) bool {
		return func(l map[string]float64) bool {
			return l["status complete"] == 1 && l["through_block serving"] == 54 && l["lag_blocks serving"] == 0 && l["generation serving"] >= generation
		}
	}
	again := func(a *accountant) {
		t.Helper()
		stdout, stderr, code := output(t, "admin", "privacy-pool", "rematerialize", "--operator", a.address(), "--operator-token-file", token)
		if code != 0 {
			t.Fatalf("%s%s", stdout, stderr)
		}
	}

	a := start()
	a.catch("the beginning of the ledger", func(l map[string]float64) bool {
		return l["through_block building"] > 0 || l["through_block serving"] > 0
	})
	a.stop(syscall.SIGKILL)
	fsckClean(t, data)

	a = start()
	a.until("the ledger", served(1))
	first := a.ledger()["generation serving"]
	again(a)
	a.catch("the beginning of another", func(l map[string]float64) bool {
		return l["through_block building"] > 0 || l["generation serving"] > first
	})
	if l := a.ledger(); l["generation serving"] > first {
		t.Log("the other ledger was finished before the kill")
	}
	a.stop(syscall.SIGKILL)
	fsckClean(t, data)

	a = start()
	a.until("the other ledger", served(first+1))
	if noDisk != nil {
		t.Log("no small disk:", noDisk)
		a.stop(syscall.SIGTERM)
		fsckClean(t, data)
		return
	}
	second := a.ledger()["generation serving"]
	makeRoom := fill(t, disk, 0)
	for ended := false; !ended; {
		select {
		case <-a.ended:
			ended = true
		case <-time.After(20 * time.Millisecond): // asking is a write as well, which may be the one that fails
			output(t, "admin", "privacy-pool", "rematerialize", "--operator", a.address(), "--operator-token-file", token)
		}
	}
	if !strings.Contains(a.text(), "no space left on device") {
		t.Errorf("it did not end because of the disk:\n%s", a.text())
	}
	makeRoom()
	fsckClean(t, data)
	a = start()
	a.until("the ledger after the full disk", served(second))
	a.stop(syscall.SIGTERM)
	fsckClean(t, data)
}

// address is where the operator of a process asks.
func (p *process) address() string {
	address := <-p.operator
	p.operator <- address
	return address
}
