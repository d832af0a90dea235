package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store/postgres/pgtest"
	"chainexplorer/internal/verification/publication"
	shipped "chainexplorer/internal/verification/sample"
	"chainexplorer/internal/verification/toolchain/toolchaintest"
)

// TestVerifiedByRolesApart runs what the operators' guide describes: an indexer, a worker
// that builds, a signer and an API, each a process of its own, on PostgreSQL. The worker
// alone knows the signer, and so has the heads of the log signed.
func TestVerifiedByRolesApart(t *testing.T) {
	t.Parallel() // it waits for processes
	policy := toolchaintest.Policy(t)
	class, err := sampleClass()
	if err != nil {
		t.Fatal(err)
	}
	chain := simnode.New(simnode.Config{Seed: 12, Blocks: 12, ChainID: felt.MustShortString("SN_MAIN"), Declare: class})
	node := httptest.NewServer(simnode.NewNode(chain, simnode.NodeConfig{}))
	t.Cleanup(node.Close)
	url := pgtest.Database(t)
	keys, signing := signingKeys(t)
	trust, logKey := filepath.Join(keys, "trust.json"), filepath.Join(keys, "log.pub")
	address := signerAddress(t)
	killSigner := runSigner(t, signing.Path, address)
	all := []*process{
		startProcess(t, "index", "--node", node.URL, "--store", url, "--no-jobs", "--finality-depth", "5"),
		startProcess(t, "worker", "--node", node.URL, "--store", url, "--finality-depth", "5", "--verification-toolchains", policy, "--verification-builds", "2",
			"--signer", address, "--receipt-log-key", logKey),
	}
	api := startProgram(t, "api", "--listen=127.0.0.1:0", "--store", url, "--chain", "SN_MAIN", "--finality-depth", "5", "--receipt-trust", trust, "--receipt-log-key", logKey)
	blind := startProgram(t, "api", "--listen=127.0.0.1:0", "--store", url, "--chain", "SN_MAIN", "--finality-depth", "5")
	until(t, "readiness to verify", func() bool {
		_, text := api.once("/readyz", "")
		return strings.Contains(text, `"verification":"available"`)
	})
	if out := describedWorker(t, url); !strings.Contains(out, "taken") || !strings.Contains(out, "builds at once  2") || !strings.Contains(out, policy) {
		t.Errorf("the operator sees %s", out)
	}

	succeed(t, url, "workspace", "create", "acme")
	key := filepath.Join(t.TempDir(), "key")
	writeTestFile(t, key, []byte(keyText.FindString(succeed(t, url, "key", "create", "--workspace", "acme"))))
	tree := filepath.Join(t.TempDir(), "counter")
	if err := os.CopyFS(tree, shipped.Tree()); err != nil {
		t.Fatal(err)
	}
	made, receipt, proof := filepath.Join(tree, ".chainexplorer"), filepath.Join(t.TempDir(), "receipt.json"), filepath.Join(t.TempDir(), "proof")
	verify := func(command string, args ...string) string {
		t.Helper()
		out, errs, code := output(t, append([]string{"verify", command}, args...)...)
		if code != 0 {
			t.Fatalf("%s %v: %d %s%s\n%s", command, args, code, out, errs, all[1].text())
		}
		return out
	}
	verify("prepare", tree, "--class-hash", shipped.ClassHash.String(), "--package-name", "counter", "--target-name", "counter", "--artifact-id", "counter_Counter", "--module-path", "counter::counter::Counter")
	job, _, _ := strings.Cut(verify("submit", made, "--service", api.base, "--key-file", key, "--wait"), " ")
	verify("receipt", job, "--service", api.base, "--key-file", key, "--out", receipt, "--log-proof", proof)
	pinned := filepath.Join(t.TempDir(), "trust.json")
	writeTestFile(t, pinned, api.get(publication.TrustPath, "", http.StatusOK))
	verify("verify-receipt", receipt, "--trust", pinned, "--class-hash", shipped.ClassHash.String(), "--chain", "SN_MAIN", "--archive", filepath.Join(made, archiveFile),
		"--log-proof", proof, "--log-key", logKey, "--require-log")

	// The API tells of it by its own copy of the trust document, and takes it back when the
	// key is revoked there; one that was given no document tells of nothing.
	until(t, "a class that is called verified", func() bool { return api.shipped(key).VerificationTier == "verified_exact" })
	if out, errs, code := output(t, "admin", "signing-key", "revoke", "--dir", keys, "--key-id", signing.KeyID); code != 0 {
		t.Fatal(out, errs)
	}
	if c := blind.shipped(key); c.VerificationTier != "abi_declared" {
		t.Errorf("without a trust document the class is %+v", c)
	}
	until(t, "a class that is not called verified any more", func() bool { return api.shipped(key).VerificationTier == "abi_declared" })
	blind.stop()

	figures := all[1].metrics()
	for _, want := range []string{`chainexplorer_verification_outcomes_total{chain="SN_MAIN",outcome="succeeded"} 1`, `chainexplorer_verification_build_seconds_count{chain="SN_MAIN",result="class"} 1`,
		`chainexplorer_verification_running{chain="SN_MAIN"} 0`, `chainexplorer_verification_trouble{chain="SN_MAIN"} 0`, "chainexplorer_receipt_log_failures_total 0"} {
		if !strings.Contains(figures, want+"\n") {
			t.Errorf("the worker does not tell %s", want)
		}
	}
	api.stop()
	for _, p := range all {
		p.signal(syscall.SIGTERM)
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("a process ended with %v:\n%s", err, p.text())
		}
	}
	killSigner(syscall.SIGTERM)
}
