package kernel

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// The lane of pages that everybody may look at. Who looks needs no key and gets no
// cookie, is bounded by address, and is sent what others were sent as long as it holds.

// Sheet is a page of the lane.
type Sheet struct {
	// ID names the page in metrics and logs.
	ID string
	// Pattern is a method and a path, such as "GET /SN_MAIN/block/{ref}".
	Pattern string
	// Chain is whose index the page shows; "" for a page that is made anew each time.
	Chain string
	// Cost is what the page takes out of what an address may ask; 1 when zero.
	Cost int
	// Waits says that the page waits for somebody else, such as a node. It has places of
	// its own, so that those who wait leave room for those who read, and Chain is "".
	Waits bool
	// Mood is what the page says of this moment besides: pages are kept for each apart.
	// Nil: nothing.
	Mood func(context.Context) string
	// Make writes the page, headers included. A page that is not 200 is not kept.
	Make func(w http.ResponseWriter, r *http.Request) error
	// Refuse tells a person of a failure.
	Refuse func(w http.ResponseWriter, r *http.Request, e *Error)
	// Dress sets the headers that every page has.
	Dress func(http.Header)
}

// HandleSheet serves a page.
func (s *Server) HandleSheet(p Sheet) {
	route := &Route{ID: p.ID, Class: Light, Certification: Unsupported}
	kind := timedPages
	if p.Waits {
		kind = timedWaiting
	}
	seen := s.metrics.of(p.ID).as(kind)
	s.shown = append(s.shown, p.Pattern)
	s.handle(p.Pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := w.(*exchange) // the mux is only reached through ServeHTTP
		req := &x.record
		req.Route, req.seen = route, seen
		e := oneOrigin(r.Header)
		if e == nil {
			e = s.clients.spend(x.client, DefaultTo(p.Cost, 1))
		}
		if e == nil {
			e = keyInQuery(w, r)
		}
		if e != nil {
			p.Refuse(w, r, e)
			return
		}
		var passing answerKey
		key, keep := answerKey{}, false
		if p.Chain != "" && s.revision != nil {
			if key.at, keep = s.revision(r.Context(), p.Chain); keep {
				key.chain, key.path, key.query = p.Chain, r.URL.EscapedPath(), r.URL.RawQuery
				if p.Mood != nil {
					key.query += "\n" + p.Mood(r.Context()) // no query has a line break
				}
				lasting := key
				lasting.at = key.at.Lasting()
				a := s.sheets.get(lasting)
				if a == nil {
					a = s.sheets.get(key)
				}
				if passing = s.momentOf(key); a == nil && passing != key {
					a = s.sheets.get(passing)
				}
				if a != nil {
					s.metrics.kept.Inc()
					p.Dress(w.Header())
					a.send(w, r, s.Now)
					return
				}
			}
		}
		s.lookAt(&p, w, r, req, key, passing, keep)
	}))
}

// moment is how long a page is kept at most that tells of the clock or of what an operator
// may set up anew. Its notice of an old index has its own clock: see Mood.
const moment = 5 * time.Second

// momentOf is the key of a page that also tells of what comes beside the blocks, such as
// names: it holds until the index is written to, and for a moment. It is read before the
// page is made, so that it can only be too old. The same key: the page cannot be kept so.
func (s *Server) momentOf(key answerKey) answerKey {
	if s.written == nil {
		return key
	}
	n, told := s.written(key.chain)
	if !told {
		return key
	}
	key.query += "\n" + strconv.FormatUint(n, 36) + " " + strconv.FormatInt(s.Now().UnixNano()/int64(moment), 36)
	return key
}

// lookAt makes a page, and keeps it under key or, where it holds for a moment, under passing.
func (s *Server) lookAt(p *Sheet, w http.ResponseWriter, r *http.Request, req *Request, key, passing answerKey, keep bool) {
	who, seats := Neighbour(w), s.looking
	if p.Waits {
		seats = s.waiting
	}
	if e := seats.Enter(r.Context(), who, "at work"); e != nil {
		p.Refuse(w, r, e)
		return
	}
	made := &Request{ID: req.ID, Route: req.Route, Caller: who}
	rec := getRecorder()
	defer putRecorder(rec)
	ctx, cancel := context.WithTimeout(WithRequest(r.Context(), made), s.timeout)
	err := func() error {
		defer seats.Leave(who)
		defer cancel()
		return p.Make(rec, r.WithContext(ctx))
	}()
	if err != nil {
		e := s.asError(err)
		if e.Cause != nil {
			s.Log.Error("page failed", "request_id", req.ID, "page", p.ID, "code", string(e.Code), "err", e.Cause)
		}
		p.Refuse(w, r, e)
		return
	}
	h := w.Header()
	p.Dress(h)
	if rec.status != http.StatusOK {
		for name, values := range rec.header {
			h[name] = values
		}
		h["Cache-Control"] = cacheNever
		w.WriteHeader(rec.status)
		if r.Method != http.MethodHead {
			w.Write(rec.body) //nolint:errcheck // the client went away
		}
		return
	}
	keep = keep && len(made.asked) > 0 && !made.doubted
	// A page is kept for good when it says so, and nothing that it asked says otherwise.
	forever := keep && made.immutable && !made.mutable && !made.passing
	if made.passing {
		keep = keep && passing != key
		key = passing
	}
	a := rec.seal(true, keep, forever)
	a.page = true
	if forever {
		key.at = key.at.Lasting()
	}
	if keep {
		s.sheets.put(key, a)
	}
	a.send(w, r, s.Now)
}
