package toolchain_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chainexplorer/internal/verification/toolchain"
	"chainexplorer/internal/verification/toolchain/toolchaintest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	toolchaintest.Remove()
	os.Exit(code)
}

// small is a folder that looks like a compiler's.
func small(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"bin/starknet-compile": "#!program", "corelib/src/lib.cairo": "mod a;", "corelib/Scarb.toml": "[package]", "README": "not copied"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "bin/starknet-compile"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func policy(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "service-exact-v25")
	for _, version := range []string{"2.19.1", "2.20.0"} {
		if _, err := toolchain.Add(t.Context(), dir, toolchain.Cairo, version, small(t)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPolicy(t *testing.T) {
	dir := policy(t)
	p, err := toolchain.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(t.Context()); err != nil {
		t.Error(err)
	}
	got := p.Find(toolchain.Cairo, "2.20.0")
	if got == nil || got.Dir() != filepath.Join(dir, "cairo-2.20.0") || got.Program() != "bin/starknet-compile" || len(got.Files) != 3 {
		t.Errorf("%+v", got)
	}
	if p.Find(toolchain.Scarb, "2.20.0") != nil || p.Find(toolchain.Cairo, "2.20.1") != nil {
		t.Error("found what is not there")
	}
	if f := got.Files[0]; f.Path != "bin/starknet-compile" || f.Mode != 0o755 || f.Bytes != 9 || len(f.SHA256) != 64 {
		t.Errorf("%+v", f)
	}
	again, err := toolchain.Write(t.Context(), dir)
	if err != nil || again.Digest != p.Digest {
		t.Errorf("the same files give another manifest: %v %v", again, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Check(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := toolchain.Add(t.Context(), dir, toolchain.Cairo, "2.20.0", small(t)); !errors.Is(err, os.ErrExist) {
		t.Errorf("a toolchain was replaced: %v", err)
	}
	if err := p.Check(t.Context()); err != nil {
		t.Errorf("what was there is gone: %v", err)
	}
}

// TestEveryChangeIsSeen by reading the files, whatever their times and sizes are.
func TestEveryChangeIsSeen(t *testing.T) {
	for name, c := range map[string]struct {
		change func(dir string) error // of cairo-2.20.0
		says   string
	}{
		"a byte": {func(d string) error {
			return os.WriteFile(filepath.Join(d, "corelib/src/lib.cairo"), []byte("mod b;"), 0o644)
		}, "is not what the manifest says"},
		"longer": {func(d string) error {
			return os.WriteFile(filepath.Join(d, "corelib/src/lib.cairo"), []byte("mod a; "), 0o644)
		}, "is not what the manifest says"},
		"missing":            {func(d string) error { return os.Remove(filepath.Join(d, "corelib/Scarb.toml")) }, `"corelib/Scarb.toml" is missing`},
		"last missing":       {func(d string) error { return os.Remove(filepath.Join(d, "corelib/src/lib.cairo")) }, `is missing`},
		"unlisted first":     {func(d string) error { return os.WriteFile(filepath.Join(d, "a"), nil, 0o644) }, `"a" does not stand in the manifest`},
		"unlisted last":      {func(d string) error { return os.WriteFile(filepath.Join(d, "z"), nil, 0o644) }, `"z" does not stand in the manifest`},
		"mode":               {func(d string) error { return os.Chmod(filepath.Join(d, "corelib/Scarb.toml"), 0o755) }, "is not what the manifest says"},
		"writable":           {func(d string) error { return os.Chmod(filepath.Join(d, "corelib/Scarb.toml"), 0o666) }, "has the mode"},
		"setuid":             {func(d string) error { return os.Chmod(filepath.Join(d, "bin/starknet-compile"), 0o755|os.ModeSetuid) }, "has the mode"},
		"folder writable":    {func(d string) error { return os.Chmod(filepath.Join(d, "corelib"), 0o777) }, "can be written to by others"},
		"link":               {func(d string) error { return os.Symlink("lib.cairo", filepath.Join(d, "corelib/src/z.cairo")) }, "is a link"},
		"link in its place":  {func(d string) error { return swapForLink(filepath.Join(d, "corelib/src/lib.cairo")) }, "is a link"},
		"folder is a link":   {func(d string) error { return swapForLink(filepath.Join(d, "corelib")) }, "is a link"},
		"all is a link":      {swapForLink, "is not a folder"},
		"unlisted toolchain": {func(d string) error { return os.Mkdir(filepath.Join(d, "..", "cairo-9.9.9"), 0o755) }, `"cairo-9.9.9" does not stand`},
		"unlisted in policy": {func(d string) error { return os.WriteFile(filepath.Join(d, "..", "notes"), nil, 0o644) }, `"notes" does not stand`},
		"strange name":       {func(d string) error { return os.WriteFile(filepath.Join(d, "a b"), nil, 0o644) }, "is no name"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := policy(t)
			p, err := toolchain.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.change(filepath.Join(dir, "cairo-2.20.0")); err != nil {
				t.Fatal(err)
			}
			if err := p.Check(t.Context()); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Check says %v", err)
			}
		})
	}
}

func swapForLink(path string) error {
	return errors.Join(os.RemoveAll(path), os.Symlink(os.TempDir(), path))
}

func TestManifestsAreStrict(t *testing.T) {
	dir := policy(t)
	data, err := os.ReadFile(filepath.Join(dir, toolchain.Manifest))
	if err != nil {
		t.Fatal(err)
	}
	good := string(data)
	if _, err := toolchain.Parse(data); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string][2]string{
		"schema":         {toolchain.Schema, "other-v1"},
		"policy":         {`"service-exact-v25"`, `"service-exact-v26"`},
		"kind":           {`"cairo"`, `"gcc"`},
		"version":        {`"2.19.1"`, `"2.19"`},
		"order":          {`"2.19.1"`, `"2.21.0"`},
		"twice":          {`"2.19.1"`, `"2.20.0"`},
		"escape":         {`"corelib/Scarb.toml"`, `"../Scarb.toml"`},
		"absolute":       {`"corelib/Scarb.toml"`, `"/corelib/Scarb.toml"`},
		"order of files": {`"corelib/Scarb.toml"`, `"a/Scarb.toml"`},
		"mode":           {`"0755"`, `"4755"`},
		"mode spelled":   {`"0755"`, `"755"`},
		"program":        {`"bin/starknet-compile"`, `"bin/other"`},
		"not executable": {`"0755"`, `"0644"`},
		"extra":          {`"policyId"`, `"more": 1, "policyId"`},
		"missing":        {`"bytes": 9,`, ``},
		"negative":       {`"bytes": 9`, `"bytes": -9`},
		"huge":           {`"bytes": 9`, `"bytes": 99999999999`},
		"digest":         {`"sha256": "`, `"sha256": "A`},
	} {
		bad := strings.Replace(good, c[0], c[1], 1)
		if bad == good {
			t.Fatalf("%s: nothing was replaced", name)
		}
		if _, err := toolchain.Parse([]byte(bad)); err == nil {
			t.Errorf("%s: a bad manifest was read", name)
		}
	}
	if _, err := toolchain.Open(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no manifest: %v", err)
	}
}

func TestAddRefuses(t *testing.T) {
	linked := small(t)
	if err := os.Symlink("lib.cairo", filepath.Join(linked, "corelib/src/z.cairo")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind          toolchain.Kind
		version, from string
	}{
		{"gcc", "2.20.0", small(t)}, {toolchain.Cairo, "latest", small(t)}, {toolchain.Cairo, "../x", small(t)}, {toolchain.Scarb, "2.20.0", small(t)},
		{toolchain.Cairo, "2.20.0", t.TempDir()}, {toolchain.Cairo, "2.20.0", linked},
	} {
		dir := t.TempDir()
		if _, err := toolchain.Add(t.Context(), dir, c.kind, c.version, c.from); err == nil {
			t.Errorf("%+v was added", c)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%+v left %v", c, left)
		}
	}
}

// TestRealCompiler: the libraries that it is linked with come along.
func TestRealCompiler(t *testing.T) {
	p, err := toolchain.Open(toolchaintest.Policy(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(t.Context()); err != nil {
		t.Error(err)
	}
	libraries := 0
	for _, f := range p.Toolchains[0].Files {
		if strings.HasPrefix(f.Path, "lib/") {
			libraries++
		}
	}
	if libraries < 3 {
		t.Errorf("%d libraries came along", libraries)
	}
}

func FuzzManifest(f *testing.F) {
	good, _ := json.Marshal(map[string]any{"schemaVersion": toolchain.Schema, "policyId": "service-exact-v25", "toolchains": []any{map[string]any{
		"kind": "cairo", "version": "2.20.0", "files": []any{map[string]any{"path": "bin/starknet-compile", "bytes": 1, "mode": "0755", "sha256": strings.Repeat("0", 64)}},
	}}})
	f.Add(good)
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := toolchain.Parse(data)
		if err != nil {
			return
		}
		for _, tc := range p.Toolchains {
			for _, file := range tc.Files {
				if !filepath.IsLocal(file.Path) {
					t.Errorf("took the path %q", file.Path)
				}
			}
		}
	})
}
