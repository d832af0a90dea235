package get

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"chainexplorer/internal/arrange"
)

// first are the columns that people look for, in this order; the others follow as they come.
var first = []string{"blockNumber", "timestampIso", "name", "symbol", "kind", "eventName", "txType", "primaryMethod", "standard", "amount", "status", "executionStatus", "finalityStatus", "txHash", "txIndex", "logIndex", "address", "holder", "fromAddress", "toAddress", "tokenAddress", "balance", "blockHash"}

// table lays items out in columns. On a terminal there are as many as fit, with felts
// shortened; elsewhere all, in full.
type table struct {
	width   int // of the terminal; 0 for none
	columns []string
	sizes   []int // of the columns, kept so that later rows stand below the first
	rows    []map[string]string
}

func (t *table) add(raw json.RawMessage) {
	row := map[string]string{}
	var names []string
	for _, m := range object(raw) {
		if text, ok := scalar(m.value); ok {
			if t.width > 0 {
				text = short(text)
			}
			row[m.name] = text
			names = append(names, m.name)
		}
	}
	t.rows = append(t.rows, row)
	if t.sizes != nil {
		return // the columns are chosen
	}
	for _, name := range names {
		if !slices.Contains(t.columns, name) {
			t.columns = append(t.columns, name)
		}
	}
}

// choose orders the columns, leaves out those without a value, and cuts what does not fit.
func (t *table) choose(width int) {
	arrange.StablyBy(t.columns, func(a, b string) int { return rank(a) - rank(b) })
	var columns []string
	used := 0
	for _, name := range t.columns {
		size, there := utf8.RuneCountInString(heading(name)), t.width == 0
		for _, row := range t.rows {
			size = max(size, utf8.RuneCountInString(row[name]))
			there = there || row[name] != "" && row[name] != "–"
		}
		if !there {
			continue
		}
		if width > 0 && used+size > width && len(columns) > 0 {
			continue // a narrower one may still fit
		}
		columns, t.sizes = append(columns, name), append(t.sizes, size)
		used += size + 2
	}
	t.columns = columns
}

// heading is the name of a column for people: blockNumber is BLOCK NUMBER.
func heading(name string) string {
	return strings.ToUpper(strings.ReplaceAll(flagName(name), "-", " "))
}

func rank(name string) int {
	if i := slices.Index(first, name); i >= 0 {
		return i
	}
	return len(first)
}

func (t *table) write(b *strings.Builder, indent string) {
	if len(t.rows) == 0 {
		return
	}
	line := func(cell func(name string) string) {
		var l strings.Builder
		for i, name := range t.columns {
			text := cell(name)
			l.WriteString(text)
			l.WriteString(strings.Repeat(" ", max(t.sizes[i]-utf8.RuneCountInString(text), 0)+2))
		}
		b.WriteString(indent + strings.TrimRight(l.String(), " ") + "\n")
	}
	if t.sizes == nil {
		t.choose(t.width)
		line(heading)
	}
	for _, row := range t.rows {
		line(func(name string) string { return row[name] })
	}
}
