// Command lint is what 'go vet' runs on every package: the checks of go vet and those
// of staticcheck. Together they read and type-check a package once, and what they found
// is kept in the build cache.
//
//	go vet -vettool=$(go tool -n lint) ./...
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() {
	checks := append(vet(), staticChecks()...)
	if config := os.Args[len(os.Args)-1]; strings.HasSuffix(config, ".cfg") {
		only, err := factsOnly(config)
		if err != nil {
			fmt.Fprintln(os.Stderr, "lint:", err)
			os.Exit(1)
		}
		if only {
			checks = telling(checks)
		}
	}
	unitchecker.Main(checks...)
}

// factsOnly says that a package is read for what others have to know of it alone.
func factsOnly(config string) (bool, error) {
	text, err := os.ReadFile(config)
	if err != nil {
		return false, fmt.Errorf("what to check: %w", err)
	}
	var unit struct{ VetxOnly bool }
	if err := json.Unmarshal(text, &unit); err != nil {
		return false, fmt.Errorf("what to check: %s: %w", config, err)
	}
	return unit.VetxOnly, nil
}

// telling returns those of checks, and of what they require, that tell something of a
// package to the checks of those that import it. The checker by itself would
// run all that make use of such facts, whose findings in other modules nobody sees.
func telling(checks []*analysis.Analyzer) []*analysis.Analyzer {
	var found []*analysis.Analyzer
	seen := map[*analysis.Analyzer]bool{}
	var visit func(*analysis.Analyzer)
	visit = func(a *analysis.Analyzer) {
		if seen[a] {
			return
		}
		seen[a] = true
		if len(a.FactTypes) > 0 {
			found = append(found, a)
		}
		for _, r := range a.Requires {
			visit(r)
		}
	}
	for _, a := range checks {
		visit(a)
	}
	return found
}
