package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWhatTheRaceRunLeavesOutIsRun: packages that do less under the race detector
// are tested once more without it, and where that run names tests, it names all
// that are left out.
func TestWhatTheRaceRunLeavesOutIsRun(t *testing.T) {
	root := filepath.Join("..", "..")
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]*regexp.Regexp{} // by package; nil runs all
	command := regexp.MustCompile(`(?m)^\t\$\(TESTRUN\) -timeout 5m (?:-run '([^']+)' )?(\./.*)$`)
	for _, m := range command.FindAllStringSubmatch(string(makefile), -1) {
		for _, pkg := range strings.Fields(m[2]) {
			runs[pkg] = nil
			if m[1] != "" {
				runs[pkg] = regexp.MustCompile(strings.ReplaceAll(m[1], "$$", "$"))
			}
		}
	}
	less, err := filepath.Glob(filepath.Join(root, "internal", "*", "race_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	deeper, err := filepath.Glob(filepath.Join(root, "internal", "*", "*", "race_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	if len(less)+len(deeper) == 0 {
		t.Fatal("no package does less under the race detector: the test proves nothing")
	}
	for _, file := range append(less, deeper...) {
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		named, run := runs["./"+filepath.ToSlash(dir)]
		if !run {
			t.Errorf("make test does not run ./%s without the race detector", dir)
			continue
		}
		if named != nil {
			leftOut(t, filepath.Dir(file), named)
		}
	}
}

// leftOut holds the tests of a package that skip themselves against a pattern.
func leftOut(t *testing.T, dir string, named *regexp.Regexp) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	skips := regexp.MustCompile(`(?ms)^func (Test\w+)\(t \*testing\.T\) \{$(.*?)^\}$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range skips.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[2], "skipRaced(t)") && !named.MatchString(m[1]) {
				t.Errorf("%s is skipped under the race detector, and not run without it", m[1])
			}
		}
	}
}
