package archive_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/archive/archivetest"
)

// TestBoundsAreExact: what is exactly as large as may be is read, and a byte or an entry more is not.
func TestBoundsAreExact(t *testing.T) {
	file, entry, folder := archivetest.Noise(3000), archivetest.Entry, archivetest.Folder
	tar := archivetest.Around(entry("a", file), entry("b/c/d", "x"), folder("e/"))
	data := archivetest.Zip(tar)
	exact := archive.Limits{Compressed: int64(len(data)), Expanded: int64(len(tar)), File: int64(len(file)), Entries: 5, Folders: 3, Free: int64(len(tar))}
	if s, err := archive.Read(bytes.NewReader(data), exact, nil); err != nil || s.Compressed != exact.Compressed || s.Expanded != exact.Expanded {
		t.Fatalf("at all bounds: %+v, %v", s, err)
	}
	for reason, lower := range map[archive.Reason]func(*archive.Limits){
		archive.ArchiveTooLarge:   func(l *archive.Limits) { l.Compressed-- },
		archive.ExpandedTooLarge:  func(l *archive.Limits) { l.Expanded-- },
		archive.FileTooLarge:      func(l *archive.Limits) { l.File-- },
		archive.TooManyEntries:    func(l *archive.Limits) { l.Entries-- },
		archive.TooManyFolders:    func(l *archive.Limits) { l.Folders-- },
		archive.ExpansionTooSteep: func(l *archive.Limits) { l.Free-- },
	} {
		l := exact
		lower(&l)
		var refused *archive.Error
		if _, err := archive.Read(bytes.NewReader(data), l, nil); !errors.As(err, &refused) || refused.Reason != reason {
			t.Errorf("below the bound of %s: %v", reason, err)
		}
	}
}

// TestTheVerdictIsOfTheBytes: how bytes arrive makes no difference, whether an archive is read from a file or over a
// slow line. What expands steeply and is followed by much that does not lies close to the bound.
func TestTheVerdictIsOfTheBytes(t *testing.T) {
	free, ratio := archive.Standard.Free, archive.Standard.Ratio
	for name, c := range map[string]struct {
		zeros  int64
		refuse bool
	}{"below what is free": {free - 10<<10, false}, "more than the bytes before it allow": {free + 200<<10, true}, "much more": {3 << 20, true}} {
		data := archivetest.Zip(archivetest.Around(archivetest.Entry("a", strings.Repeat("\x00", int(c.zeros))), archivetest.Entry("b", archivetest.Noise(60<<10))))
		if int64(len(data))*ratio+free < c.zeros {
			t.Fatalf("%s: too steep as a whole", name)
		}
		for how, reader := range map[string]func(io.Reader) io.Reader{"at once": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "halves": iotest.HalfReader, "with its end": iotest.DataErrReader} {
			var refused *archive.Error
			_, err := archive.Read(reader(bytes.NewReader(data)), archive.Standard, nil)
			if errors.As(err, &refused) != c.refuse || refused != nil && refused.Reason != archive.ExpansionTooSteep || refused == nil && err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
			}
		}
	}
}

// TestWhatCannotBeCompressed may be sent all the same: it is hardly larger than what it stands for.
func TestWhatCannotBeCompressed(t *testing.T) {
	tar := archivetest.Around(archivetest.Entry("a", archivetest.Noise(4<<20)), archivetest.Entry("b", archivetest.Noise(4<<20)))
	for name, data := range map[string][]byte{"zipped": archivetest.Zip(tar), "stored": archivetest.Store(tar)} {
		if s, err := archive.Read(iotest.HalfReader(bytes.NewReader(data)), archive.Standard, nil); err != nil || s.Files != 4 {
			t.Errorf("%s, %d bytes of %d: %+v, %v", name, len(data), len(tar), s, err)
		}
	}
}
