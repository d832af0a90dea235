package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWhatTheRaceRunLeavesOutIsRun: scripts/races finds the packages that do less
// under the race detector, and 'make test' tests them once more without it. Where it
// takes one off that list, it names all of its tests that are left out.
func TestWhatTheRaceRunLeavesOutIsRun(t *testing.T) {
	root := filepath.Join("..", "..")
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^\tpackages=.*scripts/races -none && .*scripts/races -fewer(?: \| grep -v '/([a-z/|()]+)\$\$')?\) && \$\(TESTRUN\) [^-]*(?:-(?:p|timeout) \S+ )*\$\$packages$`)
	again := list.FindStringSubmatch(string(makefile))
	if again == nil {
		t.Fatal("make test does not run what scripts/races finds without the race detector")
	}
	if again[1] == "" {
		return // all of them are tested whole
	}
	named := regexp.MustCompile(`(?m)^\t\$\(TESTRUN\) -timeout \S+ -run '([^']+)' \./` + regexp.QuoteMeta(again[1]) + `$`).FindStringSubmatch(string(makefile))
	if named == nil {
		t.Fatalf("make test does not run ./%s without the race detector", again[1])
	}
	leftOut(t, filepath.Join(root, filepath.FromSlash(again[1])), regexp.MustCompile(strings.ReplaceAll(named[1], "$$", "$")))
}

// leftOut holds the tests of a package that skip themselves against a pattern.
func leftOut(t *testing.T, dir string, named *regexp.Regexp) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := false
	skips := regexp.MustCompile(`(?ms)^func (Test\w+)\(t \*testing\.T\) \{$(.*?)^\}$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range skips.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(m[2], "skipRaced(t)") {
				continue
			}
			found = true
			if !named.MatchString(m[1]) {
				t.Errorf("%s is skipped under the race detector, and not run without it", m[1])
			}
		}
	}
	if !found {
		t.Errorf("no test of %s is skipped: this one proves nothing", dir)
	}
}
