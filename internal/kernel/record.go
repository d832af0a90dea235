package kernel

import (
	"net/http"
	"time"

	"chainexplorer/internal/usage"
)

// recordWhole tells of a request that was answered. A connection that was handed over
// is told of by the calls that it carries.
func (s *Server) recordWhole(r *http.Request, x *exchange, now time.Time, took time.Duration) {
	req := &x.record
	if req.itemized || req.Caller.Session || req.Caller.Configured || x.status == http.StatusSwitchingProtocols {
		return // somebody who is signed in asks with no key, and a configured one is in no database
	}
	status := x.status
	if status == 0 {
		status = http.StatusOK // as net/http sends what a handler left empty
	}
	route := req.Route
	s.record(usage.Event{
		RequestID: req.ID, WorkspaceID: req.Caller.WorkspaceID, KeyID: req.Caller.PublicID,
		Method: r.Method, Path: route.Path, Class: string(route.Class), Status: status, Failed: status >= http.StatusBadRequest,
		At: now, Took: took, Budget: req.Budget.told(route.Class),
	})
}

// Call is one of several that came in one request, or over one connection.
type Call struct {
	Method, Path string // of HTTP, and of the route
	Name         string // of a table: it is kept, and must not be the caller's own words
	Class        Class
	Status       int
	Failed       bool
	Took         time.Duration
	Budget       *Verdict // nil when it drew on none
}

// Itemize says that the calls of a request are recorded one by one, and it is not.
func (r *Request) Itemize() { r.itemized = true }

// RecordCall tells of a call that was answered.
func (s *Server) RecordCall(r *Request, c *Call) {
	if s.record == nil || r.Caller == nil || r.Caller.Configured {
		return
	}
	e := usage.Event{
		RequestID: r.ID, WorkspaceID: r.Caller.WorkspaceID, KeyID: r.Caller.PublicID,
		Method: c.Method, Path: c.Path, Call: c.Name, Class: string(c.Class), Status: c.Status, Failed: c.Failed, At: s.Now(), Took: c.Took,
	}
	if c.Budget != nil {
		e.Budget = c.Budget.told(c.Class)
	}
	s.record(e)
}

// told is what the caller was told of its budget; the zero value when it was told
// nothing.
func (v *Verdict) told(class Class) usage.Budget {
	if v.Owner == "" {
		return usage.Budget{}
	}
	b := usage.Budget{Policy: policies[class], Limit: v.Limit, Remaining: v.Remaining}
	if !v.allowed {
		b.RetryAfter = v.Seconds()
	}
	return b
}
