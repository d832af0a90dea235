package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const differing = `package started_test

import (
	"testing"

	"played/internal/servertest"
)

type bench struct{ n int }

func (b bench) String() string { return sizeOf("a") }

func sizeOf(string) string { if raced { return "few" }; return "many" }

var bounds = map[bool]int{raced: 1}

func newBench() any { return bench{} }

func newWorld(t *testing.T) { servertest.New(t) }

func TestDirect(*testing.T) { _ = raced }
func TestThroughAFunction(*testing.T) { _ = sizeOf("b") }
func TestThroughAVariable(*testing.T) { _ = bounds[false] }
func TestThroughAMethod(*testing.T) { print(newBench()) }
func TestInAWorld(t *testing.T) { newWorld(t) }
func TestAsksOnly(t *testing.T) { servertest.Ask() }
func TestWatched(t *testing.T) { servertest.Watched(t); newWorld(t) }
func TestWatchedSometimes(t *testing.T) { if t.Name() == "" { servertest.Watched(t) }; newWorld(t) }
func TestWatchedAndFewer(t *testing.T) { servertest.Watched(t); newWorld(t); _ = raced }
func TestEqual(*testing.T) { _ = "raced" }
func FuzzEqual(*testing.F) {}
func Example() { _ = sizeOf("c") }
func Testimony() { _ = raced }
`

// TestAgain: what uses something that differs under the race detector is run again
// without it, by whatever way it uses it, and nothing else is.
func TestAgain(t *testing.T) {
	const one = "\n\nimport \"testing\"\n\nfunc "
	files := map[string]string{
		"started/x.go":                  "package started\n\nfunc Do() { go Do() }\n",
		"started/x_test.go":             differing,
		"started/race_test.go":          "//go:build race\n\npackage started_test\n\nconst raced = true\n",
		"started/norace_test.go":        "//go:build !race\n\npackage started_test\n\nconst raced = false\n",
		"started/plain_test.go":         "//go:build !race\n\npackage started_test" + one + "TestPlain(*testing.T) {}\n",
		"started/unix_test.go":          "//go:build unix\n\npackage started_test" + one + "TestUnix(*testing.T) {}\n",
		"internal/servertest/x.go":      "package servertest" + one + "New(t *testing.T) { if raced { t.Skip() } }\n\nfunc Ask() {}\n\nfunc Watched(*testing.T) {}\n",
		"internal/servertest/race.go":   "//go:build race\n\npackage servertest\n\nconst raced = true\n",
		"internal/servertest/norace.go": "//go:build !race\n\npackage servertest\n\nconst raced = false\n",
		// Nothing differs here.
		"equal/x.go":      "package equal\n\nfunc Do() { go Do() }\n",
		"equal/x_test.go": "package equal_test" + one + "TestUnequal(*testing.T) {}\n",
		// What is not watched is run as a whole anyhow.
		"quiet/x_test.go": "//go:build !race\n\npackage quiet_test" + one + "TestQuiet(*testing.T) {}\n",
		// Around all tests.
		"chosen/x.go":           "package chosen\n\nfunc Do() { go Do() }\n",
		"chosen/x_test.go":      "package chosen" + one + "TestMain(*testing.M) { choose() }\n\nfunc choose() { _ = raced }\n\nfunc TestChosen(*testing.T) {}\n",
		"chosen/norace_test.go": "//go:build !race\n\npackage chosen\n\nconst raced = false\n",
	}
	want := []string{
		"-run=^(Example|TestChosen|TestDirect|TestInAWorld|TestPlain|TestThroughAFunction|TestThroughAMethod|TestThroughAVariable|TestWatchedAndFewer|TestWatchedSometimes)$",
		"chosen", "started",
	}
	if got := printed(t, played(t, files), "-again"); !slices.Equal(got, want) {
		t.Errorf("races -again: %q, want %q", got, want)
	}
	files["started/other_test.go"] = "package started_test\n\nimport w \"played/internal/servertest\"\n\nvar _ = w.Ask\n"
	if err := run(t.Context(), played(t, files), []string{"-again"}, &strings.Builder{}); err == nil {
		t.Error("worlds of another name are overlooked")
	}
}

// TestAgainHere: of the watched packages here, every test that says by itself that it
// does less under the race detector is run again.
func TestAgainHere(t *testing.T) {
	root := filepath.Join("..", "..")
	m, err := read(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	says := regexp.MustCompile(`\b([Rr]aced|underRace|skipRaced)\b`)
	test := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(.*(?:\{\n(?s:.*?)^}|})$`)
	found := 0
	for _, p := range m.packages {
		if !p.hasTests || m.started(p) == "" {
			continue
		}
		again, err := m.again(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range test.FindAllSubmatch(text, -1) {
				if says.Match(f[0]) && string(f[1]) != "TestMain" {
					found++
					if !slices.Contains(again, string(f[1])) {
						t.Errorf("%s: %s is not run again", p.ImportPath, f[1])
					}
				}
			}
		}
	}
	if found < 30 {
		t.Errorf("%d tests say that they do less: what says so is named otherwise", found)
	}
}
