package main

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// again returns the tests of a package that do less under the race detector, or are not
// there: those that use something which differs, by themselves or through something else.
// It goes by names alone, so it takes a few more for such tests, and loses none.
func (m *module) again(p *pkg) ([]string, error) {
	files, err := parsed(p.Dir, slices.Concat(p.TestGoFiles, p.XTestGoFiles))
	if err != nil {
		return nil, err
	}
	all := declared(files)
	seeds := seedsOf(all)
	own := using(all, func(d decl) bool { return d.plain || d.usesAny(seeds) })
	var served map[string]bool
	if p.hasWorlds() {
		shy, err := m.shy(p.Module.Path + "/" + worlds)
		if err != nil {
			return nil, err
		}
		served = using(all, func(d decl) bool { return d.selects(filepath.Base(worlds), shy) })
	}
	var tests []string
	// What runs around all tests, or before them, makes all of them differ.
	every := slices.ContainsFunc(all, func(d decl) bool {
		return around(d.names[0]) && (d.plain || d.usesAny(own) || d.usesAny(served))
	})
	for _, d := range all {
		if d.isTest && (every || own[d.names[0]] || served[d.names[0]] && !d.watched) {
			tests = append(tests, d.names[0])
		}
	}
	return tests, nil
}

// shy returns the names in the package of worlds that do less under the race detector.
func (m *module) shy(path string) (map[string]bool, error) {
	p := m.by[path]
	if p == nil {
		return nil, fmt.Errorf("there is no package %s", path)
	}
	files, err := parsed(p.Dir, p.GoFiles)
	if err != nil {
		return nil, err
	}
	all := declared(files)
	seeds := seedsOf(all)
	return using(all, func(d decl) bool { return d.plain || d.usesAny(seeds) }), nil
}

// source is a file, and whether it is left out under the race detector.
type source struct {
	file  *ast.File
	plain bool
}

func parsed(dir string, names []string) ([]source, error) {
	var files []source
	set := token.NewFileSet()
	for _, name := range names {
		file, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("look for what differs: %w", err)
		}
		for _, i := range file.Imports {
			if i.Name != nil && strings.HasSuffix(i.Path.Value, "/"+worlds+`"`) {
				return nil, fmt.Errorf("%s: %s is imported by another name", name, worlds)
			}
		}
		plain, err := leftOut(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files = append(files, source{file, plain})
	}
	return files, nil
}

// leftOut says that a file is not built for the race detector, and is without it.
func leftOut(file *ast.File) (bool, error) {
	for _, group := range file.Comments {
		if group.Pos() > file.Package {
			break
		}
		for _, c := range group.List {
			if !constraint.IsGoBuild(c.Text) {
				continue
			}
			expr, err := constraint.Parse(c.Text)
			if err != nil {
				return false, fmt.Errorf("look for build constraints: %w", err)
			}
			return !expr.Eval(func(string) bool { return true }) && expr.Eval(func(tag string) bool { return tag != "race" }), nil
		}
	}
	return false, nil
}

// decl is something that a package declares.
type decl struct {
	names   []string // its own, and that of the type whose method it is
	uses    map[string]bool
	of      map[string][]string // names that it selects from others
	plain   bool                // not there under the race detector
	isTest  bool
	watched bool // a test that says at once that its world is to be watched
}

func (d decl) usesAny(names map[string]bool) bool {
	for n := range d.uses {
		if names[n] {
			return true
		}
	}
	return false
}

func (d decl) selects(from string, names map[string]bool) bool {
	return slices.ContainsFunc(d.of[from], func(n string) bool { return names[n] })
}

// using returns the names of what differs: of the first, and of all that use one of them.
func using(all []decl, first func(decl) bool) map[string]bool {
	names := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for _, d := range all {
			if names[d.names[0]] && names[d.names[len(d.names)-1]] || !first(d) && !d.usesAny(names) {
				continue
			}
			for _, n := range d.names {
				// Everybody may have these, and they are looked at by themselves.
				grown = grown || !names[n] && n != "_" && !around(n)
				names[n] = n != "_" && !around(n)
			}
		}
	}
	return names
}

// seedsOf are the names of what is not there under the race detector, or is another.
func seedsOf(all []decl) map[string]bool {
	names := map[string]bool{}
	for _, d := range all {
		if d.plain {
			for _, n := range d.names {
				names[n] = true
			}
		}
	}
	return names
}

// around says that a function of that name is run without being called.
func around(name string) bool { return name == "init" || name == "TestMain" }

func declared(files []source) (all []decl) {
	for _, f := range files {
		for _, d := range f.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				one := declOf(d, d.Name)
				if d.Recv != nil {
					one.names = append(one.names, receiver(d.Recv.List[0].Type))
				}
				one.isTest = d.Recv == nil && isTest(d.Name.Name)
				one.watched = one.isTest && watches(d)
				one.plain = f.plain
				all = append(all, one)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					var one decl
					switch s := s.(type) {
					case *ast.TypeSpec:
						one = declOf(s, s.Name)
					case *ast.ValueSpec:
						one = declOf(s, s.Names...)
					default:
						continue
					}
					one.plain = f.plain
					all = append(all, one)
				}
			}
		}
	}
	return all
}

func declOf(n ast.Node, names ...*ast.Ident) decl {
	d := decl{uses: map[string]bool{}, of: map[string][]string{}}
	for _, n := range names {
		d.names = append(d.names, n.Name)
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if !slices.Contains(names, n) {
				d.uses[n.Name] = true
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				d.of[x.Name] = append(d.of[x.Name], n.Sel.Name)
			}
		}
		return true
	})
	return d
}

// receiver is the name of the type that has a method.
func receiver(t ast.Expr) string {
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return "_"
		}
	}
}

// watches says that a test calls Watched of worlds in its own body, whatever happens.
func watches(f *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Body.List, func(s ast.Stmt) bool {
		e, ok := s.(*ast.ExprStmt)
		if !ok {
			return false
		}
		c, ok := e.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		sel, ok := c.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Watched" {
			return false
		}
		x, ok := sel.X.(*ast.Ident)
		return ok && x.Name == filepath.Base(worlds)
	})
}

// isTest says that go test runs a function of that name without being asked for it.
func isTest(name string) bool {
	return name != "TestMain" && slices.ContainsFunc([]string{"Test", "Fuzz", "Example"}, func(prefix string) bool {
		rest, ok := strings.CutPrefix(name, prefix)
		r, _ := utf8.DecodeRuneInString(rest)
		return ok && (rest == "" || !unicode.IsLower(r))
	})
}
