package postgres

import (
	"encoding/binary"
	"io"

	"chainexplorer/internal/store"
)

// copyHeader begins a stream of COPY in binary form: signature, flags, and the
// length of an extension that we do not use.
const copyHeader = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"

// copyChunk is how much of a stream is made at a time.
const copyChunk = 128 << 10

// copyStream writes changes in the form of COPY without holding them all.
type copyStream struct {
	rows  []*store.Op
	stage bool // led by the table's id, for the staging table
	buf   []byte
	read  int
	begun bool
	ended bool
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
	for len(s.rows) > 0 && len(s.buf) < copyChunk {
		op := s.rows[0]
		s.rows = s.rows[1:]
		if s.stage {
			s.buf = binary.BigEndian.AppendUint16(s.buf, 4)
			s.buf = binary.BigEndian.AppendUint32(s.buf, 2)
			s.buf = binary.BigEndian.AppendUint16(s.buf, uint16(op.Table.ID))
		} else {
			s.buf = binary.BigEndian.AppendUint16(s.buf, 3)
		}
		for _, field := range [3][]byte{op.Partition, op.Sort, op.Value} {
			s.buf = binary.BigEndian.AppendUint32(s.buf, uint32(len(field)))
			s.buf = append(s.buf, field...)
		}
	}
	if len(s.rows) == 0 {
		s.buf = append(s.buf, 0xff, 0xff) // the trailer
		s.ended = true
	}
}
