package api

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

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
}

func newDocument(contentType string, body []byte) *document {
	sum := sha256.Sum256(body)
	d := &document{contentType: contentType, body: body, etag: hex.EncodeToString(sum[:16])}
	if len(body) >= gzipFrom {
		d.zipped = zip(body)
	}
	return d
}

// send answers GET and HEAD. Whether a cached copy is still good is asked every
// time: documents change with the program, and the question is cheap.
func (d *document) send(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if d.contentType == web.ContentType {
		web.SetHeaders(h)
	}
	if d.links != "" {
		h.Set("Link", d.links)
	}
	h.Set("Cache-Control", "public, no-cache")
	h.Add("Vary", "Accept-Encoding")
	body, tag := d.body, d.etag
	if d.zipped != nil && acceptsGzip(r.Header) {
		body, tag = d.zipped, tag+"-gzip"
	}
	if held, ok := matches(r.Header["If-None-Match"], d.etag, tag); ok {
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
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		w.Write(body) //nolint:errcheck // the client went away
	}
}

// site is all that a document depends on besides the program: how the service
// is reached, and things of the chain that examples can name.
type site struct {
	origin   string
	examples examples
}

// maxShelf bounds the documents that a library keeps.
const maxShelf = 256

// library keeps the documents that were written for the sites that asked.
type library struct {
	s        *Server
	examples *exampleFinder

	mu    sync.Mutex // guards shelf
	shelf map[shelfKey]*document
}

type shelfKey struct {
	name string
	site
}

func newLibrary(s *Server) *library {
	return &library{s: s, examples: newExampleFinder(s), shelf: map[shelfKey]*document{}}
}

// at is the site that a request came to.
func (l *library) at(r *http.Request) site {
	return site{l.s.origin(r), l.examples.find(r.Context())}
}

// get returns a document, written by write unless it is on the shelf.
func (l *library) get(name string, at site, write func(site) (*document, error)) (*document, error) {
	k := shelfKey{name, at}
	l.mu.Lock()
	d := l.shelf[k]
	l.mu.Unlock()
	if d != nil {
		return d, nil
	}
	d, err := write(at)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.shelf) >= maxShelf {
		clear(l.shelf) // rare: only made-up hosts, or many examples that were forked away, get here
	}
	l.shelf[k] = d
	return d, nil
}

// serve answers with a document that depends on the site.
func (l *library) serve(name string, write func(site) (*document, error)) http.HandlerFunc {
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
func (s *Server) failDocument(w http.ResponseWriter, r *http.Request, err error) {
	req := recordOf(w)
	s.log.Error("document failed", "request_id", req.id, "err", err)
	sendError(w, r, fail(CodeInternal, "Something went wrong on our side."), req.id, nil)
}

// plainHost is a host that can go into a document as it is.
var plainHost = regexp.MustCompile(`^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

// origin is how the caller reached the service, so that examples work as
// pasted. A configured address wins; a host that is none is not repeated.
// X-Forwarded-Proto can only raise the scheme: a document never talks somebody
// into sending a key in the clear.
func (s *Server) origin(r *http.Request) string {
	if s.baseURL != "" {
		return s.baseURL
	}
	host := strings.ToLower(r.Host)
	if !plainHost.MatchString(host) || len(host) > 255 {
		host = "localhost"
	}
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		return "https://" + host
	}
	return "http://" + host
}
