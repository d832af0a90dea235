package durable_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"chainexplorer/internal/durable"
)

const below = "SCRATCH_BELOW"

// TestMain is also the process that is killed.
func TestMain(m *testing.M) {
	if where := os.Getenv(below); where != "" {
		dir, _, err := durable.Scratch(where, "work-")
		fmt.Println(dir, err)
		io.Copy(io.Discard, os.Stdin) //nolint:errcheck // it ends with its parent at the latest
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestScratch: a folder that a killed process left is gone with the next one that is made,
// and nothing else is: no folder that is in use, none of another kind, and no file.
func TestScratch(t *testing.T) {
	place := filepath.Join(t.TempDir(), "a[*]b")
	for _, other := range []string{"work-older", "works", "else-1"} { // of programs that held none, and of others
		if err := os.MkdirAll(filepath.Join(place, other), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(place, "work-link")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), below+"="+place)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	theirs, ok := strings.CutSuffix(line, " <nil>\n")
	if err != nil || !ok {
		t.Fatal(line, err)
	}
	if err := os.WriteFile(filepath.Join(theirs, "x"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	make := func() (string, func()) {
		t.Helper()
		dir, remove, err := durable.Scratch(place, "work-")
		if err != nil {
			t.Fatal(err)
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) != 0 {
			t.Error("it is not empty", list, err)
		}
		return dir, remove
	}
	first, remove := make()
	for _, dir := range []string{theirs, first} {
		if _, err := os.Stat(dir); err != nil {
			t.Error("a folder that is in use is gone", err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() //nolint:errcheck // it was killed
	_, also := make()
	if _, err := os.Stat(filepath.Dir(theirs)); !os.IsNotExist(err) {
		t.Error("what a killed process left is there", err)
	}
	if _, err := os.Stat(first); err != nil {
		t.Error("a folder that is in use is gone", err)
	}
	remove()
	also()
	list, err := os.ReadDir(place)
	if err != nil || len(list) != 4 {
		t.Error(list, err)
	}
	if _, _, err := durable.Scratch(filepath.Join(place, "none"), "work-"); err == nil {
		t.Error("a folder in one that is not there")
	}
}

// TestScratchAtOnce: those that are made at the same time do not take one another away.
func TestScratchAtOnce(t *testing.T) {
	place := t.TempDir()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				dir, remove, err := durable.Scratch(place, "work-")
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, "x"), nil, 0o600)
				}
				if err != nil {
					t.Error(err)
					return
				}
				remove()
			}
		})
	}
	all.Wait()
	if list, err := os.ReadDir(place); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}
