package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store/postgres/pgtest"
)

// fleet is several processes on one database.
type fleet struct {
	t      *testing.T
	url    string // of the database
	node   string
	admin  *pgx.Conn
	chain  *simnode.Chain
	logs   sync.Map // of processes, by pid
	apis   []*running
	key    string
	failed atomic.Int64 // reads that had to be repeated
	reads  atomic.Int64
}

// indexer starts a process that indexes or stands by.
func (f *fleet) indexer() *exec.Cmd {
	f.t.Helper()
	cmd := program(f.t, "index", "--node", f.node, "--store", f.url, "--undo-blocks", "200", "--verify", "off")
	log := &strings.Builder{}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.logs.Store(cmd.Process.Pid, log)
	return cmd
}

// leader is the process that holds the lease.
func (f *fleet) leader() (pid int, epoch int64) {
	f.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		var owner string
		var held bool
		err := f.admin.QueryRow(f.t.Context(), `select owner, held, epoch from chain_sn_sepolia._leases where name = ''`).Scan(&owner, &held, &epoch)
		if err == nil && held {
			if pid, err = strconv.Atoi(strings.Split(owner, "/")[1]); err == nil {
				return pid, epoch
			}
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("nobody leads: %q, %v", owner, err)
		}
		f.pause()
	}
}

// pause keeps a loop that watches other processes from keeping them busy.
func (f *fleet) pause() {
	t := time.NewTimer(20 * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
	case <-f.t.Context().Done():
	}
}

// head asks one API process for the newest indexed block. A read that fails is
// repeated once.
func (f *fleet) head(ctx context.Context, base string) (uint64, error) {
	ask := func() (uint64, error) {
		f.reads.Add(1)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/v1/SN_SEPOLIA/status", nil)
		if err != nil {
			return 0, err
		}
		req.Header.Set("X-Service-Api-Key", f.key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err
		}
		defer res.Body.Close() //nolint:errcheck // decoded below
		var status struct {
			LatestIndexedBlockNumber *uint64
		}
		if err := json.NewDecoder(res.Body).Decode(&status); err != nil {
			return 0, err
		}
		if res.StatusCode != http.StatusOK {
			return 0, fmt.Errorf("status %d", res.StatusCode)
		}
		if status.LatestIndexedBlockNumber == nil {
			return 0, nil
		}
		return *status.LatestIndexedBlockNumber, nil
	}
	n, err := ask()
	if err != nil && ctx.Err() == nil {
		f.failed.Add(1)
		n, err = ask()
	}
	return n, err
}

// reach waits until every API process shows a block.
func (f *fleet) reach(number uint64) {
	f.t.Helper()
	deadline := time.Now().Add(patience)
	for _, api := range f.apis {
		for {
			n, err := f.head(f.t.Context(), api.base)
			if err != nil {
				f.t.Fatalf("a read that a retry does not cure: %v", err)
			}
			if n >= number {
				break
			}
			if time.Now().After(deadline) {
				f.logs.Range(func(pid, log any) bool { f.t.Logf("process %v:\n%s", pid, log); return true })
				f.t.Fatalf("block %d is not indexed; the API shows %d", number, n)
			}
			f.pause()
		}
	}
}

// grow adds blocks, with a fork now and then, and waits until they are served.
func (f *fleet) grow(fork bool) time.Duration {
	f.t.Helper()
	if fork {
		f.chain.Fork(5)
		f.chain.Extend(8)
	} else {
		f.chain.Extend(3)
	}
	head, _ := f.chain.Head()
	begin := time.Now()
	f.reach(head)
	return time.Since(begin)
}

// TestRolesApart runs three indexers and two API processes on one database and
// kills or pauses the leader again and again, while the APIs are read all the
// time. Another indexer takes over; a leader that wakes up does not write; no
// block is lost or doubled.
func TestRolesApart(t *testing.T) {
	t.Parallel() // it waits for processes
	url := pgtest.Database(t)
	chain := simnode.New(simnode.Config{Seed: 41, Blocks: 150, L1Lag: 30})
	srv := httptest.NewServer(simnode.NewNode(chain, simnode.NodeConfig{}))
	defer srv.Close()
	f := &fleet{t: t, url: url, node: srv.URL, chain: chain}
	var err error
	if f.admin, err = pgx.Connect(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	defer f.admin.Close(context.Background()) //nolint:errcheck // a test's

	procs := map[int]*exec.Cmd{}
	start := func() {
		cmd := f.indexer()
		procs[cmd.Process.Pid] = cmd
	}
	for range 3 {
		start()
	}
	succeed(t, f.url, "workspace", "create", "fleet", "--plan", "enterprise")
	f.key = keyText.FindString(succeed(t, f.url, "key", "create", "--workspace", "fleet"))
	for range 2 {
		f.apis = append(f.apis, startProgram(t, "api", "--listen=127.0.0.1:0", "--store", f.url, "--chain", "SN_SEPOLIA"))
	}
	head, _ := chain.Head()
	f.reach(head)

	// Readers that never stop.
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for _, api := range f.apis {
		readers.Go(func() {
			for ctx.Err() == nil {
				if _, err := f.head(ctx, api.base); err != nil && ctx.Err() == nil {
					t.Errorf("a read that a retry does not cure: %v", err)
					return
				}
				f.pause()
			}
		})
	}
	pid, epoch := f.leader()
	for round := range 3 {
		kill := round%2 == 0
		sig := syscall.SIGKILL
		if !kill {
			sig = syscall.SIGSTOP
		}
		begin := time.Now()
		if err := syscall.Kill(pid, sig); err != nil {
			t.Fatal(err)
		}
		f.grow(round == 1)
		next, nextEpoch := f.leader()
		t.Logf("%v: taken over and new blocks served after %v", sig, time.Since(begin).Round(10*time.Millisecond))
		if next == pid || nextEpoch <= epoch {
			t.Errorf("process %d with epoch %d follows process %d with epoch %d", next, nextEpoch, pid, epoch)
		}
		if kill {
			procs[pid].Wait() //nolint:errcheck // killed
			delete(procs, pid)
			if round == 0 { // not at the end, where it would be stopped before it listens to signals
				start()
			}
		} else {
			if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			f.grow(false) // it wakes up, and the other one still leads
			if now, _ := f.leader(); now == pid {
				t.Errorf("the paused process %d leads again", pid)
			}
		}
		pid, epoch = next, nextEpoch
	}
	stop()
	readers.Wait()
	t.Logf("%d reads, %d of them repeated", f.reads.Load(), f.failed.Load())

	// A key that is revoked is refused by all processes that are asked a second later,
	// however long the asking takes.
	succeed(t, f.url, "key", "revoke", publicID.FindString(succeed(t, f.url, "key", "list")))
	revoked := time.Now()
	for _, api := range f.apis {
		for asked := time.Now(); ; asked = time.Now() {
			_, err := f.head(t.Context(), api.base)
			if err != nil && err.Error() == "status 401" {
				break
			}
			if since := asked.Sub(revoked); err != nil || since > time.Second {
				t.Fatalf("the key was good %s after it was revoked: %v", since, err)
			}
			f.pause()
		}
	}
	t.Logf("the revoked key was refused everywhere after %v", time.Since(revoked))
	for pid, cmd := range procs {
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			log, _ := f.logs.Load(pid)
			t.Errorf("process %d ended with %v:\n%s", pid, err, log)
		}
	}
	for _, api := range f.apis {
		api.stop()
	}
	head, _ = chain.Head()
	dir := t.TempDir()
	complete(t, srv.URL, dir, head)
	if got, want := postgresDigest(t, f.url), fsckClean(t, dir); got != want {
		t.Errorf("digest %s after all that, %s of one quiet run", got, want)
	}
}
