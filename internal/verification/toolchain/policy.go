// Package toolchain is the policy directory of exact verification: compilers with all
// that they need to run, each file with its digest. A build uses nothing else.
//
//	service-exact-v25/
//	  manifest.json
//	  cairo-2.20.0/bin/starknet-compile, cairo-2.20.0/corelib/..., cairo-2.20.0/lib/...
//	  scarb-2.20.0/bin/scarb, ...
package toolchain

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/verification/receipt"
)

// Manifest is the file that names all others.
const Manifest = "manifest.json"

// Kind is how a toolchain is used.
type Kind string

// The kinds: a compiler that our own code reads projects for, and Scarb.
const (
	Cairo Kind = "cairo"
	Scarb Kind = "scarb"
)

// programs are what is run, by kind.
var programs = map[Kind]string{Cairo: "bin/starknet-compile", Scarb: "bin/scarb"}

// Bounds of a policy.
const (
	maxManifest   = 8 << 20
	maxToolchains = 64
	maxFiles      = 20_000
	maxBytes      = 4 << 30 // of one file
)

// Policy is a directory whose manifest was read.
type Policy struct {
	ID         string
	Digest     string // of the manifest, as sha256:<hex>
	Toolchains []*Toolchain

	dir string
}

// Toolchain is one of a policy.
type Toolchain struct {
	Kind    Kind
	Version string
	Files   []File // in the order of their paths

	dir string
}

// File is a file of a toolchain.
type File struct {
	Path   string
	Bytes  int64
	Mode   fs.FileMode // its permissions
	SHA256 string
}

// Open reads the manifest of a policy. Check looks at the files.
func Open(dir string) (*Policy, error) {
	f, err := os.Open(filepath.Join(dir, Manifest))
	if err != nil {
		return nil, fmt.Errorf("open a toolchain policy: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	data, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return nil, fmt.Errorf("read a toolchain policy: %w", err)
	}
	p, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("toolchain policy %s: %w", filepath.Join(dir, Manifest), err)
	}
	if p.dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("open a toolchain policy: %w", err)
	}
	for _, t := range p.Toolchains {
		t.dir = filepath.Join(p.dir, t.Name())
	}
	return p, nil
}

// Find returns the toolchain of a kind and version, nil when the policy has none.
func (p *Policy) Find(kind Kind, version string) *Toolchain {
	for _, t := range p.Toolchains {
		if t.Kind == kind && t.Version == version {
			return t
		}
	}
	return nil
}

// Check holds the whole directory against the manifest.
func (p *Policy) Check(ctx context.Context) error {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return fmt.Errorf("check a toolchain policy: %w", err)
	}
	for _, e := range entries {
		listed := e.Name() == Manifest && e.Type().IsRegular() || slices.ContainsFunc(p.Toolchains, func(t *Toolchain) bool { return t.Name() == e.Name() })
		if !listed {
			return fmt.Errorf("toolchain policy: %q does not stand in its manifest", e.Name())
		}
	}
	for _, t := range p.Toolchains {
		if err := t.Check(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Name is the folder of a toolchain, such as cairo-2.20.0.
func (t *Toolchain) Name() string { return string(t.Kind) + "-" + t.Version }

// Dir is where it is.
func (t *Toolchain) Dir() string { return t.dir }

// Program is what is run, below Dir.
func (t *Toolchain) Program() string { return programs[t.Kind] }

// Check holds a toolchain against the manifest: nothing is missing, nothing is there
// that is not listed, nothing is a link, and every byte and mode is as listed. It reads
// all of it each time.
func (t *Toolchain) Check(ctx context.Context) error {
	found, err := scan(ctx, t.dir)
	if err != nil {
		return fmt.Errorf("toolchain %s: %w", t.Name(), err)
	}
	for i := 0; i < max(len(found), len(t.Files)); i++ {
		switch {
		case i >= len(found), i < len(t.Files) && found[i].Path > t.Files[i].Path:
			return fmt.Errorf("toolchain %s: %q is missing", t.Name(), t.Files[i].Path)
		case i >= len(t.Files), found[i].Path < t.Files[i].Path:
			return fmt.Errorf("toolchain %s: %q does not stand in the manifest", t.Name(), found[i].Path)
		case found[i] != t.Files[i]:
			return fmt.Errorf("toolchain %s: %q is not what the manifest says: %d bytes, mode %04o, sha256 %s", t.Name(), found[i].Path, found[i].Bytes, found[i].Mode, found[i].SHA256)
		}
	}
	return nil
}

// scan lists and digests the files of a folder, in the order of their paths.
func scan(ctx context.Context, dir string) ([]File, error) {
	if info, err := os.Lstat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // read only
	var files []File
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case !validPath(name) && name != ".":
			return fmt.Errorf("%q is no name for a file of a toolchain", name)
		case d.IsDir():
			info, err := d.Info()
			if err == nil && info.Mode().Perm()&0o022 != 0 {
				return fmt.Errorf("%q can be written to by others than its owner", name)
			}
			return err
		case !d.Type().IsRegular():
			return fmt.Errorf("%q is a link or no plain file", name)
		case len(files) >= maxFiles:
			return fmt.Errorf("there are more than %d files", maxFiles)
		}
		f, err := digest(root, name)
		if err != nil {
			return err
		}
		files = append(files, f)
		return nil
	})
	arrange.By(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return files, err
}

func digest(root *os.Root, name string) (File, error) {
	f, err := root.Open(name)
	if err != nil {
		return File{}, err
	}
	defer f.Close() //nolint:errcheck // read only
	info, err := f.Stat()
	if err != nil {
		return File{}, err
	}
	if mode := info.Mode(); !mode.IsRegular() || mode&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) != 0 || !validMode(mode.Perm()) {
		return File{}, fmt.Errorf("%q has the mode %v: want 0444, 0555, 0644 or 0755", name, mode)
	}
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(f, maxBytes+1))
	switch {
	case err != nil:
		return File{}, err
	case n > maxBytes:
		return File{}, fmt.Errorf("%q has more than %d bytes", name, int64(maxBytes))
	}
	return File{Path: name, Bytes: n, Mode: info.Mode().Perm(), SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

func validMode(m fs.FileMode) bool { return m == 0o444 || m == 0o555 || m == 0o644 || m == 0o755 }

// validPath keeps to names that need no quoting anywhere.
func validPath(name string) bool {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+@/-"
	return fs.ValidPath(name) && name != "." && strings.Trim(name, plain) == "" && len(name) <= 512 && !strings.HasPrefix(path.Base(name), "-")
}

// errPolicy tells a manifest of another policy.
var errPolicy = errors.New("it is not the policy " + receipt.ToolchainPolicy)
