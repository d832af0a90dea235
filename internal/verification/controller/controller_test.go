package controller

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/build"
	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/submission"
)

// bench is an index, jobs, and a controller whose builder and signer say what a test
// wants them to.
type bench struct {
	*Job
	t         *testing.T
	world     *servertest.World
	db        *control.DB
	workspace string
	declared  felt.Felt // a class of the index, in a finalized block
	n         int

	result func(context.Context) (*build.Result, error)
	sign   func(receipt.Evidence) (*receipt.Receipt, error)
	broken error
	away   error // the signer
}

// pen is the bench as a signer.
type pen struct{ *bench }

func (p pen) Ready(context.Context) error { return p.away }

func (b *bench) Ready(context.Context) error { return b.broken }

func (b *bench) Build(ctx context.Context, source io.Reader, _ *submission.Package) (*build.Result, error) {
	if _, err := archive.Read(source, archive.Standard, nil); err != nil {
		return nil, err
	}
	return b.result(ctx)
}

func (b *bench) Sign(_ context.Context, e receipt.Evidence) (*receipt.Receipt, error) {
	return b.sign(e)
}

var key = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

func honest(e receipt.Evidence) (*receipt.Receipt, error) { return receipt.Sign(e, "k", key) }

// blocks are few enough that L1 has accepted none of them.
const blocks = 25

func newBench(t *testing.T) *bench { return newBenchOn(t, controltest.File(t)) }

func newBenchOn(t *testing.T, path string) *bench {
	t.Helper()
	b := &bench{t: t, world: servertest.New(t, blocks)}
	for n := range uint64(blocks - servertest.Depth) {
		block := b.world.Chain.BlockAt(n)
		for i := range block.Transactions {
			if tx := &block.Transactions[i]; tx.Type == starknet.Declare && !tx.CompiledClassHash.IsZero() {
				b.declared = tx.ClassHash
			}
		}
	}
	if b.declared.IsZero() {
		t.Fatal("the chain declares no class")
	}
	var err error
	if b.db, err = control.Open(t.Context(), control.Options{Path: path}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.db.Close() }) //nolint:errcheck // the test is over
	accounts := account.NewRepository(b.db, account.Options{})
	w, err := accounts.CreateWorkspace(t.Context(), "w", account.Free)
	if errors.Is(err, account.ErrWorkspaceExists) {
		w, err = accounts.WorkspaceByName(t.Context(), "w")
	}
	if err != nil {
		t.Fatal(err)
	}
	b.workspace = w.ID
	limits := job.Standard
	limits.PerDay, limits.Attempts = 1000, 10
	repo := job.New(b.db, job.Options{Limits: limits})
	b.Job = &Job{Jobs: repo, Store: b.world.Engine, Depth: servertest.Depth, Builder: b, Signer: pen{b}, Worker: "w", Lease: 600 * time.Millisecond, Metrics: NewMetrics(repo, nil),
		Class: func(ctx context.Context, number uint64, hash felt.Felt) ([]byte, error) {
			text, _, err := b.world.Source.Class(ctx, number, hash)
			return text, err
		}}
	b.reset()
	return b
}

func (b *bench) reset() {
	b.result = func(context.Context) (*build.Result, error) {
		return &build.Result{ClassHash: b.declared, CandidateDigest: "sha256:" + strings.Repeat("ab", 32)}, nil
	}
	b.sign, b.Join, b.Depth = honest, nil, servertest.Depth
}

func (b *bench) step() {
	b.t.Helper()
	if _, err := b.Step(b.t.Context(), nil); err != nil {
		b.t.Fatal(err)
	}
}

// queue makes a job of a class that waits for the worker.
func (b *bench) queue(class felt.Felt) *job.Job {
	b.t.Helper()
	b.n++
	data, sum, err := archive.Pack(fstest.MapFS{"Scarb.toml": {Data: []byte("[package]")}, "Scarb.lock": {Data: []byte("version = 1")}, "src/lib.cairo": {Data: []byte("fn f() {}")}}, archive.Standard)
	if err != nil {
		b.t.Fatal(err)
	}
	p := &submission.Package{SelectedClassHash: class.String(), UploadDigest: sum.Digest, UploadByteLength: sum.Compressed, ToolchainPolicyID: submission.ToolchainPolicy, PackageName: "p", BuildProfile: "release",
		TargetName: "t", TargetKind: submission.TargetKind, ArtifactID: "a", ModulePath: "p::c", SourceVisibility: submission.Private, RetentionPolicyID: submission.Private24Hours}
	j, _, err := b.Jobs.Create(b.t.Context(), job.Request{Actor: "key_1", WorkspaceID: b.workspace, Chain: job.Chain, IdempotencyKey: fmt.Sprint(b.n), Package: p})
	if err != nil {
		b.t.Fatal(err)
	}
	if j, err = b.Jobs.Upload(b.t.Context(), "key_1", j, data, nil); err != nil || j.State != job.Queued {
		b.t.Fatal(j, err)
	}
	return j
}

func (b *bench) view(id string) *job.Job {
	b.t.Helper()
	j, err := b.Jobs.View(b.t.Context(), b.workspace, job.Chain, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return j
}

// TestOutcomes: every end that a job can come to, and a receipt of one of them alone.
func TestOutcomes(t *testing.T) {
	b := newBench(t)
	b.step()
	other := felt.FromUint64(0x0ddc1a55)
	failing := errors.New("the secret of the machine")
	for _, c := range []struct {
		name      string
		class     felt.Felt
		lie       func()
		state     job.State
		code      job.Code
		retryable bool
		parts     []string
	}{
		{"success", b.declared, func() {}, job.Succeeded, "", false, nil},
		{"not declared", other, func() {}, job.Failed, job.DeclarationUnavailable, true, nil},
		{"declared and not finalized", b.declared, func() { b.Depth = blocks }, job.Failed, job.DeclarationUnavailable, true, nil},
		{"another class", b.declared, func() {
			b.result = func(context.Context) (*build.Result, error) { return &build.Result{ClassHash: other}, nil }
		}, job.Mismatch, job.ClassHashMismatch, false, []string{"abi", "entry_points", "program"}},
		{"a source that does not build", b.declared, func() {
			b.result = func(context.Context) (*build.Result, error) {
				return nil, &build.Failure{Code: build.Failed, Reason: "x"}
			}
		}, job.Failed, job.BuildFailed, false, nil},
		{"trouble of the builder", b.declared, func() { b.result = func(context.Context) (*build.Result, error) { return nil, failing } }, job.Failed, job.DispatchFailed, true, nil},
		{"a signer that is away", b.declared, func() { b.sign = func(receipt.Evidence) (*receipt.Receipt, error) { return nil, failing } }, job.Failed, job.SigningFailed, true, nil},
		{"a signer that signs nothing", b.declared, func() { b.sign = func(receipt.Evidence) (*receipt.Receipt, error) { return nil, nil } }, job.Failed, job.SigningFailed, true, nil},
		{"a signer that signs something else", b.declared, func() {
			b.sign = func(e receipt.Evidence) (*receipt.Receipt, error) { e.ClassHash = "0xbad"; return honest(e) }
		}, job.Failed, job.SigningFailed, true, nil},
	} {
		b.reset()
		c.lie()
		j := b.queue(c.class)
		b.step()
		got := b.view(j.ID)
		if got.State != c.state || (got.Failure == nil) != (c.code == "") || got.Failure != nil && (got.Failure.Code != c.code || got.Failure.Retryable != c.retryable || got.Failure.Reason != "") || !slices.Equal(got.Parts, c.parts) {
			t.Errorf("%s: %s %+v %v", c.name, got.State, got.Failure, got.Parts)
		}
		text, err := b.Jobs.Receipt(t.Context(), b.workspace, job.Chain, j.ID)
		if (err == nil) != (c.state == job.Succeeded) {
			t.Errorf("%s: receipt %s, %v", c.name, text, err)
		}
		if err != nil {
			continue
		}
		r, err := receipt.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		// What it says of the declaration is what the chain says.
		d := r.Evidence.Declaration
		found := false
		block := b.world.Chain.BlockAt(d.BlockNumber)
		for i := range block.Transactions {
			tx := &block.Transactions[i]
			found = found || tx.Hash.String() == d.TransactionHash && tx.ClassHash == c.class && tx.CompiledClassHash.String() == d.CompiledClassHash
		}
		if !found || d.BlockHash != block.Hash.String() || r.Evidence.ClassHash != c.class.String() || r.Evidence.JobID != j.ID {
			t.Errorf("%s: %+v", c.name, r.Evidence)
		}
	}
	servertest.Expect(t, b.world.Do(http.MethodGet, servertest.StatusPath, b.world.Key), 200, "", nil)
}

// TestAdmissionIsOneChange: when the log cannot take the receipt there is none, and the
// job is done again by whoever is next.
func TestAdmissionIsOneChange(t *testing.T) {
	b := newBench(t)
	b.step()
	j := b.queue(b.declared)
	full := errors.New("the log is full")
	b.Join = func(context.Context, *sql.Tx, *receipt.Receipt) error { return full }
	if _, err := b.Step(t.Context(), nil); !errors.Is(err, full) {
		t.Fatal(err)
	}
	if got := b.view(j.ID); got.State != job.Comparing {
		t.Fatalf("%s", got.State)
	}
	b.reset()
	until(t, func() bool { b.step(); return b.view(j.ID).State == job.Succeeded }) // once the lease is over
	if got := b.view(j.ID); got.Attempts != 2 {
		t.Errorf("%d tries", got.Attempts)
	}
}

// TestAdmittedLater: a database that takes the receipt at the third try has one signature, and one claim.
func TestAdmittedLater(t *testing.T) {
	b := newBench(t)
	b.step()
	j := b.queue(b.declared)
	tries, signatures := 0, 0
	b.sign = func(e receipt.Evidence) (*receipt.Receipt, error) { signatures++; return honest(e) }
	b.Join = func(context.Context, *sql.Tx, *receipt.Receipt) error {
		if tries++; tries < 3 {
			return errors.New("the database is away")
		}
		return nil
	}
	b.step()
	if got := b.view(j.ID); got.State != job.Succeeded || got.Attempts != 1 || signatures != 1 || tries != 3 {
		t.Errorf("%s after %d claims, %d signatures, %d tries", got.State, got.Attempts, signatures, tries)
	}
}

// TestCancelDuringBuild: the build of a job that was cancelled ends soon, and nothing
// comes of it.
func TestCancelDuringBuild(t *testing.T) {
	b := newBench(t)
	b.step()
	j := b.queue(b.declared)
	b.result = func(ctx context.Context) (*build.Result, error) {
		if _, err := b.Jobs.Cancel(t.Context(), "key_1", b.workspace, job.Chain, j.ID); err != nil {
			t.Error(err)
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	b.step()
	if got := b.view(j.ID); got.State != job.Cancelled {
		t.Errorf("%s", got.State)
	}
	b.reset()
	next := b.queue(b.declared)
	b.step()
	if got := b.view(next.ID); got.State != job.Succeeded {
		t.Errorf("the next one is %s", got.State)
	}
}

// TestStop: a worker that is stopped lets another begin at once.
func TestStop(t *testing.T) {
	b := newBench(t)
	b.step()
	j := b.queue(b.declared)
	ctx, stop := context.WithCancel(t.Context())
	b.result = func(ctx context.Context) (*build.Result, error) {
		stop()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if _, err := b.Step(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if got := b.view(j.ID); got.State != job.Queued || got.Attempts != 0 {
		t.Errorf("%s, %d tries", got.State, got.Attempts)
	}
}

// TestNotReady: where nothing can be built no job is taken or begun, and all processes
// know why; sources are deleted all the same.
func TestNotReady(t *testing.T) {
	b := newBench(t)
	b.step()
	j := b.queue(b.declared)
	b.broken, b.looked = errors.New("there is no bubblewrap"), time.Time{}
	b.step()
	trouble := func(m *Metrics) float64 {
		reg := prometheus.NewRegistry()
		reg.MustRegister(m.trouble)
		all, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		return all[0].GetMetric()[0].GetGauge().GetValue()
	}
	var why *job.UnavailableError
	if err := b.Jobs.Available(t.Context(), job.Chain); !errors.As(err, &why) || !strings.Contains(why.Why, "there is no bubblewrap") || trouble(b.Metrics) != 1 {
		t.Errorf("%v", err)
	}
	if got := b.view(j.ID); got.State != job.Queued {
		t.Errorf("%s", got.State)
	}
	bare := &Job{Jobs: b.Jobs, Store: b.Store, Worker: "bare", Metrics: NewMetrics(b.Jobs, nil)}
	if _, err := bare.Step(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := b.Jobs.Available(t.Context(), job.Chain); !errors.As(err, &why) || !strings.Contains(why.Why, "--verification-toolchains") || trouble(bare.Metrics) != 0 { // nobody meant it to
		t.Errorf("%v", err)
	}
	// Nothing is built that nobody could sign, either.
	b.broken, b.away, b.looked = nil, errors.New("dial unix /run/secret/sock: no such file"), time.Time{}
	b.step()
	if err := b.Jobs.Available(t.Context(), job.Chain); !errors.As(err, &why) || !strings.Contains(why.Why, "the signer is away") || strings.Contains(why.Why, "/run") || trouble(b.Metrics) != 1 {
		t.Errorf("%v", err)
	}
	if got := b.view(j.ID); got.State != job.Queued {
		t.Errorf("%s", got.State)
	}
	now := time.Now().Add(signEvery) // a signer that is back is asked soon
	b.away, b.Now = nil, func() time.Time { return now }
	b.step()
	if got := b.view(j.ID); got.State != job.Succeeded || b.Jobs.Available(t.Context(), job.Chain) != nil {
		t.Errorf("%s", got.State)
	}
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatal("it never came to that")
		}
		time.Sleep(20 * time.Millisecond)
	}
}
