// Package tstest builds the TypeScript client for tests, with the tools that its package
// pins.
package tstest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// lock is the file that pins the tools; it lies with them where they are installed.
const lock = "package-lock.json"

// root is the directory of the module.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("the module was not found")
		}
	}
}

// where is the directory of the tools.
func where(t *testing.T) string {
	t.Helper()
	return filepath.Join(root(t), ".tools", "typescript")
}

// Installed says whether the tools are there.
func Installed(t *testing.T) bool {
	t.Helper()
	want, err := os.ReadFile(filepath.Join(root(t), "client", "typescript", lock))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(where(t), lock))
	return err == nil && bytes.Equal(got, want)
}

// Tools is where the programs of the tools are. Without them the test is skipped.
func Tools(t *testing.T) string {
	t.Helper()
	if !Installed(t) {
		t.Skipf("the compiler is not there in the version of %s: make tools installs it where it can", lock)
	}
	return filepath.Join(where(t), "node_modules", ".bin")
}

// Copy is a copy of the package, with its tools and without what is made of it.
func Copy(t *testing.T) string {
	t.Helper()
	tools, dir := Tools(t), filepath.Join(t.TempDir(), "chain-explorer")
	from := filepath.Join(root(t), "client", "typescript")
	for _, name := range []string{"src", "test", "package.json", lock, "tsconfig.json", "README.md", "LICENSE"} {
		to := filepath.Join(dir, name)
		if info, err := os.Stat(filepath.Join(from, name)); err == nil && info.IsDir() {
			if err := os.CopyFS(to, os.DirFS(filepath.Join(from, name))); err != nil {
				t.Fatal(err)
			}
			continue
		}
		text, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(to, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Dir(tools), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Compile runs the compiler in a copy.
func Compile(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "node_modules", ".bin", "tsc"), args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tsc %v: %v\n%.4000s", args, err, out)
	}
}
