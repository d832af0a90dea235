package kernel

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"chainexplorer/internal/account"
	"chainexplorer/internal/edge"
	"chainexplorer/internal/jsonrow"
)

const (
	JSONType = "application/json"
	// GzipFrom is the size from which compressing pays.
	GzipFrom = 1400
)

// answer is an encoded response, ready to be sent any number of times.
type answer struct {
	status  int
	plain   form
	zipping sync.Once
	zipped  form   // once zipping is done; no body when compressing does not pay
	etag    string // of the plain form, without quotes; only for settled and for dated answers
	weak    bool   // the validator holds for every encoding, and there is a date
	date    date
	timing  []string // Server-Timing
	forever bool     // the answer can never change
	page    bool     // it is one for people, of HTML
}

// form is a body in one encoding, with the headers that follow from it.
type form struct {
	body         []byte
	length, etag []string
	tag          string // the validator without quotes
}

func (a *answer) form(body []byte, suffix string) form {
	f := form{body: body, length: []string{strconv.Itoa(len(body))}}
	switch {
	case a.weak:
		f.etag, f.tag = []string{`W/"` + a.etag + `"`}, a.etag
	case a.etag != "":
		f.etag, f.tag = []string{`"` + a.etag + suffix + `"`}, a.etag+suffix
	}
	return f
}

// weaken gives the answer a validator that is the same in every encoding.
func (a *answer) weaken() {
	sum := sha256.Sum256(a.plain.body)
	a.etag, a.weak = hex.EncodeToString(sum[:]), true
	a.plain = a.form(a.plain.body, "")
}

// zip adds the compressed form; a strong validator tells the two apart, a weak one does not.
func (a *answer) zip() {
	a.zipping.Do(func() {
		if len(a.plain.body) < GzipFrom {
			return
		}
		if body := Zip(a.plain.body); body != nil {
			a.zipped = a.form(body, "-gzip")
		}
	})
}

// recorder takes what a handler writes, so that length, validator and encoding
// are known before the first byte goes out.
type recorder struct {
	header http.Header
	status int
	body   []byte
	sealed answer // that is not shared
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	r.body = append(r.body, b...)
	return len(b), nil
}

// writeJSON is how answers are encoded: straight into where they are recorded. What fails leaves nothing there.
func writeJSON(w io.Writer, v any) error {
	r, recorded := w.(*recorder)
	if !recorded {
		r = getRecorder()
		defer putRecorder(r)
	}
	out, err := jsonrow.Append(r.body, v)
	if err != nil {
		return err
	}
	if r.body = append(out, '\n'); recorded {
		return nil
	}
	_, err = w.Write(r.body)
	return err
}

var recorders = sync.Pool{New: func() any { return &recorder{header: http.Header{}} }}

func getRecorder() *recorder { return recorders.Get().(*recorder) }

func putRecorder(r *recorder) {
	if cap(r.body) > 1<<20 {
		return // a rare giant is not worth keeping
	}
	clear(r.header)
	r.status, r.sealed = 0, answer{}
	r.body = r.body[:0]
	recorders.Put(r)
}

// seal turns what was recorded into an answer, which is good as long as the
// recorder is not used again, or for as long as one likes when it is shared. Lines that end with the body do so without a newline.
func (r *recorder) seal(settled, shared, forever bool) *answer {
	a := &r.sealed
	body := bytes.TrimSuffix(r.body, []byte("\n"))
	if shared { // the recorder is used again
		a, body = &answer{}, bytes.Clone(body)
	}
	a.status, a.forever = r.status, forever && r.status == http.StatusOK
	if settled && r.status == http.StatusOK {
		sum := sha256.Sum256(body)
		a.etag = hex.EncodeToString(sum[:16])
	}
	a.plain = a.form(body, "")
	return a
}

var zippers = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

func Zip(b []byte) []byte {
	var out bytes.Buffer
	w := zippers.Get().(*gzip.Writer)
	defer zippers.Put(w)
	w.Reset(&out)
	w.Write(b) //nolint:errcheck // a buffer never fails
	w.Close()  //nolint:errcheck // as above
	if out.Len() >= len(b) {
		return nil
	}
	return out.Bytes()
}

// AcceptsGzip reads Accept-Encoding as far as it matters here.
func AcceptsGzip(h http.Header) bool {
	for _, line := range h["Accept-Encoding"] {
		for part := range strings.SplitSeq(line, ",") {
			name, params, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(name), "gzip") {
				return !refused(params)
			}
		}
	}
	return false
}

// refused reports whether the parameters of an encoding weigh it at zero.
func refused(params string) bool {
	for p := range strings.SplitSeq(params, ";") {
		name, weight, _ := strings.Cut(strings.TrimSpace(p), "=")
		if strings.EqualFold(name, "q") {
			q, err := strconv.ParseFloat(weight, 64)
			return err != nil || q <= 0
		}
	}
	return false
}

// Values of headers that are the same for many answers. net/http reads them and
// never changes them, and a later Set or Add makes a slice of its own.
var (
	nosniff      = []string{"nosniff"}
	typeJSON     = []string{JSONType}
	encodingGzip = []string{"gzip"}
	varyOrigin   = slices.Clip([]string{"Origin"})
	varyAll      = slices.Clip([]string{"Origin, Accept-Encoding, " + HeaderKey + ", " + HeaderKeyShort})
	cacheNever   = []string{"private, no-store"}
	cacheChecked = []string{"private, no-cache"} // may be stored, must be validated
	cacheForever = []string{"private, max-age=3600, immutable"}
	cachePage    = []string{"public, no-cache"}
	varyEncoding = slices.Clip([]string{"Accept-Encoding"})
)

// send writes an answer that depends on the caller's key.
func (a *answer) send(w http.ResponseWriter, r *http.Request, clock func() time.Time) {
	var now time.Time
	if a.weak { // the others do not tell of it
		now = clock()
	}
	form := &a.plain
	if len(a.plain.body) >= GzipFrom && AcceptsGzip(r.Header) {
		if a.zip(); a.zipped.body != nil {
			form = &a.zipped
		}
	}
	var room [8]edge.Line
	lines := a.lines(room[:0], now)
	if a.etag != "" {
		if known, ok := a.notModified(r, form, now); ok {
			set(w.Header(), append(lines, edge.Line{Name: "Etag", Values: known}))
			w.WriteHeader(http.StatusNotModified)
			return
		}
		lines = append(lines, edge.Line{Name: "Etag", Values: form.etag})
	}
	if !a.page { // whose type is set with its other headers
		lines = append(lines, edge.Line{Name: "Content-Type", Values: typeJSON})
	}
	if form == &a.zipped {
		lines = append(lines, edge.Line{Name: "Content-Encoding", Values: encodingGzip})
	}
	lines = append(lines, edge.Line{Name: "Content-Length", Values: form.length})
	sendWhole(w, r, a.status, lines, form.body)
}

// sendWhole writes an answer that is there as a whole, with the headers that w has and others.
func sendWhole(w http.ResponseWriter, r *http.Request, status int, lines []edge.Line, body []byte) {
	if x, ok := w.(*exchange); ok && x.whole(r, status, lines, body) {
		return
	}
	set(w.Header(), lines)
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.Write(body) //nolint:errcheck // the client went away
	}
}

// Send writes a whole answer, with the headers that w has and its length.
func Send(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	sendWhole(w, r, status, []edge.Line{{Name: "Content-Length", Values: []string{strconv.Itoa(len(body))}}}, body)
}

// lines adds the headers that do not depend on the form in which the answer goes out, nor on whether it does.
func (a *answer) lines(to []edge.Line, now time.Time) []edge.Line {
	vary, cache := varyAll, cacheNever
	switch {
	case a.page: // it changes with the program, too
		vary, cache = varyEncoding, cachePage
	case a.forever:
		cache = cacheForever
	case a.etag != "":
		cache = cacheChecked
	}
	to = append(to, edge.Line{Name: "Vary", Values: vary}, edge.Line{Name: "Cache-Control", Values: cache})
	if a.weak {
		to = append(to, edge.Line{Name: "Last-Modified", Values: []string{a.date.tell(now)}})
	}
	if a.timing != nil {
		to = append(to, edge.Line{Name: "Server-Timing", Values: a.timing})
	}
	return to
}

func set(h http.Header, lines []edge.Line) {
	for _, line := range lines {
		h[line.Name] = line.Values
	}
}

// Matches compares If-None-Match with a validator in either encoding, and
// returns the one that matched; * matches what would be sent.
func Matches(values []string, etag, chosen string) (string, bool) {
	for _, v := range values {
		for tag := range strings.SplitSeq(v, ",") {
			tag = strings.TrimSpace(tag)
			if tag == "*" {
				return chosen, true
			}
			tag = strings.TrimPrefix(tag, "W/")
			if len(tag) < 2 || tag[0] != '"' || tag[len(tag)-1] != '"' {
				continue
			}
			if tag = tag[1 : len(tag)-1]; tag == etag || tag == etag+"-gzip" {
				return tag, true
			}
		}
	}
	return "", false
}

func EnvelopeJSON(e *Error, requestID string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)                                       // the type is JSON and nosniff is set: people read this
	if err := enc.Encode(Envelope{e.Code, account.Hide(e.Message), // a message may repeat what was sent
		e.slug(), requestID, e.Reason, e.MaxServableToBlock}); err != nil {
		panic(err) // strings always encode
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// failureHeaders sets the headers of a failure and returns its body.
func failureHeaders(h http.Header, e *Error, id string, route *Route) []byte {
	Challenge(h, e, route)
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	body := EnvelopeJSON(e, id)
	h.Set("Content-Type", JSONType)
	h.Set("Cache-Control", "private, no-store")
	return body
}

// SendError writes a failure.
func SendError(w http.ResponseWriter, r *http.Request, e *Error, id string, route *Route) {
	body := failureHeaders(w.Header(), e, id, route)
	Send(w, r, Codes[e.Code].Status, body)
}

func SendPlain(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", JSONType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) //nolint:errcheck // the client went away
}
