package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestVet: the checks of go vet are those of the go that is used here.
func TestVet(t *testing.T) {
	text, err := exec.CommandContext(t.Context(), "go", "tool", "vet", "help").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(string(text), "Registered analyzers:")
	if list, _, _ = strings.Cut(list, "By default"); !ok {
		t.Fatalf("go tool vet help says\n%s", text)
	}
	var want, got []string
	for _, m := range regexp.MustCompile(`(?m)^    (\w+) `).FindAllStringSubmatch(list, -1) {
		want = append(want, m[1])
	}
	for _, a := range vet() {
		got = append(got, a.Name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the checks are %v, and go vet has %v", got, want)
	}
}

const faulty = `package faulty

import (
	"errors"
	"fmt"
	"io"
	"io/ioutil"
)

var errFaulty = errors.New("Starts with a capital")

func Do(r io.Reader, ok bool) error {
	fmt.Printf("%d\n", "a text")
	if ok == true {
		return errFaulty
	}
	text, err := ioutil.ReadAll(r)
	text, err = io.ReadAll(r)
	Must(err)
	return errors.New(string(text))
}

// Must is a wrapper by what it calls: what it is given is checked, too.
func Must(err error) {
	if err != nil {
		fail("no error: %d", err.Error())
	}
}

func fail(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func unused() {}

func usedByATest() int { return 1 }
`

const faultyTest = `package faulty

import "testing"

func TestA(*testing.T) { usedByATest() }

func unusedInTests() {}
`

// TestFinds: what go vet, staticcheck and its check for unused code find is found, in
// tests too, and nothing twice. What staticcheck leaves out by default is left out.
func TestFinds(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "lint")
	if said, err := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, said)
	}
	// What is tested is another process: its sources are read for go test to know.
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		if _, err := os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module faulty\n\ngo 1.26\n", "faulty.go": faulty, "faulty_test.go": faultyTest} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "vet", "-vettool="+tool, "./...")
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("the check ends as if nothing was found")
	}
	// The folder is that of whoever asked first: what is found is kept.
	found := regexp.MustCompile(`(?m)^\S*(faulty(?:_test)?\.go:\d+):\d+: (.*)$`).FindAllStringSubmatch(string(said), -1)
	var got []string
	for _, m := range found {
		check, _, _ := strings.Cut(m[2], ": ")
		if strings.HasSuffix(check, "of wrong type string") {
			check = "printf"
		}
		got = append(got, m[1]+" "+check)
	}
	slices.Sort(got)
	want := []string{
		"faulty.go:10 ST1005", "faulty.go:13 SA5009", "faulty.go:13 printf", "faulty.go:14 S1002", "faulty.go:17 SA4006", "faulty.go:17 SA4006",
		"faulty.go:26 printf", "faulty.go:32 U1000", "faulty.go:7 SA1019", "faulty_test.go:7 U1000",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q:\n%s", got, want, said)
	}
}
