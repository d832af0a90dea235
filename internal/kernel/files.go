package kernel

import (
	"context"
	"net/http"
	"time"
)

// File is a list of the lane of pages that people download. It is sent while it is made,
// so that its length costs no memory, and is kept by nobody.
type File struct {
	// ID names the file in metrics and logs.
	ID string
	// Pattern is a method and a path, such as "GET /SN_MAIN/token/{token}/transfers.csv".
	Pattern string
	// Cost is what the file takes out of what an address may ask.
	Cost int
	// Time is how long it may take, the client's reading included.
	Time time.Duration
	// Make writes the file, headers included. What fails before the first byte is told by
	// Refuse; behind it Make has to say in the file itself that something is missing.
	Make func(w http.ResponseWriter, r *http.Request) error
	// Refuse tells a person of a failure.
	Refuse func(w http.ResponseWriter, r *http.Request, e *Error)
}

const (
	// maxFiles is how many files are made at once, and maxFilesOfAddress for one address.
	maxFiles, maxFilesOfAddress = 16, 2
	// fileGrace is what a client has to take the end of a file that took all its time.
	fileGrace = 5 * time.Second
)

// HandleFile serves a file.
func (s *Server) HandleFile(f File) {
	route := &Route{ID: f.ID, Class: Heavy, Certification: Unsupported}
	seen := s.metrics.of(f.ID)
	s.handle(f.Pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := w.(*exchange) // the mux is only reached through ServeHTTP
		x.record.Route, x.record.seen = route, seen
		who := Neighbour(w)
		e := oneOrigin(r.Header)
		if e == nil {
			e = s.clients.spend(x.client, DefaultTo(f.Cost, 1))
		}
		if e == nil {
			e = keyInQuery(w, r)
		}
		if e == nil {
			e = s.files.Enter(r.Context(), who, "for files at work")
		}
		if e != nil {
			f.Refuse(w, r, e)
			return
		}
		defer s.files.Leave(who)
		s.sendFile(&f, x, r, &Request{ID: x.record.ID, Route: route, Caller: who})
	}))
}

// sendFile makes a file, within its time.
func (s *Server) sendFile(f *File, x *exchange, r *http.Request, made *Request) {
	line := http.NewResponseController(x)
	if line.SetWriteDeadline(time.Now().Add(f.Time+fileGrace)) == nil { // a recorder in a test has none
		defer line.SetWriteDeadline(time.Time{}) //nolint:errcheck // it worked before
	}
	ctx, cancel := context.WithTimeout(WithRequest(r.Context(), made), f.Time)
	defer cancel()
	x.Header()["Cache-Control"] = cacheNever
	err := f.Make(x, r.WithContext(ctx))
	if err == nil {
		return
	}
	e := s.asError(err)
	if e.Cause != nil && r.Context().Err() == nil {
		s.Log.Error("file failed", "request_id", made.ID, "file", f.ID, "code", string(e.Code), "err", e.Cause)
	}
	if x.status == 0 {
		f.Refuse(x, r, e)
	}
}
