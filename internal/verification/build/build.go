// Package build makes the class of a source archive: it lays the tree, reads its project,
// runs the compiler that it names in a sandbox, and computes from what came out the class
// hash and its parts. Nothing that the compiler says is believed or passed on: its output
// is data to hash, and its text stays with the operator.
package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/verification/sandbox"
	"chainexplorer/internal/verification/submission"
	"chainexplorer/internal/verification/toolchain"
)

// Why a build ends without a class.
const (
	// DispatchFailed is trouble of the service's own, which may pass.
	DispatchFailed = "verifier_dispatch_failed"
	UploadMismatch = "verification_upload_mismatch"
	InvalidArchive = "invalid_source_archive"
	// InvalidPackage is a package, or a tree, that does not have what it names.
	InvalidPackage       = "invalid_verification_package"
	UnsupportedPolicy    = "unsupported_policy"
	UnsupportedToolchain = "unsupported_toolchain"
	IncompleteMaterial   = "incomplete_offline_material"
	LockfileMissing      = "lockfile_missing"
	// Failed is a source that the compiler refuses.
	Failed = "build_failed"
	// LimitExceeded is a build that needs more than a build may have.
	LimitExceeded = "build_limit_exceeded"
)

// Failure is a typed end of a build.
type Failure struct {
	Code      string // what the caller is told
	Retryable bool   // whether another try may help
	Reason    string // a fixed sentence, with nothing of the source or the compiler

	cause error
}

func (f *Failure) Error() string {
	if f.cause != nil {
		return fmt.Sprintf("build failed (%s): %s: %v", f.Code, f.Reason, f.cause)
	}
	return fmt.Sprintf("build failed (%s): %s", f.Code, f.Reason)
}

// Unwrap is what the operator should know, and nobody else.
func (f *Failure) Unwrap() error { return f.cause }

func fail(code, reason string, cause error) error {
	return &Failure{Code: code, Retryable: code == DispatchFailed, Reason: reason, cause: cause}
}

// Parts are the hashes that a class hash is made of. A mismatch says which of them differ.
type Parts = starknet.SierraParts

// Result is what a build made.
type Result struct {
	Class     *starknet.SierraClass
	ClassHash felt.Felt
	Parts     Parts
	// CandidateDigest is sha256: and the digest of the class in the canonical form of
	// RFC 8785: abi (a string), contract_class_version, entry_points_by_type, sierra_program.
	CandidateDigest string
	// Toolchain names the compiler, such as cairo-2.20.0.
	Toolchain string
}

// Options are what a builder needs.
type Options struct {
	// Policy is the policy directory.
	Policy  string
	Sandbox sandbox.Options
	// Parallel is how many builds may run at once; one unless set.
	Parallel int
}

// Builder builds. It can be used by several goroutines.
type Builder struct {
	o     Options
	slots chan struct{}

	mu  sync.Mutex
	box *sandbox.Sandbox
}

// New makes a builder. It starts even where nothing can be built: Ready says why, and
// Build fails retryably until that is repaired. Close it.
func New(o Options) (*Builder, error) {
	if o.Policy == "" {
		return nil, errors.New("build: no toolchain policy directory is given")
	}
	if o.Sandbox.Limits.Output == 0 {
		o.Sandbox.Limits.Output = MaxArtifact
	}
	return &Builder{o: o, slots: make(chan struct{}, max(1, o.Parallel))}, nil
}

// Close takes away what the sandbox keeps outside. No build may be running.
func (b *Builder) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.box == nil {
		return nil
	}
	err := b.box.Close()
	b.box = nil
	return err
}

// sandbox makes the sandbox when it is first needed, and tries again when it could not be had.
func (b *Builder) sandbox() (*sandbox.Sandbox, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.box != nil {
		return b.box, nil
	}
	box, err := sandbox.New(b.o.Sandbox)
	if err != nil {
		return nil, err
	}
	b.box = box
	return box, nil
}

// Ready says why builds cannot be had. It runs a command in the sandbox and reads every
// file of every toolchain, so that it is nothing for every request.
func (b *Builder) Ready(ctx context.Context) error {
	box, err := b.sandbox()
	if err != nil {
		return err
	}
	policy, err := toolchain.Open(b.o.Policy)
	if err != nil {
		return err
	}
	var tools []sandbox.Place // which the user of the sandbox must be able to get to
	for _, t := range policy.Toolchains {
		tools = append(tools, sandbox.Place{From: t.Dir(), At: toolchainAt + "/" + t.Name()})
	}
	if err := box.Check(ctx, tools...); err != nil {
		return err
	}
	return policy.Check(ctx)
}

// Build makes the class that a package names from its source. The error is a *Failure, or
// that ctx ended.
func (b *Builder) Build(ctx context.Context, source io.Reader, p *submission.Package) (*Result, error) {
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r, err := b.guarded(ctx, source, p)
	if e := ctx.Err(); err != nil && e != nil {
		return nil, e
	}
	var f *Failure
	if err != nil && !errors.As(err, &f) {
		return nil, fail(DispatchFailed, "the build could not be run", err)
	}
	return r, err
}

// guarded builds, and lets a source that finds a bug in what reads it end no more than its own build.
func (b *Builder) guarded(ctx context.Context, source io.Reader, p *submission.Package) (r *Result, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			r, err = nil, fail(DispatchFailed, "the build could not be run: the service has a bug", fmt.Errorf("panic: %v", bug))
		}
	}()
	return b.build(ctx, source, p)
}

func (b *Builder) build(ctx context.Context, source io.Reader, p *submission.Package) (r *Result, err error) {
	if p.ToolchainPolicyID != submission.ToolchainPolicy {
		return nil, fail(UnsupportedPolicy, "the policy is not one of this service", nil)
	}
	box, err := b.sandbox()
	if err != nil {
		return nil, fail(DispatchFailed, "there is no sandbox to build in", err)
	}
	policy, err := toolchain.Open(b.o.Policy)
	if err != nil {
		return nil, fail(DispatchFailed, "the toolchains cannot be read", err)
	}
	dir, remove, err := box.Folder()
	if err != nil {
		return nil, fail(DispatchFailed, "there is no room for the source", err)
	}
	defer func() {
		if e := remove(); e != nil { // a source must not stay
			r, err = nil, errors.Join(err, fail(DispatchFailed, "the source could not be taken away", e))
		}
	}()
	t, err := lay(dir, source, p)
	if err != nil {
		return nil, err
	}
	defer t.close()
	project, err := t.project(p)
	if err != nil {
		return nil, err
	}
	tool := policy.Find(toolchain.Scarb, project.Version)
	if tool == nil {
		tool = policy.Find(toolchain.Cairo, project.Version)
	}
	if tool == nil {
		return nil, fail(UnsupportedToolchain, "the policy has no compiler of the version that the tree names", nil)
	}
	if err := tool.Check(ctx); err != nil {
		return nil, fail(DispatchFailed, "the toolchain is not what its manifest says", err)
	}
	spec, err := t.spec(tool, project)
	if err != nil {
		return nil, err
	}
	out, err := box.Run(ctx, spec)
	if err != nil {
		return nil, fail(DispatchFailed, "the sandbox failed", err)
	}
	artifact, err := outcome(out)
	if err != nil {
		return nil, err
	}
	if r, err = ReadArtifact(artifact); err != nil {
		return nil, fail(Failed, "what the compiler wrote is not a class", err)
	}
	r.Toolchain = tool.Name()
	return r, nil
}
