package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestWhatTheRaceRunLeavesOutIsRun: scripts/races finds the tests that do less under the
// race detector, and 'make test' runs them once more without it, and all tests of the
// packages that it leaves alone.
func TestWhatTheRaceRunLeavesOutIsRun(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^\t@\$\(MAKE\) .*-j3 test-watched test-again test-unwatched$`).Match(makefile) {
		t.Error("make test does not run all three parts")
	}
	for target, args := range map[string]string{"test-watched": "", "test-again": " -again", "test-unwatched": " -none"} {
		if !regexp.MustCompile(`(?m)^` + target + `:\n(?:\t.*\n)*?` + testsList(args)).Match(makefile) {
			t.Errorf("%s does not run what scripts/races%s prints", target, args)
		}
	}
}

// testsList is a line of the Makefile that tests all that scripts/races prints.
func testsList(args string) string {
	return `\tlist=\$\$\(go run \./scripts/races` + args + `\) && (?:CGO_ENABLED=1 )?\$\(TESTRUN\) (?:\$\(RACE\) )?(?:-(?:p|timeout) (?:\$\$\([^)]*\)|\S+) )*(?:\./\S+ )*\$\$list$`
}
