package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// played writes a module and returns its folder.
func played(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module played\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// printed are the last parts of the paths that the program prints.
func printed(t *testing.T, dir string, args ...string) []string {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), dir, args, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(out.String())
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(l, "played/")
	}
	return lines
}

// TestWatched: a goroutine anywhere puts the tests of its package, and of what
// imports it, under the race detector, but not through a package on the list.
func TestWatched(t *testing.T) {
	const empty = "\n\nfunc Do() {}\n"
	test := func(name string) string {
		return "package " + name + "_test\n\nimport \"testing\"\n\nfunc TestA(*testing.T) {}\n"
	}
	dir := played(t, map[string]string{
		"started/x.go":      "package started\n\nfunc Do() { go Do() }\n",
		"started/x_test.go": test("started"),
		"group/x.go":        "package group\n\nimport \"sync\"\n\nfunc Do() { var g sync.WaitGroup; g.Go(Do) }\n",
		"group/x_test.go":   test("group"),
		"above/x.go":        "package above\n\nimport _ \"played/middle\"" + empty,
		"above/x_test.go":   test("above"),
		"middle/x.go":       "package middle\n\nimport _ \"played/started\"" + empty, // without tests
		"inTest/x.go":       "package inTest" + empty,
		"inTest/x_test.go":  "package inTest_test\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Parallel() }\n",
		"forTest/x.go":      "package forTest" + empty,
		"forTest/x_test.go": "package forTest_test\n\nimport (\n\t\"testing\"\n\n\t_ \"played/group\"\n)\n\nfunc TestA(t *testing.T) {}\n",
		// What the tests of another package start is theirs alone.
		"quiet/x.go":                      "package quiet\n\nimport _ \"played/inTest\"" + empty,
		"quiet/x_test.go":                 test("quiet"),
		"internal/store/pebble/x.go":      "package pebble\n\nfunc Do() { go Do() }\n",
		"internal/store/pebble/x_test.go": test("pebble"),
		"reader/x.go":                     "package reader\n\nimport _ \"played/internal/store/pebble\"" + empty,
		"reader/x_test.go":                test("reader"),
		"visitor/x.go":                    "package visitor\n\nfunc Do(r interface{ Each(func()) }) { r.Each(func() {}) }\n",
		"visitor/x_test.go":               test("visitor"),
		// Worlds start goroutines for requests that follow each other.
		"internal/servertest/x.go": "package servertest\n\nimport _ \"played/started\"" + empty,
		"asks/x.go":                "package asks\n\nimport _ \"played/started\"" + empty,
		"asks/x_test.go":           "package asks_test\n\nimport (\n\t\"testing\"\n\n\t_ \"played/internal/servertest\"\n)\n\nfunc TestA(*testing.T) {}\n",
		"asksAtOnce/x.go":          "package asksAtOnce" + empty,
		"asksAtOnce/x_test.go":     "package asksAtOnce_test\n\nimport (\n\t\"testing\"\n\n\t_ \"played/internal/servertest\"\n)\n\nfunc TestA(*testing.T) { go func() {}() }\n",
		// Benchmarks are compiled, and not run.
		"measured/x.go":      "package measured\n\nfunc Do() { go Do() }\n",
		"measured/x_test.go": "package measured_test\n\nimport \"testing\"\n\nfunc TestMain(*testing.M) {}\n\nfunc BenchmarkA(*testing.B) {}\n",
	})
	for _, c := range []struct{ args, want string }{
		{"", "above asksAtOnce forTest group inTest internal/store/pebble started visitor"},
		{"-none", "asks quiet reader"},
	} {
		if got := printed(t, dir, strings.Fields(c.args)...); strings.Join(got, " ") != c.want {
			t.Errorf("races %s: %v, want %s", c.args, got, c.want)
		}
	}
	if err := run(t.Context(), played(t, map[string]string{"a/a.go": "package a" + empty}), nil, &bytes.Buffer{}); err == nil {
		t.Error("no package, and no failure")
	}
}

// TestHere: of the packages here, those that serve are watched, every one with tests
// is tested one way or the other, and no entry of the lists is there for nothing.
func TestHere(t *testing.T) {
	root := filepath.Join("..", "..")
	watched, others := printed(t, root), printed(t, root, "-none")
	for _, name := range []string{"cmd/chainexplorer", "internal/api", "internal/gateway", "internal/index", "internal/index/sim", "internal/kernel", "internal/node", "internal/store/pebble", "internal/store/postgres", "internal/usage"} {
		if !slices.Contains(watched, "chainexplorer/"+name) {
			t.Errorf("%s is not watched", name)
		}
	}
	m, err := read(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	left := len(inner) + len(alone)
	for _, p := range m.packages {
		if p.hasTests && !slices.Contains(watched, p.ImportPath) && !slices.Contains(others, p.ImportPath) {
			t.Errorf("%s is tested neither way", p.ImportPath)
		}
		if alone[p.within()] != "" {
			left--
			if m.anyStarted(p) == "" {
				t.Errorf("%s starts nothing in its tests: it need not be on the list", p.ImportPath)
			}
			if p.starts != "" {
				t.Errorf("%s starts goroutines of its own, at %s", p.ImportPath, p.starts)
			}
			if where := watchedIn(t, p); where != "" {
				t.Errorf("%s is not to be watched, but for %s", p.ImportPath, where)
			}
		}
		if inner[p.within()] == "" {
			continue
		}
		left--
		if p.starts == "" && m.imported(p.Imports, map[string]bool{}) == "" {
			t.Errorf("%s starts nothing: it need not be on the list", p.ImportPath)
		}
	}
	if left > 0 {
		t.Errorf("%d packages on the lists are not there", left)
	}
}

// watchedIn finds a test that wants its world to be watched.
func watchedIn(t *testing.T, p *pkg) string {
	t.Helper()
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("servertest.Watched(")) {
			return name
		}
	}
	return ""
}
