// Package archive reads and writes the source archives of exact verification: one
// gzip member that holds a sorted POSIX ustar tree. Reading takes a stream from a
// hostile uploader: it touches no file system, holds little in memory whatever it is
// given, and refuses all that two readers could understand differently.
package archive

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
)

// File is a file of an archive.
type File struct {
	Path string
	Size int64
	// Content is for the time of the call alone. What is left of it is read on.
	Content io.Reader
}

// Summary is what an archive is, when all of it was read.
type Summary struct {
	Digest     string // of the bytes of the archive, as sha256:<hex>
	Compressed int64  // bytes of the archive
	Expanded   int64  // bytes of the tar inside
	Files      int
	FileBytes  int64
}

// Read reads an archive to its end and gives visit, unless it is nil, its files one by
// one. What it gave is worth nothing when it then returns an error: an archive is right
// or wrong as a whole. A refusal is an *Error; an error of src or of visit is not.
func Read(src io.Reader, l Limits, visit func(File) error) (Summary, error) {
	in := &input{src: src, hash: sha256.New(), limit: l.Compressed}
	r := &reader{in: in, limits: &l, tree: newTree(&l), visit: visit}
	err := r.run()
	switch {
	case in.err != nil: // whatever follows from it
		return Summary{}, fmt.Errorf("read the archive: %w", in.err)
	case in.over:
		return Summary{}, refuse(ArchiveTooLarge, "")
	case err != nil:
		return Summary{}, err
	}
	return Summary{Digest: "sha256:" + hex.EncodeToString(in.hash.Sum(nil)), Compressed: in.n, Expanded: r.n, Files: r.files, FileBytes: r.fileBytes}, nil
}

// input counts and digests what is read of the source.
type input struct {
	src   io.Reader
	hash  hash.Hash
	n     int64
	limit int64
	over  bool
	err   error // of the source, other than its end
}

func (in *input) Read(p []byte) (int, error) {
	if in.over {
		return 0, io.ErrUnexpectedEOF
	}
	if room := in.limit - in.n + 1; int64(len(p)) > room {
		p = p[:room]
	}
	n, err := in.src.Read(p)
	in.n += int64(n)
	in.hash.Write(p[:n])
	if in.n > in.limit {
		in.over = true
		return 0, io.ErrUnexpectedEOF
	}
	if err != nil && !errors.Is(err, io.EOF) {
		in.err = err
	}
	return n, err
}

type reader struct {
	in        *input
	limits    *Limits
	tree      *tree
	visit     func(File) error
	buffered  *bufio.Reader
	gz        *gzip.Reader
	n         int64 // bytes of the tar so far
	files     int
	fileBytes int64
	manifest  bool
	lockfile  bool
	head      [blockSize]byte // how a file begins
	unwanted  [8 << 10]byte
}

func (r *reader) run() error {
	r.buffered = bufio.NewReaderSize(r.in, 32<<10)
	if err := checkGzipHeader(r.buffered); err != nil {
		return err
	}
	var err error
	if r.gz, err = gzip.NewReader(packed{r}); err != nil {
		return gzipError(err)
	}
	r.gz.Multistream(false)
	if err := r.entries(); err != nil {
		return err
	}
	if err := r.tail(); err != nil {
		return err
	}
	switch next, err := r.buffered.Peek(2); {
	case len(next) == 2 && next[0] == 0x1f && next[1] == 0x8b:
		return refuse(GzipSecondMember, "")
	case len(next) > 0:
		return refuse(TrailingBytes, "")
	case !errors.Is(err, io.EOF):
		return gzipError(err)
	}
	switch {
	case r.files == 0:
		return refuse(Empty, "")
	case !r.manifest:
		return refuse(ManifestMissing, "")
	case !r.lockfile:
		return refuse(LockfileMissing, "")
	}
	return nil
}

// checkGzipHeader looks at the ten bytes that begin a member. Without flags there is
// nothing between them and the data.
func checkGzipHeader(b *bufio.Reader) error {
	h, err := b.Peek(10)
	switch {
	case len(h) >= 2 && (h[0] != 0x1f || h[1] != 0x8b), len(h) < 2:
		return refuse(NotGzip, "")
	case err != nil:
		return refuse(Truncated, "")
	case h[2] != 8 || h[3] != 0 || !allZero(h[4:8]):
		return refuse(GzipHeader, "")
	}
	return nil
}

// gzipError says what the trouble of a decoder means.
func gzipError(err error) error {
	var corrupt flate.CorruptInputError
	var refused *Error
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &corrupt):
		return refuse(GzipCorrupt, "")
	case errors.Is(err, gzip.ErrChecksum):
		return refuse(GzipChecksum, "")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return refuse(Truncated, "")
	}
	return fmt.Errorf("expand the archive: %w", err)
}

// packed is what is expanded, byte by byte, so that the verdict is of the bytes as well.
type packed struct{ r *reader }

func (p packed) ReadByte() (byte, error) {
	if p.r.used() > p.r.n+padding {
		return 0, refuse(ExpansionTooFlat, "")
	}
	return p.r.buffered.ReadByte()
}

func (p packed) Read(b []byte) (int, error) {
	if p.r.used() > p.r.n+padding {
		return 0, refuse(ExpansionTooFlat, "")
	}
	return p.r.buffered.Read(b)
}

// Read reads the tar inside, so far as the bounds allow.
func (r *reader) Read(p []byte) (int, error) {
	n, err := r.gz.Read(p)
	r.n += int64(n)
	switch {
	case r.n > r.limits.Expanded:
		return 0, refuse(ExpandedTooLarge, "")
	case r.n > r.limits.Free+r.limits.Ratio*r.used():
		return 0, refuse(ExpansionTooSteep, "")
	case err != nil && !errors.Is(err, io.EOF):
		return n, gzipError(err)
	}
	return n, err
}

// used is how many bytes of the archive the tar so far was made of. What was read ahead does not count: how much that is
// depends on how the bytes arrived, and the verdict must not.
func (r *reader) used() int64 { return r.in.n - int64(r.buffered.Buffered()) }

// block reads a block that must be there.
func (r *reader) block(b *[blockSize]byte) error {
	_, err := io.ReadFull(r, b[:])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return refuse(Truncated, "")
	}
	return err
}

// entries reads up to the first of the zero blocks at the end.
func (r *reader) entries() error {
	var b [blockSize]byte
	for {
		if err := r.block(&b); err != nil {
			return err
		}
		if allZero(b[:]) {
			return nil
		}
		h, err := parseHeader(&b)
		if err != nil {
			return err
		}
		if reason := r.tree.add(h.path, h.folder); reason != "" {
			return refuse(reason, h.path)
		}
		if h.folder {
			continue
		}
		if err := r.file(&h); err != nil {
			return err
		}
	}
}

// tail reads the zero blocks behind the first, to the end of the member.
func (r *reader) tail() error {
	var b [blockSize]byte
	for blocks := 1; ; blocks++ {
		n, err := io.ReadFull(r, b[:])
		switch {
		case errors.Is(err, io.EOF) && blocks < 2:
			return refuse(Truncated, "")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
			return err
		case !allZero(b[:n]) && n == blockSize && blocks == 1:
			return refuse(LoneZeroBlock, "")
		case !allZero(b[:n]), n < blockSize, blocks >= maxTail:
			return refuse(TrailingBytes, "")
		}
	}
}

func (r *reader) file(h *header) error {
	if h.size > r.limits.File {
		return refuse(FileTooLarge, h.path)
	}
	if r.fileBytes += h.size; r.fileBytes > r.limits.Expanded {
		return refuse(FilesTooLarge, h.path)
	}
	r.files++
	switch h.path {
	case Manifest:
		r.manifest = true
	case Lockfile:
		r.lockfile = true
	}
	head := r.head[:min(h.size, blockSize)]
	if err := r.full(head, h.path); err != nil {
		return err
	}
	if nestedByContent(head) {
		return refuse(NestedArchive, h.path)
	}
	c := &content{r: r, path: h.path, head: head, left: h.size - int64(len(head))}
	if r.visit != nil {
		if err := r.visit(File{Path: h.path, Size: h.size, Content: c}); err != nil {
			return firstOf(c.err, fmt.Errorf("take %.300q of the archive: %w", h.path, err))
		}
	}
	if err := c.drain(); err != nil {
		return err
	}
	padding := r.head[:-h.size&(blockSize-1)]
	if err := r.full(padding, h.path); err != nil {
		return err
	}
	if !allZero(padding) {
		return refuse(ContentPadding, h.path)
	}
	return nil
}

// full reads what belongs to a file.
func (r *reader) full(p []byte, path string) error {
	_, err := io.ReadFull(r, p)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return refuse(Truncated, path)
	}
	return err
}

// content is what a file has: its head, which was read already, and what is left.
type content struct {
	r    *reader
	path string
	head []byte
	left int64
	err  error
}

func (c *content) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	if len(c.head) > 0 {
		n := copy(p, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	if c.left == 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > c.left {
		p = p[:c.left]
	}
	n, err := c.r.Read(p)
	c.left -= int64(n)
	if errors.Is(err, io.EOF) {
		err = nil
		if n == 0 {
			err = refuse(Truncated, c.path)
		}
	}
	c.err = err
	return n, err
}

// drain reads what nobody wanted.
func (c *content) drain() error {
	for {
		if _, err := c.Read(c.r.unwanted[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
