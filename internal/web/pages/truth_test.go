package pages_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"chainexplorer/internal/servertest"
)

// What pages show is compared with the simulated chain alone, which knows everything that
// happened: each value with the word that it stands beside.

// truthBlocks is the length of the chain whose pages are all read.
const truthBlocks = 60

// shown is what a page shows.
type shown struct {
	path string
	// facts are the exact values beside a term, and rows those of each row of a table, by
	// the label of their cell, by the heading of the table's section.
	facts map[string][]string
	rows  map[string][]map[string][]string
	title []string // of the first heading
	texts map[string]string
	all   []string
	next  string
	// every is all exact values, those of sentences, too; numbers are the tables of charts, by
	// section, a text for each row.
	every   []string
	numbers map[string][]string
	html    string
	heading string
}

// reads parses a page below the chain.
func (w *world) reads(path string) *shown {
	w.T.Helper()
	return w.parsed(path, w.page(path))
}

// readsOf parses any page.
func (w *world) readsOf(path string) *shown {
	w.T.Helper()
	return w.parsed(path, w.look(path, http.StatusOK))
}

func (w *world) parsed(path, text string) *shown {
	w.T.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		w.T.Fatal(err)
	}
	s := &shown{path: path, html: text, every: exact(root), facts: map[string][]string{}, rows: map[string][]map[string][]string{}, texts: map[string]string{}, numbers: map[string][]string{}}
	section, term := "", ""
	for n := range root.Descendants() {
		switch n.Data {
		case "h1":
			s.title, s.heading = exact(n), textOf(n)
		case "h2":
			section = attribute(n, "id")
		case "dt":
			term = textOf(n)
		case "dd":
			s.facts[term] = append(s.facts[term], exact(n)...)
			s.texts[term] += textOf(n)
		case "tr":
			if row := rowOf(n); row != nil {
				s.rows[section] = append(s.rows[section], row)
			} else if number := numberOf(n); number != "" {
				s.numbers[section] = append(s.numbers[section], number)
			}
		case "a":
			if attribute(n, "rel") == "next" && n.Parent != nil && attribute(n.Parent, "class") == "pager" {
				s.next = attribute(n, "href")
			}
		}
	}
	s.all = apart(root, nil)
	return s
}

// rowOf is a row of a table, by the labels of its cells; nil for a head.
func rowOf(tr *html.Node) map[string][]string {
	row := map[string][]string{}
	for td := range tr.ChildNodes() {
		if label := attribute(td, "data-label"); label != "" {
			if row[label] = exact(td); row[label] == nil {
				row[label] = []string{textOf(td)}
			}
		}
	}
	if len(row) == 0 {
		return nil
	}
	return row
}

// numberOf is a row of the table behind a chart; "" for a head.
func numberOf(tr *html.Node) (text string) {
	for c := range tr.ChildNodes() {
		switch {
		case attribute(c, "scope") == "row":
			text = textOf(c)
		case c.Data == "td" && text != "":
			text += ": " + textOf(c)
		}
	}
	return strings.ReplaceAll(text, ",", "")
}

// exact are the exact values in an element, in order.
func exact(n *html.Node) (values []string) {
	for d := range n.Descendants() {
		if v := attribute(d, "data-value"); v != "" {
			values = append(values, v)
		}
	}
	return values
}

// apart are the exact values outside of sentences.
func apart(n *html.Node, values []string) []string {
	if slices.Contains(strings.Fields(attribute(n, "class")), "words") {
		return values
	}
	if v := attribute(n, "data-value"); v != "" {
		values = append(values, v)
	}
	for c := range n.ChildNodes() {
		values = apart(c, values)
	}
	return values
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// is compares the values beside a term.
func (s *shown) is(t *testing.T, term string, want ...any) {
	t.Helper()
	var texts []string
	for _, v := range want {
		texts = append(texts, fmt.Sprint(v))
	}
	if got := s.facts[term]; !slices.Equal(got, texts) {
		t.Errorf("%s: %s is %q, want %q", s.path, term, got, texts)
	}
}

func iso(seconds uint64) string { return time.Unix(int64(seconds), 0).UTC().Format(time.RFC3339) }

// TestBlocksAreTrue compares the page of every block with the chain.
func TestBlocksAreTrue(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	for n := range uint64(truthBlocks) {
		b := w.Chain.BlockAt(n)
		s := w.reads(fmt.Sprintf("/block/%d", n))
		events := 0
		for i := range b.Receipts {
			events += len(b.Receipts[i].Events)
		}
		if want := []string{fmt.Sprint(n)}; !slices.Equal(s.title, want) {
			t.Errorf("%s: the title has %q", s.path, s.title)
		}
		s.is(t, "Time", iso(b.Timestamp))
		s.is(t, "Transactions", len(b.Transactions))
		s.is(t, "Events", events)
		s.is(t, "Built by", b.Sequencer)
		s.is(t, "Hash", b.Hash)
		s.is(t, "Parent", b.ParentHash)
		rows := s.rows["transactions"]
		if len(rows) != len(b.Transactions) {
			t.Errorf("%s: %d rows of %d transactions", s.path, len(rows), len(b.Transactions))
			continue
		}
		for i, row := range rows {
			if tx := &b.Transactions[i]; !slices.Equal(row["Hash"], []string{tx.Hash.String()}) || !slices.Equal(row["#"], []string{fmt.Sprint(i)}) {
				t.Errorf("%s: row %d is %v", s.path, i, row)
			}
		}
	}
}

// truePaths are the pages of a chain that are compared with the answers behind them.
func truePaths(w *world) (paths []string) {
	for n := range uint64(truthBlocks) {
		paths = append(paths, fmt.Sprintf("/block/%d", n))
	}
	return paths
}

// TestAsOf: a page says the head that it was made at, and how far below things are settled.
func TestAsOf(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	root, err := html.Parse(strings.NewReader(w.page("/block/55")))
	if err != nil {
		t.Fatal(err)
	}
	head, _ := w.Chain.Head()
	l1, _ := w.Chain.L1Head()
	for n := range root.Descendants() {
		if attribute(n, "class") == "as-of" {
			if got, want := exact(n), []string{fmt.Sprint(head), iso(w.Chain.BlockAt(head).Timestamp), fmt.Sprint(head - servertest.Depth), fmt.Sprint(l1)}; !slices.Equal(got, want) {
				t.Errorf("it is as of %q, want %q", got, want)
			}
			return
		}
	}
	t.Error("it does not say as of which block it is")
}
