package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// inner are packages through which nothing of what imports them gets onto another
// goroutine. Their own tests are watched where they start some.
var inner = map[string]string{
	"internal/explorer/transaction": "reads many rows at once, with visitors of its own",
	"internal/index/simsource":      "speaks of blocks as the indexer does, and starts no indexer",
	"internal/simnode":              "has goroutines where it is served, and whoever serves it starts them",
	"internal/store/pebble":         "reads, compacts and closes views beside its callers; their visitors are found by the calls of Each",
}

// alone are packages whose tests have goroutines around them, of which none runs what is
// tested beside another: it does one thing after the other.
var alone = map[string]string{
	"internal/chart":               "draws one thing after the other, for browsers that look at once",
	"internal/explorer/event":      "searches for one thing after the other; the indexer projects blocks at once, and is watched",
	"internal/explorer/preview":    "asks for one thing after the other, when the indexer has ended",
	"internal/explorer/search":     "asks for one thing after the other, when the indexer has ended",
	"internal/gateway/method":      "asks a simulated node one thing after the other, which is watched where it is tested itself",
	"internal/gateway/own":         "answers one thing after the other, when the indexer has ended",
	"internal/get":                 "asks a server one thing after the other",
	"internal/job/census":          "its steps follow each other; the goroutines are those of a simulated node",
	"internal/job/pools":           "its steps follow each other; the goroutines are those of a simulated node",
	"internal/job/privacypool":     "its steps follow each other; the goroutines are those of a simulated node",
	"internal/mcp":                 "asks worlds, none of which is watched",
	"internal/verification/client": "asks a server one thing after the other",
	"internal/web/pages":           "asks worlds, none of which is watched",
	"internal/web/walk":            "looks at one page after the other; the pages are those of another process",
}

// worlds is the package whose worlds leave out tests under the race detector that do
// not say Watched, because their requests follow each other.
const worlds = "internal/servertest"

// calls are the names of functions that run what they are given on other
// goroutines. Another function of the same name is taken for one of them: that
// costs time alone.
var calls = map[string]bool{
	"Go": true, "TryGo": true, // of groups
	"AfterFunc": true, "AddCleanup": true, "SetFinalizer": true,
	"Parallel": true, "RunParallel": true, // of tests
	"Serve": true, "ServeTLS": true, "ListenAndServe": true, "ListenAndServeTLS": true, // of servers
	"Each": true, // of store.Reader
}

// servers are functions of net/http/httptest that do so.
var servers = map[string]bool{"NewServer": true, "NewTLSServer": true, "NewUnstartedServer": true}

// starts says that a call may run something on another goroutine.
func starts(c *ast.CallExpr) bool {
	s, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, _ := s.X.(*ast.Ident)
	return calls[s.Sel.Name] || servers[s.Sel.Name] && of != nil && of.Name == "httptest"
}

// started says where goroutines that are worth watching are started in a package's tests.
func (m *module) started(p *pkg) string {
	if alone[p.within()] != "" {
		return ""
	}
	return m.anyStarted(p)
}

// anyStarted says where goroutines of a package's tests are started, nothing when none
// are: by the package, by its tests, or by something that one of them imports. What is
// served in a world has goroutines of its own, and is no reason; nor are benchmarks,
// which nobody runs there.
func (m *module) anyStarted(p *pkg) string {
	if !p.hasTests {
		return ""
	}
	if p.starts != "" {
		return p.starts
	}
	if p.testStarts != "" {
		return p.testStarts
	}
	if p.hasWorlds() {
		return ""
	}
	seen := map[string]bool{p.ImportPath: true}
	for _, imports := range [][]string{p.Imports, p.TestImports, p.XTestImports} {
		if s := m.imported(imports, seen); s != "" {
			return s
		}
	}
	return ""
}

func (m *module) imported(imports []string, seen map[string]bool) string {
	for _, path := range imports {
		p := m.by[path]
		if p == nil || seen[path] {
			continue
		}
		seen[path] = true
		if inner[p.within()] != "" {
			continue
		}
		if p.starts != "" {
			return p.starts
		}
		if s := m.imported(p.Imports, seen); s != "" {
			return s
		}
	}
	return ""
}

// testsIn says that something in files is run without being asked for: not
// benchmarks alone.
func testsIn(dir string, files []string) (bool, error) {
	set := token.NewFileSet()
	for _, name := range files {
		file, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return false, fmt.Errorf("look for tests: %w", err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && isTest(f.Name.Name) {
				return true, nil
			}
		}
	}
	return false, nil
}

// within is the path of a package in its module.
func (p *pkg) within() string { return strings.TrimPrefix(p.ImportPath, p.Module.Path+"/") }

// hasWorlds says that a package's tests have worlds.
func (p *pkg) hasWorlds() bool {
	path := p.Module.Path + "/" + worlds
	return slices.Contains(p.TestImports, path) || slices.Contains(p.XTestImports, path)
}

// startIn finds the first place in files that starts a goroutine.
func startIn(dir string, files []string) (string, error) {
	set := token.NewFileSet()
	for _, name := range files {
		file, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return "", fmt.Errorf("look for goroutines: %w", err)
		}
		var found ast.Node
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				found = n
			case *ast.CallExpr:
				if starts(n) {
					found = n
				}
			}
			return found == nil
		})
		if found != nil {
			return fmt.Sprintf("%s:%d", filepath.Join(dir, name), set.Position(found.Pos()).Line), nil
		}
	}
	return "", nil
}
