// Package cairoproject reads the Scarb.toml and Scarb.lock of a source tree, and says what
// the compiler is to be told. It takes what it can reproduce exactly and from the tree
// alone, and refuses everything else: what it leaves unread could change the outcome.
package cairoproject

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Code is what a caller is told by one word.
type Code string

// Why a tree is refused.
const (
	LockfileMissing Code = "lockfile_missing"
	// Unsupported asks for a compiler, or something of one, that is not there.
	Unsupported Code = "unsupported_toolchain"
	// Incomplete needs something that is not in the tree, or not as its lock file says.
	Incomplete Code = "incomplete_offline_material"
	// Invalid is a tree that does not have what the package names, or cannot be read.
	Invalid Code = "invalid_verification_package"
)

// Error is a refusal. Its reason is one of this package's sentences, with nothing of the source.
type Error struct {
	Code   Code
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("project refused (%s): %s", e.Code, e.Reason) }

func refuse(c Code, reason string) error { return &Error{Code: c, Reason: reason} }

// Selection is the contract that a package names.
type Selection struct{ Package, Target, Artifact, Module string }

// Project is what the compiler is told.
type Project struct {
	Version       string // of the compiler
	Package       string
	Target        string
	Folder        string // of the package's manifest, in the tree
	Module        string // the contract's path
	Artifact      string // the name of its file, without what Scarb puts behind it
	AllowWarnings bool
	Crates        []Crate // in the order of their names
}

// Crate is a package of the tree.
type Crate struct {
	Name, Version, Edition string
	Root                   string // the folder with its lib.cairo
	Dependencies           []string
}

// Bounds. Real manifests are far below.
const (
	maxManifest  = 64 << 10
	maxManifests = 4 << 20 // all that are read
	maxLockfile  = 256 << 10
	maxCrates    = 256
	maxMembers   = 256 // patterns of a workspace: each is looked for in the whole tree
	maxPattern   = 255 // bytes, as of the longest path of an archive
)

const (
	manifestName = "Scarb.toml"
	lockName     = "Scarb.lock"
)

// names are those of packages; those that the compiler brings along are taken.
var (
	names    = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,127}$`)
	reserved = []string{"core", "starknet", "_"}
)

// editions are those that there are, by the compiler of the test toolchain.
var editions = []string{"2023_01", "2023_10", "2023_11", "2024_07", "2025_12"}

// Read reads the project of a tree.
func Read(tree fs.FS, s Selection) (*Project, error) {
	r := &reader{tree: tree, tables: map[string]table{}, manifests: map[string]*manifest{}, crates: map[string]*Crate{}, folders: map[string]string{}}
	root, err := r.manifest(".")
	if err != nil {
		return nil, err
	}
	lock, err := r.lockfile()
	if err != nil {
		return nil, err
	}
	m, err := r.find(root, s.Package)
	if err != nil {
		return nil, err
	}
	p := &Project{Package: s.Package, Folder: m.dir, Module: s.Module, AllowWarnings: !m.strictWarnings && !root.strictWarnings}
	if err := p.selectContract(m, &s); err != nil {
		return nil, err
	}
	if err := r.addCrate(m); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(r.crates)) {
		c := r.crates[name]
		if err := lock.has(c); err != nil {
			return nil, err
		}
		p.Crates = append(p.Crates, *c)
	}
	if p.Version, err = r.version(); err != nil {
		return nil, err
	}
	return p, nil
}

// selectContract holds what the package names against the manifest.
func (p *Project) selectContract(m *manifest, s *Selection) error {
	if !slices.Contains(m.contractTargets, s.Target) {
		return refuse(Invalid, "the package has no target of the kind starknet-contract with that name")
	}
	p.Target = s.Target
	parts := strings.Split(s.Module, "::")
	if len(parts) < 2 || parts[0] != s.Package {
		return refuse(Invalid, "the module path does not begin with the package and end with a contract")
	}
	// Scarb calls a file by the contract, and by the whole path where two have the same name.
	short, long := s.Target+"_"+parts[len(parts)-1], s.Target+"_"+strings.Join(parts, "_")
	if s.Artifact != short && s.Artifact != long {
		return refuse(Invalid, "the artifact id is not the target, an underscore and the contract, as Scarb names its files")
	}
	p.Artifact = s.Artifact
	return nil
}

// reader reads manifests, each once.
type reader struct {
	tree      fs.FS
	tables    map[string]table     // by folder; nil where there is no manifest
	taken     int                  // bytes of them
	manifests map[string]*manifest // by folder
	crates    map[string]*Crate    // by name
	folders   map[string]string    // of crates, by name
	wanted    []string             // what the manifests say of the compiler's version
}

// read reads a file of the tree that may be missing.
func (r *reader) read(name string, limit int64) ([]byte, error) {
	info, err := fs.Stat(r.tree, name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil //nolint:nilerr // it is not there
	}
	if info.Size() > limit {
		return nil, refuse(Invalid, "a manifest or lock file is larger than allowed")
	}
	data, err := fs.ReadFile(r.tree, name)
	if err != nil {
		return nil, fmt.Errorf("read a manifest: %w", err)
	}
	return data, nil
}

// find returns the manifest of a package of the tree's workspace.
func (r *reader) find(root *manifest, name string) (*manifest, error) {
	if root.name == name {
		return root, nil
	}
	if len(root.members) > maxMembers {
		return nil, refuse(Invalid, "the workspace names more members than allowed")
	}
	for _, pattern := range root.members {
		if pattern = path.Clean(pattern); !fs.ValidPath(pattern) || len(pattern) > maxPattern {
			return nil, refuse(Incomplete, "a member of the workspace is not in the tree")
		}
		dirs, err := fs.Glob(r.tree, pattern)
		if err != nil {
			return nil, refuse(Incomplete, "a member of the workspace is not in the tree")
		}
		for _, dir := range dirs {
			if info, err := fs.Stat(r.tree, path.Join(dir, manifestName)); err != nil || !info.Mode().IsRegular() {
				continue
			}
			m, err := r.manifest(dir)
			if err != nil {
				return nil, err
			}
			if m.name == name {
				return m, nil
			}
		}
	}
	return nil, refuse(Invalid, "the tree has no package with that name")
}

// addCrate adds a package and all that it depends on.
func (r *reader) addCrate(m *manifest) error {
	switch dir, there := r.folders[m.name]; {
	case there && dir == m.dir:
		return nil
	case there:
		return refuse(Unsupported, "two packages of the tree have the same name")
	case m.name == "":
		return refuse(Invalid, "a manifest has no package")
	case len(r.crates) >= maxCrates:
		return refuse(Invalid, "there are more packages than allowed")
	}
	if info, err := fs.Stat(r.tree, path.Join(m.root, "lib.cairo")); err != nil || !info.Mode().IsRegular() {
		return refuse(Incomplete, "a package has no lib.cairo where its manifest says")
	}
	c := &Crate{Name: m.name, Version: m.version, Edition: m.edition, Root: m.root}
	r.crates[m.name], r.folders[m.name] = c, m.dir
	for _, w := range m.compilers {
		if !slices.Contains(r.wanted, w) {
			r.wanted = append(r.wanted, w)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.paths)) {
		d, err := r.manifest(m.paths[name])
		if err != nil {
			return err
		}
		if d.name != name {
			return refuse(Incomplete, "a dependency is not the package that lies at its path")
		}
		if err := r.addCrate(d); err != nil {
			return err
		}
		c.Dependencies = append(c.Dependencies, name)
	}
	return nil
}

// File is the compiler's own project file, for a tree that lies at source.
func (p *Project) File(source string) []byte {
	var b bytes.Buffer
	b.WriteString("[crate_roots]\n")
	for _, c := range p.Crates {
		fmt.Fprintf(&b, "%s = %s\n", c.Name, quote(path.Join(source, c.Root)))
	}
	for _, c := range p.Crates {
		fmt.Fprintf(&b, "\n[config.override.%s]\nedition = %s\nversion = %s\ncfg_set = [[\"target\", \"starknet-contract\"]]\n", c.Name, quote(c.Edition), quote(c.Version))
		for _, d := range c.Dependencies {
			fmt.Fprintf(&b, "\n[config.override.%s.dependencies.%s]\ndiscriminator = %s\n", c.Name, d, quote(d))
		}
	}
	return b.Bytes()
}

// quote writes a string of TOML, whose escapes are those of JSON.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string
	return strings.ReplaceAll(strings.TrimSpace(b.String()), "\x7f", `\u007f`)
}
