package parquet_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	peer "github.com/parquet-go/parquet-go"

	"chainexplorer/internal/parquet"
)

// record has a column of every kind; a peer that knows nothing of this package reads it.
type record struct {
	Bool       bool      `parquet:"bool"`
	Int32      int32     `parquet:"int32"`
	Int32Dict  int32     `parquet:"int32_dict"`
	Int64      int64     `parquet:"int64"`
	Int64If    *int64    `parquet:"int64_if,optional"`
	Uint64     uint64    `parquet:"uint64"`
	Moment     int64     `parquet:"moment,timestamp(millisecond)"`
	Text       string    `parquet:"text"`
	TextDict   string    `parquet:"text_dict"`
	TextIf     *string   `parquet:"text_if,optional"`
	TextIfDict *string   `parquet:"text_if_dict,optional"`
	Low        [11]byte  `parquet:"low,decimal(0:26)"`
	HighIf     *[16]byte `parquet:"high_if,optional,decimal(0:38)"`
	List       []string  `parquet:"list,list"`
	ListDict   []string  `parquet:"list_dict,list"`
	Numbers    []int64   `parquet:"numbers,list"`
}

// sheet is a file of records that is being written.
type sheet struct {
	*parquet.Writer
	columns map[string]*parquet.Column
}

func newSheet(out *bytes.Buffer) *sheet {
	s := &sheet{parquet.New(out, "record", "a program"), map[string]*parquet.Column{}}
	for _, f := range []parquet.Field{
		{Name: "bool", Type: parquet.Bool}, {Name: "int32", Type: parquet.Int32}, {Name: "int32_dict", Type: parquet.Int32, Dictionary: true},
		{Name: "int64", Type: parquet.Int64}, {Name: "int64_if", Type: parquet.Int64, Optional: true}, {Name: "uint64", Type: parquet.Uint64},
		{Name: "moment", Type: parquet.Timestamp, Dictionary: true}, {Name: "text", Type: parquet.Text}, {Name: "text_dict", Type: parquet.Text, Dictionary: true},
		{Name: "text_if", Type: parquet.Text, Optional: true}, {Name: "text_if_dict", Type: parquet.Text, Optional: true, Dictionary: true},
		{Name: "low", Type: parquet.Decimal(26)}, {Name: "high_if", Type: parquet.Decimal(38), Optional: true, Dictionary: true},
		{Name: "list", Type: parquet.Text, List: true}, {Name: "list_dict", Type: parquet.Text, List: true, Dictionary: true},
		{Name: "numbers", Type: parquet.Int64, List: true},
	} {
		s.columns[f.Name] = s.Add(f)
	}
	return s
}

// either gives a value that may be missing to a column.
func either[T any](c *parquet.Column, v *T, put func(T)) {
	if v == nil {
		c.Null()
	} else {
		put(*v)
	}
}

func (s *sheet) add(r *record) {
	c := s.columns
	texts := func(c *parquet.Column, list []string) {
		c.BeginList(len(list))
		for _, v := range list {
			c.Text([]byte(v))
		}
	}
	text := func(c *parquet.Column) func(string) { return func(v string) { c.Text([]byte(v)) } }
	c["bool"].Bool(r.Bool)
	c["int32"].Int32(r.Int32)
	c["int32_dict"].Int32(r.Int32Dict)
	c["int64"].Int64(r.Int64)
	either(c["int64_if"], r.Int64If, c["int64_if"].Int64)
	c["uint64"].Uint64(r.Uint64)
	c["moment"].Int64(r.Moment)
	text(c["text"])(r.Text)
	text(c["text_dict"])(r.TextDict)
	either(c["text_if"], r.TextIf, text(c["text_if"]))
	either(c["text_if_dict"], r.TextIfDict, text(c["text_if_dict"]))
	c["low"].Decimal(r.Low[:])
	either(c["high_if"], r.HighIf, func(v [16]byte) { c["high_if"].Decimal(v[:]) })
	texts(c["list"], r.List)
	texts(c["list_dict"], r.ListDict)
	c["numbers"].BeginList(len(r.Numbers))
	for _, n := range r.Numbers {
		c["numbers"].Int64(n)
	}
	s.EndRow()
}

// write is a file of records, with a row group behind each of so many.
func write(t testing.TB, records []record, group int) []byte {
	t.Helper()
	var out bytes.Buffer
	s := newSheet(&out)
	for i := range records {
		s.add(&records[i])
		if (i+1)%group == 0 {
			if err := s.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Close(map[string]string{"b": "2", "a": "1", "c": ""}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func open(t testing.TB, file []byte) *peer.File {
	t.Helper()
	f, err := peer.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// read lets the peer read a file.
func read(t testing.TB, file []byte) []record {
	t.Helper()
	got, err := peer.Read[record](bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range got { // what it makes of empty lists is its own
		r := &got[i]
		r.List, r.ListDict, r.Numbers = append([]string{}, r.List...), append([]string{}, r.ListDict...), append([]int64{}, r.Numbers...)
	}
	return got
}

// check holds a file against its records, and every bound and place in it against its values.
func check(t *testing.T, records []record, group int) *peer.File {
	t.Helper()
	file := write(t, records, group)
	if !bytes.Equal(file, write(t, records, group)) {
		t.Error("the same records give other bytes")
	}
	got := read(t, file)
	if len(got) != len(records) {
		t.Fatalf("%d records of %d", len(got), len(records))
	}
	for i := range records {
		if !reflect.DeepEqual(got[i], records[i]) {
			t.Fatalf("record %d:\n%+v\nwant\n%+v", i, got[i], records[i])
		}
	}
	f := open(t, file)
	if want := (len(records) + group - 1) / group; len(f.RowGroups()) != want || f.NumRows() != int64(len(records)) {
		t.Errorf("%d row groups of %d rows, want %d of %d", len(f.RowGroups()), f.NumRows(), want, len(records))
	}
	for i, g := range f.RowGroups() {
		for j, chunk := range g.ColumnChunks() {
			checkChunk(t, f, i, j, chunk)
		}
	}
	return f
}

// checkChunk reads a chunk page by page, each at the place that the index says.
func checkChunk(t *testing.T, f *peer.File, group, column int, chunk peer.ColumnChunk) {
	t.Helper()
	meta := f.Metadata().RowGroups[group].Columns[column].MetaData
	name := strings.Join(meta.PathInSchema, ".")
	bounds, err := chunk.ColumnIndex()
	if err != nil {
		t.Fatal(err)
	}
	places, err := chunk.OffsetIndex()
	if err != nil {
		t.Fatal(err)
	}
	order := chunk.Type().Compare
	if strings.Contains(chunk.Type().String(), "DECIMAL") {
		order = func(a, b peer.Value) int { return signed(a.ByteArray()).Cmp(signed(b.ByteArray())) }
	}
	pages := chunk.Pages()
	defer pages.Close() //nolint:errcheck // in memory
	var least, most peer.Value
	row, values, missing := int64(0), int64(0), int64(0)
	for n := range places.NumPages() {
		if places.FirstRowIndex(n) != row {
			t.Fatalf("page %d of %s begins with row %d, not %d", n, name, places.FirstRowIndex(n), row)
		}
		if err := pages.SeekToRow(row); err != nil {
			t.Fatal(err)
		}
		page, err := pages.ReadPage()
		if err != nil {
			t.Fatalf("page %d of %s: %v", n, name, err)
		}
		list := make([]peer.Value, page.NumValues())
		if k, _ := page.Values().ReadValues(list); int64(k) != page.NumValues() || list[0].RepetitionLevel() > 0 {
			t.Fatalf("page %d of %s has %d of %d values, or begins within a row", n, name, k, len(list))
		}
		row += page.NumRows()
		values += int64(len(list))
		nulls := int64(0)
		low, high := bounds.MinValue(n), bounds.MaxValue(n)
		there := slices.DeleteFunc(slices.Clone(list), peer.Value.IsNull)
		for _, v := range there {
			if order(v, low) < 0 || order(v, high) > 0 {
				t.Fatalf("%s on page %d of %s, which is from %s to %s", v, n, name, low, high)
			}
			if least.IsNull() || order(v, least) < 0 {
				least = v.Clone()
			}
			if most.IsNull() || order(v, most) > 0 {
				most = v.Clone()
			}
		}
		if nulls = int64(len(list) - len(there)); nulls != bounds.NullCount(n) || bounds.NullPage(n) != (len(there) == 0) {
			t.Errorf("page %d of %s lacks %d values, the index says %d", n, name, nulls, bounds.NullCount(n))
		}
		missing += nulls
		peer.Release(page)
	}
	if row != f.Metadata().RowGroups[group].NumRows || values != meta.NumValues || missing != meta.Statistics.NullCount {
		t.Errorf("%s has %d rows, %d values and %d missing, the footer says %d values and %d", name, row, values, missing, meta.NumValues, meta.Statistics.NullCount)
	}
	if s := meta.Statistics; s.MinValue != nil && (!bytes.Equal(s.MinValue, least.Bytes()) || !bytes.Equal(s.MaxValue, most.Bytes())) {
		t.Errorf("%s is from %x to %x, the footer says %x to %x", name, least.Bytes(), most.Bytes(), s.MinValue, s.MaxValue)
	} else if has := s.MinValue != nil; has != (!least.IsNull() && len(least.Bytes()) <= 4096 && len(most.Bytes()) <= 4096) {
		t.Errorf("%s: bounds in the footer: %v", name, has)
	}
}

// signed reads a decimal.
func signed(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 8*uint(len(b))))
	}
	return n
}

// random is a record of values among which some are at the ends of their types.
func random(r *rand.Rand) (v record) {
	ends := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt32, math.MinInt32}
	number := func() int64 {
		if r.IntN(2) == 0 {
			return ends[r.IntN(len(ends))]
		}
		return int64(r.Uint64())
	}
	text := func() string {
		letters := []string{"", "a", "0x", "é", "\U0010ffff", "\x00", "ﬀ", "퟿"}
		var b strings.Builder
		for range r.IntN(5) {
			b.WriteString(strings.Repeat(letters[r.IntN(len(letters))], 1+r.IntN(40)))
		}
		return b.String()
	}
	few := func() string { return fmt.Sprint("value ", r.IntN(7)) }
	texts := func(one func() string) []string {
		list := []string{}
		for range max(0, r.IntN(7)-2) {
			list = append(list, one())
		}
		return list
	}
	v = record{Bool: r.IntN(3) == 0, Int32: int32(number()), Int32Dict: int32(r.IntN(9) - 4), Int64: number(), Uint64: uint64(number()), Moment: r.Int64N(5),
		Text: text(), TextDict: few(), List: texts(text), ListDict: texts(few), Numbers: []int64{}}
	if r.IntN(3) > 0 {
		n, a, b := number(), text(), few()
		v.Int64If, v.TextIf, v.TextIfDict, v.HighIf = &n, &a, &b, new([16]byte)
		binary.BigEndian.PutUint64(v.HighIf[8:], uint64(r.IntN(4)))
		if r.IntN(2) == 0 {
			v.HighIf[0] = 0x80
		}
	}
	for i := range v.Low {
		v.Low[i] = byte(r.Uint32())
	}
	for range r.IntN(4) {
		v.Numbers = append(v.Numbers, number())
	}
	return v
}
