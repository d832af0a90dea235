package routes_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/relay"
	"chainexplorer/internal/relay/upstream"
	"chainexplorer/internal/simprover"
)

// The child is a service that somebody looks into when requests have passed through it.
const (
	childEnv    = "RELAY_ROUTES_TEST_CHILD" // where the prover is
	childDir    = "RELAY_ROUTES_TEST_DIR"   // where it puts what there is to look through
	childMarker = "needle"                  // is kept in its memory on purpose
)

// panicking is a prover that fails as no prover should when the nonce says so.
type panicking struct{ *upstream.Prover }

func (p panicking) Prove(ctx context.Context, params []byte) upstream.Outcome {
	if bytes.Contains(params, []byte(felt.MustShortString("panic").String())) {
		panic(fmt.Errorf("a fault that repeats %s", params))
	}
	return p.Prover.Prove(ctx, params)
}

// kept is found in a dump that is one.
var kept []byte

// TestSecrecyChild is the child, and nothing otherwise.
func TestSecrecyChild(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		return
	}
	kept = bytes.Repeat([]byte(childMarker+"."), 3)
	up, err := upstream.New(upstream.Options{URL: os.Getenv(childEnv), Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	reg := prometheus.NewRegistry()
	w := newWorld(t, func(s *setting) {
		s.Prover, s.Metrics, s.Concurrency = panicking{up}, relay.NewMetrics(reg), 1
		s.on = filepath.Join(dir, "control.db")
	})
	fmt.Printf("child %s %s %s\n", w.URL, w.key, w.Space.ID)
	if _, err := io.ReadAll(os.Stdin); err != nil { // until the parent has seen enough
		t.Fatal(err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"log": w.Logs.String(), "metrics": fmt.Sprint(families)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The last connection may be closing yet.
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		for range 3 { // pools keep what they have for two rounds
			runtime.GC()
		}
		f, err := os.Create(filepath.Join(dir, "heap"))
		if err != nil {
			t.Fatal(err)
		}
		debug.WriteHeapDump(f.Fd())
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if !holds(t, f.Name(), marker) || time.Now().After(end) {
			break
		}
	}
	runtime.KeepAlive(kept)
}

// holds looks through a file, and keeps nothing of it.
func holds(t *testing.T, file, text string) bool {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	defer clear(data)
	return bytes.Contains(data, []byte(text))
}

// TestSecretsAreNowhere sends requests that end in every way to a process of its own, and
// looks for their keys in its log, its metrics, its database and its heap.
func TestSecretsAreNowhere(t *testing.T) {
	if raced {
		t.Skip("sequential and long: run without the race detector")
	}
	sim := simprover.New(simprover.Options{})
	front := httptest.NewServer(sim)
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSecrecyChild$")
	cmd.Env = append(os.Environ(), childEnv+"="+front.URL, childDir+"="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var base, key, space string
	lines := bufio.NewReader(out)
	if _, err := fmt.Fscanf(lines, "child %s %s %s\n", &base, &key, &space); err != nil {
		t.Fatal(err)
	}
	var wg = make(chan string, 1)
	go func() {
		rest, _ := io.ReadAll(lines) //nolint:errcheck // what the child says when it fails
		wg <- string(rest)
	}()
	send := func(method, path, idempotency, content string) (int, []byte) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Service-Api-Key", key)
		req.Header.Set("Content-Type", "application/json")
		if idempotency != "" {
			req.Header.Set("Idempotency-Key", idempotency)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close() //nolint:errcheck // read to its end
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, text
	}
	ended := map[string]int{}
	for n, answer := range []string{"proof", "reverted", "internal", "reset_after", "http_502", "panic", "proof"} {
		text := strings.Replace(body(n), `"nonce":"0x0"`, `"nonce":"`+felt.MustShortString(answer).String()+`"`, 1)
		if n == 6 { // larger than any buffer on its way
			text = strings.Replace(text, `"`+marker+`"`, strings.Repeat(`"`+marker+`",`, 20_000)+`"0x1"`, 1)
		}
		status, reply := send(http.MethodPost, path, idem(n), text)
		var j shown
		if err := json.Unmarshal(reply, &j); err != nil || status != http.StatusAccepted {
			t.Fatalf("%s: %d %s", answer, status, reply)
		}
		for !j.Terminal {
			if _, reply = send(http.MethodGet, path+"/"+j.JobID, "", ""); json.Unmarshal(reply, &j) != nil {
				t.Fatal(string(reply))
			}
		}
		ended[j.Status]++
	}
	if ended["succeeded"] != 2 || ended["failed"] != 1 || ended["unavailable"] != 1 || ended["unknown_delivery"] != 3 {
		t.Errorf("the jobs ended as %v", ended)
	}
	for n, text := range []string{strings.Replace(body(50), "INVOKE", "DECLARE", 1), body(51)[:500], strings.Replace(body(52), `"tip"`, `"`+marker+`":1,"`+marker+`"`, 1), body(0)} {
		key := idem(50 + n)
		if n == 3 {
			key = idem(0) // which is another request's
		}
		if status, reply := send(http.MethodPost, path, key, text); status < 400 || bytes.Contains(reply, []byte(marker)) {
			t.Errorf("%d %s", status, reply)
		}
	}
	in.Close() //nolint:errcheck // that is what it waits for
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, <-wg)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 4 {
		t.Fatalf("there is little to look through: %v %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.Index(text, []byte(marker)); i >= 0 {
			t.Errorf("%s has the key: %.300q", filepath.Base(file), text[max(i-150, 0):min(i+100, len(text))])
		}
		if filepath.Base(file) == "heap" && !bytes.Contains(text, []byte(childMarker+"."+childMarker)) {
			t.Error("the dump has not what is in the heap")
		}
		if filepath.Base(file) == "log" && !bytes.Contains(text, []byte("panic in the prover relay")) {
			t.Error("the log does not tell of the panic")
		}
		if strings.HasPrefix(filepath.Base(file), "control.db") && bytes.Contains(text, []byte(idem(0))) {
			t.Errorf("%s has an idempotency key", filepath.Base(file))
		}
	}
}
