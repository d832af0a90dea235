// Package architecture holds no code: its tests keep the packages in order, and the
// drawing of them true.
package architecture

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "draw the packages anew")

const module = "chainexplorer/"

// pkg is a package of the tree, named by its folder.
type pkg struct {
	name    string
	doc     string // its first sentence
	imports []string
}

var listed = sync.OnceValues(func() (all []pkg, err error) {
	out, err := exec.Command("go", "list", "-json=Dir,ImportPath,Imports,Doc", module+"...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p struct {
			Dir, ImportPath, Doc string
			Imports              []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if p.Doc == "" {
			if p.Doc, err = docOfTests(p.Dir); err != nil {
				return nil, err
			}
		}
		all = append(all, pkg{strings.TrimPrefix(p.ImportPath, module), p.Doc, p.Imports})
	}
})

// docOfTests is the first sentence of a package that has tests alone.
func docOfTests(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return "", err
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			return "", err
		}
		if text := f.Doc.Text(); text != "" {
			return new(doc.Package).Synopsis(text), nil
		}
	}
	return "", nil
}

func packages(t *testing.T) []pkg {
	t.Helper()
	all, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 40 {
		t.Fatalf("go list found only %d packages", len(all))
	}
	return all
}

const (
	drawing = "../../docs/architecture.md"
	begin   = "<!-- packages: go test ./internal/architecture -update -->\n```\n"
	end     = "```\n"
)

// TestDrawing: the guide to the architecture draws every package, on its floor, with
// what its own comment says of it.
func TestDrawing(t *testing.T) {
	var want strings.Builder
	for i := len(floors) - 1; i >= 0; i-- {
		fmt.Fprintf(&want, "%s\n", floors[i].name)
		for _, p := range packages(t) {
			if floorOf(p.name) != i {
				continue
			}
			if p.doc == "" {
				t.Errorf("package %s says nothing of itself", p.name)
			}
			for _, line := range wrapped(fmt.Sprintf("  %-29s", p.name), subject(p.doc), 120) {
				want.WriteString(line + "\n")
			}
		}
	}
	text, err := os.ReadFile(drawing)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	got, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the packages", drawing)
	}
	if got == want.String() {
		return
	}
	if !*update {
		t.Fatalf("%s draws other packages than there are; run go test ./internal/architecture -update", drawing)
	}
	if err := os.WriteFile(drawing, []byte(before+begin+want.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// subject is a package's first sentence without what they all begin with.
func subject(doc string) string {
	words := strings.SplitN(doc, " ", 3)
	if len(words) == 3 && (words[0] == "Package" || words[0] == "Command") {
		doc = words[2]
	}
	return strings.TrimSuffix(doc, ".")
}

// wrapped breaks a text into lines of a width, the first behind a label.
func wrapped(label, text string, width int) (lines []string) {
	line := label
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > width {
			lines, line = append(lines, line), strings.Repeat(" ", len(label))
		}
		line += " " + word
	}
	return append(lines, line)
}
