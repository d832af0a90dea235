package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestAdminToolchain(t *testing.T) {
	from, dir := t.TempDir(), filepath.Join(t.TempDir(), "service-exact-v25")
	writeTestFile(t, filepath.Join(from, "bin", "starknet-compile"), []byte("#!compiler"))
	writeTestFile(t, filepath.Join(from, "corelib", "src", "lib.cairo"), []byte("mod core;"))
	if err := os.Chmod(filepath.Join(from, "bin", "starknet-compile"), 0o700); err != nil {
		t.Fatal(err)
	}
	text, errs, code := output(t, "admin", "toolchain", "add", dir, "--version", "2.20.0", "--from", from, "--json")
	var added policyView
	if err := json.Unmarshal([]byte(text), &added); err != nil || code != 0 || len(added.Toolchains) != 1 || added.Toolchains[0].Files != 2 || added.Toolchains[0].Bytes != 19 {
		t.Fatalf("%d %s %s %v", code, text, errs, err)
	}
	for _, command := range []string{"check", "manifest"} {
		text, errs, code = output(t, "admin", "toolchain", command, dir)
		if code != 0 || !strings.Contains(text, added.ManifestDigest) || !strings.Contains(text, "cairo  2.20.0") {
			t.Errorf("%s: %d %s %s", command, code, text, errs)
		}
	}
	if _, errs, code = output(t, "admin", "toolchain", "add", dir, "--version", "2.20.0", "--from", from); code != 1 || !strings.Contains(errs, "exists") {
		t.Errorf("added twice: %d %s", code, errs)
	}
	writeTestFile(t, filepath.Join(dir, "cairo-2.20.0", "corelib", "src", "lib.cairo"), []byte("mod other;"))
	if err := os.Chmod(filepath.Join(dir, "cairo-2.20.0", "corelib", "src", "lib.cairo"), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, errs, code = output(t, "admin", "toolchain", "check", dir); code != 1 || !strings.Contains(errs, "corelib/src/lib.cairo") {
		t.Errorf("a changed file: %d %s %s", code, text, errs)
	}
}

// TestToolchainScript runs the script with a cargo that only notes how it is called.
func TestToolchainScript(t *testing.T) {
	for _, tool := range []string{"bash", "tar", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tools, source := t.TempDir(), t.TempDir()
	cargo := "#!/usr/bin/env bash\nset -e\necho \"$@\" >" + tools + "/called\nwhile [ \"$1\" != --root ]; do shift; done\nmkdir -p \"$2/bin\"\necho compiler >\"$2/bin/starknet-compile\"\nchmod +x \"$2/bin/starknet-compile\"\n"
	writeTestFile(t, filepath.Join(tools, "cargo"), []byte(cargo))
	if err := os.Chmod(filepath.Join(tools, "cargo"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeTestFile(t, filepath.Join(source, "cairo-2.20.0", "corelib", "src", "lib.cairo"), []byte("mod core;"))
	writeTestFile(t, filepath.Join(source, "cairo-2.20.0", "README.md"), []byte("not wanted"))
	packed := filepath.Join(source, "source.tar.gz")
	if out, err := exec.Command("tar", "-czf", packed, "-C", source, "cairo-2.20.0").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	data, err := os.ReadFile(packed)
	if err != nil {
		t.Fatal(err)
	}
	digest := fmt.Sprintf("%x", sha256.Sum256(data))
	script := func(args ...string) (dir, text string, code int) {
		dir = filepath.Join(t.TempDir(), "policy")
		cmd := exec.Command("bash", append([]string{"../../scripts/toolchain.sh", dir}, args...)...)
		cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "CHAINEXPLORER="+exe, asProgram+"=1")
		out, errs, code := outputOf(t, cmd)
		return dir, out + errs, code
	}
	for _, from := range [][]string{{"--corelib", filepath.Join(source, "cairo-2.20.0", "corelib")}, {"--corelib-archive", packed, "--sha256", digest}} {
		dir, text, code := script(append([]string{"2.20.0"}, from...)...)
		if code != 0 {
			t.Fatalf("%v: %d %s", from, code, text)
		}
		if text, errs, code := output(t, "admin", "toolchain", "check", dir); code != 0 || !strings.Contains(text, "2 files") {
			t.Errorf("%v: %d %s %s", from, code, text, errs)
		}
		if called, _ := os.ReadFile(filepath.Join(tools, "called")); !strings.Contains(string(called), "install starknet-compile --version =2.20.0 --locked --root ") {
			t.Errorf("cargo was called with %s", called)
		}
	}
	for name, args := range map[string][]string{
		"another digest": {"2.20.0", "--corelib-archive", packed, "--sha256", strings.Repeat("0", 64)},
		"no digest":      {"2.20.0", "--corelib-archive", packed},
		"no core":        {"2.20.0", "--corelib", t.TempDir()},
		"no version":     {"latest", "--corelib", filepath.Join(source, "cairo-2.20.0", "corelib")},
		"both":           {"2.20.0", "--corelib", source, "--corelib-archive", packed, "--sha256", digest},
		"neither":        {"2.20.0"},
	} {
		dir, text, code := script(args...)
		if _, err := os.Stat(dir); code == 0 || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %d %s (%v)", name, code, text, err)
		}
	}
}
