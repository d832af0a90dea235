package kernel

import (
	"net/http"
	"strings"
)

// relayError sends the failure of a handler.
func (s *Server) relayError(w http.ResponseWriter, r *http.Request, req *Request) {
	e := req.failure
	if e == nil {
		e = &Error{Code: CodeInternal, Message: "Something went wrong on our side."}
	}
	if e.Cause != nil {
		s.Log.Error("request failed", "request_id", req.ID, "operation", req.Route.ID, "code", string(e.Code), "err", e.Cause)
	}
	SendError(w, r, e, req.ID, req.Route)
}

// answer runs the handler and keeps what others can be sent.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, req *Request, next handler, key answerKey, cacheable bool) {
	rec := getRecorder()
	defer putRecorder(rec)
	if e := s.work(rec, r, req, next); e != nil {
		SendError(w, r, e, req.ID, req.Route)
		return
	}
	gone := req.Route.Retired && rec.status == http.StatusGone
	if rec.status >= http.StatusBadRequest && !gone {
		s.relayError(w, r, req)
		return
	}
	if gone {
		w.Header()["Link"] = rec.header["Link"]
	}
	cacheable = cacheable && rec.status == http.StatusOK
	fresh := cacheable && req.keepable()
	passing := cacheable && !fresh && key.written != 0 && req.passable()
	forever := fresh && req.immutable
	into := s.fresh
	if forever {
		into = s.kept
	}
	keep := (fresh || passing) && into.fits(&key, len(rec.body))
	a := rec.seal(req.settled, keep, forever)
	s.date(a, r, req)
	if fresh {
		key.written = 0
	}
	if forever {
		key.at = key.at.Lasting()
	}
	if keep {
		into.put(key, a)
	}
	a.send(w, r, s.Now)
}

// work runs a handler within its time, unless too many are at work. A client that
// is slow to send or to read is not at work: it holds no place.
func (s *Server) work(rec *recorder, r *http.Request, req *Request, next handler) *Error {
	if e := s.flight.Enter(r.Context(), req.Caller, "at work"); e != nil {
		return e
	}
	defer s.flight.Leave(req.Caller)
	ctx := newWorking(r.Context(), req, s.timeout)
	defer ctx.end()
	next(ctx, rec, r)
	return nil
}

// keptAnswer looks for an answer that somebody else got. The revision is as of
// before a handler's own view, so that an answer can only be kept under one that
// is too old, which nobody asks for any more.
func (s *Server) keptAnswer(id string, r *http.Request) (a *answer, key answerKey, ok bool) {
	now, ok := s.revision(r.Context(), id)
	if !ok {
		return nil, key, false // the handler will fail in its own way
	}
	// The escaped path, because an encoded slash is not a slash.
	key = answerKey{chain: id, at: now.Lasting(), path: strings.TrimPrefix(r.URL.EscapedPath(), "/api"), query: r.URL.RawQuery}
	a = s.kept.get(key)
	if key.at = now; a == nil {
		a = s.fresh.get(key)
	}
	if a != nil || s.written == nil {
		return a, key, true
	}
	if n, told := s.written(id); told {
		key.written = n + 1
		a = s.fresh.get(key)
	}
	return a, key, true
}
