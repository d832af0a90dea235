package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
)

// running is a started program whose log is being read.
type running struct {
	t    *testing.T
	cmd  *exec.Cmd
	base string // http://host:port
	// operator is the address of --metrics, when there is one.
	operator string
	log      string // until it served
}

// startServe runs serve and waits until it says where.
func startServe(t *testing.T, args ...string) *running {
	t.Helper()
	return startProgram(t, append([]string{"serve", "--listen=127.0.0.1:0"}, args...)...)
}

// startProgram runs a command that serves and waits until it says where.
func startProgram(t *testing.T, args ...string) *running {
	t.Helper()
	return start(t, program(t, args...))
}

func start(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	return startInto(t, cmd, io.Discard)
}

// startInto also keeps what the program logs once it serves.
func startInto(t *testing.T, cmd *exec.Cmd, rest io.Writer) *running {
	t.Helper()
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	var seen strings.Builder
	var operator string
	for lines.Scan() {
		seen.WriteString(lines.Text() + "\n")
		var rec struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &rec) != nil {
			continue
		}
		if rec.Msg == "serving metrics" {
			operator = strings.TrimSuffix(rec.Address, "/metrics")
		}
		if rec.Msg == "serving" {
			go io.Copy(rest, log) //nolint:errcheck // until the program ends
			return &running{t, cmd, rec.Address, operator, seen.String()}
		}
	}
	t.Fatalf("serve did not start:\n%s", seen.String())
	return nil
}

// patience is for what other processes do, on a machine that does much else.
const patience = 2 * time.Minute

func (r *running) stop() {
	r.t.Helper()
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		r.t.Fatal(err)
	}
	if err := r.cmd.Wait(); err != nil {
		r.t.Fatalf("serve ended with %v", err)
	}
}

// get asks until the answer has the wanted status, or gives up.
func (r *running) get(path, key string, want int) []byte {
	r.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.base+path, nil)
		if err != nil {
			r.t.Fatal(err)
		}
		if key != "" {
			req.Header.Set("X-Service-Api-Key", key)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			r.t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close() //nolint:errcheck // read to its end
		if err != nil {
			r.t.Fatal(err)
		}
		if res.StatusCode == want {
			return body
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("GET %s: %d, want %d: %s", path, res.StatusCode, want, body)
		}
		time.Sleep(10 * time.Millisecond) // between two questions
	}
}

// slowClient begins a request and waits to be cut off.
func slowClient(base string) error {
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // cut off by the other side
	if _, err := conn.Write([]byte("GET /healthz HTTP/1.1\r\nHost: x\r\n")); err != nil {
		return err
	}
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, conn) // ends when the server closes
	return err
}

func simulated(t *testing.T, chain string, blocks int) string {
	t.Helper()
	c := simnode.New(simnode.Config{Seed: 3, Blocks: blocks, ChainID: felt.MustShortString(chain)})
	srv := httptest.NewServer(simnode.NewNode(c, simnode.NodeConfig{}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestServe runs the service on two chains, with keys made and revoked while it
// runs, stops it and starts it again.
func TestServe(t *testing.T) {
	t.Parallel() // it waits for processes
	data := t.TempDir()
	args := []string{"--data", data, "--chain", "SN_MAIN=" + simulated(t, "SN_MAIN", 40), "--chain", "SN_SEPOLIA=" + simulated(t, "SN_SEPOLIA", 30)}
	serve := append([]string{"serve", "--listen=127.0.0.1:0"}, args...)
	r := start(t, sameBinary(t, serve...))
	slow := make(chan error, 1)
	go func() { slow <- slowClient(r.base) }()
	r.get("/readyz", "", http.StatusOK)

	control := data + "/control.db"
	if _, stderr, code := output(t, "admin", "workspace", "create", "acme", "--plan", "enterprise", "--control", control); code != 0 {
		t.Fatalf("workspace create: %s", stderr)
	}
	stdout, stderr, code := output(t, "admin", "key", "create", "--workspace", "acme", "--json", "--control", control)
	if code != 0 {
		t.Fatalf("key create: %s", stderr)
	}
	var made struct {
		PlaintextKey string
		APIKey       struct{ PublicID string }
	}
	if err := json.Unmarshal([]byte(stdout), &made); err != nil || made.PlaintextKey == "" || made.APIKey.PublicID == "" {
		t.Fatalf("key create printed %s (%v)", stdout, err)
	}
	for chain, head := range map[string]float64{"SN_MAIN": 39, "SN_SEPOLIA": 29} {
		var status map[string]any
		until(t, "the newest block of "+chain, func() bool {
			if err := json.Unmarshal(r.get("/v1/"+chain+"/status", made.PlaintextKey, http.StatusOK), &status); err != nil {
				t.Fatal(err)
			}
			return status["latestIndexedBlockNumber"] == head
		})
		if status["headBlockNumber"] != head || status["lagBlocks"] != 0.0 {
			t.Errorf("status of %s is %v", chain, status)
		}
	}
	if err := <-slow; err != nil {
		t.Errorf("a client that never ends its request: %v", err)
	}
	r.stop()

	r = start(t, sameBinary(t, append(serve, "--no-rpc-writes")...))
	r.get("/v1/SN_MAIN/block/39", made.PlaintextKey, http.StatusOK)
	var told struct {
		SessionControl, APIKeyLifecycle struct {
			Enabled bool
			Status  string
		}
		RPCProvider struct{ WriteBeta struct{ Enabled bool } }
	}
	if err := json.Unmarshal(r.get("/v1/meta/capabilities", made.PlaintextKey, http.StatusOK), &told); err != nil {
		t.Fatal(err)
	}
	if !told.SessionControl.Enabled || told.APIKeyLifecycle.Status != "self_serve" || told.RPCProvider.WriteBeta.Enabled {
		t.Errorf("it says of sessions, keys and writes: %+v", told)
	}
	if _, stderr, code := output(t, "admin", "key", "revoke", made.APIKey.PublicID, "--control", control); code != 0 {
		t.Fatalf("key revoke: %s", stderr)
	}
	start := time.Now()
	r.get("/v1/SN_MAIN/block/39", made.PlaintextKey, http.StatusUnauthorized)
	t.Logf("a revoked key was refused after %s", time.Since(start))
	r.stop()
	fsckClean(t, data+"/SN_MAIN")
	fsckClean(t, data+"/SN_SEPOLIA")
}

// TestServeRefusesTheWrongChain: a node behind the wrong name is noticed.
func TestServeRefusesTheWrongChain(t *testing.T) {
	_, stderr, code := output(t, "serve", "--listen=127.0.0.1:0", "--data", t.TempDir(), "--chain", "SN_MAIN="+simulated(t, "SN_SEPOLIA", 3))
	if code != exitFailure || !strings.Contains(stderr, "--chain SN_MAIN: its node serves the chain SN_SEPOLIA") {
		t.Errorf("exit code %d:\n%s", code, stderr)
	}
}
