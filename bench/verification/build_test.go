package verification

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"chainexplorer/internal/verification/build"
	"chainexplorer/internal/verification/sample"
	"chainexplorer/internal/verification/sandbox"
	"chainexplorer/internal/verification/sandbox/sandboxtest"
	"chainexplorer/internal/verification/toolchain"
	"chainexplorer/internal/verification/toolchain/toolchaintest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	toolchaintest.Remove()
	os.Exit(code)
}

// BenchmarkBuild builds a small contract with all that verification puts around it, and
// runs the compiler alone, in turn. Beside the whole it reports the parts that can be
// had apart: an empty command in the sandbox, and reading the toolchain.
func BenchmarkBuild(b *testing.B) {
	dir := toolchaintest.Policy(b)
	o := sandbox.Options{Scratch: sandboxtest.Folder(b), Helper: sandboxtest.Program(b)}
	builder, err := build.New(build.Options{Policy: dir, Sandbox: o})
	if err != nil {
		b.Fatal(err)
	}
	defer builder.Close() //nolint:errcheck // a benchmark
	box, err := sandbox.New(o)
	if err != nil {
		b.Fatal(err)
	}
	defer box.Close() //nolint:errcheck // a benchmark
	policy, err := toolchain.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	data, p, err := sample.Archive()
	if err != nil {
		b.Fatal(err)
	}
	bare := laid(b)
	program := filepath.Join(policy.Toolchains[0].Dir(), policy.Toolchains[0].Program())
	var whole, alone, empty, read time.Duration
	timed := func(to *time.Duration, f func() error) {
		start := time.Now()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		*to += time.Since(start)
	}
	for b.Loop() {
		timed(&whole, func() error {
			r, err := builder.Build(b.Context(), bytes.NewReader(data), p)
			if err == nil && r.ClassHash != sample.ClassHash {
				err = fmt.Errorf("class %s", r.ClassHash)
			}
			return err
		})
		timed(&alone, func() error {
			cmd := exec.Command(program, "--contract-path", p.ModulePath, bare, filepath.Join(bare, "out.json"))
			cmd.Env = append(os.Environ(), "RAYON_NUM_THREADS=2")
			return cmd.Run()
		})
		timed(&empty, func() error { return box.Check(b.Context()) })
		timed(&read, func() error { return policy.Toolchains[0].Check(b.Context()) })
	}
	b.ReportMetric(0, "ns/op")
	for name, d := range map[string]time.Duration{"build-ms": whole, "compiler-ms": alone, "sandbox-ms": empty, "toolchain-ms": read} {
		b.ReportMetric(float64(d.Milliseconds())/float64(b.N), name)
	}
	b.ReportMetric(whole.Seconds()/alone.Seconds(), "of-compiler")
}

// laid is the sample with the compiler's own project file.
func laid(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	if err := os.CopyFS(dir, sample.Tree()); err != nil {
		b.Fatal(err)
	}
	edition, err := fs.ReadFile(os.DirFS(dir), "Scarb.toml")
	if err != nil || !bytes.Contains(edition, []byte("2024_07")) {
		b.Fatal("the sample has another edition")
	}
	project := "[crate_roots]\ncounter = \"src\"\n[config.global]\nedition = \"2024_07\"\n"
	if err := os.WriteFile(filepath.Join(dir, "cairo_project.toml"), []byte(project), 0o600); err != nil {
		b.Fatal(err)
	}
	return dir
}
