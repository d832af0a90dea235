package routes_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"testing/fstest"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/routes"
	"chainexplorer/internal/verification/submission"
)

const base = "/v1/SN_MAIN/verification-jobs"

// world is the service with a worker that says it is ready.
type world struct {
	*servertest.World
	db       *control.DB
	jobs     *job.Repo
	internal string // a key of the operator's settings
	source   []byte
	pack     map[string]any
}

func newWorld(t *testing.T) *world { return newWorldWith(t, job.Standard) }

func newWorldWith(t *testing.T, limits job.Limits) *world {
	t.Helper()
	return newWorldStalling(t, limits, 300*time.Millisecond)
}

// newWorldStalling is one with limits, in which an upload may pause for so long.
func newWorldStalling(t *testing.T, limits job.Limits, stall time.Duration) *world {
	t.Helper()
	w := &world{}
	internal, setting, err := account.NewConfigured(rand.Reader, "own", account.Read)
	if err != nil {
		t.Fatal(err)
	}
	configured, err := account.ParseConfigured(setting)
	if err != nil {
		t.Fatal(err)
	}
	w.World = servertest.New(t, 2, func(o *servertest.Options) {
		w.db = o.Control()
		w.jobs = job.New(w.db, job.Options{Now: o.Now, Limits: limits})
		o.Verification = &routes.Options{Jobs: w.jobs, Chains: []string{servertest.ChainID, job.Chain}, UploadStall: stall}
		if err := o.Keys.Configure([]account.ConfiguredKey{configured}); err != nil {
			t.Fatal(err)
		}
	})
	w.internal = internal
	w.Secrets = append(w.Secrets, internal)
	w.ready()
	w.source, w.pack = prepare(t, "fn main() {}")
	return w
}

func (w *world) ready() {
	w.T.Helper()
	if err := w.jobs.Announce(w.T.Context(), job.Chain, "w", ""); err != nil {
		w.T.Fatal(err)
	}
}

func prepare(t *testing.T, text string) ([]byte, map[string]any) {
	t.Helper()
	data, sum, err := archive.Pack(fstest.MapFS{"Scarb.toml": {Data: []byte("[package]\n")}, "Scarb.lock": {Data: []byte("version = 1\n")}, "src/lib.cairo": {Data: []byte(text)}}, archive.Standard)
	if err != nil {
		t.Fatal(err)
	}
	return data, packageOf(t, sum.Digest, sum.Compressed)
}

func packageOf(t *testing.T, digest string, size int64) (out map[string]any) {
	t.Helper()
	p := submission.Package{SelectedClassHash: "0x5eed", UploadDigest: digest, UploadByteLength: size, ToolchainPolicyID: submission.ToolchainPolicy, PackageName: "p", BuildProfile: "release",
		TargetName: "t", TargetKind: submission.TargetKind, ArtifactID: "a", ModulePath: "p::c", SourceVisibility: submission.Private, RetentionPolicyID: submission.Private24Hours}
	text, err := p.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// send asks with a key; headers are names and values.
func (w *world) send(method, path, key string, body []byte, headers ...string) servertest.Reply {
	w.T.Helper()
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(w.T.Context(), method, w.URL+path, content)
	if err != nil {
		w.T.Fatal(err)
	}
	if key != "" {
		req.Header.Set("X-Service-Api-Key", key)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header[headers[i]] = append(req.Header[headers[i]], headers[i+1])
	}
	return w.Send(req)
}

func (w *world) create(key, idempotency, body string) servertest.Reply {
	w.T.Helper()
	return w.send(http.MethodPost, base, key, []byte(body), "Idempotency-Key", idempotency, "Content-Type", "application/json")
}

func (w *world) put(key, id string, data []byte) servertest.Reply {
	w.T.Helper()
	return w.send(http.MethodPut, base+"/"+id+"/source", key, data, "Content-Type", "application/gzip")
}

func jobOf(t *testing.T, r servertest.Reply, status int) (out routes.VerificationJob) {
	t.Helper()
	if r.StatusCode != status {
		t.Fatalf("status %d: %s", r.StatusCode, r.Body)
	}
	if err := json.Unmarshal(r.Body, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (w *world) admit(work *job.Work) *receipt.Receipt {
	w.T.Helper()
	if err := w.jobs.Compare(w.T.Context(), work); err != nil {
		w.T.Fatal(err)
	}
	signed, err := receipt.Sign(receipt.Evidence{JobID: work.ID, ChainID: work.Chain, ClassHash: "0x5eed", ReceiptID: work.ReceiptID, Verification: receipt.VerifiedExact, SourceArchiveDigest: work.Package.UploadDigest,
		ToolchainPolicyID: receipt.ToolchainPolicy, CandidateDigest: work.Package.UploadDigest, Declaration: receipt.Declaration{BlockNumber: 7, BlockHash: "0x1", TransactionHash: "0x2", CompiledClassHash: "0x3"},
		ProofScope: receipt.ProofScope, NotProofOf: receipt.NotProofOf, IssuedAt: "2026-01-01T00:00:00Z"}, "k", ed25519.NewKeyFromSeed(make([]byte, 32)))
	if err != nil {
		w.T.Fatal(err)
	}
	if err := w.jobs.Admit(w.T.Context(), work, signed, nil); err != nil {
		w.T.Fatal(err)
	}
	return signed
}

func archiveDigest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
