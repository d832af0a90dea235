package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"

	"chainexplorer/internal/control"
	"chainexplorer/internal/store/postgres/pgtest"
	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/archive/archivetest"
	verification "chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/publication"
	"chainexplorer/internal/verification/receipt"
	shipped "chainexplorer/internal/verification/sample"
	"chainexplorer/internal/verification/submission"
	"chainexplorer/internal/verification/toolchain/toolchaintest"
)

// signerLine is the line between a worker and its signer, in the test's hands.
type signerLine struct {
	t      *testing.T
	target string

	mu       sync.Mutex
	before   func()      // with the question, before the signer has it
	answered func() bool // with the signer's answer; false: nobody gets it
}

func newSignerLine(t *testing.T, target string) (line *signerLine, address string) {
	t.Helper()
	address = signerAddress(t)
	l, err := net.Listen("unix", strings.TrimPrefix(address, "unix:"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) //nolint:errcheck // the test is over
	line = &signerLine{t: t, target: strings.TrimPrefix(target, "unix:")}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go line.carry(c)
		}
	}()
	return line, address
}

// set says what happens to the next questions for a receipt; those for a head of the log pass.
func (s *signerLine) set(before func(), answered func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.answered = before, answered
}

func (s *signerLine) carry(c net.Conn) {
	defer c.Close() //nolint:errcheck // what was said was said
	first := make([]byte, 16<<10)
	n, err := c.Read(first) // a question is one write
	if err != nil {
		return
	}
	s.mu.Lock()
	before, answered := s.before, s.answered
	s.mu.Unlock()
	if !strings.Contains(string(first[:n]), "notProofOf") {
		before, answered = nil, nil
	}
	if before != nil {
		before()
	}
	to, err := net.Dial("unix", s.target)
	if err != nil {
		return
	}
	defer to.Close() //nolint:errcheck // as above
	if _, err := to.Write(first[:n]); err != nil {
		return
	}
	answer, err := io.ReadAll(to)
	if err != nil || len(answer) == 0 || answered != nil && !answered() {
		return
	}
	c.Write(answer) //nolint:errcheck // whoever asked may be dead
}

// TestVerificationKills kills the processes of a verification, and the database, at every step: the API during an
// upload and after its last byte, the worker while it builds and while it compares, the signer between its signature and
// the admission, the database under all of them. What was acknowledged is there afterwards, every job ends, and
// there is one receipt of each that succeeded, of which the log has one leaf.
func TestVerificationKills(t *testing.T) {
	t.Parallel() // it waits for processes
	policy := toolchaintest.Policy(t)
	server := pgtest.New(t, pgtest.Options{})
	_, node := mainnetWithSample(t)
	keys, signing := signingKeys(t)
	signerAt := signerAddress(t)
	killSigner := runSigner(t, signing.Path, signerAt)
	line, address := newSignerLine(t, signerAt)
	logKey := filepath.Join(keys, "log.pub")

	indexer := startProcess(t, "index", "--node", node, "--store", server.URL(), "--verify", "off", "--no-jobs")
	defer indexer.cmd.Process.Kill() //nolint:errcheck // it may have ended
	hire := func() *process {
		return startProcess(t, "worker", "--node", node, "--store", server.URL(), "--finality-depth", "5", "--verification-toolchains", policy, "--signer", address, "--receipt-log-key", logKey)
	}
	kill := func(p *process) {
		t.Helper()
		p.signal(syscall.SIGKILL)
		p.cmd.Wait() //nolint:errcheck // killed
	}
	succeed(t, server.URL(), "workspace", "create", "acme", "--plan", "enterprise")
	caller := &jobCaller{t: t, key: keyText.FindString(succeed(t, server.URL(), "key", "create", "--workspace", "acme"))}
	var api *running
	serve := func() {
		t.Helper()
		api = startProgram(t, "api", "--listen=127.0.0.1:0", "--store", server.URL(), "--chain", "SN_MAIN", "--finality-depth", "5",
			"--receipt-trust", filepath.Join(keys, "trust.json"), "--receipt-log-key", logKey)
		caller.base = api.base
	}
	killAPI := func() {
		t.Helper()
		if err := api.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		api.cmd.Wait() //nolint:errcheck // killed
		serve()
	}
	worker := hire()
	serve()
	until(t, "readiness to verify", func() bool {
		_, text := api.once("/readyz", "")
		return strings.Contains(text, `"verification":"available"`)
	})
	db, err := control.Open(t.Context(), control.Options{Path: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // the test's
	jobs := verification.New(db, verification.Options{})
	is := func(id string, states ...verification.State) bool {
		list, err := jobs.List(t.Context(), "", 10)
		if err != nil {
			return false // the database is away
		}
		for _, j := range list {
			if j.ID == id {
				return slices.Contains(states, j.State)
			}
		}
		return false
	}
	count := func(query string, args ...any) (n int) {
		t.Helper()
		if err := db.Reader().QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	// leave is the time that a job stays with a worker that says nothing.
	leave := func(id string) {
		t.Helper()
		if err := db.Update(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), `UPDATE verification_job SET lease_until = 1 WHERE id = $1`, id)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}

	// The worker is away, and what follows finds the job as it was left.
	kill(worker)
	data, p := bulky(t)
	a := caller.create("a", p).JobID
	killAPI()
	if j := caller.look(a); j.State != "awaiting_upload" {
		t.Fatalf("created and killed: %s", j.State)
	}
	begin := func(part []byte) {
		t.Helper()
		c, err := net.Dial("tcp", strings.TrimPrefix(api.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() }) //nolint:errcheck // its other end was killed
		head := fmt.Sprintf("PUT %s/%s/source HTTP/1.1\r\nHost: x\r\nX-Service-Api-Key: %s\r\nContent-Type: application/gzip\r\nContent-Length: %d\r\n\r\n", jobsPath, a, caller.key, len(data))
		if _, err := c.Write(append([]byte(head), part...)); err != nil {
			t.Fatal(err)
		}
	}
	begin(data[:len(data)/2])
	killAPI()
	if j := caller.look(a); j.State != "awaiting_upload" || j.SourceDeletesAt != nil {
		t.Fatalf("killed halfway: %+v", j)
	}
	begin(data)
	until(t, "some of the source in the database", func() bool { return count(`SELECT COUNT(*) FROM verification_chunk`) > 0 })
	killAPI()
	if j := caller.look(a); !slices.Contains([]string{"awaiting_upload", "validating", "queued"}, j.State) {
		t.Fatalf("killed after the last byte: %+v", j)
	} else {
		t.Logf("killed after the last byte: %s", j.State)
	}
	if j := caller.upload(a, data); j.State != "queued" {
		t.Fatalf("handed over again: %+v", j)
	}
	server.Kill()
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "the acknowledged source", func() bool {
		status, answer, err := caller.do(http.MethodGet, "/"+a, nil)
		return err == nil && status == http.StatusOK && strings.Contains(string(answer), `"queued"`)
	})

	// The worker dies while it builds, and the next one while the signer has not answered.
	worker = hire()
	until(t, "a build", func() bool { return is(a, verification.Building) })
	kill(worker)
	leave(a)
	asked, release := make(chan struct{}), make(chan struct{})
	line.set(func() { asked <- struct{}{}; <-release }, func() bool { return false })
	worker = hire()
	<-asked
	if !is(a, verification.Comparing) {
		t.Errorf("the signer was asked before the job is comparing")
	}
	kill(worker)
	leave(a)
	// The third one gets the receipt; the signer dies before it is admitted.
	line.set(nil, func() bool { killSigner(syscall.SIGKILL); return true })
	close(release)
	worker = hire()
	if j := caller.ended(a); j.State != "succeeded" {
		t.Fatalf("after two workers that died: %+v", j)
	}

	// The signer dies with its answer: the receipt is on its disk and nowhere else.
	killSigner = runSigner(t, signing.Path, signerAt)
	line.set(nil, func() bool { killSigner(syscall.SIGKILL); return false })
	small, q, err := shipped.Archive()
	if err != nil {
		t.Fatal(err)
	}
	b := caller.create("b", q).JobID
	caller.upload(b, small)
	if j := caller.ended(b); j.State != "failed" || *j.FailureCode != "receipt_signing_failed" || !*j.Retryable {
		t.Fatalf("a signer that died: %+v", j)
	}
	killSigner = runSigner(t, signing.Path, signerAt)

	// The database dies while the signer signs.
	line.set(nil, func() bool {
		line.set(nil, nil)
		server.Kill()
		return server.Restart(context.WithoutCancel(t.Context())) == nil
	})
	c := caller.create("c", q).JobID
	caller.upload(c, small)
	until(t, "the end of a job whose database died", func() bool {
		return is(c, verification.Succeeded, verification.Failed, verification.Mismatch)
	})
	if j := caller.look(c); j.State != "succeeded" {
		t.Errorf("after the database died: %+v", j)
	}

	// One receipt of each that succeeded, and all of them believed.
	numbers := map[uint64]bool{}
	for _, id := range []string{a, c} {
		status, text, err := caller.do(http.MethodGet, "/"+id+"/receipt", nil)
		if err != nil || status != http.StatusOK {
			t.Fatalf("the receipt of %s: %d, %v", id, status, err)
		}
		signed, err := receipt.Parse(text)
		if err != nil || signed.Evidence.JobID != id || numbers[signed.Evidence.ReceiptID] {
			t.Errorf("the receipt of %s: %s, %v", id, text, err)
		}
		numbers[signed.Evidence.ReceiptID] = true
		path, err := publication.ProofPath(signed)
		if err != nil {
			t.Fatal(err)
		}
		file, proof := filepath.Join(t.TempDir(), "receipt.json"), filepath.Join(t.TempDir(), "proof")
		writeTestFile(t, file, text)
		writeTestFile(t, proof, api.get(path, "", http.StatusOK)) // the worker has the head signed
		if out, errs, code := output(t, "verify", "verify-receipt", file, "--trust", filepath.Join(keys, "trust.json"), "--log-proof", proof, "--log-key", logKey, "--require-log"); code != 0 {
			t.Errorf("%s%s", out, errs)
		}
	}
	if status, _, _ := caller.do(http.MethodGet, "/"+b+"/receipt", nil); status != http.StatusNotFound {
		t.Errorf("the receipt that nobody got: %d", status)
	}
	if receipts, leaves := count(`SELECT COUNT(*) FROM verification_receipt`), count(`SELECT COUNT(*) FROM receipt_log_leaf`); receipts != 2 || leaves != 2 {
		t.Errorf("%d receipts, %d leaves", receipts, leaves)
	}
	log, err := db.AuditLog(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for _, e := range slices.Backward(log) {
		if e.Subject == a {
			events = append(events, strings.TrimPrefix(e.Action, "verification."))
		}
	}
	if got := strings.Join(events, " "); got != "create commit accept claim giveback claim compare giveback claim compare admit" {
		t.Errorf("the audit log says %s", got)
	}
	if out, errs, code := output(t, "admin", "audit", "verify", "--control", server.URL(), "--json"); code != 0 {
		t.Errorf("the audit log: %s%s", out, errs)
	}
	for _, p := range []*process{worker, indexer} {
		p.signal(syscall.SIGTERM)
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("stopped with %v:\n%s", err, p.text())
		}
	}
	api.stop()
	killSigner(syscall.SIGTERM)
}

// bulky is the shipped source with text beside it that makes it long to store, and no other class.
func bulky(t *testing.T) ([]byte, *submission.Package) {
	t.Helper()
	tree := sampleTree(t)
	for i := range 2 {
		tree[fmt.Sprintf("docs/part%d.txt", i)] = &fstest.MapFile{Data: []byte(archivetest.Noise(3 << 20))}
	}
	data, summary, err := archive.Pack(tree, archive.Standard)
	if err != nil {
		t.Fatal(err)
	}
	return packageFor(t, data, summary.Digest)
}
