package kernel

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/edge"
	"chainexplorer/internal/logs"
)

// exchange is a request's record and the way to answer it, in one allocation.
// The kernel finds the record through the writer; handlers through the context.
type exchange struct {
	http.ResponseWriter
	record Request
	who    Caller
	// visitor pays for a key that is not known yet.
	visitor visitor
	client  netip.Addr // where the request comes from, as far as that can be told
	status  int
	bytes   int64
}

// RecordOf returns the kernel's record of the request that w answers.
func RecordOf(w http.ResponseWriter) *Request {
	if x, ok := w.(*exchange); ok {
		return &x.record
	}
	return &Request{}
}

// WriteHeader remembers what was sent, for the access record.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(b)
	x.bytes += int64(n)
	return n, err
}

// whole sends an answer that is there as a whole, where that can be done at once.
func (x *exchange) whole(r *http.Request, status int, lines []edge.Line, body []byte) bool {
	if x.status != 0 || !edge.Answer(x.ResponseWriter, r, status, lines, body) {
		return false
	}
	x.status, x.bytes = status, int64(len(body))
	return true
}

// Unwrap lets http.ResponseController reach the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// finish writes the access record and counts the request, for us and for its key. The record has no
// header and no query: both may hold secrets or people's addresses.
func (s *Server) finish(r *http.Request, x *exchange, start time.Time) {
	now := s.Now()
	took := now.Sub(start)
	req := &x.record
	if s.record != nil && req.Caller != nil {
		s.recordWhole(r, x, now, took)
	}
	operation, key := "none", ""
	if req.Route != nil {
		operation = req.Route.ID
	}
	if req.Caller != nil {
		key = req.Caller.PublicID
	}
	if req.seen != nil {
		req.seen.observe(x.status, took)
		s.timings.observe(req.seen.timed, now, took, x.status)
	} else {
		s.metrics.of(operation).observe(x.status, took)
	}
	if !s.Log.Enabled(r.Context(), slog.LevelInfo) {
		return
	}
	line := logs.Request{At: now, ID: req.ID, Method: loggedMethod(r.Method), Path: loggedPath(r.URL.Path), Operation: operation,
		Status: x.status, Bytes: x.bytes, Took: took, Key: key, Remote: x.client}
	line.Write(r.Context(), s.Log.Handler())
}

// loggedPath hides a key or a token that somebody put into an address.
func loggedPath(p string) string {
	if i := strings.Index(p, "svc_"); i >= 0 {
		p = p[:i] + "svc_…"
	}
	return Clip(account.Hide(p), 200)
}

// loggedMethod hides what is no method: a client with its lines mixed up may have
// put a key there.
func loggedMethod(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodTrace, http.MethodConnect:
		return m
	}
	return "other"
}

func Clip(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}
