package main

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/analysis"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

// staticChecks returns the checks that staticcheck makes when it is not told which.
func staticChecks() []*analysis.Analyzer {
	checks := []*analysis.Analyzer{unusedCode}
	for _, a := range slices.Concat(simple.Analyzers, staticcheck.Analyzers, stylecheck.Analyzers) {
		if !a.Doc.NonDefault {
			checks = append(checks, named(a))
		}
	}
	return checks
}

// named lets what a check finds begin with the check's name, as staticcheck writes it.
func named(a *lint.Analyzer) *analysis.Analyzer {
	checked := *a.Analyzer
	checked.Run = func(pass *analysis.Pass) (any, error) {
		report := pass.Report
		told := *pass
		told.Report = func(d analysis.Diagnostic) {
			d.Message = checked.Name + ": " + d.Message
			report(d)
		}
		return a.Analyzer.Run(&told)
	}
	return &checked
}

// unusedCode tells of what staticcheck's own check of that kind returns: staticcheck
// compares what it returns for a package with and without its tests, and go vet shows
// it the package with them alone, in which as much is used.
var unusedCode = &analysis.Analyzer{
	Name:     "unused",
	Doc:      "find code that nothing uses (U1000)",
	URL:      "https://staticcheck.dev/docs/checks/#U1000",
	Requires: []*analysis.Analyzer{unused.Analyzer.Analyzer},
	Run: func(pass *analysis.Pass) (any, error) {
		for _, o := range pass.ResultOf[unused.Analyzer.Analyzer].(unused.Result).Unused {
			pass.Reportf(position(pass.Fset, o.Position), "U1000: %s %s is unused", o.Kind, o.Name)
		}
		return nil, nil
	},
}

// position finds a place in the files that were read.
func position(set *token.FileSet, at token.Position) (pos token.Pos) {
	set.Iterate(func(f *token.File) bool {
		if f.Name() != at.Filename || at.Offset > f.Size() {
			return true
		}
		pos = f.Pos(at.Offset)
		return false
	})
	return pos
}
