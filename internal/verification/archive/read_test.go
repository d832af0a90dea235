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
)

// maxAllocated bounds what reading allocates altogether, and so what it ever holds.
const maxAllocated = 8 << 20

func TestHostileArchivesAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	var before, after runtime.MemStats
	seen := map[archive.Reason]int{}
	most, mostOf := uint64(0), ""
	all := attacks()
	buffer := make([]byte, 4096)
	for _, a := range all {
		data := zipped(a)
		runtime.ReadMemStats(&before)
		_, err := archive.Read(bytes.NewReader(data), a.limits, func(f archive.File) error {
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
			most, mostOf = n, a.name
		}
		var refused *archive.Error
		if !errors.As(err, &refused) || refused.Reason != a.reason {
			t.Errorf("%s: %v", a.name, err)
			continue
		}
		seen[a.reason]++
		if _, unread := archive.Read(iotest.OneByteReader(bytes.NewReader(data)), a.limits, nil); len(data) < 1<<16 && (unread == nil || unread.Error() != err.Error()) {
			t.Errorf("%s: byte by byte, and without looking at content, the answer is %v", a.name, unread)
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
	bsd := entry("src/lib.cairo", "felt", at(100, "000644 \x00"), at(124, "00000000004 "), at(136, "00000000000 "))
	for name, tar := range map[string][]byte{
		"files alone":              around(entry("src/lib.cairo", "felt")),
		"folders":                  around(folder("src/"), entry("src/lib.cairo", "felt")),
		"an executable file":       around(entry("src/lib.cairo", "felt", at(100, "0000755\x00"))),
		"numbers that spaces end":  around(bsd),
		"empty device numbers":     around(entry("src/lib.cairo", "felt", at(329, "\x00\x00\x00\x00\x00\x00\x00\x00"), at(337, "\x00\x00\x00\x00\x00\x00\x00\x00"))),
		"a record of 20 blocks":    append(around(entry("src/lib.cairo", "felt")), make([]byte, 12*512)...),
		"a prefix":                 around(entry("lib.cairo", "felt", prefixed("src"))),
		"accents":                  around(entry("docs/caf\u00e9.md", "felt"), entry("docs/\u65e5\u672c.md", "felt")),
		"a folder before its like": around(folder("src/"), entry("src-a/x", "felt"), entry("src/x", "felt")),
		"a file of one block":      around(entry("a", noise(512))),
		"an empty file":            around(entry("a", "")),
		"text like an archive":     around(entry("a", "PK is a village"), entry("b", "070707, he said, and "+noise(100)), entry("c", "BZhang")),
	} {
		data := zip(tar)
		s, err := archive.Read(bytes.NewReader(data), archive.Standard, nil)
		if err != nil || s.Compressed != int64(len(data)) || s.Expanded != int64(len(tar)) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

func TestContentIsGivenWhole(t *testing.T) {
	text := noise(10_000)
	data := zip(around(entry("a", text), entry("b", "next")))
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
	data := zip(around(entry("a", noise(100_000))))
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
	f.Add(around(entry("src/lib.cairo", "felt")))
	f.Add(around(folder("src/"), entry("src/lib.cairo", "felt")))
	for _, a := range attacks() {
		if len(a.data) < 4096 {
			f.Add(a.data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, raw := range [][]byte{data, store(data), store(resummed(data))} {
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
