package site

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/site/shelf"
	"chainexplorer/internal/web"
)

// document is bytes that need no key, with a validator, ready to be sent any
// number of times and to many at once.
type document struct {
	contentType string
	body        []byte
	zipped      []byte // nil when compressing does not pay
	etag        string
	links       string // the Link header
	name        string // the query that names these bytes, "" where none does
	status      int    // 200 when zero
}

func newDocument(contentType string, body []byte) *document {
	sum := sha256.Sum256(body)
	d := &document{contentType: contentType, body: body, etag: hex.EncodeToString(sum[:16])}
	if len(body) >= kernel.GzipFrom {
		d.zipped = kernel.Zip(body)
	}
	return d
}

// send answers GET and HEAD. Whether a cached copy is still good is asked every
// time: documents change with the program, and the question is cheap. What was asked
// for by its name is kept for good.
func (d *document) send(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if d.contentType == web.ContentType {
		web.SetHeaders(h)
	}
	if d.links != "" {
		h.Set("Link", d.links)
	}
	h.Set("Cache-Control", "public, no-cache")
	if d.name != "" && r.URL.RawQuery == d.name {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Add("Vary", "Accept-Encoding")
	body, tag := d.body, d.etag
	if d.zipped != nil && kernel.AcceptsGzip(r.Header) {
		body, tag = d.zipped, tag+"-gzip"
	}
	if held, ok := kernel.Matches(r.Header["If-None-Match"], d.etag, tag); ok && d.status == 0 {
		h.Set("ETag", `"`+held+`"`)
		h.Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("ETag", `"`+tag+`"`)
	if tag != d.etag {
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", d.contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(kernel.DefaultTo(d.status, http.StatusOK))
	if r.Method != http.MethodHead {
		w.Write(body) //nolint:errcheck // the client went away
	}
}

// setting is all that a document depends on besides the program: how the service
// is reached, and things of the chain that examples can name.
type setting struct {
	origin   string
	examples kernel.Examples
}

// maxShelf bounds the documents that a library keeps: only many examples that were
// forked away get there.
const maxShelf = 256

// library keeps the documents that were written for the sites that asked.
type library struct {
	s        *Site
	examples *exampleFinder
	wrote    func() // counts a document
	shelf    *shelf.Shelf[shelfKey, *document]
}

type shelfKey struct {
	name string
	setting
}

func newLibrary(s *Site) *library {
	return &library{s: s, examples: newExampleFinder(s), wrote: s.DocumentWritten, shelf: shelf.New[shelfKey, *document](maxShelf)}
}

// at is the site as it is now. It does not depend on who asks, nor by which name:
// a document is written once, and again only when an example was forked away.
func (l *library) at(r *http.Request) setting {
	return setting{l.s.Origin, l.examples.find(r.Context())}
}

// get returns a document, written by write unless it is on the shelf.
func (l *library) get(name string, at setting, write func(setting) (*document, error)) (*document, error) {
	return l.shelf.Get(shelfKey{name, at}, func() (*document, error) {
		d, err := write(at)
		if err == nil {
			l.wrote()
		}
		return d, err
	})
}

// serve answers with a document that depends on the site.
func (l *library) serve(name string, write func(setting) (*document, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		d, err := l.get(name, l.at(r), write)
		if err != nil {
			l.s.failDocument(w, r, err)
			return
		}
		d.send(w, r)
	}
}

// failDocument answers when a document could not be written.
func (s *Site) failDocument(w http.ResponseWriter, r *http.Request, err error) {
	req := kernel.RecordOf(w)
	s.Log.Error("document failed", "request_id", req.ID, "err", err)
	kernel.SendError(w, r, kernel.Fail(kernel.CodeInternal, "Something went wrong on our side."), req.ID, nil)
}
