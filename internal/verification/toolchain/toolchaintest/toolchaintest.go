// Package toolchaintest finds programs by others that tests run: the Cairo compiler, and
// a development node. They stand in a folder that TEST_TOOLCHAIN names, or in
// ../shared/toolchain beside the repository; where they do not, the test is skipped.
package toolchaintest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"chainexplorer/internal/verification/toolchain"
)

// Version is that of the compiler.
const Version = "2.20.0"

// Find is the path of a program or folder, or skips the test.
func Find(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("TEST_TOOLCHAIN")
	if dir == "" {
		dir = beside()
	}
	path, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the toolchain of a development node is not there: %v (TEST_TOOLCHAIN names its folder)", err)
	}
	return path
}

// beside is the folder beside the repository that the test runs in.
func beside() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(parent, "shared", "toolchain")
		}
	}
	return ""
}

var laid struct {
	sync.Mutex
	dir string
}

// Policy is a policy directory with the compiler, which the tests of a process share:
// none may change it. Users of a sandbox can get to it. Remove takes it away.
func Policy(t testing.TB) string {
	t.Helper()
	from := Find(t, "cairo-"+Version)
	laid.Lock()
	defer laid.Unlock()
	if laid.dir != "" {
		return laid.dir
	}
	dir, err := os.MkdirTemp("", "policy-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	laid.dir = dir
	if _, err := toolchain.Add(t.Context(), dir, toolchain.Cairo, Version, from); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Remove takes the policy directory away, at the end of a package's tests.
func Remove() {
	laid.Lock()
	defer laid.Unlock()
	if laid.dir != "" {
		_ = os.RemoveAll(laid.dir)
		laid.dir = ""
	}
}
