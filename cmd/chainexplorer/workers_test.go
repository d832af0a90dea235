package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/store/postgres/pgtest"
)

// process is a program with metrics whose log is kept.
type process struct {
	t        *testing.T
	cmd      *exec.Cmd
	operator chan string // the address of its metrics

	mu  sync.Mutex
	log strings.Builder
}

func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: program(t, append(args, "--metrics", "127.0.0.1:0")...), operator: make(chan string, 1)}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			p.mu.Lock()
			p.log.WriteString(lines.Text() + "\n")
			p.mu.Unlock()
			var rec struct{ Msg, Address string }
			if json.Unmarshal(lines.Bytes(), &rec) == nil && rec.Msg == "serving metrics" {
				p.operator <- strings.TrimSuffix(rec.Address, "/metrics")
			}
		}
	}()
	return p
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// metrics are the figures of a process, as text.
func (p *process) metrics() string {
	p.t.Helper()
	address := <-p.operator
	p.operator <- address
	text := ""
	for _, path := range []string{"/healthz", "/metrics"} {
		res, err := http.Get(address + path) //nolint:noctx // of a process of this test
		if err != nil {
			p.t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close() //nolint:errcheck // read to its end
		if err != nil || res.StatusCode != http.StatusOK {
			p.t.Fatalf("GET %s: %d, %v", path, res.StatusCode, err)
		}
		text = string(body)
	}
	return text
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// crew is a chain whose jobs are done by workers.
type crew struct {
	fleet
	api     *running
	workers map[int]*process
	all     []*process
}

// until waits for something that other processes do.
func (c *crew) until(what string, done func() bool) time.Duration {
	c.t.Helper()
	for begin := time.Now(); ; {
		if done() {
			return time.Since(begin).Round(10 * time.Millisecond)
		}
		if time.Since(begin) > patience {
			for _, p := range c.all {
				c.t.Logf("process %d:\n%s", p.cmd.Process.Pid, p.text())
			}
			c.t.Fatalf("%s: not within %s", what, patience)
		}
		c.pause()
	}
}

// holder is the worker that has a job, nil when nobody has.
func (c *crew) holder(job string) *process {
	c.t.Helper()
	var owner string
	err := c.admin.QueryRow(c.t.Context(), `select owner from chain_sn_sepolia._leases where name = $1 and held
		and expires > extract(epoch from clock_timestamp()) * 1000000000`, "job/"+job).Scan(&owner)
	if err != nil {
		return nil
	}
	pid, err := strconv.Atoi(strings.Split(owner, "/")[1])
	if err != nil {
		c.t.Fatal(err)
	}
	return c.workers[pid]
}

// has waits for a worker to have a job.
func (c *crew) has(job string) (p *process) {
	c.t.Helper()
	c.until("somebody who has the job "+job, func() bool {
		p = c.holder(job)
		return p != nil
	})
	return p
}

// census is the newest certified generation that the API shows, 0 for none.
func (c *crew) census() (generation, asOf uint64) {
	c.t.Helper()
	var page struct {
		Snapshot      struct{ GenerationID, AsOfBlock uint64 }
		Certification struct{ Status string }
	}
	c.read("/v1/SN_SEPOLIA/token/"+contracts.STRK.String()+"/holders?limit=1", &page)
	if page.Certification.Status != "certified" {
		return 0, 0
	}
	return page.Snapshot.GenerationID, page.Snapshot.AsOfBlock
}

// read asks the API, and leaves the answer as it is when it is no success.
func (c *crew) read(path string, into any) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.api.base+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("X-Service-Api-Key", c.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // decoded below
	if res.StatusCode == http.StatusOK {
		if err := json.NewDecoder(res.Body).Decode(into); err != nil {
			c.t.Fatal(err)
		}
	}
}

// fork takes the blocks of the newest census away, and returns when another one
// was made of the blocks that came instead.
func (c *crew) fork() time.Duration {
	c.t.Helper()
	before, _ := c.census()
	if before == 0 {
		c.t.Fatal("no census to take away")
	}
	c.chain.Fork(30)
	c.chain.Extend(40)
	return c.until("another census", func() bool {
		now, _ := c.census()
		return now > before
	})
}

// TestWorkers: an indexer that does no jobs, and workers that do. One that is
// killed or paused is followed by another; one that wakes up cannot write.
func TestWorkers(t *testing.T) {
	t.Parallel() // it waits for processes
	url := pgtest.Database(t)
	chain := simnode.New(simnode.Config{Seed: 43, Blocks: 150, L1Lag: 60})
	srv := httptest.NewServer(simnode.NewNode(chain, simnode.NodeConfig{}))
	defer srv.Close()
	c := &crew{fleet: fleet{t: t, url: url, node: srv.URL, chain: chain}, workers: map[int]*process{}}
	var err error
	if c.admin, err = pgx.Connect(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	defer c.admin.Close(context.Background()) //nolint:errcheck // a test's
	known := t.TempDir() + "/registry.yaml"
	if err := os.WriteFile(known, fmt.Appendf(nil, "version: 1\nchains:\n  SN_SEPOLIA:\n    tokens:\n"+
		"      - {address: %s, symbol: STRK, name: Starknet Token, decimals: 18, census: {qualified: true, reason: simulated}}\n", contracts.STRK), 0o600); err != nil {
		t.Fatal(err)
	}
	hire := func() *process {
		p := startProcess(t, "worker", "--node", c.node, "--store", c.url, "--registry", known, "--finality-depth", "5")
		c.workers[p.cmd.Process.Pid] = p
		c.all = append(c.all, p)
		return p
	}
	first, second := hire(), hire()
	c.until("a worker that waits", func() bool {
		return strings.Contains(first.text(), "waiting for an indexer to begin") && strings.Contains(second.text(), "waiting for an indexer to begin")
	})
	indexer := startProcess(t, "index", "--node", c.node, "--store", c.url, "--undo-blocks", "200", "--verify", "off", "--no-jobs")
	c.all = append(c.all, indexer)
	succeed(t, c.url, "workspace", "create", "crew", "--plan", "enterprise")
	c.key = keyText.FindString(succeed(t, c.url, "key", "create", "--workspace", "crew", "--scope", "read,partner"))
	c.api = startProgram(t, "api", "--listen=127.0.0.1:0", "--store", c.url, "--chain", "SN_SEPOLIA", "--registry", known, "--finality-depth", "5")

	took := c.until("a name and a census", func() bool {
		var token struct{ Name *string }
		c.read("/v1/SN_SEPOLIA/token/"+contracts.STRK.String(), &token)
		generation, _ := c.census()
		return token.Name != nil && *token.Name == "Starknet Token" && generation > 0
	})
	t.Logf("names and a census after %v", took)
	if text := indexer.metrics(); strings.Contains(text, "chainexplorer_job_") {
		t.Error("the indexer does jobs")
	}
	jobs := []string{"holder-census", "pools", "privacy-pool", "token-metadata"}
	spread := func() map[*process]int {
		by := map[*process]int{}
		for _, j := range jobs {
			if p := c.holder(j); p != nil {
				by[p]++
			}
		}
		return by
	}
	c.until("all jobs", func() bool { by := spread(); return by[first]+by[second] == len(jobs) })
	by := spread()
	t.Logf("the first worker has %d jobs, the second %d", by[first], by[second])
	if text := c.has("pools").metrics(); !strings.Contains(text, `chainexplorer_job_held{chain="SN_SEPOLIA",name="pools"} 1`) {
		t.Errorf("the metrics do not say who has the pools:\n%s", text)
	}

	// Killed in the middle of whatever it does.
	victim := c.has("holder-census")
	victim.signal(syscall.SIGKILL)
	begin := time.Now()
	victim.cmd.Wait() //nolint:errcheck // killed
	delete(c.workers, victim.cmd.Process.Pid)
	c.fork()
	t.Logf("killed: another worker has made a census after %v", time.Since(begin).Round(10*time.Millisecond))

	// Paused while another stands by, and woken up later.
	paused := c.has("holder-census")
	other := hire()
	c.until("another worker at work", func() bool { return strings.Contains(other.text(), `"working"`) })
	paused.signal(syscall.SIGSTOP)
	begin = time.Now()
	c.fork()
	t.Logf("paused: another worker has made a census after %v", time.Since(begin).Round(10*time.Millisecond))
	if now := c.has("holder-census"); now != other {
		t.Error("another than the one who is left has the census")
	}
	var epoch, after int64
	ask := func(n *int64) {
		if err := c.admin.QueryRow(t.Context(), `select epoch from chain_sn_sepolia._leases where name = 'job/holder-census'`).Scan(n); err != nil {
			t.Fatal(err)
		}
	}
	ask(&epoch)
	generation, _ := c.census()
	paused.signal(syscall.SIGCONT)
	c.until("the one that woke up stands by", func() bool {
		text := paused.metrics()
		// It finds out by its lease, or, where it slept in the middle of a commit, by the server, which has ended that.
		lost := !strings.Contains(text, `chainexplorer_job_lost_total{chain="SN_SEPOLIA",name="holder-census"} 0`) ||
			strings.Contains(paused.text(), `"a job failed, and whoever is first tries it again","job":"holder-census"`)
		return lost && strings.Contains(text, `chainexplorer_job_held{chain="SN_SEPOLIA",name="holder-census"} 0`)
	})
	if ask(&after); after != epoch || c.has("holder-census") != other {
		t.Errorf("the lease went from epoch %d to %d", epoch, after)
	}
	if now, _ := c.census(); now != generation {
		t.Errorf("generation %d became %d", generation, now)
	}
	// A worker that is stopped gives its jobs back at once.
	other.signal(syscall.SIGTERM)
	if err := other.cmd.Wait(); err != nil {
		t.Errorf("stopped with %v:\n%s", err, other.text())
	}
	delete(c.workers, other.cmd.Process.Pid)
	took = c.until("the jobs of one that was stopped", func() bool { return spread()[paused] == len(jobs) })
	t.Logf("stopped: the one that is left has all jobs after %v", took)

	for _, p := range []*process{paused, indexer} {
		p.signal(syscall.SIGTERM)
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("stopped with %v:\n%s", err, p.text())
		}
	}
	c.api.stop()
	head, _ := chain.Head()
	dir := t.TempDir()
	complete(t, srv.URL, dir, head)
	if got, want := postgresDigest(t, c.url), fsckClean(t, dir); got != want {
		t.Errorf("digest %s after all that, %s of one quiet run", got, want)
	}
}
