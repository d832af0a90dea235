package parquet_test

import (
	"bytes"
	"encoding/binary"
	"errors"
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

// TestRandomRecords writes files of many sizes.
func TestRandomRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ rows, group int }{{0, 1}, {1, 1}, {1, 9}, {2, 1}, {7, 7}, {8, 8}, {9, 4}, {500, 63}, {3000, 2999}, {30_000, 30_000}} {
		records := make([]record, c.rows)
		for i := range records {
			records[i] = random(r)
		}
		f := check(t, records, c.group)
		for key, want := range map[string]string{"a": "1", "b": "2", "c": ""} {
			if got, there := f.Lookup(key); got != want || !there {
				t.Errorf("%s is %q", key, got)
			}
		}
		if f.Metadata().CreatedBy != "a program" || f.Root().Name() != "record" {
			t.Errorf("a %s by %s", f.Root().Name(), f.Metadata().CreatedBy)
		}
	}
}

// FuzzRecords writes as many random records as it is told to.
func FuzzRecords(f *testing.F) {
	f.Add(uint64(1), uint16(10), uint16(3))
	f.Fuzz(func(t *testing.T, seed uint64, rows, group uint16) {
		r := rand.New(rand.NewPCG(seed, 0))
		records := make([]record, rows%2000)
		for i := range records {
			records[i] = random(r)
		}
		check(t, records, int(group)+1)
	})
}

// TestRuns writes numbers in runs of all lengths about those at which their encoding changes, of every width.
func TestRuns(t *testing.T) {
	for _, kinds := range []int{1, 2, 3, 5, 129, 300, 70_000} {
		r := rand.New(rand.NewPCG(3, uint64(kinds)))
		var records []record
		for len(records) < 2*kinds+2000 {
			v := record{Int32Dict: int32(r.IntN(kinds)), TextDict: "t", List: []string{}, ListDict: []string{}, Numbers: []int64{}}
			if kinds > 2000 {
				v.Int32Dict = int32(len(records) % kinds)
			}
			if r.IntN(2) == 0 {
				v.Int64If = new(int64)
			}
			for range []int{1, 2, 7, 8, 9, 15, 16, 17, 504, 505, 513}[r.IntN(11)] {
				records = append(records, v)
				if kinds > 2000 {
					break
				}
			}
		}
		check(t, records, len(records))
	}
}

// TestNothingIsThere writes columns in which no row has a value.
func TestNothingIsThere(t *testing.T) {
	records := make([]record, 1000)
	for i := range records {
		records[i] = record{List: []string{}, ListDict: []string{}, Numbers: []int64{}}
	}
	check(t, records, 600)
}

// TestLargeDictionaries: a column whose values are all different goes on without a
// dictionary, and has one again in the next row group.
func TestLargeDictionaries(t *testing.T) {
	records := make([]record, 90_000)
	for i := range records {
		text := fmt.Sprintf("0x%064x", i*7919)
		records[i] = record{TextDict: text, TextIfDict: &text, List: []string{}, ListDict: []string{text, "same"}, Numbers: []int64{}}
		if i >= 60_000 {
			records[i].TextDict = "same"
		}
	}
	f := check(t, records, 60_000)
	encodings := func(group int, name string) (dictionary, plain int) {
		for _, c := range f.Metadata().RowGroups[group].Columns {
			if c.MetaData.PathInSchema[0] == name {
				for _, s := range c.MetaData.EncodingStats {
					switch {
					case s.PageType == 0 && s.Encoding == 8:
						dictionary = int(s.Count)
					case s.PageType == 0:
						plain = int(s.Count)
					}
				}
			}
		}
		return dictionary, plain
	}
	for _, name := range []string{"text_dict", "text_if_dict", "list_dict"} {
		if d, p := encodings(0, name); d == 0 || p == 0 {
			t.Errorf("%s has %d pages with a dictionary and %d without", name, d, p)
		}
	}
	if d, p := encodings(1, "text_dict"); d == 0 || p != 0 {
		t.Errorf("in the next row group %d pages with a dictionary and %d without", d, p)
	}
}

// TestLargeValues writes texts and lists that are larger than a page, and bounds that are
// longer than an index has them.
func TestLargeValues(t *testing.T) {
	var records []record
	for i, text := range []string{strings.Repeat("x", 1<<20), strings.Repeat("é", 50), strings.Repeat("\U0010ffff", 30), "short", strings.Repeat("a", 66) + "b", strings.Repeat("\xff", 100)} {
		long := make([]string, 20_000)
		for j := range long {
			long[j] = fmt.Sprint(text[:min(len(text), 60)], i, j)
		}
		records = append(records, record{Text: text, TextDict: text, TextIf: &text, List: long, ListDict: long, Numbers: []int64{}})
	}
	f := check(t, records, 2)
	for _, c := range f.Metadata().RowGroups[0].Columns {
		if len(c.MetaData.Statistics.MaxValue) > 4096 {
			t.Errorf("a bound in the footer has %d bytes", len(c.MetaData.Statistics.MaxValue))
		}
	}
	for i, list := range f.ColumnIndexes() {
		for _, m := range list.MaxValues {
			if len(m) > 66 && !bytes.HasPrefix(m, []byte("\xff")) && !bytes.HasPrefix(m, []byte("\U0010ffff")) {
				t.Errorf("index %d has a bound of %d bytes", i, len(m))
			}
		}
	}
}

// TestMistakes: whoever gives a column what it cannot have is told.
func TestMistakes(t *testing.T) {
	for name, mistake := range map[string]func(map[string]*parquet.Column){
		"another type":          func(c map[string]*parquet.Column) { c["int32"].Int64(1) },
		"another length":        func(c map[string]*parquet.Column) { c["low"].Decimal(make([]byte, 12)) },
		"no value":              func(c map[string]*parquet.Column) { c["text"].Null() },
		"no list":               func(c map[string]*parquet.Column) { c["text"].BeginList(1) },
		"a value behind a list": func(c map[string]*parquet.Column) { c["list"].Text(nil) },
		"a list within another": func(c map[string]*parquet.Column) { c["list"].BeginList(2); c["list"].BeginList(0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: nobody noticed", name)
				}
			}()
			mistake(newSheet(new(bytes.Buffer)).columns)
		}()
	}
	s := newSheet(new(bytes.Buffer))
	s.columns["int32"].Int32(1)
	s.EndRow()
	if err := s.Flush(); err == nil || !strings.Contains(err.Error(), "bool has 0 of 1 rows") {
		t.Errorf("a row that lacks columns: %v", err)
	}
}

var errFull = errors.New("full")

// disk takes so many bytes.
type disk int

func (d *disk) Write(b []byte) (int, error) {
	if len(b) > int(*d) {
		return 0, errFull
	}
	*d -= disk(len(b))
	return len(b), nil
}

// TestFullDisk: the first failure is told, at the latest by Close.
func TestFullDisk(t *testing.T) {
	for _, room := range []disk{0, 1000, 70_000, 300_000} {
		w := parquet.New(&room, "s", "p")
		c := w.Add(parquet.Field{Name: "n", Type: parquet.Int64})
		r := rand.New(rand.NewPCG(5, 6))
		for i := range 50_000 {
			c.Int64(int64(r.Uint64()))
			w.EndRow()
			if i%9000 == 0 {
				w.Flush() //nolint:errcheck // Close tells it
			}
		}
		if err := w.Close(nil); !errors.Is(err, errFull) {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
	}
}
