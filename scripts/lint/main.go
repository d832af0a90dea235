// Command lint is what 'go vet' runs on every package: the checks of go vet and those
// of staticcheck. Together they read and type-check a package once, and what they found
// is kept in the build cache.
//
//	go build -trimpath -buildvcs=false -o bin/lint ./scripts/lint
//	go vet -vettool=bin/lint ./...
package main

import (
	"encoding/gob"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() {
	checks := append(vet(), staticChecks()...)
	if config := os.Args[len(os.Args)-1]; strings.HasSuffix(config, ".cfg") {
		u, err := read(config)
		if err != nil {
			fmt.Fprintln(os.Stderr, "lint:", err)
			os.Exit(1)
		}
		if u.VetxOnly {
			checks = telling(checks, u.ModuleVersion == "")
		}
	}
	unitchecker.Main(checks...)
}

// unit is what go vet says of a package.
type unit struct {
	// VetxOnly is set where a package is read for what others have to know of it alone.
	VetxOnly bool
	// ModuleVersion is that of another module, and empty for the library of the language.
	ModuleVersion string
}

func read(config string) (unit, error) {
	text, err := os.ReadFile(config)
	if err != nil {
		return unit{}, fmt.Errorf("what to check: %w", err)
	}
	var u unit
	if err := json.Unmarshal(text, &u); err != nil {
		return unit{}, fmt.Errorf("what to check: %s: %w", config, err)
	}
	return u, nil
}

// telling returns those of checks, and of what they require, that tell something of a
// package to the checks of those that import it. The checker by itself would
// run all that make use of such facts, whose findings in other modules nobody sees.
//
// What is deprecated and what takes formats is told of all modules. What is known by
// following every function, such as whether it can return nil, is told of the library
// and of this module alone, because it takes most of the time and finds misuse of
// other modules' functions next to never.
func telling(checks []*analysis.Analyzer, followed bool) []*analysis.Analyzer {
	var found []*analysis.Analyzer
	seen := map[*analysis.Analyzer]bool{}
	var visit func(*analysis.Analyzer)
	visit = func(a *analysis.Analyzer) {
		if seen[a] {
			return
		}
		seen[a] = true
		if followed || !follows(a) {
			if len(a.FactTypes) > 0 {
				found = append(found, a)
			}
		} else {
			for _, f := range a.FactTypes {
				gob.Register(f) // what it tells of the library is read all the same
			}
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

// follows says that a check needs the functions of a package in the form that is
// followed.
func follows(a *analysis.Analyzer) bool {
	return a.Name == "buildir" || slices.ContainsFunc(a.Requires, follows)
}
