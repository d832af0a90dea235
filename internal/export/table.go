package export

import (
	"fmt"
	"strconv"

	"chainexplorer/internal/parquet"
)

const (
	// A row group ends at the first of these. What it holds before it is written is the
	// memory that a file takes, so both bound it, however large single rows are.
	groupRows  = 100_000
	groupBytes = 16 << 20
)

// row is a row of a family.
type row interface {
	// cells tells every column with its value, in their order.
	cells(*cells)
}

// table encodes rows of one kind into a file. The bytes depend on the rows and the
// metadata alone.
type table struct {
	file  *file
	meta  map[string]string
	w     *parquet.Writer
	cells cells
	rows  int64 // of this row group
	bytes int64
}

// newTable begins a table of a schema's name, with the columns of a row.
func newTable(f *file, meta map[string]string, schema string, empty row) *table {
	t := &table{file: f, meta: meta, w: parquet.New(f, schema, "chainexplorer")}
	t.cells.schema = t.w
	empty.cells(&t.cells)
	t.cells.schema = nil
	return t
}

// add takes a row of about so many bytes.
func (t *table) add(r row, size int) error {
	t.cells.next = 0
	r.cells(&t.cells)
	t.w.EndRow()
	t.rows++
	t.file.rows++
	t.bytes += int64(size)
	if t.rows < groupRows && t.bytes < groupBytes {
		return nil
	}
	t.rows, t.bytes = 0, 0
	if err := t.w.Flush(); err != nil {
		return fmt.Errorf("end a row group: %w", err)
	}
	return nil
}

// end writes what is left, and the footer.
func (t *table) end() error {
	t.meta["chainexplorer.rows"] = strconv.FormatInt(t.file.rows, 10)
	if err := t.w.Close(t.meta); err != nil {
		return fmt.Errorf("end the file: %w", err)
	}
	return nil
}
