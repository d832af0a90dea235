// Command races prints the packages whose tests the race detector can find
// something in: those in which code of this module runs on more than one goroutine.
// The others take ten times as long under it, and it has nothing to say.
//
//	go run ./scripts/races          the packages with such tests
//	go run ./scripts/races -none    the other packages with tests
//	go run ./scripts/races -again   for go test: the tests of the first that do less under it, and their packages
//	go run ./scripts/races -why     all of them, and where goroutines are started
//
// It reads the sources: a goroutine that a package gets puts its tests under the
// race detector, and those of all that import it.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, ".", os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "races:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("races", flag.ContinueOnError)
	none := flags.Bool("none", false, "print the packages whose tests have one goroutine")
	again := flags.Bool("again", false, "print the tests that do less under the race detector, and their packages")
	why := flags.Bool("why", false, "say where goroutines are started")
	if err := flags.Parse(args); err != nil {
		return err
	}
	m, err := read(ctx, dir)
	if err != nil {
		return err
	}
	var packages, tests []string
	for _, p := range m.packages {
		if !p.hasTests {
			continue
		}
		start := m.started(p)
		wanted := start != ""
		switch {
		case *why:
			fmt.Fprintf(out, "%s\t%s\n", p.ImportPath, start)
			continue
		case *none:
			wanted = !wanted
		case *again && wanted:
			differ, err := m.again(p)
			if err != nil {
				return err
			}
			tests, wanted = append(tests, differ...), len(differ) > 0
		}
		if wanted {
			packages = append(packages, p.ImportPath)
		}
	}
	// Without the name of a package go test would test the one where it is started.
	if len(packages) == 0 && !*why {
		return errors.New("there is no such package")
	}
	if *again {
		// All packages get one list. A test that has its name from one that is on it is run, too.
		slices.Sort(tests)
		fmt.Fprintf(out, "-run=^(%s)$\n", strings.Join(slices.Compact(tests), "|"))
	}
	for _, p := range packages {
		fmt.Fprintln(out, p)
	}
	return nil
}

// module is what go list tells of the packages in a folder.
type module struct {
	packages []*pkg
	by       map[string]*pkg
}

// pkg is a package of the module.
type pkg struct {
	ImportPath, Dir                    string
	Module                             struct{ Path string }
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string

	starts, testStarts string // where it starts a goroutine, and where its tests do
	hasTests           bool   // and not benchmarks alone
}

// read lists the packages below a folder and looks for goroutines in them.
func read(ctx context.Context, dir string) (*module, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,Module,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	m := &module{by: map[string]*pkg{}}
	for in := json.NewDecoder(bytes.NewReader(text)); ; {
		p := &pkg{}
		if err := in.Decode(p); errors.Is(err, io.EOF) {
			return m, nil
		} else if err != nil {
			return nil, fmt.Errorf("what go list says: %w", err)
		}
		if p.starts, err = startIn(p.Dir, p.GoFiles); err != nil {
			return nil, err
		}
		if p.testStarts, err = startIn(p.Dir, slices.Concat(p.TestGoFiles, p.XTestGoFiles)); err != nil {
			return nil, err
		}
		if p.hasTests, err = testsIn(p.Dir, slices.Concat(p.TestGoFiles, p.XTestGoFiles)); err != nil {
			return nil, err
		}
		m.packages = append(m.packages, p)
		m.by[p.ImportPath] = p
	}
}
