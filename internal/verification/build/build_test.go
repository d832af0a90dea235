package build_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/build"
	"chainexplorer/internal/verification/sample"
	"chainexplorer/internal/verification/sandbox"
	"chainexplorer/internal/verification/sandbox/sandboxtest"
	"chainexplorer/internal/verification/submission"
	"chainexplorer/internal/verification/toolchain"
	"chainexplorer/internal/verification/toolchain/toolchaintest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	toolchaintest.Remove()
	os.Exit(code)
}

// builder has the real compiler, unless o names another policy.
func builder(t *testing.T, o build.Options) *build.Builder {
	t.Helper()
	if o.Policy == "" {
		o.Policy = toolchaintest.Policy(t)
	}
	if o.Sandbox.Scratch == "" {
		o.Sandbox.Scratch = sandboxtest.Folder(t)
	}
	o.Sandbox.Helper = sandboxtest.Program(t)
	b, err := build.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(o.Sandbox.Scratch); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	})
	if err := b.Ready(t.Context()); errors.Is(err, sandbox.ErrUnavailable) {
		t.Skipf("a sandbox cannot be had here: %v", err)
	}
	return b
}

// changed is the sample with other files: pairs of paths and texts; "-" takes a file away.
func changed(t *testing.T, changes ...string) fstest.MapFS {
	t.Helper()
	tree := fstest.MapFS{}
	err := fs.WalkDir(sample.Tree(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(sample.Tree(), name)
		tree[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(changes); i += 2 {
		tree[changes[i]] = &fstest.MapFile{Data: []byte(changes[i+1])}
		if changes[i+1] == "-" {
			delete(tree, changes[i])
		}
	}
	return tree
}

// replaced is a file of the sample with another text in it.
func replaced(t *testing.T, name, old, text string) []string {
	t.Helper()
	data, err := fs.ReadFile(sample.Tree(), name)
	if err != nil || !strings.Contains(string(data), old) {
		t.Fatalf("%s has no %q: %v", name, old, err)
	}
	return []string{name, strings.ReplaceAll(string(data), old, text)}
}

// submitted is a tree as it is submitted.
func submitted(t *testing.T, tree fs.FS) ([]byte, *submission.Package) {
	t.Helper()
	_, p, err := sample.Archive()
	if err != nil {
		t.Fatal(err)
	}
	data, summary, err := archive.Pack(tree, archive.Standard)
	if err != nil {
		t.Fatal(err)
	}
	p.UploadDigest, p.UploadByteLength = summary.Digest, summary.Compressed
	return data, p
}

func TestBuildsTheSample(t *testing.T) {
	b := builder(t, build.Options{})
	if err := b.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	data, p, err := sample.Archive()
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.Build(t.Context(), bytes.NewReader(data), p)
	if err != nil {
		t.Fatal(err)
	}
	if r.ClassHash != sample.ClassHash || r.Toolchain != "cairo-2.20.0" || !strings.HasPrefix(r.CandidateDigest, "sha256:") {
		t.Errorf("class %s, want %s, by %s", r.ClassHash, sample.ClassHash, r.Toolchain)
	}
	fromFile, err := build.ReadArtifact(sample.Artifact)
	if err != nil || fromFile.CandidateDigest != r.CandidateDigest || fromFile.ClassHash != r.ClassHash || build.Differences(fromFile.Parts, r.Parts) != nil {
		t.Errorf("what ships with the program is not what is built: %v", err)
	}

	// The same tree on other paths and by another user outside gives the same class.
	for _, o := range []sandbox.Options{{}, {User: 61234}} {
		again, err := builder(t, build.Options{Sandbox: o}).Build(t.Context(), bytes.NewReader(data), p)
		if err != nil {
			t.Fatal(err)
		}
		if again.CandidateDigest != r.CandidateDigest || again.ClassHash != r.ClassHash {
			t.Errorf("built again: %s, %s", again.ClassHash, again.CandidateDigest)
		}
	}

	// One character makes another class, and the parts say where.
	for _, c := range []struct {
		change []string
		differ []string
	}{
		{replaced(t, "src/counter.cairo", "self.count.read() + by", "self.count.read() * by"), []string{"program"}},
		{replaced(t, "src/counter.cairo", "first", "start"), []string{"abi"}},
		{replaced(t, "src/counter.cairo", "/// The count so far.", "/// The count so far!"), nil},
	} {
		data, p := submitted(t, changed(t, c.change...))
		other, err := b.Build(t.Context(), bytes.NewReader(data), p)
		if err != nil {
			t.Fatal(err)
		}
		if differ := build.Differences(r.Parts, other.Parts); !slices.Equal(differ, c.differ) {
			t.Errorf("%.60q: %v differ, want %v", c.change[1], differ, c.differ)
		}
		if (other.ClassHash == r.ClassHash) != (c.differ == nil) {
			t.Errorf("%.60q: the class is %s", c.change[1], other.ClassHash)
		}
	}
}

// TestBuildsWithDependencies of the tree, in a workspace, under another edition.
func TestBuildsWithDependencies(t *testing.T) {
	b := builder(t, build.Options{})
	manifest, _ := fs.ReadFile(sample.Tree(), "Scarb.toml")
	contract, _ := fs.ReadFile(sample.Tree(), "src/counter.cairo")
	tree := fstest.MapFS{
		"Scarb.toml":                      {Data: []byte("[workspace]\nmembers = [\"contracts/*\"]\n")},
		"Scarb.lock":                      {Data: []byte("version = 1\n[[package]]\nname=\"counter\"\nversion=\"0.1.0\"\ndependencies=[\"maths\"]\n[[package]]\nname=\"maths\"\nversion=\"1.0.0\"\n")},
		"contracts/one/Scarb.toml":        {Data: []byte(strings.Replace(string(manifest), "[dependencies]", "[dependencies]\nmaths = { path = \"../../maths\" }", 1))},
		"contracts/one/src/lib.cairo":     {Data: []byte("pub mod counter;\n")},
		"contracts/one/src/counter.cairo": {Data: []byte(strings.Replace(string(contract), "self.count.read() + by", "maths::plus(self.count.read(), by)", 1))},
		"maths/Scarb.toml":                {Data: []byte("[package]\nname=\"maths\"\nversion=\"1.0.0\"\nedition=\"2023_11\"\n")},
		"maths/src/lib.cairo":             {Data: []byte("#[cfg(target: \"starknet-contract\")]\npub fn plus(a: u128, b: u128) -> u128 { a + b }\n")},
		"cairo_project.toml":              {Data: []byte("[crate_roots]\ncore = \"/nowhere\"\n")}, // it is not looked at
	}
	data, p := submitted(t, tree)
	r, err := b.Build(t.Context(), bytes.NewReader(data), p)
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := build.ReadArtifact(sample.Artifact)
	if err != nil {
		t.Fatal(err)
	}
	if shipped.Parts.ABI != r.Parts.ABI || shipped.Parts.Constructor != r.Parts.Constructor {
		t.Errorf("%v differ", build.Differences(shipped.Parts, r.Parts))
	}
}

func code(t *testing.T, what string, err error, want string) {
	t.Helper()
	var f *build.Failure
	if !errors.As(err, &f) || f.Code != want || f.Retryable != (want == build.DispatchFailed) || f.Reason == "" {
		t.Errorf("%s: %v, want %s", what, err, want)
		return
	}
	for _, secret := range []string{"Storage", "counter.cairo", "secret_of_the_source", "error"} {
		if strings.Contains(f.Reason, secret) {
			t.Errorf("%s: the reason tells of the source: %q", what, f.Reason)
		}
	}
}

// TestFailures plays every end of a build that is none of a class.
func TestFailures(t *testing.T) {
	b := builder(t, build.Options{})
	for name, c := range map[string]struct {
		change []string
		code   string
	}{
		"does not compile":     {replaced(t, "src/counter.cairo", "self.count.read() + by", "secret_of_the_source"), build.Failed},
		"no such contract":     {replaced(t, "src/counter.cairo", "pub mod Counter", "pub mod Kounter"), build.InvalidPackage},
		"no contract at all":   {[]string{"src/counter.cairo", ""}, build.InvalidPackage},
		"another compiler":     {replaced(t, "Scarb.toml", "cairo-version = \"2.20.0\"", "cairo-version = \"2.20.1\""), build.UnsupportedToolchain},
		"no exact compiler":    {replaced(t, "Scarb.toml", "cairo-version = \"2.20.0\"", "cairo-version = \">=2.0.0\""), build.UnsupportedToolchain},
		"registry":             {replaced(t, "Scarb.toml", "[dependencies]", "[dependencies]\nopenzeppelin = \"1.0.0\""), build.IncompleteMaterial},
		"stale lock file":      {replaced(t, "Scarb.lock", "0.1.0", "0.1.1"), build.IncompleteMaterial},
		"another target":       {replaced(t, "Scarb.toml", "sierra = true", "name = \"other\""), build.InvalidPackage},
		"endless compile time": {replaced(t, "src/lib.cairo", "pub mod counter;", "pub mod counter;\npub const X: felt252 = loopy();\nconst fn loopy() -> felt252 { loopy() }\n"), build.Failed},
	} {
		data, p := submitted(t, changed(t, c.change...))
		_, err := b.Build(t.Context(), bytes.NewReader(data), p)
		code(t, name, err, c.code)
	}

	data, p, err := sample.Archive()
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Build(t.Context(), bytes.NewReader(data[:len(data)-1]), p)
	code(t, "cut off", err, build.InvalidArchive)
	_, err = b.Build(t.Context(), strings.NewReader("no archive"), p)
	code(t, "no archive", err, build.InvalidArchive)
	unlocked := forge(t, changed(t, "Scarb.lock", "-"))
	_, err = b.Build(t.Context(), bytes.NewReader(unlocked), p)
	code(t, "no lock file", err, build.LockfileMissing)
	other := *p
	other.UploadDigest = "sha256:" + strings.Repeat("0", 64)
	_, err = b.Build(t.Context(), bytes.NewReader(data), &other)
	code(t, "another archive", err, build.UploadMismatch)
	other = *p
	other.ToolchainPolicyID = "service-exact-v24"
	_, err = b.Build(t.Context(), bytes.NewReader(data), &other)
	code(t, "another policy", err, build.UnsupportedPolicy)
	_, err = b.Build(t.Context(), iotestErr{}, p)
	code(t, "the source cannot be read", err, build.DispatchFailed)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Build(ctx, bytes.NewReader(data), p); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestScarb is of how Scarb is called and what is read back. A program of the tests stands
// in for it: the real one is not among their tools.
// broken is a source whose reading is a bug.
type broken struct{}

func (broken) Read([]byte) (int, error) { panic("a bug") }

// TestABugEndsItsBuildAlone: nor does it leave a source behind, which the builder's end looks for.
func TestABugEndsItsBuildAlone(t *testing.T) {
	b := builder(t, build.Options{})
	data, p := submitted(t, sample.Tree())
	var f *build.Failure
	if _, err := b.Build(t.Context(), broken{}, p); !errors.As(err, &f) || f.Code != build.DispatchFailed {
		t.Errorf("a bug: %v", err)
	}
	if _, err := b.Build(t.Context(), bytes.NewReader(data), p); err != nil {
		t.Errorf("the next build: %v", err)
	}
}

func TestScarb(t *testing.T) {
	from := sandboxtest.Folder(t)
	program, err := os.ReadFile(sandboxtest.Program(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(from, "bin"), 0o755), os.WriteFile(filepath.Join(from, "bin", "scarb"), program, 0o755)); err != nil {
		t.Fatal(err)
	}
	policy := filepath.Join(sandboxtest.Folder(t), "policy")
	if _, err := toolchain.Add(t.Context(), policy, toolchain.Scarb, "2.20.0", from); err != nil {
		t.Fatal(err)
	}
	limits := sandbox.Limits{Time: time.Minute, Memory: 128 << 20, Text: 1 << 20, Output: 32 << 10}
	b := builder(t, build.Options{Policy: policy, Sandbox: sandbox.Options{Limits: limits}})
	limits.Time = time.Second
	hasty := builder(t, build.Options{Policy: policy, Sandbox: sandbox.Options{Limits: limits}})
	data, p := submitted(t, changed(t, "class.json", string(sample.Artifact)))
	r, err := b.Build(t.Context(), bytes.NewReader(data), p)
	if err != nil || r.ClassHash != sample.ClassHash || r.Toolchain != "scarb-2.20.0" {
		t.Errorf("%+v, %v", r, err)
	}
	for name, c := range map[string]struct {
		change []string
		code   string
	}{
		"time":         {[]string{"misbehave", "sleep"}, build.LimitExceeded},
		"memory":       {[]string{"misbehave", "memory"}, build.LimitExceeded},
		"text":         {[]string{"misbehave", "print"}, build.LimitExceeded},
		"no output":    {[]string{"misbehave", "nothing"}, build.Failed},
		"large output": {[]string{"class.json", strings.Repeat(string(sample.Artifact), 3)}, build.LimitExceeded},
		"no class":     {[]string{"class.json", "{}"}, build.Failed},
		"no JSON":      {[]string{"class.json", "x"}, build.Failed},
		"it fails":     {nil, build.Failed},
	} {
		data, p := submitted(t, changed(t, c.change...))
		with := b
		if name == "time" {
			with = hasty
		}
		_, err := with.Build(t.Context(), bytes.NewReader(data), p)
		code(t, name, err, c.code)
	}
}

type iotestErr struct{}

func (iotestErr) Read([]byte) (int, error) { return 0, errors.New("the database is away") }

// TestToolchainIsCheckedBeforeEachBuild changes one byte between two builds.
func TestToolchainIsCheckedBeforeEachBuild(t *testing.T) {
	policy := filepath.Join(sandboxtest.Folder(t), "policy")
	if _, err := toolchain.Add(t.Context(), policy, toolchain.Cairo, toolchaintest.Version, toolchaintest.Find(t, "cairo-"+toolchaintest.Version)); err != nil {
		t.Fatal(err)
	}
	b := builder(t, build.Options{Policy: policy})
	data, p, err := sample.Archive()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Build(t.Context(), bytes.NewReader(data), p); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(policy, "cairo-"+toolchaintest.Version, "corelib", "src", "lib.cairo")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(file)
	text[len(text)-1] = ' '
	if err := errors.Join(os.WriteFile(file, text, 0o644), os.Chtimes(file, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
	_, err = b.Build(t.Context(), bytes.NewReader(data), p)
	code(t, "a changed core library", err, build.DispatchFailed)
	if err := b.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "corelib/src/lib.cairo") {
		t.Errorf("Ready says %v", err)
	}
}

// TestNothingToBuildWith: a builder starts, says why, and fails retryably.
func TestNothingToBuildWith(t *testing.T) {
	data, p, err := sample.Archive()
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]build.Options{
		"no bubblewrap": {Policy: t.TempDir(), Sandbox: sandbox.Options{Bwrap: "/not/there"}},
		"no policy":     {Policy: filepath.Join(t.TempDir(), "none"), Sandbox: sandbox.Options{Helper: sandboxtest.Program(t), Scratch: sandboxtest.Folder(t)}},
	} {
		b, err := build.New(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Ready(t.Context()); err == nil {
			t.Errorf("%s: it is ready", name)
		}
		_, err = b.Build(t.Context(), bytes.NewReader(data), p)
		code(t, name, err, build.DispatchFailed)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := build.New(build.Options{}); err == nil {
		t.Error("a builder without a policy was made")
	}
}
