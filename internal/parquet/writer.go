package parquet

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
)

const (
	magic       = "PAR1"
	bufferBytes = 64 << 10
)

// Writer writes a file. Rows are kept until their row group ends.
type Writer struct {
	out     *bufio.Writer
	schema  string
	program string
	columns []*Column
	offset  int64
	rows    int64 // of the row group that is open
	groups  []rowGroup
	err     error // the first

	// What pages are made in.
	raw, packed []byte
	indexes     hybrid
}

// rowGroup is what the footer says of one.
type rowGroup struct {
	rows   int64
	chunks []chunk // without their data
}

// New begins a file of a schema of this name, written by this program.
func New(out io.Writer, schema, program string) *Writer {
	return &Writer{out: bufio.NewWriterSize(out, bufferBytes), schema: schema, program: program}
}

// Add adds a column to the schema. All are added before the first row.
func (w *Writer) Add(f Field) *Column {
	c := &Column{Field: f, w: w}
	if f.Dictionary {
		c.dict = &dictionary{prefixed: f.Type.physical == byteArray}
	}
	c.beginPage()
	w.columns = append(w.columns, c)
	return c
}

// EndRow ends a row, of which every column has got its part.
func (w *Writer) EndRow() { w.rows++ }

// Flush ends a row group, if it has rows, and writes it.
func (w *Writer) Flush() error {
	if w.rows == 0 {
		return w.err
	}
	g := rowGroup{rows: w.rows}
	w.begin()
	for _, c := range w.columns {
		c.endPage()
		c.endDictionary()
		if c.chunk.rows != w.rows || c.left > 0 {
			return w.fail(fmt.Errorf("%s has %d of %d rows, and lacks %d values of its last list", c.Name, c.chunk.rows, w.rows, c.left))
		}
		c.chunk.offset = w.offset
		w.write(c.chunk.dictionary)
		w.write(c.chunk.data)
		g.chunks = append(g.chunks, c.endChunk())
	}
	w.groups = append(w.groups, g)
	w.rows = 0
	return w.err
}

// Close ends the last row group and writes the footer, with some metadata. The file below is
// not closed.
func (w *Writer) Close(metadata map[string]string) error {
	if err := w.Flush(); err != nil {
		return err
	}
	w.begin()
	w.footer(slices.Sorted(maps.Keys(metadata)), metadata)
	if w.err != nil {
		return w.err
	}
	return w.fail(w.out.Flush())
}

// begin writes what stands before everything else.
func (w *Writer) begin() {
	if w.offset == 0 {
		w.write([]byte(magic))
	}
}

// write writes unless something has failed.
func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.out.Write(b)
	w.offset += int64(n)
	w.fail(err) //nolint:errcheck // it is kept
}

// fail keeps the first error.
func (w *Writer) fail(err error) error {
	if w.err == nil && err != nil {
		w.err = fmt.Errorf("parquet: %w", err)
	}
	return w.err
}
