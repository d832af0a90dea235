package pages

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/kernel"
)

const (
	// exportRows is how many rows a file has at most, and exportPage how many are read at
	// a time.
	exportRows, exportPage = 10_000, 100
	// exportTime is how long a file may take.
	exportTime = 30 * time.Second
	// exportCost is what a file takes out of what an address may ask: about as many pages
	// as hold its rows.
	exportCost = 50
)

// export is a list as a file of comma-separated values.
//
// It is read page by page, each in a view of its own: a cursor names the block that it
// stands at, so that a fork below it ends the file instead of mixing two chains. The last
// row begins with # and says whether that was all, or why not and where to go on, and as of
// which block: a file without it was broken off on the way.
type export struct {
	name string // of the file, without its ending
	head []string
	// rising says that later blocks come later, so that the file goes on to the head that it
	// ends at. Others begin at a head, and what comes while they are made is not in them.
	rising bool
	// page reads rows behind a cursor, "" for the beginning, at most limit. next is nil at
	// the end of the list.
	page func(l *look, cursor string, limit int) (rows [][]string, next *string, err error)
}

// chainFile serves a list of a chain as a file. rows, or limit, is how many the visitor wants,
// and cursor where to begin; params are the parameters of the list, see understand. A file has
// no top to say on what it did not understand: it refuses.
func (p *Pages) chainFile(id, name, path string, make func(*look) (*export, error), params ...string) {
	params = append([]string{"rows", "limit", "cursor"}, params...)
	p.HandleFile(kernel.File{
		ID: name, Pattern: "GET /" + id + path, Cost: exportCost, Time: exportTime,
		Make:   func(w http.ResponseWriter, r *http.Request) error { return p.send(w, r, id, make, params) },
		Refuse: func(w http.ResponseWriter, r *http.Request, e *kernel.Error) { p.refuse(w, r, id, e) },
	})
}

func (p *Pages) send(w http.ResponseWriter, r *http.Request, id string, make func(*look) (*export, error), params []string) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return kernel.Fail(kernel.CodeInvalidRequest, "The part of the address after the question mark is not well-formed.")
	}
	if sendOn(w, r) {
		return nil
	}
	if err := refuseOthers(query, params); err != nil {
		return err
	}
	left, err := rowsOf(query)
	if err != nil {
		return err
	}
	cursor := kernel.Clip(query.Get("cursor"), 2000)
	for _, name := range []string{"rows", "limit", "cursor"} {
		query.Del(name)
	}
	l := &look{p: p, r: r, query: query, Chain: id, base: "/" + id, served: p.routes.Chains[id]}
	x, err := make(l)
	if err != nil {
		return err
	}
	rows, next, err := l.exported(x, cursor, min(left, exportPage))
	if err != nil {
		return err
	}
	asOf := l.state.Head
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	h.Set("Content-Disposition", `attachment; filename="`+x.name+`.csv"`)
	h.Add("Vary", "Accept-Encoding")
	zipped := kernel.AcceptsGzip(r.Header)
	if zipped {
		h.Set("Content-Encoding", "gzip")
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	f := newFile(w, zipped)
	f.row(x.head)
	for {
		for _, row := range rows {
			f.row(row)
		}
		if left -= len(rows); left <= 0 || next == nil || f.sent() != nil {
			break
		}
		cursor = *next
		if rows, next, err = l.exported(x, cursor, min(left, exportPage)); err != nil {
			next = &cursor
			break
		}
		if x.rising {
			asOf = l.state.Head
		}
	}
	f.row([]string{l.trailer(f.rows-1, asOf, next, err)})
	return f.close()
}

// refuseOthers refuses parameters that a file does not take, or not twice.
func refuseOthers(query url.Values, params []string) error {
	for name, values := range query {
		known, many := takes(params, name)
		if !known {
			return kernel.Fail(kernel.CodeInvalidRequest, "There is no parameter %s here. %s", quoted(name), takenWords(params))
		}
		if len(values) > 1 && !many {
			return kernel.Fail(kernel.CodeInvalidRequest, "The parameter %s can be given once.", quoted(name))
		}
	}
	return nil
}

// rowsOf is how many rows are wanted. The API calls that limit, and so may who asks for a file.
func rowsOf(query url.Values) (int, error) {
	name := "rows"
	if query.Has("limit") {
		if name = "limit"; query.Has("rows") {
			return 0, kernel.Fail(kernel.CodeInvalidRequest, "The parameters rows and limit mean the same: give one of them.")
		}
	}
	text := query.Get(name)
	if text == "" {
		return exportRows, nil
	}
	rows, err := strconv.Atoi(text)
	if err != nil || rows < 1 || rows > exportRows {
		return 0, kernel.Fail(kernel.CodeInvalidRequest, "query.%s: %q is not a number from 1 to %d.", name, kernel.Clip(text, 20), exportRows)
	}
	return rows, nil
}

// exported reads a page of a list, which remembers nothing of those before but the state of
// the chain that it was read in.
func (l *look) exported(x *export, cursor string, limit int) (rows [][]string, next *string, err error) {
	ctx := l.r.Context()
	of := *kernel.RequestOf(ctx)
	ctx = kernel.WithRequest(ctx, &kernel.Request{ID: of.ID, Route: of.Route, Caller: of.Caller})
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	err = l.p.routes.Pin(ctx, l.Chain, func(ctx context.Context, _ *api.Chain, _ explorer.Reader, state *chain.State) (err error) {
		now := *state
		l.ctx, l.state = ctx, &now
		rows, next, err = x.page(l, cursor, limit)
		return err
	})
	return rows, next, err
}

// trailer is the last row of a file.
func (l *look) trailer(rows int, asOf chain.Head, next *string, err error) string {
	at := fmt.Sprintf("as of block %d %s", asOf.Number, asOf.Hash)
	if next == nil {
		return fmt.Sprintf("# complete: %d rows %s", rows, at)
	}
	q := url.Values{}
	for name, values := range l.query {
		q[name] = values
	}
	q.Set("cursor", *next)
	why := "there are more"
	if err != nil {
		why = "it took too long or could not be read any further"
	}
	return fmt.Sprintf("# cut after %d rows %s: %s; go on at %s%s", rows, at, why, l.p.BaseURL, withQuery(l.r.URL.EscapedPath(), q))
}

// csvFile is a file on its way.
type csvFile struct {
	*csv.Writer
	zip  *gzip.Writer // nil: it is sent as it is
	line *http.ResponseController
	rows int
}

func newFile(w http.ResponseWriter, zipped bool) *csvFile {
	f := &csvFile{line: http.NewResponseController(w)}
	to := io.Writer(w)
	if zipped {
		f.zip = gzip.NewWriter(w)
		to = f.zip
	}
	f.Writer = csv.NewWriter(to)
	return f
}

// row adds a row. Programs that calculate take a text for a formula that begins as one
// does; an apostrophe makes it a text again.
func (f *csvFile) row(fields []string) {
	for i, text := range fields {
		if first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, " ")); strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
			fields[i] = "'" + text
		}
	}
	f.rows++
	f.Write(fields) //nolint:errcheck // sent tells
}

// sent passes on what was written, and fails when the client is gone.
func (f *csvFile) sent() error {
	f.Flush()
	if err := f.Error(); err != nil {
		return err
	}
	if f.zip != nil {
		if err := f.zip.Flush(); err != nil {
			return err
		}
	}
	f.line.Flush() //nolint:errcheck // a recorder in a test cannot
	return nil
}

// close sends the end.
func (f *csvFile) close() error {
	if err := f.sent(); err != nil || f.zip == nil {
		return err
	}
	return f.zip.Close()
}
