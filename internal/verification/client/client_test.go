package client_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/verification/client"
	"chainexplorer/internal/verification/receipt"
)

const id = "vrf_0123456789abcdefghijklmn"

// service answers as it is told, one after the other, and keeps what it was asked.
type service struct {
	*httptest.Server
	mu      sync.Mutex // guards what follows
	answers []http.HandlerFunc
	was     []string
}

// asked is all requests so far.
func (s *service) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.was)
}

// next takes a request down and returns the answer to it.
func (s *service) next(request string) http.HandlerFunc {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.was = append(s.was, request)
	if len(s.answers) == 0 {
		return say(http.StatusTeapot, "")
	}
	answer := s.answers[0]
	s.answers = s.answers[1:]
	return answer
}

func say(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body) //nolint:errcheck // a test's
	}
}

func state(state, more string) http.HandlerFunc {
	return say(200, `{"jobId":"`+id+`","state":"`+state+`"`+more+`}`)
}

// hangUp ends the connection without an answer.
func hangUp(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		conn.Close() //nolint:errcheck // that is the point
	}
}

func newClient(t *testing.T, answers ...http.HandlerFunc) (*client.Client, *service, *[]time.Duration) {
	t.Helper()
	s := &service{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) //nolint:errcheck // a test's
		s.next(fmt.Sprintf("%s %s %s %s %s %s", r.Method, r.URL.Path, r.Header.Get("X-API-Key"), r.Header.Get("Content-Type"), r.Header.Get("Idempotency-Key"), body))(w, r)
	}))
	t.Cleanup(s.Close)
	var waits []time.Duration
	c, err := client.New(client.Options{Base: s.URL, Chain: "SN_MAIN", Key: "the-key", Sleep: func(_ context.Context, d time.Duration) error {
		waits = append(waits, d)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return c, s, &waits
}

func TestRequests(t *testing.T) {
	c, s, _ := newClient(t, state("awaiting_upload", ""), state("queued", ""), state("cancelled", ""))
	for _, call := range []func() (*client.Job, error){
		func() (*client.Job, error) { return c.Create(t.Context(), []byte(`{"a":1}`), "k:1") },
		func() (*client.Job, error) { return c.Upload(t.Context(), id, []byte("gzip")) },
		func() (*client.Job, error) { return c.Cancel(t.Context(), id) },
	} {
		if j, err := call(); err != nil || j.JobID != id {
			t.Errorf("%+v (%v)", j, err)
		}
	}
	base := "/v1/SN_MAIN/verification-jobs"
	want := []string{"POST " + base + ` the-key application/json k:1 {"a":1}`, "PUT " + base + "/" + id + "/source the-key application/gzip  gzip", "POST " + base + "/" + id + "/cancel the-key   "}
	if !slices.Equal(s.asked(), want) {
		t.Errorf("asked %q", s.asked())
	}
}

// TestMutationsAreNotRepeated: whatever goes wrong, each is sent once.
func TestMutationsAreNotRepeated(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"refused": say(429, `{"code":"rate_limited","message":"Slow."}`, "Retry-After", "7"), "unavailable": say(503, ""), "no answer": hangUp,
		"elsewhere": say(307, "", "Location", "https://elsewhere.example/"), "no job": say(200, "{}"), "too long": say(200, strings.Repeat(" ", 1<<20)),
	} {
		c, s, waits := newClient(t, answer, answer, answer, answer, answer, answer)
		for i, call := range []func() error{
			func() error { _, err := c.Create(t.Context(), []byte("{}"), "k"); return err },
			func() error { _, err := c.Upload(t.Context(), id, []byte("x")); return err },
			func() error { _, err := c.Cancel(t.Context(), id); return err },
		} {
			err := call()
			if err == nil || len(s.asked()) != i+1 || strings.Contains(err.Error(), "the-key") {
				t.Errorf("%s: asked %d times (%v)", name, len(s.asked()), err)
			}
			var refusal *client.Refusal
			if name == "refused" && (!errors.As(err, &refusal) || refusal.Code != "rate_limited" || refusal.RetryAfter != 7*time.Second) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if len(*waits) > 0 {
			t.Errorf("%s: it waited %v", name, *waits)
		}
	}
}

func TestWait(t *testing.T) {
	c, _, waits := newClient(t, state("queued", `,"pollAfterSeconds":9`), state("building", `,"pollAfterSeconds":0`), say(429, `{"code":"rate_limited"}`, "Retry-After", "30"),
		hangUp, hangUp, say(503, "", "Retry-After", "99999"), state("comparing", ""), state("comparing", `,"pollAfterSeconds":2`), state("succeeded", ""))
	var told []string
	j, err := c.Wait(t.Context(), id, func(j *client.Job) { told = append(told, j.State) })
	if err != nil || j.State != "succeeded" || !slices.Equal(told, []string{"queued", "building", "comparing", "succeeded"}) {
		t.Errorf("%+v, told %v (%v)", j, told, err)
	}
	want := []time.Duration{9 * time.Second, time.Second, 30 * time.Second, 10 * time.Second, 20 * time.Second, 5 * time.Minute, 5 * time.Second, 2 * time.Second}
	if !slices.Equal(*waits, want) {
		t.Errorf("waited %v, want %v", *waits, want)
	}
	c, s, _ := newClient(t, say(404, `{"code":"not_found","message":"None."}`))
	if _, err := c.Wait(t.Context(), id, nil); err == nil || len(s.asked()) != 1 {
		t.Errorf("a job that is not there was looked for %d times (%v)", len(s.asked()), err)
	}
	c, s, _ = newClient(t, hangUp, hangUp, hangUp, hangUp, hangUp, hangUp, hangUp)
	if _, err := c.Wait(t.Context(), id, nil); err == nil || len(s.asked()) < 5 || len(s.asked()) > 10 {
		t.Errorf("a service that is gone was asked %d times (%v)", len(s.asked()), err)
	}
}

func TestReceipt(t *testing.T) {
	r, err := receipt.Sign(receipt.Evidence{
		JobID: id, ChainID: "SN_MAIN", ClassHash: "0xabc", ReceiptID: 1, Verification: receipt.VerifiedExact,
		SourceArchiveDigest: "sha256:" + strings.Repeat("1a", 32), ToolchainPolicyID: receipt.ToolchainPolicy, CandidateDigest: "sha256:" + strings.Repeat("2b", 32),
		Declaration: receipt.Declaration{BlockNumber: 5, BlockHash: "0x1", TransactionHash: "0x2", CompiledClassHash: "0x3"},
		ProofScope:  receipt.ProofScope, NotProofOf: receipt.NotProofOf, IssuedAt: "2026-05-01T12:00:00Z",
	}, "test", ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	c, _, _ := newClient(t, say(200, string(text)), say(200, string(text)), say(200, "{}"), say(404, `{"code":"not_found","message":"None."}`))
	if got, err := c.Receipt(t.Context(), id); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%s (%v)", got, err)
	}
	for _, job := range []string{"vrf_" + strings.Repeat("z", 24), id, id, "../me"} {
		if got, err := c.Receipt(t.Context(), job); err == nil {
			t.Errorf("%s: %s", job, got)
		}
	}
}

// TestLogProof: a proof that is not there yet is waited for, a few times; what is none is refused.
func TestLogProof(t *testing.T) {
	const path, proof = "/receipt-log/proof/ab", "c2sp.org/tlog-proof@v1\nindex 0\n\nlog\n1\nAAAA\n"
	later := say(503, `{"code":"service_unavailable","message":"Not yet."}`, "Retry-After", "2")
	c, s, waits := newClient(t, later, later, say(200, proof))
	got, err := c.LogProof(t.Context(), path)
	if err != nil || string(got) != proof || !slices.Equal(*waits, []time.Duration{2 * time.Second, 2 * time.Second}) || !strings.HasPrefix(s.asked()[0], "GET "+path+" ") {
		t.Errorf("%s (%v), waited %v, asked %q", got, err, *waits, s.asked())
	}
	for name, answers := range map[string][]http.HandlerFunc{
		"no proof": {say(200, "a page")}, "no log": {say(404, `{"code":"not_found","message":"None."}`)}, "never": slices.Repeat([]http.HandlerFunc{later}, 20),
	} {
		c, s, _ := newClient(t, answers...)
		if got, err := c.LogProof(t.Context(), path); err == nil || len(s.asked()) > 10 || name != "never" && len(s.asked()) != 1 {
			t.Errorf("%s: %s after %d requests (%v)", name, got, len(s.asked()), err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, o := range []client.Options{
		{Base: "", Key: "k"}, {Base: "explorer.example", Key: "k"}, {Base: "ftp://explorer.example", Key: "k"}, {Base: "http://explorer.example", Key: "k"}, {Base: "https://u:p@explorer.example", Key: "k"},
		{Base: "https://explorer.example?x=1", Key: "k"}, {Base: "https://explorer.example"},
	} {
		if _, err := client.New(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	for _, base := range []string{"https://explorer.example", "http://127.0.0.1:8080", "http://[::1]:8080", "http://localhost:8080/prefix"} {
		if _, err := client.New(client.Options{Base: base, Key: "k"}); err != nil {
			t.Errorf("%s: %v", base, err)
		}
	}
}
