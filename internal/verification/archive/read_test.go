package archive_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"

	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/archive/archivetest"
)

// maxAllocated bounds what reading allocates altogether, and so what it ever holds.
const maxAllocated = 8 << 20

func TestHostileArchivesAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	var before, after runtime.MemStats
	seen := map[archive.Reason]int{}
	most, mostOf := uint64(0), ""
	all := archivetest.Attacks()
	buffer := make([]byte, 4096)
	for _, a := range all {
		data := a.Archive()
		runtime.ReadMemStats(&before)
		_, err := archive.Read(bytes.NewReader(data), a.Limits, func(f archive.File) error {
			for {
				if _, err := f.Content.Read(buffer); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return err
				}
			}
		})
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > most {
			most, mostOf = n, a.Name
		}
		var refused *archive.Error
		if !errors.As(err, &refused) || refused.Reason != a.Reason {
			t.Errorf("%s: %v", a.Name, err)
			continue
		}
		seen[a.Reason]++
		if _, unread := archive.Read(iotest.OneByteReader(bytes.NewReader(data)), a.Limits, nil); len(data) < 1<<16 && (unread == nil || unread.Error() != err.Error()) {
			t.Errorf("%s: byte by byte, and without looking at content, the answer is %v", a.Name, unread)
		}
	}
	t.Logf("%d archives, %d reasons; at most %d KiB allocated, for %s", len(all), len(seen), most>>10, mostOf)
	if len(all) < 200 {
		t.Errorf("only %d archives", len(all))
	}
	if most > maxAllocated {
		t.Errorf("%d bytes were allocated for %s", most, mostOf)
	}
	onlyWhenPacking := []archive.Reason{archive.Socket, archive.ChangedMeanwhile}
	for _, r := range archive.Reasons() {
		if seen[r] == 0 && !slices.Contains(onlyWhenPacking, r) {
			t.Errorf("nothing is refused for %s", r)
		}
		if r.Sentence() == "" {
			t.Errorf("%s is not explained", r)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("reading left %v (%v)", left, err)
	}
}

// TestForeignArchivesAreRead has what other careful writers make.
func TestForeignArchivesAreRead(t *testing.T) {
	bsd := archivetest.Entry("src/lib.cairo", "felt", archivetest.At(100, "000644 \x00"), archivetest.At(124, "00000000004 "), archivetest.At(136, "00000000000 "))
	for name, tar := range map[string][]byte{
		"files alone":              archivetest.Around(archivetest.Entry("src/lib.cairo", "felt")),
		"folders":                  archivetest.Around(archivetest.Folder("src/"), archivetest.Entry("src/lib.cairo", "felt")),
		"an executable file":       archivetest.Around(archivetest.Entry("src/lib.cairo", "felt", archivetest.At(100, "0000755\x00"))),
		"numbers that spaces end":  archivetest.Around(bsd),
		"empty device numbers":     archivetest.Around(archivetest.Entry("src/lib.cairo", "felt", archivetest.At(329, "\x00\x00\x00\x00\x00\x00\x00\x00"), archivetest.At(337, "\x00\x00\x00\x00\x00\x00\x00\x00"))),
		"a record of 20 blocks":    append(archivetest.Around(archivetest.Entry("src/lib.cairo", "felt")), make([]byte, 12*512)...),
		"a prefix":                 archivetest.Around(archivetest.Entry("lib.cairo", "felt", archivetest.Prefixed("src"))),
		"accents":                  archivetest.Around(archivetest.Entry("docs/caf\u00e9.md", "felt"), archivetest.Entry("docs/\u65e5\u672c.md", "felt")),
		"a folder before its like": archivetest.Around(archivetest.Folder("src/"), archivetest.Entry("src-a/x", "felt"), archivetest.Entry("src/x", "felt")),
		"a file of one block":      archivetest.Around(archivetest.Entry("a", archivetest.Noise(512))),
		"an empty file":            archivetest.Around(archivetest.Entry("a", "")),
		"text like an archive":     archivetest.Around(archivetest.Entry("a", "PK is a village"), archivetest.Entry("b", "070707, he said, and "+archivetest.Noise(100)), archivetest.Entry("c", "BZhang")),
	} {
		data := archivetest.Zip(tar)
		s, err := archive.Read(bytes.NewReader(data), archive.Standard, nil)
		if err != nil || s.Compressed != int64(len(data)) || s.Expanded != int64(len(tar)) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

func TestContentIsGivenWhole(t *testing.T) {
	text := archivetest.Noise(10_000)
	data := archivetest.Zip(archivetest.Around(archivetest.Entry("a", text), archivetest.Entry("b", "next")))
	got := map[string]string{}
	take := func(limit int64) func(archive.File) error {
		clear(got)
		return func(f archive.File) error {
			b, err := io.ReadAll(io.LimitReader(f.Content, limit))
			got[f.Path] = string(b)
			return err
		}
	}
	s, err := archive.Read(bytes.NewReader(data), archive.Standard, take(1<<20))
	if err != nil || len(got) != 4 || got["a"] != text || got["b"] != "next" || s.Files != 4 {
		t.Errorf("%d files, %v", len(got), err)
	}
	if _, err := archive.Read(bytes.NewReader(data), archive.Standard, take(3)); err != nil || got["b"] != "nex" {
		t.Errorf("after files that were left half read: %v, %v", got["b"], err)
	}
	full := errors.New("disk full")
	_, err = archive.Read(bytes.NewReader(data), archive.Standard, func(archive.File) error { return full })
	var refused *archive.Error
	if !errors.Is(err, full) || errors.As(err, &refused) {
		t.Errorf("an error of the taker: %v", err)
	}
}

// TestTroubleOfTheSourceIsNoRefusal: a lost connection says nothing about an archive.
func TestTroubleOfTheSourceIsNoRefusal(t *testing.T) {
	data := archivetest.Zip(archivetest.Around(archivetest.Entry("a", archivetest.Noise(100_000))))
	lost := errors.New("connection lost")
	for _, n := range []int64{0, 1, 5, 10, 100, 40_000, int64(len(data)) - 1, int64(len(data))} {
		src := io.MultiReader(io.LimitReader(bytes.NewReader(data), n), iotest.ErrReader(lost))
		_, err := archive.Read(src, archive.Standard, nil)
		var refused *archive.Error
		if !errors.Is(err, lost) || errors.As(err, &refused) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

// FuzzRead looks for archives that are taken and should not be: what Read takes, it
// takes again when its files are packed anew.
func FuzzRead(f *testing.F) {
	f.Add(archivetest.Around(archivetest.Entry("src/lib.cairo", "felt")))
	f.Add(archivetest.Around(archivetest.Folder("src/"), archivetest.Entry("src/lib.cairo", "felt")))
	for _, a := range archivetest.Attacks() {
		if len(a.Data) < 4096 {
			f.Add(a.Data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, raw := range [][]byte{data, archivetest.Store(data), archivetest.Store(archivetest.Resummed(data))} {
			tree := memory{}
			s, err := archive.Read(bytes.NewReader(raw), archive.Standard, func(f archive.File) error {
				b, err := io.ReadAll(f.Content)
				if err == nil && int64(len(b)) != f.Size {
					t.Errorf("%q has %d bytes, not %d", f.Path, len(b), f.Size)
				}
				tree[f.Path] = string(b)
				return err
			})
			if err != nil {
				var refused *archive.Error
				if !errors.As(err, &refused) || refused.Reason.Sentence() == "" {
					t.Errorf("no refusal: %v", err)
				}
				continue
			}
			packed, again, err := archive.Pack(tree.fs(), archive.Standard)
			if err != nil || again.Files != s.Files || again.FileBytes != s.FileBytes {
				t.Fatalf("packed anew: %v, %+v and %+v", err, s, again)
			}
			if _, err := archive.Read(bytes.NewReader(packed), archive.Standard, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestEveryReasonStandsInTheGuide: people look the word up that they are refused with.
func TestEveryReasonStandsInTheGuide(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/verification.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range archive.Reasons() {
		if !bytes.Contains(guide, []byte("`"+string(r)+"`")) {
			t.Errorf("%s is not explained", r)
		}
	}
}
