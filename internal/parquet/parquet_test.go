package parquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"chainexplorer/internal/parquet"
)

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
		for len(records) < kinds+2000 {
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
	records := make([]record, 45_000)
	for i := range records {
		text := fmt.Sprintf("0x%064x", i*7919)
		records[i] = record{TextDict: text, TextIfDict: &text, List: []string{}, ListDict: []string{text, "same"}, Numbers: []int64{}}
		if i >= 38_000 {
			records[i].TextDict = "same"
		}
	}
	f := check(t, records, 38_000)
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
