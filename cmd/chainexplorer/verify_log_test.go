package main

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chainexplorer/internal/control"
	"chainexplorer/internal/verification/keyring"
	"chainexplorer/internal/verification/logproof"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/signer"
	"chainexplorer/internal/verification/translog"
)

// TestVerifyReceiptLog has a receipt in a log, and another that is not.
func TestVerifyReceiptLog(t *testing.T) {
	file, trust := testReceipt(t, "sha256:"+strings.Repeat("1a", 32), nil)
	stranger, _ := testReceipt(t, "sha256:"+strings.Repeat("1b", 32), nil)
	dir, key := signingKeys(t)
	_, other := signingKeys(t)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	db, err := control.Open(t.Context(), control.Options{Path: filepath.Join(dir, "control.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test's
	if err := db.Update(t.Context(), func(tx *sql.Tx) error {
		_, err := translog.Append(t.Context(), tx, text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s, err := signer.Open(signer.Options{Keys: []string{key.Path}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // a test's
	public, _, err := keyring.ReadLogPublic(key.LogKey)
	if err != nil {
		t.Fatal(err)
	}
	log := translog.New(db, public)
	if _, err := log.Publish(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	r, err := receipt.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := logproof.Entry(r)
	if err != nil {
		t.Fatal(err)
	}
	p, err := log.Prove(t.Context(), entry)
	if err != nil {
		t.Fatal(err)
	}
	proof := filepath.Join(dir, "receipt.tlog-proof")
	writeTestFile(t, proof, p.Text())

	const notShown = "not shown to be in the transparency log"
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"in the log":           {[]string{file, "--log-proof", proof, "--log-key", key.LogKey, "--require-log"}, 0, "in the transparency log log.example/receipts, at place 0 of 1"},
		"not asked":            {[]string{file}, 0, notShown},
		"another receipt":      {[]string{stranger, "--log-proof", proof, "--log-key", key.LogKey}, exitFailure, "does not lead from the receipt"},
		"another log's key":    {[]string{file, "--log-proof", proof, "--log-key", other.LogKey}, exitFailure, "did not sign it"},
		"no key":               {[]string{file, "--log-proof", proof}, exitUsage, "goes together"},
		"no proof":             {[]string{file, "--log-key", key.LogKey}, exitUsage, "goes together"},
		"no withdrawal":        {[]string{file, "--withdrawal", proof, "--log-key", key.LogKey}, exitFailure, "does not lead from the receipt's withdrawal"},
		"withdrawal, no key":   {[]string{file, "--withdrawal", proof}, exitUsage, "goes together"},
		"required, no proof":   {[]string{file, "--require-log"}, exitUsage, "--require-log needs"},
		"no proof in the file": {[]string{file, "--log-proof", file, "--log-key", key.LogKey}, exitFailure, "log proof"},
	} {
		out, errs, code := output(t, append([]string{"verify", "verify-receipt", "--trust", trust}, c.args...)...)
		if code != c.code || !strings.Contains(out+errs, c.want) || strings.Contains(c.want, "at place") && strings.Contains(out, notShown) {
			t.Errorf("%s: %d %s%s", name, code, out, errs)
		}
	}
	out, _, _ := output(t, "verify", "verify-receipt", file, "--trust", trust, "--json")
	if !strings.Contains(out, `"log": null`) {
		t.Errorf("without a proof: %s", out)
	}
	var view receiptView
	out, _, _ = output(t, "verify", "verify-receipt", file, "--trust", trust, "--json", "--log-proof", proof, "--log-key", key.LogKey)
	if err := json.Unmarshal([]byte(out), &view); err != nil || view.Log == nil || view.Log.Size != 1 {
		t.Errorf("%s (%v)", out, err)
	}
}
