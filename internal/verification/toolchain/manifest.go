package toolchain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/strictjson"
)

// Schema is the constant that a manifest names itself by.
const Schema = "service-toolchain-policy-v1"

var (
	versions = regexp.MustCompile(`^(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})(-[0-9A-Za-z.]{1,32})?$`)
	digests  = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Parse reads a manifest. Everything in it is required, and nothing else is allowed.
func Parse(data []byte) (*Policy, error) {
	o, err := strictjson.Parse(data, maxManifest)
	if err != nil {
		return nil, err
	}
	if err := o.Exactly("schemaVersion", "policyId", "toolchains"); err != nil {
		return nil, err
	}
	if schema, err := o.String("schemaVersion"); err != nil || schema != Schema {
		return nil, strictjson.Fail("schemaVersion", "it is not %s", Schema)
	}
	sum := sha256.Sum256(data)
	p := &Policy{Digest: "sha256:" + hex.EncodeToString(sum[:])}
	if p.ID, err = o.String("policyId"); err != nil || p.ID != receipt.ToolchainPolicy {
		return nil, errPolicy
	}
	list, err := o.Objects("toolchains")
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || len(list) > maxToolchains {
		return nil, strictjson.Fail("toolchains", "there are not 1 to %d", maxToolchains)
	}
	for _, item := range list {
		t, err := parseToolchain(item)
		if err != nil {
			return nil, err
		}
		if n := len(p.Toolchains); n > 0 && p.Toolchains[n-1].Name() >= t.Name() {
			return nil, strictjson.Fail(item.Path("version"), "toolchains are not in the order of their names, each once")
		}
		p.Toolchains = append(p.Toolchains, t)
	}
	return p, nil
}

func parseToolchain(o *strictjson.Object) (*Toolchain, error) {
	if err := o.Exactly("kind", "version", "files"); err != nil {
		return nil, err
	}
	kind, err := o.String("kind")
	if err != nil || programs[Kind(kind)] == "" {
		return nil, strictjson.Fail(o.Path("kind"), "it is neither %s nor %s", Cairo, Scarb)
	}
	t := &Toolchain{Kind: Kind(kind)}
	if t.Version, err = o.String("version"); err != nil || !versions.MatchString(t.Version) {
		return nil, strictjson.Fail(o.Path("version"), "it is not a version such as 2.20.0")
	}
	list, err := o.Objects("files")
	if err != nil {
		return nil, err
	}
	if len(list) > maxFiles {
		return nil, strictjson.Fail(o.Path("files"), "there are more than %d", maxFiles)
	}
	for _, item := range list {
		f, err := parseFile(item)
		if err != nil {
			return nil, err
		}
		if n := len(t.Files); n > 0 && t.Files[n-1].Path >= f.Path {
			return nil, strictjson.Fail(item.Path("path"), "files are not in the order of their paths, each once")
		}
		t.Files = append(t.Files, f)
	}
	if !slices.ContainsFunc(t.Files, func(f File) bool { return f.Path == t.Program() && f.Mode&0o111 != 0 }) {
		return nil, strictjson.Fail(o.Path("files"), "there is no program %s", t.Program())
	}
	return t, nil
}

func parseFile(o *strictjson.Object) (f File, err error) {
	if err := o.Exactly("path", "bytes", "mode", "sha256"); err != nil {
		return f, err
	}
	if f.Path, err = o.String("path"); err != nil || !validPath(f.Path) {
		return f, strictjson.Fail(o.Path("path"), "it is no path of plain names")
	}
	n, err := o.Integer("bytes", 0, maxBytes)
	if err != nil {
		return f, err
	}
	f.Bytes = int64(n) //nolint:gosec // bounded
	mode, err := o.String("mode")
	bits, _ := strconv.ParseUint(mode, 8, 32)
	if f.Mode = fs.FileMode(bits); err != nil || !validMode(f.Mode) || mode != fmt.Sprintf("%04o", bits) {
		return f, strictjson.Fail(o.Path("mode"), "it is not 0444, 0555, 0644 or 0755")
	}
	if f.SHA256, err = o.String("sha256"); err != nil || !digests.MatchString(f.SHA256) {
		return f, strictjson.Fail(o.Path("sha256"), "it is not 64 hex digits in small letters")
	}
	return f, nil
}

// What is written, in the order of these fields.
type (
	wirePolicy struct {
		Schema     string          `json:"schemaVersion"`
		ID         string          `json:"policyId"`
		Toolchains []wireToolchain `json:"toolchains"`
	}
	wireToolchain struct {
		Kind    Kind       `json:"kind"`
		Version string     `json:"version"`
		Files   []wireFile `json:"files"`
	}
	wireFile struct {
		Path   string `json:"path"`
		Bytes  int64  `json:"bytes"`
		Mode   string `json:"mode"`
		SHA256 string `json:"sha256"`
	}
)

// Write writes the manifest of all toolchains that stand in a policy directory, in place
// of the one that is there. What it finds it believes: it is for whoever made them.
func Write(ctx context.Context, dir string) (*Policy, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("write a toolchain policy: %w", err)
	}
	w := wirePolicy{Schema: Schema, ID: receipt.ToolchainPolicy}
	for _, e := range entries {
		if e.Name() == Manifest {
			continue
		}
		kind, version, _ := strings.Cut(e.Name(), "-")
		if programs[Kind(kind)] == "" || !versions.MatchString(version) || !e.IsDir() {
			return nil, fmt.Errorf("write a toolchain policy: %q is no toolchain: want folders such as cairo-2.20.0 and scarb-2.20.0", e.Name())
		}
		files, err := scan(ctx, filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("write a toolchain policy: %s: %w", e.Name(), err)
		}
		t := wireToolchain{Kind: Kind(kind), Version: version, Files: []wireFile{}}
		for _, f := range files {
			t.Files = append(t.Files, wireFile{f.Path, f.Bytes, fmt.Sprintf("%04o", f.Mode), f.SHA256})
		}
		w.Toolchains = append(w.Toolchains, t)
	}
	data, err := json.MarshalIndent(w, "", " ")
	if err != nil {
		return nil, fmt.Errorf("write a toolchain policy: %w", err)
	}
	data = append(data, '\n')
	if _, err := Parse(data); err != nil { // nothing is written that is not read
		return nil, fmt.Errorf("write a toolchain policy: %w", err)
	}
	if err := replace(filepath.Join(dir, Manifest), data); err != nil {
		return nil, fmt.Errorf("write a toolchain policy: %w", err)
	}
	return Open(dir)
}
