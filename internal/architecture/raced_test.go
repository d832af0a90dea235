package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestWhatTheRaceRunLeavesOutIsRun: scripts/races finds the packages that do less
// under the race detector, and 'make test' tests all of them once more without it.
func TestWhatTheRaceRunLeavesOutIsRun(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^\tpackages=.*scripts/races -fewer && .*scripts/races -none\) && \$\(TESTRUN\) [^-]*(?:-(?:p|timeout) \S+ )*\$\$packages$`)
	if !list.Match(makefile) {
		t.Fatal("make test does not run what scripts/races finds without the race detector")
	}
}
