package archive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/archive/archivetest"
)

// memory is a tree by paths.
type memory map[string]string

func (m memory) fs() fstest.MapFS {
	tree := fstest.MapFS{}
	for p, text := range m {
		tree[p] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

var sample = memory{
	"Scarb.toml": "[package]\n", "Scarb.lock": "version = 1\n", "src/lib.cairo": "mod a;\n", "src-old/x.cairo": "", "README.md": archivetest.Noise(5000),
	".git/config": "secret", "target/release/x.json": "{}", ".chainexplorer/source.tar.gz": "\x1f\x8b", "lib/target/kept.cairo": "x",
	strings.Repeat("deep/", 25) + strings.Repeat("f", 99): "x",
}

// onDisk lays a tree out, so that its owner, times, modes and order are those of the system.
func onDisk(t *testing.T, m memory, mode fs.FileMode, when time.Time) string {
	t.Helper()
	dir := t.TempDir()
	for p, text := range m {
		file := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, when, when); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func packDir(t *testing.T, dir string) ([]byte, archive.Summary, error) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // read only
	return archive.Pack(root.FS(), archive.Standard)
}

func TestTheSameTreeGivesTheSameBytes(t *testing.T) {
	first, s, err := packDir(t, onDisk(t, sample, 0o600, time.Unix(1_000_000_000, 0)))
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := packDir(t, onDisk(t, sample, 0o755, time.Unix(1_700_000_000, 5)))
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("another place, mode and time give other bytes (%v)", err)
	}
	third, _, err := archive.Pack(sample.fs(), archive.Standard)
	if err != nil || !bytes.Equal(first, third) {
		t.Errorf("a tree in memory gives other bytes (%v)", err)
	}
	if s.Files != 7 || s.Compressed != int64(len(first)) {
		t.Errorf("summary %+v", s)
	}
	other := memory{}
	for p, text := range sample {
		other[p] = text
	}
	other["src/lib.cairo"] = "mod b;\n"
	if changed, _, err := archive.Pack(other.fs(), archive.Standard); err != nil || bytes.Equal(first, changed) {
		t.Errorf("another tree gives the same bytes (%v)", err)
	}
}

// TestOthersReadWhatIsPacked asks the standard library.
func TestOthersReadWhatIsPacked(t *testing.T) {
	data, _, err := archive.Pack(sample.fs(), archive.Standard)
	if err != nil {
		t.Fatal(err)
	}
	gz, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	tr := tar.NewReader(gz)
	last := ""
	for n := 0; ; n++ {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			if n != 7 {
				t.Errorf("%d entries", n)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(tr)
		if err != nil || string(text) != sample[h.Name] {
			t.Errorf("%s: other content (%v)", h.Name, err)
		}
		if h.Format != tar.FormatUSTAR || h.Uid != 0 || h.Gid != 0 || h.Uname+h.Gname != "" || h.ModTime.Unix() != 0 || h.Name <= last || h.Mode != 0o644 {
			t.Errorf("header %+v behind %q", h, last)
		}
		last = h.Name
	}
}

func TestPackingRefusesWhatReadingWould(t *testing.T) {
	for reason, m := range map[archive.Reason]memory{
		archive.LockfileMissing:   {"Scarb.toml": ""},
		archive.ManifestMissing:   {"Scarb.lock": ""},
		archive.Empty:             {},
		archive.NestedArchive:     {"Scarb.toml": "", "Scarb.lock": "", "vendor.zip": ""},
		archive.NameReserved:      {"Scarb.toml": "", "Scarb.lock": "", "lib/.git/config": "token"},
		archive.NameCharacter:     {"Scarb.toml": "", "Scarb.lock": "", "ab:c": ""},
		archive.NameNotNormalized: {"Scarb.toml": "", "Scarb.lock": "", "cafe\u0301": ""},
		archive.NameTooLong:       {"Scarb.toml": "", "Scarb.lock": "", strings.Repeat("d", 90) + "/" + strings.Repeat("e", 90) + "/" + strings.Repeat("f", 90): ""},
		archive.NameTooDeep:       {"Scarb.toml": "", "Scarb.lock": "", strings.Repeat("d/", 40) + "x": ""},
		archive.Collision:         {"Scarb.toml": "", "Scarb.lock": "", "A": "", "a": ""},
		archive.FileTooLarge:      {"Scarb.toml": "", "Scarb.lock": "", "a": strings.Repeat("x", 4<<20+1)},
	} {
		_, _, err := archive.Pack(m.fs(), archive.Standard)
		var refused *archive.Error
		if !errors.As(err, &refused) || refused.Reason != reason {
			t.Errorf("%s: %v", reason, err)
		}
	}
	small := archive.Standard
	small.Compressed = 3000
	var refused *archive.Error
	if _, _, err := archive.Pack(sample.fs(), small); !errors.As(err, &refused) || refused.Reason != archive.ArchiveTooLarge {
		t.Errorf("a tree that is too large: %v", err)
	}
}

func TestPackingRefusesWhatIsNoFile(t *testing.T) {
	for reason, put := range map[archive.Reason]func(path string) error{
		archive.SymbolicLink: func(p string) error { return os.Symlink("Scarb.toml", p) },
		archive.Fifo:         func(p string) error { return syscall.Mkfifo(p, 0o600) },
		archive.Socket: func(p string) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: p, Net: "unix"})
			if err == nil {
				t.Cleanup(func() { l.Close() }) //nolint:errcheck // of no use to anybody
			}
			return err
		},
	} {
		dir := onDisk(t, memory{"Scarb.toml": "", "Scarb.lock": ""}, 0o600, time.Unix(0, 0))
		if err := put(filepath.Join(dir, "s")); err != nil {
			t.Fatal(err)
		}
		_, _, err := packDir(t, dir)
		var refused *archive.Error
		if !errors.As(err, &refused) || refused.Reason != reason {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

// growing is a tree with a file that is longer than it said.
type growing struct{ fstest.MapFS }

type grown struct{ fs.File }

type shorter struct{ fs.FileInfo }

func (shorter) Size() int64 { return 2 }

func (g grown) Stat() (fs.FileInfo, error) {
	info, err := g.File.Stat()
	return shorter{info}, err
}

func (g growing) Open(name string) (fs.File, error) {
	f, err := g.MapFS.Open(name)
	if name == "log" {
		f = grown{f}
	}
	return f, err
}

func TestAFileThatGrowsIsNotCut(t *testing.T) {
	tree := growing{memory{"Scarb.toml": "", "Scarb.lock": "", "log": "abc"}.fs()}
	_, _, err := archive.Pack(tree, archive.Standard)
	var refused *archive.Error
	if !errors.As(err, &refused) || refused.Reason != archive.ChangedMeanwhile {
		t.Errorf("%v", err)
	}
}
