package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// outside are packages that many import, and that the worlds of the tests are made of:
// for a test inside of one everything above it would be compiled once more, with and
// without the race detector.
var outside = []string{"internal/api", "internal/kernel", "internal/starknet"}

func TestNoTestsInsideOfWhatManyImport(t *testing.T) {
	external := regexp.MustCompile(`(?m)^package \w+_test$`)
	for _, dir := range outside {
		files, err := filepath.Glob(filepath.Join("..", "..", dir, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no tests (%v)", dir, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !external.Match(text) {
				t.Errorf("%s: make it one of package %s_test, which asks as users do", name, filepath.Base(dir))
			}
		}
	}
}
