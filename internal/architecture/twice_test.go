package architecture

import (
	"os/exec"
	"regexp"
	"testing"
)

// compiledAgain bounds how many packages are compiled once more for one package's tests.
const compiledAgain = 4

// TestTestsCompileLittleAgain: a package with test files of its own name is another one
// for its tests, and so is all that imports it and that its other tests import. Four
// lines for a test once had the whole server compiled twice.
func TestTestsCompileLittleAgain(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-test", "-f", "{{.ImportPath}}", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	variants := regexp.MustCompile(`(?m)^(\S+) \[(\S+)\.test\]$`).FindAllSubmatch(out, -1)
	if len(variants) < 50 {
		t.Fatalf("go list tells of %d packages for tests", len(variants))
	}
	again := map[string][]string{}
	for _, m := range variants {
		if pkg, tested := string(m[1]), string(m[2]); pkg != tested && pkg != tested+"_test" {
			again[tested] = append(again[tested], pkg)
		}
	}
	for tested, list := range again {
		if len(list) > compiledAgain {
			t.Errorf("%d packages are compiled once more for the tests of %s: let its tests be outside of the package (package ..._test), and export what they need\n%v", len(list), tested, list)
		}
	}
}
