package pages

import (
	"html/template"
	"net/url"
	"strconv"
	"strings"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

const (
	// partRows is how many calls, transfers or events a page of them shows.
	partRows = 50
	// mostLogs is how many events of a transaction the API shows.
	mostLogs = 1000
)

// partView is a page of one part of a transaction.
type partView struct {
	*txView
	Name  string
	Shown int
	All   int
	// Beyond is how many there are that no page reaches.
	Beyond int
	List   template.HTML
	Pager  pager
}

// txCallsPage, txTransfersPage and txEventsPage list all of what the transaction's page begins
// with. The answer of the API holds all of it: their pages are cut out of one answer.
func txCallsPage(l *look) (*sheet, error) {
	return partPage(l, "calls", 1, func(v *txView) int { return len(v.Calls()) }, func(v *txView) int { return v.AllCalls() },
		func(v *txView, from, to int) template.HTML { return v.L.CallList(v.Calls()[from:to], from) })
}

func txTransfersPage(l *look) (*sheet, error) {
	return partPage(l, "transfers", 1, func(v *txView) int { return len(v.Moves) }, func(v *txView) int { return max(len(v.Moves), v.Told.TransferCount) },
		func(v *txView, from, to int) template.HTML { return v.Moved(v.Moves[from:to]) })
}

func txEventsPage(l *look) (*sheet, error) {
	from, err := l.from()
	if err != nil {
		return nil, err
	}
	return partPage(l, "events", min(from+partRows, mostLogs), func(v *txView) int { return min(v.T.LogCount, mostLogs) }, func(v *txView) int { return v.T.LogCount },
		func(v *txView, from, to int) template.HTML { return v.L.LogList(v.T.Logs[from:to]) })
}

// partPage lists one part of a transaction. reach is how many the answer can hold, all how
// many there are.
func partPage(l *look, name string, logs int, reach, all func(*txView) int, list func(v *txView, from, to int) template.HTML) (*sheet, error) {
	from, err := l.from()
	if err != nil {
		return nil, err
	}
	t, s, err := l.transaction(logs)
	if err != nil {
		return nil, err
	}
	n := reach(t)
	from = min(from, n)
	to := min(from+partRows, n)
	v := &partView{txView: t, Name: name, Shown: to - from, All: all(t), Beyond: all(t) - n}
	if to > from {
		v.List = list(t, from, to)
	}
	if from > 0 {
		v.Pager.First = l.r.URL.EscapedPath()
	}
	if to < n {
		v.Pager.Next = withQuery(l.r.URL.EscapedPath(), url.Values{"from": {strconv.Itoa(to)}})
	}
	hash := t.T.TxHash.String()
	s.name, s.data = "txpart.html", v
	s.trail = append(s.trail, web.Link{Text: s.title, Href: l.Href("tx", hash)})
	s.title = strings.ToUpper(name[:1]) + name[1:] + " of transaction " + shorten(hash)
	return s, nil
}

// from is where a page of a part begins.
func (l *look) from() (int, error) {
	text := l.query.Get("from")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 1<<20 {
		return 0, kernel.Fail(kernel.CodeInvalidRequest, "query.from: %q is not a place in the list.", kernel.Clip(text, 40))
	}
	return n, nil
}

// One is the word for one of the part.
func (v *partView) One() string { return strings.TrimSuffix(v.Name, "s") }
