package cairoproject

import (
	"path"
	"slices"
)

// manifest is what matters of a Scarb.toml.
type manifest struct {
	dir             string
	name            string // "" when it has no package
	version         string
	edition         string
	root            string // the folder with lib.cairo
	contractTargets []string
	members         []string
	paths           map[string]string // dependencies in the tree: their folders by name
	compilers       []string          // what it says of the compiler's version
	strictWarnings  bool
}

// manifest reads that of a folder.
func (r *reader) manifest(dir string) (*manifest, error) {
	if m := r.manifests[dir]; m != nil {
		return m, nil
	}
	t, err := r.table(dir)
	switch {
	case err != nil:
		return nil, err
	case t == nil && dir == ".":
		return nil, refuse(Invalid, "there is no Scarb.toml at the root")
	case t == nil:
		return nil, refuse(Incomplete, "a package that is needed is not in the tree")
	}
	if err := refuseSections(t); err != nil {
		return nil, err
	}
	workspace, base, err := r.workspaceOf(dir)
	if err != nil {
		return nil, err
	}
	m := &manifest{dir: dir, paths: map[string]string{}}
	if base == dir {
		if m.members, err = texts(workspace["members"]); err != nil {
			return nil, err
		}
	}
	if p, there := t["package"].(table); there {
		if err := m.readPackage(p, inner(workspace, "package")); err != nil {
			return nil, err
		}
	}
	for _, step := range []func() error{
		func() error { return m.readTargets(t) },
		func() error { return m.readDependencies(t, inner(workspace, "dependencies"), base) },
		func() error { return m.readOptions(t) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	r.manifests[dir] = m
	return m, nil
}

// table parses a manifest, once; nil when there is none.
func (r *reader) table(dir string) (table, error) {
	if t, there := r.tables[dir]; there {
		return t, nil
	}
	data, err := r.read(path.Join(dir, manifestName), maxManifest)
	if err != nil {
		return nil, err
	}
	if r.taken += len(data); r.taken > maxManifests {
		return nil, refuse(Invalid, "the manifests together are larger than allowed")
	}
	var t table
	if data != nil {
		if t, err = parse(data); err != nil {
			return nil, err
		}
	}
	r.tables[dir] = t
	return t, nil
}

// workspaceOf finds the workspace that a folder belongs to, and its folder.
func (r *reader) workspaceOf(dir string) (table, string, error) {
	for at := dir; ; at = path.Dir(at) {
		t, err := r.table(at)
		if err != nil {
			return nil, "", err
		}
		if w, there := t["workspace"].(table); there {
			if err := onlyKeys(w, workspaceKeys); err != nil {
				return nil, "", err
			}
			return w, at, nil
		}
		if at == "." {
			return nil, "", nil
		}
	}
}

var (
	sections = []string{"package", "workspace", "dependencies", "dev-dependencies", "lib", "executable", "test", "target", "cairo", "profile", "tool", "features", "target-defaults"}

	workspaceKeys = []string{"members", "package", "dependencies", "tool", "require-audits", "allow-no-audits", "target-defaults"}

	packageKeys = []string{"name", "version", "edition", "cairo-version", "authors", "urls", "description", "documentation", "homepage", "keywords", "license", "license-file",
		"readme", "repository", "include", "assets", "publish", "no-core", "experimental-features", "re-export-cairo-plugins"}

	dependencyKeys = []string{"version", "path", "default-features", "features"}
	remoteKeys     = []string{"git", "branch", "tag", "rev", "registry"}
)

// refuseSections refuses what a build here does not have.
func refuseSections(t table) error {
	_, scripts := t["scripts"]
	if w, ok := t["workspace"].(table); ok && !scripts {
		_, scripts = w["scripts"]
	}
	targets := inner(t, "target")
	_, plugin := t["cairo-plugin"]
	_, pluginTarget := targets["cairo-plugin"]
	_, patch := t["patch"]
	switch {
	case scripts:
		return refuse(Unsupported, "a manifest has scripts")
	case plugin, pluginTarget:
		return refuse(Unsupported, "a package is a procedural macro or plugin")
	case patch:
		return refuse(Incomplete, "a manifest puts other sources in the place of dependencies")
	}
	for name, list := range inner(t, "features") {
		if l, ok := list.([]any); !ok || name == "default" && len(l) > 0 {
			return refuse(Unsupported, "a package has default features")
		}
	}
	return onlyKeys(t, sections)
}

// onlyKeys refuses a table with a key that could mean anything.
func onlyKeys(t table, known []string) error {
	for k := range t {
		if !slices.Contains(known, k) {
			return refuse(Unsupported, "a manifest has a section or key that is not known here")
		}
	}
	return nil
}

// readPackage reads a package, with what it has from its workspace.
func (m *manifest) readPackage(p, inherited table) (err error) {
	if err := onlyKeys(p, packageKeys); err != nil {
		return err
	}
	field := func(name, missing string) string {
		v := p[name]
		if t, ok := v.(table); ok && len(t) == 1 && t["workspace"] == true {
			v = inherited[name]
		} else if !ok && v == nil {
			return missing
		}
		s, ok := v.(string)
		if !ok {
			err = refuse(Invalid, "a field of a package is not what it should be")
		}
		return s
	}
	m.name, m.version, m.edition = field("name", ""), field("version", ""), field("edition", editions[0])
	if c := field("cairo-version", ""); c != "" {
		m.compilers = append(m.compilers, c)
	}
	features, featuresErr := texts(p["experimental-features"])
	exported, exportedErr := texts(p["re-export-cairo-plugins"])
	switch {
	case err != nil:
		return err
	case featuresErr != nil, exportedErr != nil, !names.MatchString(m.name), !fullVersions.MatchString(m.version):
		return refuse(Invalid, "a package's name or version is not one of Scarb's")
	case slices.Contains(reserved, m.name):
		return refuse(Unsupported, "a package has the name of something that the compiler brings along")
	case !slices.Contains(editions, m.edition):
		return refuse(Unsupported, "a package has an edition that no compiler here knows")
	case p["no-core"] != nil && p["no-core"] != false:
		return refuse(Unsupported, "a package is built without the core library")
	case len(features) > 0:
		return refuse(Unsupported, "a package uses experimental features")
	case len(exported) > 0:
		return refuse(Unsupported, "a package exports plugins")
	}
	return nil
}

// readTargets finds where the crate is, and its targets that are contracts.
func (m *manifest) readTargets(t table) error {
	m.root = path.Join(m.dir, "src")
	targets := inner(t, "target")
	libs, fine := list(targets["lib"])
	if lib, there := t["lib"].(table); there {
		libs = append(libs, lib)
	}
	contracts, ok := list(targets["starknet-contract"])
	if !ok || !fine {
		return refuse(Invalid, "a target is not a table")
	}
	for _, target := range slices.Concat(libs, contracts) {
		source, there := target["source-path"]
		if !there {
			continue
		}
		s, _ := source.(string)
		at := path.Join(m.dir, s)
		if path.Base(at) != "lib.cairo" || !local(at) {
			return refuse(Unsupported, "the source of a target is not a lib.cairo in the tree")
		}
		if at = path.Dir(at); at != m.root && m.root != path.Join(m.dir, "src") {
			return refuse(Unsupported, "the targets of a package have different sources")
		}
		m.root = at
	}
	for _, target := range contracts {
		if external, err := texts(target["build-external-contracts"]); err != nil || len(external) > 0 {
			return refuse(Unsupported, "a target builds contracts of other packages")
		}
		name, there := target["name"].(string)
		if !there {
			name = m.name
		}
		m.contractTargets = append(m.contractTargets, name)
	}
	return nil
}

// readDependencies takes those in the tree. Those for tests are no part of the contract.
func (m *manifest) readDependencies(t, shared table, base string) error {
	for name, v := range inner(t, "dependencies") {
		from := m.dir
		if d, ok := v.(table); ok && d["workspace"] == true {
			if len(d) > 1 {
				return refuse(Unsupported, "a dependency has features")
			}
			v, from = shared[name], base
		}
		d, detailed := v.(table)
		if version, ok := v.(string); ok {
			d, detailed = table{"version": version}, true
		}
		for _, k := range remoteKeys {
			if _, there := d[k]; there {
				return refuse(Incomplete, "a dependency comes from a repository or a registry, and not from the tree")
			}
		}
		features, err := texts(d["features"])
		switch {
		case !detailed:
			return refuse(Invalid, "a dependency is not what it should be")
		case err != nil, len(features) > 0, d["default-features"] != nil && d["default-features"] != true:
			return refuse(Unsupported, "a dependency has features")
		}
		if err := onlyKeys(d, dependencyKeys); err != nil {
			return err
		}
		version, _ := d["version"].(string)
		at, inTree := d["path"].(string)
		switch {
		case name == "starknet" && !inTree:
			m.compilers = append(m.compilers, version)
		case slices.Contains(builtin, name) && !inTree:
			return refuse(Unsupported, "a dependency is a plugin of Scarb")
		case !inTree:
			return refuse(Incomplete, "a dependency comes from a repository or a registry, and not from the tree")
		case path.IsAbs(at) || !local(path.Join(from, at)):
			return refuse(Incomplete, "a dependency lies outside of the tree")
		default:
			m.paths[name] = path.Join(from, at)
		}
	}
	return nil
}

// builtin are what Scarb has in itself, beside starknet.
var builtin = []string{"core", "cairo_test", "cairo_run", "cairo_execute", "assert_macros", "test_plugin"}

// options are those of the compiler whose values are these, and those that say nothing about the class.
var options = map[string][]any{
	"allow-warnings": {true, false}, "sierra-replace-ids": {false}, "enable-gas": {true}, "inlining-strategy": {"default", "release"}, "panic-backtrace": {false},
	"unsafe-panic": {false}, "skip-optimizations": {false}, "incremental": {true, false},
	"add-statements-functions-debug-info": {true, false}, "unstable-add-statements-functions-debug-info": {true, false}, "add-functions-debug-info": {true, false},
	"add-statements-code-locations-debug-info": {true, false}, "unstable-add-statements-code-locations-debug-info": {true, false}, "add-types-debug-info": {true, false},
}

// readOptions refuses options that would give another class. Profiles but release are not built.
func (m *manifest) readOptions(t table) error {
	release := inner(inner(t, "profile"), "release")
	for _, cairo := range []table{inner(t, "cairo"), inner(release, "cairo")} {
		for name, v := range cairo {
			if !slices.Contains(options[name], v) {
				return refuse(Unsupported, "an option of the compiler is not the default of the release profile")
			}
		}
		if cairo["allow-warnings"] == false {
			m.strictWarnings = true
		}
	}
	return nil
}

// local says whether a cleaned path stays in the tree.
func local(p string) bool { return p != ".." && !path.IsAbs(p) && (len(p) < 3 || p[:3] != "../") }

// inner is a table in a table, nil when there is none.
func inner(t table, name string) table {
	in, _ := t[name].(table)
	return in
}

// list is an array of tables; nil is an empty one.
func list(v any) ([]table, bool) {
	if v == nil {
		return nil, true
	}
	if l, ok := v.([]table); ok {
		return l, true
	}
	l, ok := v.([]any)
	out := make([]table, len(l))
	for i := range l {
		if out[i], ok = l[i].(table); !ok {
			return nil, false
		}
	}
	return out, ok
}

// texts is an array of strings; nil is an empty one.
func texts(v any) ([]string, error) {
	if v == nil {
		return nil, nil
	}
	l, ok := v.([]any)
	if !ok {
		return nil, refuse(Invalid, "a list is not what it should be")
	}
	out := make([]string, len(l))
	for i := range l {
		if out[i], ok = l[i].(string); !ok {
			return nil, refuse(Invalid, "a list is not what it should be")
		}
	}
	return out, nil
}
