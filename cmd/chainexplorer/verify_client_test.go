package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const clientJob = "vrf_0123456789abcdefghijklmn"

// provedBy has the form of a proof.
const provedBy = "c2sp.org/tlog-proof@v1\nindex 0\n\nlog\n1\nAAAA\n\n\u2014 log AAAA\n"

// TestVerifyClient plays a service that says what the test tells it to.
func TestVerifyClient(t *testing.T) {
	receiptFile, _ := testReceipt(t, "sha256:"+strings.Repeat("1a", 32), nil)
	text, err := os.ReadFile(receiptFile)
	if err != nil {
		t.Fatal(err)
	}
	owned := "vrf_" + strings.Repeat("a", 24) // which the receipt is about
	var asked []string
	var looks []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) //nolint:errcheck // a test's
		asked = append(asked, r.Method+" "+r.URL.Path)
		answer := `{"jobId":"` + clientJob + `","state":"queued","pollAfterSeconds":1}`
		switch {
		case r.Header.Get("X-API-Key") != "svc_secret":
			w.WriteHeader(http.StatusUnauthorized)
			answer = `{"code":"unauthorized","message":"No."}`
		case strings.HasPrefix(r.URL.Path, "/receipt-log/proof/"):
			answer = provedBy
		case strings.HasSuffix(r.URL.Path, "/receipt"):
			answer = string(text)
		case strings.HasSuffix(r.URL.Path, "/verification-jobs"):
			if !strings.HasPrefix(r.Header.Get("Idempotency-Key"), "sha256:") {
				w.WriteHeader(http.StatusBadRequest)
			}
			answer = strings.Replace(answer, "queued", "awaiting_upload", 1)
			w.WriteHeader(http.StatusCreated)
		case r.Method == http.MethodGet:
			answer, looks = looks[0], looks[1:]
		}
		io.WriteString(w, answer) //nolint:errcheck // a test's
	}))
	t.Cleanup(server.Close)
	dir := sourceTree(t)
	if _, errs, code := prepare(t, dir); code != 0 {
		t.Fatal(errs)
	}
	made := filepath.Join(dir, ".chainexplorer")
	keyFile := filepath.Join(t.TempDir(), "key")
	writeTestFile(t, keyFile, []byte("svc_secret\n"))
	job := func(state, more string) string {
		return `{"jobId":"` + clientJob + `","state":"` + state + `"` + more + `}`
	}
	out, proof := filepath.Join(t.TempDir(), "receipt.json"), filepath.Join(t.TempDir(), "proof")
	for _, c := range []struct {
		name  string
		looks []string
		args  []string
		code  int
		want  string
		asked int
	}{
		{"submit", nil, []string{"submit", made}, 0, clientJob + "  queued", 2},
		{"submit and wait", []string{job("succeeded", "")}, []string{"submit", made, "--wait"}, 0, clientJob + "  succeeded", 3},
		{"a mismatch", []string{job("mismatch", `,"failureCode":"class_hash_mismatch","mismatchParts":["abi","program"]`)}, []string{"submit", made, "--wait"}, exitMismatch, "(class_hash_mismatch); what differs: abi, program", 3},
		{"a failure", []string{job("failed", `,"failureCode":"lockfile_missing","retryable":false`)}, []string{"status", clientJob}, exitUnverified, "lockfile_missing", 1},
		{"another", []string{job("failed", `,"failureCode":"verifier_dispatch_failed","retryable":true`)}, []string{"status", clientJob, "--wait"}, exitUnverified, "A new job may fare better", 1},
		{"not ended", []string{job("building", `,"pollAfterSeconds":3000`)}, []string{"status", clientJob, "--wait", "--wait-time", "10ms"}, exitUnfinished, "has not ended yet", 1},
		{"one look", []string{job("building", "")}, []string{"status", clientJob, "--json"}, 0, `"state": "building"`, 1},
		{"cancel", nil, []string{"cancel", clientJob}, 0, "queued", 1},
		{"receipt", nil, []string{"receipt", owned, "--out", out}, 0, "not checked yet", 1},
		{"receipt with proof", nil, []string{"receipt", owned, "--out", out, "--log-proof", proof}, 0, "not checked yet", 2},
		{"another's receipt", nil, []string{"receipt", clientJob}, exitFailure, "the receipt of another job", 1},
		{"no job", nil, []string{"status", "../me"}, exitFailure, "is not the id", 0},
		{"in the clear", nil, []string{"status", clientJob, "--service", "http://explorer.example"}, exitUsage, "over https alone", 0},
	} {
		asked, looks = nil, c.looks
		args := append([]string{"verify"}, c.args...)
		if c.name != "in the clear" {
			args = append(args, "--service", server.URL)
		}
		stdout, errs, code := output(t, append(args, "--key-file", keyFile)...)
		if code != c.code || !strings.Contains(stdout+errs, c.want) || len(asked) != c.asked {
			t.Errorf("%s: %d %s%s, asked %v", c.name, code, stdout, errs, asked)
		}
		if strings.Contains(stdout+errs, "svc_secret") {
			t.Errorf("%s printed the key", c.name)
		}
	}
	if got, err := os.ReadFile(out); err != nil || string(got) != string(text) {
		t.Errorf("the receipt is %s (%v)", got, err)
	}
	if got, err := os.ReadFile(proof); err != nil || string(got) != provedBy {
		t.Errorf("the proof is %s (%v)", got, err)
	}
	t.Setenv(keyVariable, "")
	if _, errs, code := output(t, "verify", "status", clientJob, "--service", server.URL); code != exitUsage || !strings.Contains(errs, keyVariable) {
		t.Errorf("no key: %d %s", code, errs)
	}
	t.Setenv(keyVariable, "svc_other")
	if _, errs, code := output(t, "verify", "cancel", clientJob, "--service", server.URL); code != exitFailure || !strings.Contains(errs, "401 (unauthorized)") || strings.Contains(errs, "svc_other") {
		t.Errorf("a bad key: %d %s", code, errs)
	}
}
