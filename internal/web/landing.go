package web

import (
	"html/template"
	"strconv"
	"time"
)

// Landing is the first page: what the service is, how the chains are, and how
// to begin.
type Landing struct {
	Chains []ChainFacts
	Calls  []Call
}

// Call is a first request to try.
type Call struct {
	Purpose string
	Code    Code
}

// ChainFacts is what the index knows of a chain. While it has no block, Cards,
// Blocks and Transactions are empty and Note says why.
type ChainFacts struct {
	Anchor       string // unique on the page
	ID           string
	State        string // shown beside the name
	Tone         string // good, warn or bad
	Note         string
	Cards        []Card
	Blocks       []BlockRow
	Transactions []TransactionRow
}

// Card is a fact with a large value.
type Card struct {
	Label, Value, Note string
	Time               time.Time // shown below the value unless zero
}

// BlockRow is a block in the list.
type BlockRow struct {
	Number, Transactions, Events uint64
	Time                         time.Time
	Hash, Finality, Version      string
}

// TransactionRow is a transaction in the list.
type TransactionRow struct {
	Hash, Type, Status, From string
	Block                    uint64
	Time                     time.Time
}

// Body renders the page below the layout.
func (l Landing) Body() (template.HTML, error) { return render("landing.html", l) }

// Group writes a number with separators, such as 1,234,567.
func Group(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// stamp renders a moment for people and for programs.
func stamp(t time.Time) template.HTML {
	t = t.UTC()
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `">` + t.Format("2006-01-02 15:04:05") + ` UTC</time>`) //nolint:gosec // digits and fixed text
}
