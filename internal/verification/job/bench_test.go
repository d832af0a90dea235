package job

import (
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/store/postgres/pgtest"
	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/submission"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// both are the tests that hold for both kinds of control database.
var both = []struct {
	name string
	run  func(*testing.T, place)
}{
	{"Life", testLife},
	{"Pairs", testPairs},
	{"Model", testModel},
	{"Idempotency", testIdempotency},
	{"Quotas", testQuotas},
	{"Intake", testIntake},
	{"Hidden", testHidden},
	{"Uploads", testUploads},
	{"LeftBehind", testLeftBehind},
	{"Retention", testRetention},
	{"Damaged", testDamaged},
	{"DamagedRows", testDamagedRows},
	{"DamagedMeanwhile", testDamagedMeanwhile},
	{"Workers", testWorkers},
	{"ClockAhead", testClockAhead},
	{"KeptByClockAhead", testKeptByClockAhead},
	{"CreatesAtOnce", testCreatesAtOnce},
	{"UploadsAtOnce", testUploadsAtOnce},
	{"ClaimsAtOnce", testClaimsAtOnce},
	{"CancelAgainstAdmit", testCancelAgainstAdmit},
}

func TestOnFile(t *testing.T) { runBoth(t, onFile) }

func TestOnPostgres(t *testing.T) {
	if raced {
		t.Skip("the goroutines of a shorter test: run without the race detector")
	}
	runBoth(t, onServer)
}

func runBoth(t *testing.T, at place) {
	for _, tt := range both {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, at) })
	}
}

// place makes room for a new control database.
type place func(testing.TB) string

func onFile(t testing.TB) string { return controltest.File(t) }

func onServer(t testing.TB) string { return controltest.Server(t) }

// bench is a database with workspaces, and two repositories on it that share nothing
// else, as two processes do.
type bench struct {
	*Repo
	other      *Repo
	db         *control.DB
	clock      *clock
	workspaces []string
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newBench(t *testing.T, at place, workspaces int, l Limits) *bench {
	t.Helper()
	path := at(t)
	b := &bench{clock: &clock{now: time.Date(2026, 3, 4, 1, 0, 0, 0, time.UTC)}}
	open := func() (*control.DB, *Repo) {
		db, err := control.Open(t.Context(), control.Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() }) //nolint:errcheck // the test is over
		return db, New(db, Options{Limits: l, Now: b.clock.Now})
	}
	b.db, b.Repo = open()
	_, b.other = open()
	accounts := account.NewRepository(b.db, account.Options{})
	for i := range workspaces {
		w, err := accounts.CreateWorkspace(t.Context(), fmt.Sprintf("w%d", i), account.Free)
		if err != nil {
			t.Fatal(err)
		}
		b.workspaces = append(b.workspaces, w.ID)
	}
	b.ready(t)
	return b
}

func (b *bench) ready(t testing.TB) {
	t.Helper()
	if err := b.Announce(t.Context(), Chain, "w1", ""); err != nil {
		t.Fatal(err)
	}
}

// tree is an archive of about so many bytes, another one for every seed.
func tree(t testing.TB, seed uint64, size int) ([]byte, *submission.Package) {
	t.Helper()
	noise := make([]byte, size)
	random := rand.New(rand.NewPCG(seed, 1))
	for i := range noise {
		noise[i] = "abcdefghijklmnopqrstuvwxyz012345"[random.IntN(32)]
	}
	data, sum, err := archive.Pack(fstest.MapFS{
		"Scarb.toml": {Data: []byte("[package]\n")}, "Scarb.lock": {Data: []byte("version = 1\n")}, "src/lib.cairo": {Data: noise},
	}, archive.Standard)
	if err != nil {
		t.Fatal(err)
	}
	return data, pack(t, sum.Digest, sum.Compressed)
}

func pack(t testing.TB, digest string, size int64) *submission.Package {
	t.Helper()
	p := &submission.Package{SelectedClassHash: "0x5eed", UploadDigest: digest, UploadByteLength: size, ToolchainPolicyID: submission.ToolchainPolicy, PackageName: "p",
		BuildProfile: submission.BuildProfile, TargetName: "t", TargetKind: submission.TargetKind, ArtifactID: "a", ModulePath: "p::c", SourceVisibility: submission.Private, RetentionPolicyID: submission.Private24Hours}
	if err := p.Normalize(); err != nil {
		t.Fatal(err)
	}
	return p
}

func (b *bench) request(workspace int, key string, p *submission.Package) Request {
	return Request{Actor: "key_1", WorkspaceID: b.workspaces[workspace], Chain: Chain, IdempotencyKey: key, Package: p}
}

func (b *bench) create(t testing.TB, workspace int, key string, p *submission.Package) *Job {
	t.Helper()
	j, created, err := b.Create(t.Context(), b.request(workspace, key, p))
	if err != nil || !created {
		t.Fatalf("create: %v, %v", created, err)
	}
	return j
}

// queue brings a job of a workspace to where a worker can claim it.
func (b *bench) queue(t testing.TB, workspace int, key string) *Job {
	t.Helper()
	data, p := tree(t, uint64(workspace), 100)
	j, err := b.Upload(t.Context(), "key_1", b.create(t, workspace, key, p), data, nil)
	if err != nil || j.State != Queued {
		t.Fatalf("upload: %+v, %v", j, err)
	}
	return j
}

func (b *bench) claim(t testing.TB) *Work {
	t.Helper()
	w, err := b.Claim(t.Context(), Chain, "w1", time.Minute)
	if err != nil || w == nil {
		t.Fatalf("claim: %v, %v", w, err)
	}
	return w
}

var signingKey = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

func (b *bench) signed(t testing.TB, w *Work) *receipt.Receipt {
	t.Helper()
	r, err := receipt.Sign(receipt.Evidence{JobID: w.ID, ChainID: w.Chain, ClassHash: w.Package.SelectedClassHash, ReceiptID: w.ReceiptID, Verification: receipt.VerifiedExact,
		SourceArchiveDigest: w.Package.UploadDigest, ToolchainPolicyID: receipt.ToolchainPolicy, CandidateDigest: w.Package.UploadDigest,
		Declaration: receipt.Declaration{BlockNumber: 7, BlockHash: "0x1", TransactionHash: "0x2", CompiledClassHash: "0x3"},
		ProofScope:  receipt.ProofScope, NotProofOf: receipt.NotProofOf, IssuedAt: b.clock.Now().Format(time.RFC3339)}, "k", signingKey)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (b *bench) state(t testing.TB, id string) State {
	t.Helper()
	j, err := one(t.Context(), b.db.Reader(), `id = $1`, id)
	if err != nil {
		t.Fatal(err)
	}
	return j.State
}

func (b *bench) count(t testing.TB, query string, args ...any) (n int) {
	t.Helper()
	if err := b.db.Reader().QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// events are the entries of the audit log about a job, oldest first.
func (b *bench) events(t testing.TB, id string) (list []string) {
	t.Helper()
	log, err := b.db.AuditLog(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(log) - 1; i >= 0; i-- {
		if log[i].Subject == id {
			list = append(list, log[i].Action)
		}
	}
	return list
}
