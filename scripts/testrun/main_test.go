package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// module writes packages with one test file each, and returns the command that
// tests them.
func module(t *testing.T, packages map[string]string) []string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"go.mod": "module played\n\ngo 1.26\n"}
	for name, body := range packages {
		files[name+"/x_test.go"] = "package " + name + "\n\nimport \"testing\"\n\n" + body
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"go", "-C", dir, "test", "-json", "-vet=off", "./..."}
}

const passes = `
func TestQuiet(t *testing.T) { t.Log("nobody asks") }
`

// TestSkips: a skip on the list passes anywhere, another one fails where CI is set,
// and both are told of.
func TestSkips(t *testing.T) {
	listed := passes + `
func TestSome(t *testing.T) {
	t.Run("deep", func(t *testing.T) { t.Log("first"); t.Skip("` + expected[0].reason + `: more") })
}
`
	other := passes + `
func TestStore(t *testing.T) { t.Skip("PostgreSQL is not installed") }
func TestMute(t *testing.T) { t.SkipNow() }
`
	for _, c := range []struct {
		name     string
		packages map[string]string
		strict   bool
		fails    string
		says     []string
	}{
		{"listed", map[string]string{"a": listed}, true, "", []string{"ok  \tplayed/a", "   1  " + expected[0].reason}},
		{"other, not in CI", map[string]string{"a": listed, "b": other}, false, "", []string{"played/b TestStore: PostgreSQL is not installed\n", "played/b TestMute: no reason given\n"}},
		{"other", map[string]string{"a": listed, "b": other}, true, "2 tests were skipped", []string{"played/b TestStore: PostgreSQL is not installed\n", "ok  \tplayed/b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			err := run(t.Context(), module(t, c.packages), c.strict, &out)
			if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("error %v, want %q", err, c.fails)
			}
			for _, s := range c.says {
				if !strings.Contains(out.String(), s) {
					t.Errorf("it does not say %q", s)
				}
			}
			if strings.Contains(out.String(), "nobody asks") || strings.Contains(out.String(), "=== RUN") {
				t.Error("it tells what tests that passed said")
			}
			if t.Failed() {
				t.Log(out.String())
			}
		})
	}
}

// TestFailures: what go test fails on fails here too, with all that was said.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name, body string
		says       []string
	}{
		{"a test", `func TestA(t *testing.T) { t.Log("before"); t.Run("in", func(t *testing.T) { t.Error("wrong") }) }`,
			[]string{"x_test.go:5: before", "x_test.go:5: wrong", "--- FAIL: TestA/in", "--- FAIL: TestA (", "FAIL\tplayed/a"}},
		{"a panic", `func TestA(t *testing.T) { t.Log("before"); panic("thrown") }`,
			[]string{"before", "panic: thrown", "FAIL\tplayed/a"}},
		{"an exit", "func TestMain(m *testing.M) { panic(\"at once\") }",
			[]string{"panic: at once", "FAIL\tplayed/a"}},
		{"a compiler", `func TestA(t *testing.T) { nowhere() }`,
			[]string{"undefined: nowhere", "FAIL\tplayed/a [build failed]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			err := run(t.Context(), module(t, map[string]string{"a": c.body + "\n", "b": passes}), false, &out)
			if err == nil {
				t.Error("no failure")
			}
			for _, s := range append(c.says, "ok  \tplayed/b") {
				if !strings.Contains(out.String(), s) {
					t.Errorf("it does not say %q", s)
				}
			}
			if t.Failed() {
				t.Log(out.String())
			}
		})
	}
}

// TestCutShort: a go test that ends early is not taken for one that passed, and
// long output keeps its end.
func TestCutShort(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"echo", `{"Action":"start","Package":"a"}`}, false, &out); err == nil {
		t.Error("a package that did not end passed")
	}
	var l lines
	for range 3 {
		l.add(strings.Repeat("x", keepBytes/2) + "\n")
	}
	l.add("the end\n")
	out.Reset()
	l.print(&out, "TestLong")
	if out.Len() > keepBytes+100 || !strings.HasPrefix(out.String(), "(2 lines of TestLong are left out)\n") || !strings.HasSuffix(out.String(), "the end\n") {
		t.Errorf("%d bytes, from %.60q", out.Len(), out.String())
	}
}

// TestEveryReasonIsGiven: an entry that no test gives as its reason would let
// something else pass one day.
func TestEveryReasonIsGiven(t *testing.T) {
	call := regexp.MustCompile(`\.Skipf?\("((?:[^"\\]|\\.)*)"`)
	var given []string
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" || strings.Contains(filepath.ToSlash(path), "scripts/testrun/") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			given = append(given, m[1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range expected {
		found := false
		for _, reason := range given {
			found = found || e.matches(reason)
		}
		if !found {
			t.Errorf("no test is skipped because %q", e.reason)
		}
		if e.why == "" {
			t.Errorf("%q: why", e.reason)
		}
	}
}
