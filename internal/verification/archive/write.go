package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
)

// Pack makes the archive of a tree. The same files give the same bytes, whoever owns
// them, wherever they lie and however they were listed; modes, times and empty folders
// are left out, as are .git, target and this program's own folder at the root. What
// reading would refuse, Pack refuses with the same reason.
func Pack(fsys fs.FS, l Limits) ([]byte, Summary, error) {
	files, err := list(fsys, &l)
	if err != nil {
		return nil, Summary{}, err
	}
	var out bytes.Buffer
	gz, err := gzip.NewWriterLevel(&bounded{w: &out, left: l.Compressed}, gzip.BestCompression)
	if err != nil {
		return nil, Summary{}, fmt.Errorf("compress: %w", err)
	}
	tw := tar.NewWriter(gz)
	for _, p := range files {
		if err := pack(tw, fsys, p, &l); err != nil {
			return nil, Summary{}, err
		}
	}
	if err := errors.Join(tw.Close(), gz.Close()); err != nil {
		return nil, Summary{}, tooLargeOr(err)
	}
	// Reading is what decides. It also sees what only content can tell.
	summary, err := Read(bytes.NewReader(out.Bytes()), l, nil)
	if err != nil {
		return nil, Summary{}, err
	}
	return out.Bytes(), summary, nil
}

// list finds the files of a tree, in the order of an archive.
func list(fsys fs.FS, l *Limits) ([]string, error) {
	var files []string
	folders := 0
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("list the tree: %w", err)
		case p == ".":
			return nil
		case path.Dir(p) == "." && isExcluded(p):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if r := checkPath(p); r != "" {
			return refuse(r, p)
		}
		if d.IsDir() {
			if folders++; folders > l.Folders {
				return refuse(TooManyFolders, p)
			}
			return nil
		}
		if r := kindOf(d.Type()); r != "" {
			return refuse(r, p)
		}
		if files = append(files, p); len(files) > l.Entries {
			return refuse(TooManyEntries, p)
		}
		return nil
	})
	slices.Sort(files) // WalkDir sorts the parts of paths, which is another order
	return files, err
}

func kindOf(t fs.FileMode) Reason {
	switch {
	case t.IsRegular():
		return ""
	case t&fs.ModeSymlink != 0:
		return SymbolicLink
	case t&fs.ModeDevice != 0:
		return Device
	case t&fs.ModeNamedPipe != 0:
		return Fifo
	case t&fs.ModeSocket != 0:
		return Socket
	}
	return TypeUnknown
}

func pack(tw *tar.Writer, fsys fs.FS, p string, l *Limits) error {
	f, err := fsys.Open(p)
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	info, err := f.Stat()
	switch {
	case err != nil:
		return fmt.Errorf("pack %q: %w", p, err)
	case !info.Mode().IsRegular():
		return refuse(ChangedMeanwhile, p)
	case info.Size() > l.File:
		return refuse(FileTooLarge, p)
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: p, Size: info.Size(), Mode: 0o644, Format: tar.FormatUSTAR}
	if err := tw.WriteHeader(h); errors.Is(err, tar.ErrHeader) {
		return refuse(NameTooLong, p) // it cannot be split where ustar must split it
	} else if err != nil {
		return tooLargeOr(err)
	}
	n, err := io.CopyN(tw, f, info.Size())
	if errors.Is(err, io.EOF) && n < info.Size() {
		return refuse(ChangedMeanwhile, p)
	} else if err != nil {
		return tooLargeOr(fmt.Errorf("pack %q: %w", p, err))
	}
	if extra, _ := f.Read(make([]byte, 1)); extra > 0 {
		return refuse(ChangedMeanwhile, p)
	}
	return nil
}

var errFull = errors.New("full")

// bounded takes no more than an archive may have.
type bounded struct {
	w    io.Writer
	left int64
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errFull
	}
	return b.w.Write(p)
}

func tooLargeOr(err error) error {
	if errors.Is(err, errFull) {
		return refuse(ArchiveTooLarge, "")
	}
	return fmt.Errorf("write the archive: %w", err)
}
