package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/receipt"
)

// sourceTree lays a small tree out.
func sourceTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for p, text := range map[string]string{
		"Scarb.toml": "[package]\nname = \"counter\"\n", "Scarb.lock": "version = 1\n", "src/lib.cairo": "mod counter;\n", "src/counter.cairo": "// a contract\n",
		".git/config": "[remote]\n", "target/release/counter.json": "{}",
	} {
		writeTestFile(t, filepath.Join(dir, p), []byte(text))
	}
	return dir
}

func writeTestFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

var prepareFlags = []string{"--class-hash", "0x00ABC", "--package-name", "counter", "--target-name", "counter", "--artifact-id", "counter_Counter", "--module-path", "counter::counter::Counter"}

func prepare(t *testing.T, dir string, more ...string) (stdout, stderr string, code int) {
	t.Helper()
	return output(t, append(append([]string{"verify", "prepare", dir}, prepareFlags...), more...)...)
}

func TestVerifyPrepareAndCheck(t *testing.T) {
	dir, out := sourceTree(t), t.TempDir()
	text, errs, code := prepare(t, dir, "--json", "--out", out)
	if code != 0 {
		t.Fatal(errs)
	}
	var view prepareView
	if err := json.Unmarshal([]byte(text), &view); err != nil || view.Files != 4 || view.Content.SelectedClassHash != "0xabc" || view.Content.RetentionPolicyID != "private-24h-v1" {
		t.Fatalf("%s (%v)", text, err)
	}
	first, err := os.ReadFile(view.Archive)
	if err != nil {
		t.Fatal(err)
	}
	// Into the tree's own folder, and again with that folder there: the same bytes.
	for range 2 {
		if _, errs, code := prepare(t, dir); code != 0 {
			t.Fatal(errs)
		}
		again, err := os.ReadFile(filepath.Join(dir, archive.ToolFolder, archiveFile))
		if err != nil || !bytes.Equal(first, again) {
			t.Fatalf("the second archive differs (%v)", err)
		}
	}
	text, errs, code = output(t, "verify", "check", view.Archive, "--package", view.Package, "--list")
	for _, want := range []string{"src/counter.cairo", "4 files", view.PackageDigest, view.Content.UploadDigest, "no verification"} {
		if code != 0 || !strings.Contains(text, want) {
			t.Errorf("check printed %s%s, without %q", text, errs, want)
		}
	}
	if strings.Contains(text, "config") || strings.Contains(text, "target") {
		t.Errorf("too much was packed: %s", text)
	}
	text, _, _ = output(t, "verify", "check", view.Archive, "--json")
	if !strings.Contains(text, `"packageDigest": null`) || !strings.Contains(text, `"digest": "`+view.Content.UploadDigest+`"`) {
		t.Errorf("check printed %s", text)
	}
}

func TestVerifyCheckRefuses(t *testing.T) {
	dir, out := sourceTree(t), t.TempDir()
	if _, errs, code := prepare(t, dir, "--out", out, "--visibility", "public"); code != 0 {
		t.Fatal(errs)
	}
	good, pkg := filepath.Join(out, archiveFile), filepath.Join(out, packageFile)
	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(pkg); err != nil || !strings.Contains(string(text), `"retentionPolicyId": "public-30d-v1"`) {
		t.Errorf("the package is %s (%v)", text, err)
	}
	bad := filepath.Join(out, "bad.tar.gz")
	writeTestFile(t, bad, append(bytes.Clone(data), 0))
	if _, errs, code := output(t, "verify", "check", bad); code != exitFailure || !strings.Contains(errs, "trailing_bytes") {
		t.Errorf("trailing bytes: %d %s", code, errs)
	}
	writeTestFile(t, filepath.Join(dir, "src/more.cairo"), []byte("// more\n"))
	if _, errs, code := prepare(t, dir); code != 0 {
		t.Fatal(errs)
	}
	if _, errs, code := output(t, "verify", "check", filepath.Join(dir, archive.ToolFolder, archiveFile), "--package", pkg); code != exitFailure || !strings.Contains(errs, "verification_upload_mismatch") {
		t.Errorf("another archive's package: %d %s", code, errs)
	}
	writeTestFile(t, pkg, []byte(`{"chainId":"SN_MAIN"}`))
	if _, errs, code := output(t, "verify", "check", good, "--package", pkg); code != exitFailure || !strings.Contains(errs, "invalid_verification_package") {
		t.Errorf("no package: %d %s", code, errs)
	}
}

func TestVerifyPrepareRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(dir string) error
		flags  []string
		code   int
		want   string
	}{
		"no lock file":    {func(dir string) error { return os.Remove(filepath.Join(dir, "Scarb.lock")) }, nil, exitFailure, "lockfile_missing"},
		"a link":          {func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "src/x")) }, nil, exitFailure, "symbolic_link"},
		"a linked folder": {func(dir string) error { return os.Symlink("/etc", filepath.Join(dir, "lib")) }, nil, exitFailure, "symbolic_link"},
		"an archive":      {func(dir string) error { return os.WriteFile(filepath.Join(dir, "a.zip"), nil, 0o600) }, nil, exitFailure, "nested_archive"},
		"into the tree":   {nil, []string{"--out", "src"}, exitUsage, "lies in the source tree"},
		"into its root":   {nil, []string{"--out", "."}, exitUsage, "lies in the source tree"},
		"a bad class":     {nil, []string{"--class-hash", "seven"}, exitUsage, "selectedClassHash"},
		"a bad module":    {nil, []string{"--module-path", "a.b"}, exitUsage, "modulePath"},
		"a bad retention": {nil, []string{"--retention", "public-30d-v1"}, exitUsage, "retentionPolicyId"},
	} {
		dir := sourceTree(t)
		if c.change != nil {
			if err := c.change(dir); err != nil {
				t.Fatal(err)
			}
		}
		t.Chdir(dir)
		out, errs, code := prepare(t, dir, c.flags...)
		if code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%s: %d %s%s", name, code, out, errs)
		}
		if _, err := os.Stat(filepath.Join(dir, archive.ToolFolder)); !os.IsNotExist(err) {
			t.Errorf("%s: something was written (%v)", name, err)
		}
	}
}

// testReceipt writes a receipt about an archive and the document that names its key.
func testReceipt(t *testing.T, archiveDigest string, revoked *time.Time) (receiptPath, trustPath string) {
	t.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	r, err := receipt.Sign(receipt.Evidence{
		JobID: "vrf_" + strings.Repeat("a", 24), ChainID: "SN_MAIN", ClassHash: "0xabc", ReceiptID: 1, Verification: receipt.VerifiedExact, SourceArchiveDigest: archiveDigest,
		ToolchainPolicyID: receipt.ToolchainPolicy, CandidateDigest: "sha256:" + strings.Repeat("2b", 32),
		Declaration: receipt.Declaration{BlockNumber: 5, BlockHash: "0x1", TransactionHash: "0x2", CompiledClassHash: "0x3"},
		ProofScope:  receipt.ProofScope, NotProofOf: receipt.NotProofOf, IssuedAt: "2026-05-01T12:00:00Z",
	}, "test:1", key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	trust := receipt.Trust{Keys: []receipt.Key{{ID: "test:1", PublicKey: key.Public().(ed25519.PublicKey), NotBefore: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), RevokedAt: revoked}}}
	document, err := trust.Document()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	receiptPath, trustPath = filepath.Join(dir, "receipt.json"), filepath.Join(dir, "trust.json")
	writeTestFile(t, receiptPath, text)
	writeTestFile(t, trustPath, document)
	return receiptPath, trustPath
}

func TestVerifyReceipt(t *testing.T) {
	source := filepath.Join(t.TempDir(), "source.tar.gz")
	writeTestFile(t, source, []byte("these bytes"))
	digest, err := fileDigest(source, 100)
	if err != nil {
		t.Fatal(err)
	}
	file, trust := testReceipt(t, digest, nil)
	out, errs, code := output(t, "verify", "verify-receipt", file, "--trust", trust, "--class-hash", "0x0abc", "--chain", "SN_MAIN", "--archive", source)
	if code != 0 || !strings.Contains(out, "exactly the class 0xabc of SN_MAIN") || !strings.Contains(out, "no proof of: security, audit") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	out, _, _ = output(t, "verify", "verify-receipt", file, "--trust", trust, "--json")
	var view receiptView
	if err := json.Unmarshal([]byte(out), &view); err != nil || !view.Believed || view.Evidence.ReceiptID != 1 || view.KeyID != "test:1" {
		t.Errorf("%s (%v)", out, err)
	}
	tampered := filepath.Join(t.TempDir(), "receipt.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	writeTestFile(t, tampered, bytes.Replace(text, []byte("0xabc"), []byte("0xabd"), 1))
	now := time.Now()
	_, revoked := testReceipt(t, digest, &now)
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"tampered":        {[]string{tampered, "--trust", trust}, exitFailure, "signature_invalid"},
		"a revoked key":   {[]string{file, "--trust", revoked}, exitFailure, "key_revoked"},
		"another class":   {[]string{file, "--trust", trust, "--class-hash", "0xdef"}, exitFailure, "about another class: 0xabc"},
		"another chain":   {[]string{file, "--trust", trust, "--chain", "SN_SEPOLIA"}, exitFailure, "about another chain"},
		"another archive": {[]string{file, "--trust", trust, "--archive", trust}, exitFailure, "about another archive"},
		"no trust":        {[]string{file}, exitUsage, "missing flags: --trust"},
		"trust in itself": {[]string{file, "--trust", file}, exitFailure, "trust document"},
		"a trust as one":  {[]string{trust, "--trust", trust}, exitFailure, "receipt: "},
		"no class":        {[]string{file, "--trust", trust, "--class-hash", "abc"}, exitUsage, "--class-hash"},
	} {
		out, errs, code := output(t, append([]string{"verify", "verify-receipt"}, c.args...)...)
		if code != c.code || !strings.Contains(errs, c.want) || strings.Contains(out, "elieved") {
			t.Errorf("%s: %d %s%s", name, code, out, errs)
		}
	}
}

// TestVerifyReceiptByNode gives the same files to the verifier of docs, as people run it.
func TestVerifyReceiptByNode(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node here")
	}
	file, trust := testReceipt(t, "sha256:"+strings.Repeat("1a", 32), nil)
	node := func(receiptPath, trustPath string) (string, string, int) {
		return outputOf(t, exec.CommandContext(t.Context(), "node", "../../docs/verify-receipt.mjs", receiptPath, trustPath))
	}
	if out, errs, code := node(file, trust); code != 0 || !strings.Contains(out, `"classHash": "0xabc"`) {
		t.Errorf("%d %s%s", code, out, errs)
	}
	now := time.Now()
	_, revoked := testReceipt(t, "sha256:"+strings.Repeat("1a", 32), &now)
	if out, errs, code := node(file, revoked); code != 1 || out != "" || !strings.Contains(errs, "revoked") {
		t.Errorf("%d %s%s", code, out, errs)
	}
}
