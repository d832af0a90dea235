package kernel

import "net/http"

// Dialect is how failures are told below some paths, whose clients know another shape of them
// than the kernel's. Raw routes there refuse by themselves; this is for what no route hears of.
type Dialect struct {
	// Owns says whether a path, as it was sent, is one of these.
	Owns   func(path string) bool
	Refuse func(w http.ResponseWriter, r *http.Request, e *Error)
}

// Speak lets a dialect refuse what is not served below its paths. It is called before the first request.
func (s *Server) Speak(d Dialect) { s.dialect = &d }

func (d *Dialect) owns(r *http.Request) bool { return d != nil && d.Owns(r.URL.Path) }

// refuse answers what failed outside of a route.
func (s *Server) refuse(x *exchange, r *http.Request, e *Error) {
	if s.dialect.owns(r) {
		s.dialect.Refuse(x, r, e)
		return
	}
	SendError(x, r, e, x.record.ID, x.record.Route)
}
