package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/verification/publication"
	"chainexplorer/internal/verification/receipt"
	shipped "chainexplorer/internal/verification/sample"
	"chainexplorer/internal/verification/toolchain/toolchaintest"
)

// classReads is what the reads say of the source of a class.
type classReads struct {
	VerificationTier, VerificationSource, VerificationEvidenceDigest string
	VerificationClaimCount                                           int
}

// shipped reads the class whose source ships with the program, with the key of a file.
func (r *running) shipped(keyFile string) (c classReads) {
	r.t.Helper()
	key, err := os.ReadFile(keyFile)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := json.Unmarshal(r.get("/v1/SN_MAIN/class/"+shipped.ClassHash.String(), string(key), http.StatusOK), &c); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// TestVerifiedToAReceipt has a source verified as a user does, with nothing played but the
// chain: the program serves, builds in the sandbox with the real compiler and has another
// process sign; the commands prepare, submit, fetch and believe. One other character in the
// source gives another class, which is told and not signed.
func TestVerifiedToAReceipt(t *testing.T) {
	t.Parallel() // it waits for processes
	policy := toolchaintest.Policy(t)
	class, err := sampleClass()
	if err != nil {
		t.Fatal(err)
	}
	chain := simnode.New(simnode.Config{Seed: 12, Blocks: 12, ChainID: felt.MustShortString("SN_MAIN"), Declare: class})
	node := httptest.NewServer(simnode.NewNode(chain, simnode.NodeConfig{}))
	t.Cleanup(node.Close)

	keys, signing := signingKeys(t)
	address := signerAddress(t)
	killSigner := runSigner(t, signing.Path, address)
	data := t.TempDir()
	r := startServe(t, "--data", data, "--node", node.URL, "--finality-depth", "5", "--verification-toolchains", policy, "--signer", address,
		"--receipt-trust", filepath.Join(keys, "trust.json"), "--receipt-log-key", filepath.Join(keys, "log.pub"))
	db := data + "/control.db"
	key := func(workspace string) string {
		succeed(t, db, "workspace", "create", workspace)
		file := filepath.Join(t.TempDir(), "key")
		writeTestFile(t, file, []byte(keyText.FindString(succeed(t, db, "key", "create", "--workspace", workspace))))
		return file
	}
	ours, theirs := key("acme"), key("other")
	until(t, "readiness to verify", func() bool {
		code, text := r.once("/readyz", "")
		return code == http.StatusOK && strings.Contains(text, `"verification":"available"`)
	})

	tree := filepath.Join(t.TempDir(), "counter")
	if err := os.CopyFS(tree, shipped.Tree()); err != nil {
		t.Fatal(err)
	}
	made := filepath.Join(tree, ".chainexplorer")
	verify := func(want int, command string, args ...string) string {
		t.Helper()
		out, errs, code := output(t, append([]string{"verify", command}, args...)...)
		if code != want {
			t.Fatalf("%s %v: %d %s%s", command, args, code, out, errs)
		}
		return out + errs
	}
	prepare := func() {
		t.Helper()
		verify(0, "prepare", tree, "--class-hash", shipped.ClassHash.String(), "--package-name", "counter", "--target-name", "counter",
			"--artifact-id", "counter_Counter", "--module-path", "counter::counter::Counter")
	}
	submit := func(want int) (state struct{ JobID, State string }, text string) {
		t.Helper()
		prepare()
		text = verify(want, "submit", made, "--service", r.base, "--key-file", ours, "--wait", "--json")
		if err := json.NewDecoder(strings.NewReader(text)).Decode(&state); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return state, text
	}
	// What the reads say of the class, to anybody.
	reads := func() classReads {
		t.Helper()
		return r.shipped(theirs)
	}
	if c := reads(); c.VerificationTier != "abi_declared" {
		t.Errorf("before the receipt the class is %+v", c)
	}
	done, _ := submit(0)
	if done.State != "succeeded" {
		t.Fatalf("the job has %+v", done)
	}
	file := filepath.Join(t.TempDir(), "receipt.json")
	verify(0, "receipt", done.JobID, "--service", r.base, "--key-file", ours, "--out", file)
	if said := verify(1, "receipt", done.JobID, "--service", r.base, "--key-file", theirs); !strings.Contains(said, "404") && !strings.Contains(said, "not_found") {
		t.Errorf("another workspace is told: %s", said)
	}

	// Whoever relies on it has the trust document and the log's key; the proof is public.
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := receipt.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	path, err := publication.ProofPath(signed)
	if err != nil {
		t.Fatal(err)
	}
	proof := filepath.Join(t.TempDir(), "proof")
	until(t, "a signed head of the log", func() bool {
		code, text := r.once(path, "")
		writeTestFile(t, proof, []byte(text))
		return code == http.StatusOK
	})
	trust := filepath.Join(t.TempDir(), "trust.json")
	writeTestFile(t, trust, r.get(publication.TrustPath, "", http.StatusOK))
	believe := []string{file, "--trust", trust, "--class-hash", shipped.ClassHash.String(), "--chain", "SN_MAIN", "--archive", filepath.Join(made, "source.tar.gz"),
		"--log-proof", proof, "--log-key", filepath.Join(keys, "log.pub"), "--require-log"}
	verify(0, "verify-receipt", believe...)
	declared := chain.BlockAt(0)
	if e := signed.Evidence; e.Declaration.BlockNumber != 0 || e.Declaration.BlockHash != declared.Hash.String() || e.Declaration.CompiledClassHash != class[0].Compiled.String() || e.JobID != done.JobID {
		t.Errorf("the receipt says %+v", e)
	}

	until(t, "a class that is called verified", func() bool { return reads().VerificationTier == "verified_exact" })
	if c := reads(); c.VerificationSource != "receipt" || c.VerificationClaimCount != 1 || !strings.HasSuffix(path, "/"+strings.TrimPrefix(c.VerificationEvidenceDigest, "sha256:")) {
		t.Errorf("the class is %+v, and the proof is %s", c, path)
	}

	// One other character.
	source := filepath.Join(tree, "src", "counter.cairo")
	before, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	writeTestFile(t, source, bytes.Replace(before, []byte("self.count.read() + by"), []byte("self.count.read() - by"), 1))
	other, said := submit(exitMismatch)
	if other.State != "mismatch" || !strings.Contains(said, "class_hash_mismatch") || !strings.Contains(said, "program") || strings.Contains(said, `"abi"`) {
		t.Errorf("another source: %s", said)
	}
	verify(1, "receipt", other.JobID, "--service", r.base, "--key-file", ours)
	verify(1, "verify-receipt", believe...) // it is about the archive that was built

	if c := reads(); c.VerificationTier != "verified_exact" || c.VerificationClaimCount != 1 {
		t.Errorf("after a mismatch the class is %+v", c)
	}

	// The compiler is found to be bad.
	writeTestFile(t, source, before)
	_, named, code := output(t, "admin", "verification", "withdraw", "--control", db, "--toolchain", "cairo-1.0.0", "--reason", "a wrong name")
	compiler := regexp.MustCompile(`1 by (\S+)`).FindStringSubmatch(named)
	if code != exitUsage || compiler == nil {
		t.Fatalf("a compiler that built nothing: %d %s", code, named)
	}
	if out := succeed(t, db, "verification", "withdraw", "--toolchain", compiler[1], "--reason", "it miscompiles loops"); !strings.Contains(out, done.JobID) {
		t.Errorf("withdrawn are: %s", out)
	}
	until(t, "a class that is not called verified", func() bool { return reads().VerificationTier == "abi_declared" })
	if said := verify(exitUnverified, "status", done.JobID, "--service", r.base, "--key-file", ours); !strings.Contains(said, "it miscompiles loops") {
		t.Errorf("its owner is told: %s", said)
	}
	until(t, "a signed head of the log", func() bool {
		code, text := r.once(strings.Replace(path, "/proof/", "/withdrawn/", 1), "")
		writeTestFile(t, proof, []byte(text))
		return code == http.StatusOK
	})
	if said := verify(1, "verify-receipt", file, "--trust", trust, "--withdrawal", proof, "--log-key", filepath.Join(keys, "log.pub")); !strings.Contains(said, "was withdrawn") {
		t.Errorf("who holds the receipt is told: %s", said)
	}
	prepare()
	verify(0, "submit", made, "--service", r.base, "--key-file", ours, "--wait", "--idempotency-key", "anew")
	until(t, "a class that is verified anew", func() bool { return reads().VerificationTier == "verified_exact" })

	// The key is lost to somebody.
	if out, errs, code := output(t, "admin", "signing-key", "revoke", "--dir", keys, "--key-id", signing.KeyID); code != 0 {
		t.Fatal(out, errs)
	}
	until(t, "a class that is not called verified any more", func() bool { return reads().VerificationTier == "abi_declared" })

	r.stop()
	killSigner(syscall.SIGTERM)
}
