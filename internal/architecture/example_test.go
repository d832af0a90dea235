package architecture

import (
	"bytes"
	"context"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A guide shows by an example how the service grows. The example is put over a copy
// of the module: what the guide leaves out fails to compile, or fails a test.

const (
	growing = "docs/contributing.md"
	// copied bounds the copy, and exampleTime what it may take to compile it once.
	copied      = 64 << 20
	exampleTime = 8 * time.Minute
)

// block is a part of the example: a whole file, or lines that a file gets.
type block struct {
	file, language, text string
}

// blocksOf reads the blocks of a guide. The name of a file stands in a paragraph of
// its own; it holds until the next one. Other blocks are commands.
func blocksOf(guide string) (all []block) {
	named := regexp.MustCompile("^`([a-z]+/[^` ]+)`$")
	file, fence := "", ""
	var text strings.Builder
	for line := range strings.Lines(guide) {
		bare := strings.TrimSuffix(line, "\n")
		language, fenced := strings.CutPrefix(bare, "```")
		switch m := named.FindStringSubmatch(bare); {
		case fence == "" && fenced:
			fence, text = "```"+language, strings.Builder{}
		case fence != "" && fenced:
			if l := strings.TrimPrefix(fence, "```"); l != "" {
				all = append(all, block{file, l, text.String()})
			}
			fence = ""
		case fence != "":
			text.WriteString(line)
		case m != nil:
			file = m[1]
		}
	}
	return all
}

// patched adds the lines of a difference below the line that it begins with, which
// the file must have once.
func patched(file, diff string) (string, error) {
	var context, added strings.Builder
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "+"):
			added.WriteString(line[1:])
		case strings.HasPrefix(line, " ") && added.Len() == 0:
			context.WriteString(line[1:])
		default:
			return "", fmt.Errorf("the line %q is neither one that is there, in front, nor one that is added", line)
		}
	}
	if n := strings.Count(file, context.String()); n != 1 || added.Len() == 0 {
		return "", fmt.Errorf("it has %d places that read\n%s", n, context.String())
	}
	return strings.Replace(file, context.String(), context.String()+added.String(), 1), nil
}

// copyModule copies what tests of the example can need.
func copyModule(t *testing.T, to string) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && rel != "." && (strings.HasPrefix(rel, ".") || rel == "bin" || rel == "dist"): // tools and what is built
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if size += len(text); size > copied {
			return fmt.Errorf("%s: there is more than %d bytes to copy: is there something that does not belong to the module?", rel, copied)
		}
		return os.WriteFile(filepath.Join(to, rel), text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// inExample runs the go command in the copy.
func inExample(t *testing.T, dir string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), exampleTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// As the program is built everywhere else: only what the example changes is
	// compiled for it, although the copy lies in another place.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	cmd.WaitDelay = 10 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out.Bytes())
	}
	return out.String()
}

// TestTheExampleWorks builds the example of the guide and runs its own tests: the new
// route answers over HTTP, and the new subject's rows are written.
func TestTheExampleWorks(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "..", growing))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	copyModule(t, dir)
	changed := map[string]bool{}
	for _, b := range blocksOf(string(guide)) {
		path := filepath.Join(dir, filepath.FromSlash(b.file))
		text, err := os.ReadFile(path)
		whole := b.language == "go"
		switch {
		case whole && err == nil:
			t.Fatalf("%s: the example's %s is a file already", growing, b.file)
		case whole:
			formatted, err := format.Source([]byte(b.text))
			if err != nil || string(formatted) != b.text {
				t.Errorf("%s: %s is not formatted: %v", growing, b.file, err)
			}
			text = []byte(b.text)
		case b.language != "diff" || err != nil:
			t.Fatalf("%s: a block of %s for %s: %v", growing, b.language, b.file, err)
		default:
			next, err := patched(string(text), b.text)
			if err != nil {
				t.Fatalf("%s: %s: %v", growing, b.file, err)
			}
			text = []byte(next)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		changed[b.file] = true
	}
	promised(t, changed)
	// The checks of 'make lint', built like it: what that has read of other packages is
	// kept. What the example only adds to is compiled with the tests; nothing else can tell
	// the difference.
	tool := filepath.Join(t.TempDir(), "lint")
	inExample(t, dir, "build", "-buildvcs=false", "-o", tool, "./scripts/lint")
	inExample(t, dir, "vet", "-vettool="+tool, "./internal/explorer/sequencer", "./internal/explorer/catalog", "./internal/api")
	// In one go: the packages are compiled once, and linked without what debuggers read.
	out := inExample(t, dir, "test", "-count=1", "-vet=off", "-ldflags=-w", "-v", "-run",
		"^TestLatest$|^TestRouteTable$/^getSequencer$|^TestEveryFieldIsExplained$|^TestFormatPageIsOfThisLayout$|^TestImports(PointOneWay|ObeyTheRules)$",
		"./internal/explorer/sequencer", "./internal/api", "./internal/site", "./internal/architecture")
	for _, pass := range []string{"TestLatest", "TestRouteTable/getSequencer", "TestEveryFieldIsExplained", "TestFormatPageIsOfThisLayout", "TestImportsPointOneWay", "TestImportsObeyTheRules"} {
		if !strings.Contains(out, "--- PASS: "+pass+" (") {
			t.Errorf("no test %s has passed in\n%s", pass, out)
		}
	}
}

// promised holds the example to what the guide says a change takes.
func promised(t *testing.T, changed map[string]bool) {
	t.Helper()
	var subject, catalog, route, tables, documents int
	for file := range changed {
		switch dir := filepath.ToSlash(filepath.Dir(file)); {
		case dir == "internal/explorer/sequencer":
			subject++
		case file == "internal/explorer/catalog/catalog.go":
			catalog++
		case strings.HasSuffix(file, "_test.go"):
			tables++
		case dir == "docs":
			documents++
		default:
			route++
		}
	}
	if subject < 3 || catalog != 1 || route < 1 || route > 3 || tables != 1 || documents > 1 {
		t.Errorf("the example has %d files of a subject's folder, %d of the catalog, %d of the route, %d of its tests, %d documents: %v", subject, catalog, route, tables, documents, changed)
	}
}
