// Package sandboxtest gives tests a program that is the helper of a sandbox and that
// attacks it from inside. It is always linked statically, which a test's own program
// is not when the race detector watches it.
package sandboxtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
)

var attacker struct {
	sync.Once
	data []byte
	err  error
}

// Program builds the attacker and returns its path, which users can get to.
func Program(t testing.TB) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("a sandbox needs Linux")
	}
	attacker.Do(func() {
		dir, err := os.MkdirTemp("", "attacker-")
		if err != nil {
			attacker.err = err
			return
		}
		defer os.RemoveAll(dir) //nolint:errcheck // temporary
		file := filepath.Join(dir, "attacker")
		cmd := exec.Command("go", "build", "-o", file, "chainexplorer/internal/verification/sandbox/sandboxtest/attacker")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		if attacker.err = cmd.Run(); attacker.err == nil {
			attacker.data, attacker.err = os.ReadFile(file)
		}
	})
	if attacker.err != nil {
		t.Fatalf("build the attacker: %v", attacker.err)
	}
	path := filepath.Join(Folder(t), "attacker")
	// No process that another test starts meanwhile may have it open: it could not be started.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, attacker.data, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// Folder is a folder of the test that the user of a sandbox can get to.
func Folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sandboxtest-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
