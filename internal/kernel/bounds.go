package kernel

import "time"

// Places are how many requests may do one thing at once: all together, those of a
// workspace, and those of a key.
type Places struct{ All, PerWorkspace, PerKey int }

// Places are the bounds of the seats.
func (p *Seats) Places() Places { return Places{p.all, p.perWorkspace, p.perKey} }

// Guests is what an address may ask without a key; PerMinute is below zero where
// that is not limited.
type Guests struct{ PerMinute, Burst int }

// Bounds are the limits of a server, for the documents.
type Bounds struct {
	Timeout  time.Duration // of a request's work
	BodyTime time.Duration // in which a body has to arrive
	AtWork   Places
	Bodies   Places // requests whose bodies are being read
	Guests   Guests
}

// Bounds are the server's.
func (s *Server) Bounds() Bounds {
	return Bounds{s.timeout, s.bodyTime, s.flight.Places(), s.bodies.Places(), Guests{s.clients.pace.perMinute, s.clients.pace.burst}}
}

// Entries are the routes of the table.
func (s *Server) Entries() []*Route { return s.table }

// Sheets are the patterns of all pages.
func (s *Server) Sheets() []string { return s.shown }

// Seal makes a cursor of a position in a list.
func (s *Server) Seal(scope string, position []byte) string { return s.cursors.Seal(scope, position) }

// DocumentWritten counts a document that was written, and not sent again as it was.
func (s *Server) DocumentWritten() { s.metrics.written.Inc() }
