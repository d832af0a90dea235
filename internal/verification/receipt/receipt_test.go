package receipt_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/verification/receipt"
)

var update = flag.Bool("update", false, "write testdata/vectors.json anew")

const vectorPath = "testdata/vectors.json"

// vectorsOnFile are those that others check against, which must be those of this version.
func vectorsOnFile(t *testing.T) vectorFile {
	t.Helper()
	trust, err := vectorTrust().Document()
	if err != nil {
		t.Fatal(err)
	}
	made := vectorFile{Now: vectorTime.Format("2006-01-02T15:04:05Z"), Trust: trust, Vectors: makeVectors()}
	slices.SortFunc(made.Vectors, func(a, b vector) int { return strings.Compare(a.Want+a.Name, b.Want+b.Name) })
	text, err := json.MarshalIndent(made, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *update {
		if err := os.WriteFile(vectorPath, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	onFile, err := os.ReadFile(vectorPath)
	if err != nil {
		t.Fatal(err)
	}
	if string(onFile) != string(text) {
		t.Fatalf("%s is not what the tests make: receipts that are out already must stay valid. If the change is meant, run with -update", vectorPath)
	}
	var file vectorFile
	if err := json.Unmarshal(onFile, &file); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestVectors(t *testing.T) {
	file := vectorsOnFile(t)
	trust, err := receipt.ParseTrust(file.Trust)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range file.Vectors {
		r, err := receipt.Parse([]byte(v.Receipt))
		if err == nil {
			err = trust.Verify(r, vectorTime)
			var refusal *receipt.Refusal
			if err != nil && (!errors.As(err, &refusal) || string(refusal.Failure) != v.Want) {
				t.Errorf("%s: %v, want %s", v.Name, err, v.Want)
			}
		}
		if (err == nil) != (v.Want == "") || err != nil && !strings.Contains(err.Error(), v.Want) {
			t.Errorf("%s: %v, want %q", v.Name, err, v.Want)
		}
	}
}

// TestNodeAgrees runs the verifier of docs, which shares no code with this one.
func TestNodeAgrees(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node here")
	}
	file := vectorsOnFile(t)
	cmd := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", `
		import {readFileSync} from "node:fs";
		import {verify} from "../../../docs/verify-receipt.mjs";
		const file = JSON.parse(readFileSync("testdata/vectors.json"));
		console.log(JSON.stringify(file.vectors.map(({receipt}) => {
			try { return verify(Buffer.from(receipt), Buffer.from(JSON.stringify(file.trust)), new Date(file.now)), "" } catch (e) { return e.message || "?" }
		})))`)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, out)
	}
	var answers []string
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(file.Vectors) {
		t.Fatalf("node printed %.200s (%v)", out, err)
	}
	for i, v := range file.Vectors {
		if (answers[i] == "") != (v.Want == "") {
			t.Errorf("%s: node says %q, want %q", v.Name, answers[i], v.Want)
		}
	}
}

func TestCanonicalEvidence(t *testing.T) {
	e := vectorEvidence()
	got, err := e.Canonical()
	want := `{"candidateDigest":"sha256:` + strings.Repeat("2b", 32) + `","chainId":"SN_MAIN","classHash":"0x123abc",` +
		`"declaration":{"blockHash":"0x4d5","blockNumber":678900,"compiledClassHash":"0x800000000000011000000000000000000000000000000000000000000000000","transactionHash":"0x6e7"},` +
		`"issuedAt":"2026-05-01T12:00:00Z","jobId":"vrf_0123456789abcdefghijklmn","notProofOf":["security","audit","official_attribution","deployment_configuration","current_address_class"],` +
		`"proofScope":"exact_source_rebuild_equals_finalized_declared_class","receiptId":12345,"sourceArchiveDigest":"sha256:` + strings.Repeat("1a", 32) + `",` +
		`"toolchainPolicyId":"service-exact-v25","verification":"verified_exact"}`
	if err != nil || string(got) != want {
		t.Errorf("%s (%v)\nand not\n%s", got, err, want)
	}
}

func TestNothingWrongIsSigned(t *testing.T) {
	for name, change := range map[string]func(*receipt.Evidence){
		"no id":          func(e *receipt.Evidence) { e.ReceiptID = 0 },
		"a large id":     func(e *receipt.Evidence) { e.ReceiptID = 1 << 53 },
		"a large number": func(e *receipt.Evidence) { e.Declaration.BlockNumber = 1 << 53 },
		"a class":        func(e *receipt.Evidence) { e.ClassHash = "0x0" },
		"another result": func(e *receipt.Evidence) { e.Verification = "mismatch" },
		"no time":        func(e *receipt.Evidence) { e.IssuedAt = "" },
		"less disclaimed": func(e *receipt.Evidence) {
			e.NotProofOf = e.NotProofOf[1:]
		},
	} {
		e := vectorEvidence()
		change(&e)
		if r, err := receipt.Sign(e, "test:now", testKey(0)); err == nil {
			t.Errorf("%s: %v", name, r)
		}
	}
	if _, err := receipt.Sign(vectorEvidence(), "a key", testKey(0)); err == nil {
		t.Error("an id that no receipt may have")
	}
}

func TestTrustDocument(t *testing.T) {
	doc, err := vectorTrust().Document()
	if err != nil {
		t.Fatal(err)
	}
	good := string(doc)
	for name, c := range map[string]struct{ old, new, want string }{
		"another version":     {"trust-root-v1", "trust-root-v2", "schemaVersion"},
		"another member":      {`"keys"`, `"more": 1, "keys"`, "more: it does not belong here"},
		"a key's other":       {`"keyId": "test:now"`, `"use": "all", "keyId": "test:now"`, "keys[0].use: it does not belong here"},
		"a member twice":      {`"keyId": "test:now"`, `"keyId": "test:now", "keyId": "x"`, "twice"},
		"two keys of one id":  {"test:open", "test:now", "another key has the same id"},
		"no end and no null":  {`"notAfter": "2027-01-01T00:00:00Z",`, "", "notAfter: it is missing"},
		"an end before":       {`"notAfter": "2027-01-01T00:00:00Z"`, `"notAfter": "2026-01-01T00:00:00Z"`, "not after notBefore"},
		"a time that is none": {`"notAfter": "2027-01-01T00:00:00Z"`, `"notAfter": "never"`, "RFC 3339"},
		"a revocation":        {`"revokedAt": "2026-04-01T00:00:00Z"`, `"revokedAt": true`, "neither a string nor null"},
		"no revocation":       {`"revokedAt": "2026-04-01T00:00:00Z"`, `"revoked": false`, "revokedAt: it is missing"},
		"a bad id":            {`"test:now"`, `"a key"`, "keyId"},
		"not JSON":            {`{`, `[`, "not JSON"},
	} {
		if _, err := receipt.ParseTrust([]byte(strings.Replace(good, c.old, c.new, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	key := good[strings.Index(good, `"publicKey": "`)+14:][:43]
	for name, other := range map[string]string{"short": key[:42], "long": key + "A", "padded": key + "=", "of the other alphabet": "+" + key[1:], "with bits that mean nothing": key[:42] + "B", "hexadecimal": strings.Repeat("ab", 32)} {
		if _, err := receipt.ParseTrust([]byte(strings.Replace(good, key, other, 1))); err == nil || !strings.Contains(err.Error(), "publicKey") {
			t.Errorf("a key that is %s: %v", name, err)
		}
	}
	if _, err := receipt.ParseTrust([]byte(strings.Replace(good, "Ed25519", "RSA", 1))); err == nil {
		t.Error("another algorithm is taken")
	}
	if _, err := receipt.ParseTrust([]byte(`{"schemaVersion":"service-receipt-trust-root-v1","keys":[]}`)); err == nil {
		t.Error("no keys are taken")
	}
	same := vectorTrust()
	same.Keys[1].PublicKey = same.Keys[0].PublicKey
	if _, err := same.Document(); err == nil {
		t.Error("one key by two names is taken")
	}
}

func FuzzParse(f *testing.F) {
	for _, v := range makeVectors() {
		f.Add([]byte(v.Receipt))
	}
	trust := vectorTrust()
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := receipt.Parse(data)
		if err != nil {
			return
		}
		// What is read is written and read again with the same evidence.
		again, err := receipt.Parse([]byte(marshal(r)))
		if err != nil || marshal(again) != marshal(r) {
			t.Fatalf("%s: %v", data, err)
		}
		if trust.Verify(r, vectorTime) == nil {
			e := vectorEvidence()
			if message, err := r.Evidence.Canonical(); err != nil || len(message) < 500 || r.Evidence.JobID != e.JobID {
				t.Fatalf("a receipt was made without a key: %s", data)
			}
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	text := []byte(signed("test:now", 0, nil))
	trust := vectorTrust()
	for b.Loop() {
		r, err := receipt.Parse(text)
		if err == nil {
			err = trust.Verify(r, vectorTime)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
