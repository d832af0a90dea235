package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simprover"
)

// proofRequest asks for an answer of the simulated prover.
func proofRequest(n int, answer simprover.Answer, viewingKey string) string {
	return fmt.Sprintf(`{"block_id":{"block_number":%d},"transaction":{"type":"INVOKE","version":"0x3","sender_address":"0x5e0","calldata":["0x1","0x5e0","0x7","0x4","0xa11ce","%s"],"signature":["0x1","0x2"],"nonce":"%s","tip":"0x0",`+
		`"resource_bounds":{"l1_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"},"l2_gas":{"max_amount":"0x5f5e100","max_price_per_unit":"0x0"},"l1_data_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"}},`+
		`"paymaster_data":[],"account_deployment_data":[],"nonce_data_availability_mode":"L1","fee_data_availability_mode":"L1"}}`, n, viewingKey, felt.MustShortString(string(answer)))
}

// TestProverRelay: the program relays, by the client of the guide, and what it leaves behind
// holds no viewing key: not its log, its metrics, its traces, its files.
func TestProverRelay(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("Node.js is not installed")
	}
	t.Parallel()
	const viewingKey = "0x5ec2e75ec2e75ec2e7"
	old := simprover.New(simprover.Options{Now: func() time.Time { return time.Now().Add(-280 * time.Second) }})
	sim := httptest.NewServer(old)
	t.Cleanup(func() {
		sim.CloseClientConnections()
		sim.Close()
	})
	data := t.TempDir()
	control := filepath.Join(data, "control.db")
	succeed(t, control, "workspace", "create", "acme")
	key := keyText.FindString(succeed(t, control, "key", "create", "--workspace", "acme", "--scope", "read,prove"))
	if out := succeed(t, control, "prover", "budget", "--workspace", "acme", "--per-day", "100", "--at-once", "9"); out != "each key of workspace acme has 100 prover jobs a day, 9 at once\n" {
		t.Error(out)
	}
	traces, endpoint := collector(t)
	log := &gathered{}
	password := filepath.Join(t.TempDir(), "prover")
	if err := os.WriteFile(password, []byte(strings.Replace(sim.URL, "http://", "http://relay:hunter22@", 1)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := startInto(t, program(t, "serve", "--listen=127.0.0.1:0", "--metrics=127.0.0.1:0", "--chain", "SN_MAIN="+simulated(t, "SN_MAIN", 3), "--data", data, "--log-level=debug", "--trace-endpoint", endpoint,
		"--prover-file", password, "--prover-patience=1s"), log)
	if text := r.get("/readyz", "", http.StatusOK); !strings.Contains(string(text), `"prover":"available"`) {
		t.Errorf("/readyz says %s", text)
	}
	if text := r.get("/openapi.json", "", http.StatusOK); !strings.Contains(string(text), `"/v1/SN_MAIN/prove/{jobId}"`) {
		t.Error("the document has no relay")
	}
	// Each answer of the prover, and how the client of the guide ends.
	dir := t.TempDir()
	client := func(n int, answer simprover.Answer, state string) (int, string) {
		t.Helper()
		file := filepath.Join(dir, fmt.Sprintf("request-%d.json", n))
		if err := os.WriteFile(file, []byte(proofRequest(n, answer, viewingKey)), 0o600); err != nil {
			t.Error(err)
		}
		cmd := exec.CommandContext(t.Context(), "node", "../../docs/prove.mjs", r.base, file, filepath.Join(dir, state))
		cmd.Env = append(os.Environ(), "SERVICE_API_KEY="+key, "PROVE_PATIENCE_SECONDS=40")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Error(err)
		}
		return cmd.ProcessState.ExitCode(), string(out)
	}
	var wg sync.WaitGroup
	for n, c := range []struct {
		answer simprover.Answer
		exit   int
		words  string
	}{
		{simprover.Proof, 0, "proven"}, {simprover.Screened, 4, "too old"}, {simprover.Reverted, 1, "Reverted transactions"}, {simprover.ResetAfter, 2, "not sent again"},
	} {
		wg.Go(func() { // they mostly wait
			exit, out := client(n, c.answer, string(c.answer))
			if exit != c.exit || !strings.Contains(out, c.words) {
				t.Errorf("%s: the client ends with %d: %s", c.answer, exit, out)
			}
		})
	}
	wg.Wait()
	var result struct {
		Proof      string   `json:"proof"`
		ProofFacts []string `json:"proof_facts"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "proof", "result.json"))
	if err != nil || json.Unmarshal(text, &result) != nil || result.Proof == "" || len(result.ProofFacts) == 0 {
		t.Errorf("the client kept %.100s: %v", text, err)
	}
	// Once more it does nothing; a job whose result it lost is known to be gone; after
	// unavailable the same key tries again, and is proven.
	if exit, _ := client(0, simprover.Proof, "proof"); exit != 0 {
		t.Errorf("once more it ends with %d", exit)
	}
	for _, name := range []string{"result.json", "answer.json"} {
		if err := os.Remove(filepath.Join(dir, "proof", name)); err != nil {
			t.Fatal(err)
		}
	}
	if exit, out := client(0, simprover.Proof, "proof"); exit != 3 || !strings.Contains(out, "delivered_or_expired") {
		t.Errorf("without its result it ends with %d: %s", exit, out)
	}
	before := len(old.Heard())
	old.Next(simprover.Internal, simprover.Proof)
	if exit, out := client(9, "anything", "again"); exit != 0 || len(old.Heard()) != before+2 {
		t.Errorf("after unavailable it ends with %d, and the prover was asked %d times: %s", exit, len(old.Heard())-before, out)
	}
	res, err := http.Get(r.operator + "/metrics") //nolint:noctx // a test's
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := io.ReadAll(res.Body)
	res.Body.Close() //nolint:errcheck // read to its end
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`chainexplorer_prover_jobs_total{class="result",state="succeeded"} 3`, "chainexplorer_prover_up 1", "chainexplorer_prover_results_delivered_total 4", `chainexplorer_prover_state_seconds_count{state="dispatched"}`} {
		if !strings.Contains(string(metrics), want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", r.cmd.Process.Pid)); err == nil && !strings.Contains(strings.Join(strings.Fields(string(limits)), " "), "Max core file size 0 0") {
		t.Error("the process leaves core dumps")
	}
	r.stop()
	if !strings.Contains(traces.String(), "/v1/SN_MAIN/prove") || !strings.Contains(log.String(), `"prover job"`) {
		t.Error("there is nothing to look through")
	}
	places := map[string]string{"log": r.log + log.String(), "metrics": string(metrics), "traces": traces.String()}
	err = filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		places[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range places {
		for _, secret := range []string{viewingKey, viewingKey[2:], "hunter22", key[9:]} {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds a secret", where)
			}
		}
	}
}

// TestProverFlags refuses settings that would only fail later.
func TestProverFlags(t *testing.T) {
	for want, args := range map[string][]string{
		"not both":             {"--prover=http://p", "--prover-file=x"},
		"http:// or https://":  {"--prover=ftp://p"},
		"no such file":         {"--prover-file=/nowhere/at/all"},
		"--prover-concurrency": {"--prover=http://p", "--prover-concurrency=0"},
		"--prover-results":     {"--prover=http://p", "--prover-results=3"},
		"--prover-timeout":     {"--prover=http://p", "--prover-timeout=1s"},
		"--prover-patience":    {"--prover=http://p", "--prover-patience=0s"},
		"--prover-result-ttl":  {"--prover=http://p", "--prover-result-ttl=1s"},
		"--prover-key-per-day": {"--prover=http://p", "--prover-key-per-day=0"},
		"--prover-peer-url":    {"--prover=http://p", "--prover-peer-url=10.0.0.1"},
	} {
		_, stderr, code := output(t, append([]string{"serve", "--node=http://127.0.0.1:1", "--data", t.TempDir()}, args...)...)
		if code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%v: %d %s", args, code, stderr)
		}
	}
	_, stderr, _ := output(t, "serve", "--node=http://127.0.0.1:1", "--data", t.TempDir(), "--prover=http://me:hunter22@ :p")
	if strings.Contains(stderr, "hunter22") {
		t.Errorf("the password is repeated: %s", stderr)
	}
	control := filepath.Join(t.TempDir(), "control.db")
	succeed(t, control, "workspace", "create", "acme")
	id := publicID.FindString(succeed(t, control, "key", "create", "--workspace", "acme"))
	succeed(t, control, "prover", "budget", "--key", id, "--per-day", "3", "--at-once", "1", "--json")
	succeed(t, control, "prover", "budget", "--key", id, "--usual")
	for _, args := range [][]string{
		{"--key", id}, {"--key", id, "--per-day", "3"}, {"--key", id, "--per-day", "3", "--at-once", "1", "--usual"}, {"--per-day", "3", "--at-once", "1"}, {"--key", id, "--workspace", "acme", "--per-day", "3", "--at-once", "1"},
		{"--key", "key_0000000000000000", "--per-day", "3", "--at-once", "1"}, {"--key", "svc_live_x", "--per-day", "3", "--at-once", "1"}, {"--workspace", "nobody", "--per-day", "3", "--at-once", "1"},
	} {
		if out, stderr, code := output(t, append([]string{"admin", "prover", "budget", "--control", control}, args...)...); code == 0 {
			t.Errorf("%v: %s %s", args, out, stderr)
		}
	}
}
