package toolchain

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"chainexplorer/internal/durable"
)

// Add copies a toolchain into a policy directory and writes the manifest anew. Of a
// compiler those are its program and core library, of Scarb all of its folder. The
// libraries of this machine that its programs are linked with come along: a build runs
// with them and no others, wherever it runs.
func Add(ctx context.Context, dir string, kind Kind, version, from string) (p *Policy, err error) {
	if programs[kind] == "" || !versions.MatchString(version) {
		return nil, fmt.Errorf("add a toolchain: %s %s: want %s or %s and a version such as 2.20.0", kind, version, Cairo, Scarb)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("add a toolchain: %w", err)
	}
	at := filepath.Join(dir, string(kind)+"-"+version)
	if err := os.Mkdir(at, 0o755); err != nil {
		return nil, fmt.Errorf("add a toolchain: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("add a toolchain: %w", err), os.RemoveAll(at))
		}
	}()
	parts := []string{"."}
	if kind == Cairo {
		parts = []string{programs[Cairo], "corelib"}
	}
	for _, part := range parts {
		if err := copyTree(ctx, at, from, part); err != nil {
			return nil, err
		}
	}
	if err := addLibraries(at); err != nil {
		return nil, err
	}
	return Write(ctx, dir)
}

// copyTree copies plain files and folders, with modes as a manifest wants them.
func copyTree(ctx context.Context, to, from, part string) error {
	return filepath.WalkDir(filepath.Join(from, part), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			return makeFolder(filepath.Join(to, rel))
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is a link or no plain file", name)
		}
		if err := makeFolder(filepath.Dir(filepath.Join(to, rel))); err != nil {
			return err
		}
		return copyFile(filepath.Join(to, rel), name)
	})
}

func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.Chmod(dir, 0o755) // whatever the process masks
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	info, err := in.Stat()
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info.Mode()&0o100 != 0 {
		mode = 0o755
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(mode), out.Close())
}

// addLibraries puts what programs are linked with into lib, without folders: it is what
// /lib is during a build.
func addLibraries(at string) error {
	lib := filepath.Join(at, "lib")
	programs, err := os.ReadDir(filepath.Join(at, "bin"))
	if err != nil {
		return err
	}
	var todo []string
	for _, p := range programs {
		todo = append(todo, filepath.Join(at, "bin", p.Name()))
	}
	for len(todo) > 0 {
		needed, err := linkedWith(todo[0])
		if err != nil {
			return err
		}
		todo = todo[1:]
		for _, name := range needed {
			to := filepath.Join(lib, path.Base(name))
			if _, err := os.Lstat(to); err == nil {
				continue
			}
			from, err := findLibrary(name)
			if err != nil {
				return err
			}
			if err := errors.Join(makeFolder(lib), copyFile(to, from)); err != nil {
				return err
			}
			todo = append(todo, to)
		}
	}
	return nil
}

// linkedWith are the loader and the libraries of a program, nothing of one that needs none.
func linkedWith(file string) ([]string, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // read only
	magic := make([]byte, len(elf.ELFMAG))
	if _, err := io.ReadFull(in, magic); err != nil || string(magic) != elf.ELFMAG {
		return nil, nil // a script, or data
	}
	f, err := elf.NewFile(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	needed, err := f.ImportedLibraries()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			loader, err := io.ReadAll(io.LimitReader(p.Open(), 512))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			needed = append(needed, strings.TrimRight(string(loader), "\x00"))
		}
	}
	return needed, nil
}

// findLibrary looks where loaders look.
func findLibrary(name string) (string, error) {
	if path.IsAbs(name) {
		if dir := path.Dir(name); dir != "/lib" && dir != "/lib64" {
			return "", fmt.Errorf("the loader %s is not in /lib or /lib64, where a build has it", name)
		}
		return name, nil
	}
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH] + "-linux-gnu"
	for _, dir := range []string{"/lib/" + machine, "/usr/lib/" + machine, "/lib64", "/usr/lib64", "/lib", "/usr/lib"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return filepath.Join(dir, name), nil
		}
	}
	return "", fmt.Errorf("this machine has no library %s", name)
}

// replace puts a file into the place of another, or of none, as a whole.
func replace(file string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".manifest-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return durable.SyncDir(filepath.Dir(file))
}
