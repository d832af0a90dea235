package kernel

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// Some routes promise conditional reads to their clients: a weak validator over the
// bytes of the answer, and a time of last modification besides, for clients that
// keep no validators. The validator follows from the bytes alone, so it is the same
// from every process and after a restart. The time is coarse: it counts seconds, and
// two answers of one second would have the same. Therefore an answer tells its own
// second only when that second is over, or when it is known that there was no other
// answer in it, and until then the second before. It is held against its own in any
// case. So a client can be sent once more what it has, but is never told to keep
// what has changed.

// dated is what a handler says of the age of its answer.
type dated struct {
	on bool
	// at is when the newest part of the answer was written; the Unix epoch of one
	// that has no parts.
	at time.Time
	// generation names what Server-Timing says of the answer, whose time is that at
	// which this process first made it; "" when the time is at.
	generation string
}

// ModifiedAt says when the newest part of the answer was written, and that the
// answer has a weak validator. The zero time is that of an answer without parts.
func (r *Request) ModifiedAt(at time.Time) {
	if at.IsZero() {
		at = time.Unix(0, 0)
	}
	r.dated = dated{on: true, at: at}
}

// ModifiedWhenMade says that the answer has a weak validator, and that it counts as
// modified when this process first made it. What it is made of was written at at.
// Server-Timing carries name with _hit when the process had made the same answer
// last time, and with _miss when it had not.
func (r *Request) ModifiedWhenMade(name string, at time.Time) {
	r.dated = dated{on: true, at: at, generation: name}
}

// date is the time of last modification of an answer.
type date struct {
	// at is the second that conditions are held against.
	at time.Time
	// told is from when on that second is told.
	told time.Time
}

// newDate is that of something written at a time, beside which more may be written
// in the same second.
func newDate(at time.Time) date {
	at = at.Truncate(time.Second)
	return date{at, at.Add(time.Second)}
}

// tell is what Last-Modified says now.
func (d date) tell(now time.Time) string {
	at := d.at
	if now.Before(d.told) && at.Unix() > 0 {
		at = at.Add(-time.Second)
	}
	if at.After(now) { // another clock wrote it
		at = now
	}
	return at.UTC().Format(http.TimeFormat)
}

// unmodified says that an answer that was modified last at a time is still this one.
// One without parts is so whenever it is: whoever has parts does not have it.
func (d date) unmodified(since time.Time) bool {
	if d.at.Unix() == 0 {
		return since.Equal(d.at)
	}
	return !since.Before(d.at)
}

// generations remember when this process first made the answers that it made last.
// There is one for each path of the few routes that have them.
type generations struct {
	mu   sync.Mutex
	last map[string]generation // guarded by mu
}

type generation struct {
	etag string
	date date
}

// of is the date of an answer, and whether it is the one that was made last.
func (g *generations) of(path, etag string, written, now time.Time) (date, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	last, some := g.last[path]
	if some && last.etag == etag {
		return last.date, true
	}
	at := now.Truncate(time.Second)
	switch {
	case some && !last.date.at.Before(at):
		at = last.date.at.Add(time.Second) // this second is that of the one before
	case !written.Before(at):
		at = at.Add(time.Second) // another process may have made the one before in this second
	}
	d := date{at, at}
	if g.last == nil {
		g.last = map[string]generation{}
	}
	g.last[path] = generation{etag, d}
	return d, false
}

// date gives an answer the headers of conditional reads.
func (s *Server) date(a *answer, r *http.Request, req *Request) {
	if !req.dated.on || !req.Route.Dated || a.status != http.StatusOK {
		return
	}
	a.weaken()
	if req.dated.generation == "" {
		a.date = newDate(req.dated.at)
		return
	}
	var hit bool
	a.date, hit = s.generations.of(strings.TrimPrefix(r.URL.EscapedPath(), "/api"), a.etag, req.dated.at, s.Now())
	a.timing = []string{req.dated.generation + "_miss"}
	if hit {
		a.timing[0] = req.dated.generation + "_hit"
	}
}

// notModified says whether a condition holds, and the validator of what the client has.
// If-Modified-Since counts only where there is no If-None-Match. One that lies in the
// future was told by nobody: a client with a fast clock would keep its copy for ever.
func (a *answer) notModified(r *http.Request, form *form, now time.Time) (etag []string, ok bool) {
	if none := r.Header["If-None-Match"]; len(none) > 0 {
		known, ok := Matches(none, a.etag, form.tag)
		if ok && !a.weak {
			return []string{`"` + known + `"`}, true // the one that the client's copy goes by
		}
		return form.etag, ok
	}
	if !a.weak || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil, false
	}
	since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
	return form.etag, err == nil && !since.After(now) && a.date.unmodified(since)
}
