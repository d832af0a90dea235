package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/signer"
)

// signingKeys makes a key folder with the command.
func signingKeys(t *testing.T) (dir string, key signingKeyView) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "keys")
	out, errs, code := output(t, "admin", "signing-key", "create", "--dir", dir, "--key-id", "first", "--log-origin", "log.example/receipts", "--json")
	if code != 0 {
		t.Fatal(errs)
	}
	if err := json.Unmarshal([]byte(out), &key); err != nil {
		t.Fatal(err)
	}
	return dir, key
}

func TestSigningKeyCommands(t *testing.T) {
	dir, key := signingKeys(t)
	var printed strings.Builder
	do := func(want string, code int, args ...string) {
		t.Helper()
		out, errs, got := output(t, append(append([]string{"admin", "signing-key"}, args...), "--dir", dir)...)
		printed.WriteString(out + errs)
		if got != code || !strings.Contains(out+errs, want) {
			t.Errorf("%v: %d %s%s, want %q", args, got, out, errs, want)
		}
	}
	do("there is a key already", exitFailure, "create")
	do("first  valid", 0, "list")
	do("valid from", 0, "rotate", "--key-id", "second", "--starts-in", "1h", "--overlap", "2h", "--valid-for", "100h")
	do("second  not_yet_valid", 0, "list")
	do(`"held": true`, 0, "list", "--json")
	do("a key's id has", exitUsage, "rotate", "--key-id", "../x")
	do("not be negative", exitUsage, "rotate", "--overlap=-1h")
	do("first is revoked since", 0, "revoke", "--key-id", "first")
	do("revoked already", exitFailure, "revoke", "--key-id", "first")
	do("no key of that id", exitFailure, "revoke", "--key-id", "third")
	do("first   revoked", 0, "list")
	for _, file := range []string{key.Path, filepath.Join(dir, "log.key"), filepath.Join(dir, "second.key")} {
		secret, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(secret), "\n") {
			if len(line) > 20 && !strings.HasPrefix(line, "-----") && strings.Contains(printed.String(), line) {
				t.Errorf("%s was printed", file)
			}
		}
	}
}

// signerAddress is a socket with a path that is short enough for one.
func signerAddress(t *testing.T) string {
	t.Helper()
	short, err := os.MkdirTemp("", "signer")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(short) }) //nolint:errcheck // a left-over
	return "unix:" + filepath.Join(short, "s")
}

// runSigner starts a signer. What ends it returns what it logged.
func runSigner(t *testing.T, key, address string) (kill func(os.Signal) string) {
	t.Helper()
	cmd := program(t, "signer", "--signing-key", key, "--listen", address)
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	var seen strings.Builder
	for lines.Scan() {
		seen.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), `"signing"`) {
			break
		}
	}
	if !strings.Contains(seen.String(), `"signing"`) {
		t.Fatalf("the signer did not start: %s", seen.String())
	}
	return func(sig os.Signal) string {
		t.Helper()
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			seen.WriteString(lines.Text() + "\n")
		}
		cmd.Wait() //nolint:errcheck // it was killed, perhaps
		return seen.String()
	}
}

// TestSignerProcess signs in another process, which is killed and started again.
func TestSignerProcess(t *testing.T) {
	dir, key := signingKeys(t)
	address := signerAddress(t)
	run := func() (kill func(os.Signal) string) { return runSigner(t, key.Path, address) }
	client, err := signer.NewClient(address)
	if err != nil {
		t.Fatal(err)
	}
	e := receipt.Evidence{
		JobID: "vrf_" + strings.Repeat("a", 24), ChainID: "SN_MAIN", ClassHash: "0xabc", ReceiptID: 1, Verification: receipt.VerifiedExact,
		SourceArchiveDigest: "sha256:" + strings.Repeat("1a", 32), ToolchainPolicyID: receipt.ToolchainPolicy, CandidateDigest: "sha256:" + strings.Repeat("2b", 32),
		Declaration: receipt.Declaration{BlockNumber: 5, BlockHash: "0x1", TransactionHash: "0x2", CompiledClassHash: "0x3"},
		ProofScope:  receipt.ProofScope, NotProofOf: receipt.NotProofOf, IssuedAt: time.Now().UTC().Format(time.RFC3339Nano),
	}
	kill := run()
	first, err := client.Sign(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	kill(syscall.SIGKILL)
	kill = run() // the socket is still there
	again, err := client.Sign(t.Context(), e)
	if err != nil || again.Signature != first.Signature {
		t.Errorf("after kill -9: %v", err)
	}
	e.ClassHash = "0xabd"
	if _, err := client.Sign(t.Context(), e); err == nil || !strings.Contains(err.Error(), "receipt_id_reused") {
		t.Errorf("after kill -9, other evidence: %v", err)
	}
	if log := kill(syscall.SIGTERM); !strings.Contains(log, `"stopped"`) {
		t.Errorf("it did not stop by itself: %s", log)
	}
	text, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "receipt.json")
	writeTestFile(t, file, text)
	if out, errs, code := output(t, "verify", "verify-receipt", file, "--trust", key.Trust); code != 0 {
		t.Errorf("%s%s", out, errs)
	}
	if _, errs, code := output(t, "admin", "signing-key", "revoke", "--dir", dir, "--key-id", "first"); code != 0 {
		t.Fatal(errs)
	}
	if _, errs, code := output(t, "verify", "verify-receipt", file, "--trust", key.Trust); code != exitFailure || !strings.Contains(errs, "key_revoked") {
		t.Errorf("after the revocation: %d %s", code, errs)
	}
}
