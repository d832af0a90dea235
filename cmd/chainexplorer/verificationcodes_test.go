package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"chainexplorer/internal/control"
	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/archive/archivetest"
	"chainexplorer/internal/verification/receipt"
	shipped "chainexplorer/internal/verification/sample"
	"chainexplorer/internal/verification/submission"
	"chainexplorer/internal/verification/toolchain/toolchaintest"
)

// sampleTree is the shipped source, for a test to change.
func sampleTree(t *testing.T) fstest.MapFS {
	t.Helper()
	tree := fstest.MapFS{}
	err := fs.WalkDir(shipped.Tree(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(shipped.Tree(), path)
		tree[path] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// sampleWith is the shipped source in which a text of a file is another, and its package.
func sampleWith(t *testing.T, file, old, new string) ([]byte, *submission.Package) {
	t.Helper()
	tree := sampleTree(t)
	if file != "" {
		if tree[file] == nil || !bytes.Contains(tree[file].Data, []byte(old)) {
			t.Fatalf("%s has no %q", file, old)
		}
		tree[file].Data = bytes.Replace(tree[file].Data, []byte(old), []byte(new), 1)
	}
	data, summary, err := archive.Pack(tree, archive.Standard)
	if err != nil {
		t.Fatal(err)
	}
	return packageFor(t, data, summary.Digest)
}

func packageFor(t *testing.T, data []byte, digest string) ([]byte, *submission.Package) {
	t.Helper()
	_, p, err := shipped.Archive()
	if err != nil {
		t.Fatal(err)
	}
	p.UploadDigest, p.UploadByteLength = digest, int64(len(data))
	return data, p
}

// TestVerificationCodes brings the service, with the real compiler, to every failure that the contract names, as a
// caller sees it: at creation, at the upload, or as the end of a job. A receipt comes of none. Then the source of the
// one that succeeds is deleted when its time is over, by a service that was started again, and its receipt stays.
func TestVerificationCodes(t *testing.T) {
	t.Parallel() // it waits for processes
	policy := toolchaintest.Policy(t)
	_, node := mainnetWithSample(t)
	keys, signing := signingKeys(t)
	signerAt := signerAddress(t)
	killSigner := runSigner(t, signing.Path, signerAt)
	line, address := newSignerLine(t, signerAt)
	data := t.TempDir()
	args := []string{"--data", data, "--node", node, "--finality-depth", "5", "--verification-toolchains", policy, "--signer", address,
		"--receipt-trust", filepath.Join(keys, "trust.json"), "--receipt-log-key", filepath.Join(keys, "log.pub")}
	r := startServe(t, args...)
	db := data + "/control.db"
	available := func() {
		t.Helper()
		until(t, "readiness to verify", func() bool {
			_, text := r.once("/readyz", "")
			return strings.Contains(text, `"verification":"available"`)
		})
	}
	available()
	spaces := 0
	caller := func() *jobCaller { // a workspace may have one job
		spaces++
		name := fmt.Sprintf("w%d", spaces)
		succeed(t, db, "workspace", "create", name, "--plan", "enterprise")
		return &jobCaller{t, r.base, keyText.FindString(succeed(t, db, "key", "create", "--workspace", name))}
	}

	// What is refused before there is a job, or leaves it as it is.
	first := caller()
	refuse := func(status int, code, method, path string, body []byte, headers ...string) {
		t.Helper()
		got, answer, err := first.do(method, path, body, headers...)
		var e struct{ Code, Message, DocSlug, RequestID string }
		if err == nil {
			err = json.Unmarshal(answer, &e)
		}
		if err != nil || got != status || e.Code != code || e.Message == "" || e.DocSlug == "" || e.RequestID == "" {
			t.Errorf("%d %s, want %d %s; %v", got, answer, status, code, err)
		}
	}
	good, p := sampleWith(t, "", "", "")
	text, err := p.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	asJSON := []string{"Idempotency-Key", "k", "Content-Type", "application/json"}
	refuse(http.StatusUnprocessableEntity, "unsupported_policy", http.MethodPost, "", bytes.Replace(text, []byte("service-exact-v25"), []byte("service-exact-v26"), 1), asJSON...)
	refuse(http.StatusBadRequest, "invalid_verification_package", http.MethodPost, "", bytes.Replace(text, []byte(`"release"`), []byte(`"dev"`), 1), asJSON...)
	j := first.create("k", p)
	refuse(http.StatusConflict, "idempotency_key_reused", http.MethodPost, "", bytes.Replace(text, []byte("private-24h-v1"), []byte("private-7d-v1"), 1), asJSON...)
	flipped := bytes.Clone(good)
	flipped[20] ^= 1
	refuse(http.StatusUnprocessableEntity, "verification_upload_mismatch", http.MethodPut, "/"+j.JobID+"/source", flipped, "Content-Type", "application/gzip")
	refuse(http.StatusNotFound, "not_found", http.MethodGet, "/"+j.JobID+"/receipt", nil)

	// What a job ends with. All are handed over before the first one is waited for.
	unlocked := func() ([]byte, *submission.Package) {
		for _, a := range archivetest.Attacks() {
			if a.Reason == archive.LockfileMissing {
				return packageFor(t, a.Archive(), sha256Digest(a.Archive()))
			}
		}
		t.Fatal("no such attack")
		return nil, nil
	}
	type end struct {
		code      string
		retryable bool
		make      func() ([]byte, *submission.Package)
	}
	changed := func(file, old, new string) func() ([]byte, *submission.Package) {
		return func() ([]byte, *submission.Package) { return sampleWith(t, file, old, new) }
	}
	named := func(change func(*submission.Package)) func() ([]byte, *submission.Package) {
		return func() ([]byte, *submission.Package) {
			data, p := sampleWith(t, "", "", "")
			change(p)
			return data, p
		}
	}
	ends := []end{
		{"lockfile_missing", false, unlocked},
		{"invalid_source_archive", false, func() ([]byte, *submission.Package) {
			return packageFor(t, []byte("no archive"), sha256Digest([]byte("no archive")))
		}},
		{"finalized_declaration_unavailable", true, named(func(p *submission.Package) { p.SelectedClassHash = "0xabc" })},
		{"unsupported_toolchain", false, changed("Scarb.toml", `"2.20.0"`, `"2.20.1"`)},
		{"incomplete_offline_material", false, changed("Scarb.toml", "[dependencies]", "[dependencies]\nopenzeppelin = \"1.0.0\"")},
		{"invalid_verification_package", false, named(func(p *submission.Package) { p.ModulePath = "counter::counter::Other"; p.ArtifactID = "counter_Other" })},
		{"build_failed", false, changed("src/counter.cairo", "self.count.read() + by", "secret_of_the_source")},
		{"class_hash_mismatch", false, changed("src/counter.cairo", "self.count.read() + by", "self.count.read() - by")},
	}
	callers, ids := make([]*jobCaller, len(ends)), make([]string, len(ends))
	for i, e := range ends {
		callers[i] = caller()
		data, p := e.make()
		ids[i] = callers[i].create("k", p).JobID
		callers[i].upload(ids[i], data)
	}
	for i, e := range ends {
		j := callers[i].ended(ids[i])
		state, retryable := "failed", j.Retryable != nil && *j.Retryable == e.retryable
		if e.code == "class_hash_mismatch" {
			state, retryable = "mismatch", j.Retryable == nil
		}
		if j.State != state || j.FailureCode == nil || *j.FailureCode != e.code || !retryable || j.FailureMessage == nil || strings.Contains(*j.FailureMessage, "secret_of_the_source") {
			t.Errorf("%s: %+v", e.code, j)
		}
		if status, answer, err := callers[i].do(http.MethodGet, "/"+ids[i]+"/receipt", nil); err != nil || status != http.StatusNotFound {
			t.Errorf("%s has a receipt: %d %s", e.code, status, answer)
		}
	}

	// Without a signature nothing succeeds; with one the same source does, under a new key.
	line.set(nil, func() bool { return false })
	first.upload(j.JobID, good)
	if j := first.ended(j.JobID); j.State != "failed" || *j.FailureCode != "receipt_signing_failed" || !*j.Retryable {
		t.Errorf("without a signature: %+v", j)
	}
	line.set(nil, nil)
	j = first.create("again", p)
	first.upload(j.JobID, good)
	if j = first.ended(j.JobID); j.State != "succeeded" || j.SourceDeletesAt == nil || j.SourceDeletedAt != nil {
		t.Fatalf("with a signer: %+v", j)
	}
	var before, after []byte
	read := func(into *[]byte) {
		t.Helper()
		status, answer, err := first.do(http.MethodGet, "/"+j.JobID+"/receipt", nil)
		if err != nil || status != http.StatusOK {
			t.Fatalf("%d %s, %v", status, answer, err)
		}
		if _, err := receipt.Parse(answer); err != nil {
			t.Error(err)
		}
		*into = answer
	}
	read(&before)

	// A day later, after a restart.
	r.stop()
	chunks := func(statement string) (n int) {
		t.Helper()
		d, err := control.Open(t.Context(), control.Options{Path: db})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close() //nolint:errcheck // the test's
		if statement != "" {
			if err := d.Update(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(statement); return err }); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Reader().QueryRowContext(t.Context(), `SELECT COUNT(*) FROM verification_chunk`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := chunks(`UPDATE verification_job SET deletes_at = 1 WHERE deletes_at IS NOT NULL`); n == 0 {
		t.Fatal("there is nothing to delete")
	}
	r = startServe(t, args...)
	first.base = r.base
	until(t, "the deletion of the source", func() bool { return first.look(j.JobID).SourceDeletedAt != nil })
	read(&after)
	if !bytes.Equal(before, after) {
		t.Errorf("the receipt was\n%s\nand is\n%s", before, after)
	}
	until(t, "the deletion of all sources", func() bool { return chunks("") == 0 })
	if _, errs, code := output(t, "admin", "audit", "verify", "--control", db); code != 0 {
		t.Errorf("the audit log: %s", errs)
	}
	r.stop()
	killSigner(syscall.SIGTERM)
}
