package postgres

import (
	"bufio"
	"encoding/binary"
	"io"
)

// copyHeader begins a stream of COPY in binary form: signature, flags, and the
// length of an extension that we do not use.
const copyHeader = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"

// copyChunk is how much of a stream is made at a time.
const copyChunk = 128 << 10

// copyStream writes leaves in the form of COPY without holding them all.
type copyStream struct {
	leaves []leaf
	buf    []byte
	read   int
	begun  bool
	ended  bool
}

var _ io.Reader = (*copyStream)(nil)

// Read serves io.Reader.
func (s *copyStream) Read(b []byte) (int, error) {
	if s.read == len(s.buf) {
		if s.ended {
			return 0, io.EOF
		}
		s.fill()
	}
	n := copy(b, s.buf[s.read:])
	s.read += n
	return n, nil
}

func (s *copyStream) fill() {
	s.buf, s.read = s.buf[:0], 0
	if !s.begun {
		s.buf = append(s.buf, copyHeader...)
		s.begun = true
	}
	for len(s.leaves) > 0 && len(s.buf) < copyChunk {
		l := &s.leaves[0]
		s.leaves = s.leaves[1:]
		s.buf = binary.BigEndian.AppendUint16(s.buf, 4)
		s.field(l.partition)
		s.field(l.first)
		s.buf = binary.BigEndian.AppendUint32(s.buf, 2)
		s.buf = binary.BigEndian.AppendUint16(s.buf, uint16(l.rows))
		s.field(l.value)
	}
	if len(s.leaves) == 0 {
		s.buf = append(s.buf, copyTrailer...)
		s.ended = true
	}
}

func (s *copyStream) field(b []byte) {
	s.buf = binary.BigEndian.AppendUint32(s.buf, uint32(len(b)))
	s.buf = append(s.buf, b...)
}

// copyTrailer ends a stream.
const copyTrailer = "\xff\xff"

// copyJoin makes one stream of several: the header of the first, all rows, and one
// trailer.
type copyJoin struct {
	w       *bufio.Writer
	streams int
	skip    int    // bytes of the header that are still to come
	held    []byte // the last bytes, which may be the trailer
}

// begin is called before each stream.
func (j *copyJoin) begin() {
	j.held, j.skip = j.held[:0], 0
	if j.streams++; j.streams > 1 {
		j.skip = len(copyHeader)
	}
}

// Write serves io.Writer.
func (j *copyJoin) Write(b []byte) (int, error) {
	n := len(b)
	skipped := min(j.skip, n)
	j.skip -= skipped
	j.held = append(j.held, b[skipped:]...)
	if over := len(j.held) - len(copyTrailer); over > 0 {
		if _, err := j.w.Write(j.held[:over]); err != nil {
			return 0, err
		}
		j.held = append(j.held[:0], j.held[over:]...)
	}
	return n, nil
}

// end writes the trailer.
func (j *copyJoin) end() error {
	if _, err := j.w.WriteString(copyTrailer); err != nil {
		return err
	}
	return j.w.Flush()
}
