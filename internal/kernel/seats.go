package kernel

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/places"
)

// Seats bounds how many requests do one thing at once: those of a key, those of
// a workspace, and all together. One customer, however greedy, leaves room for
// the others. A workspace's bound is that of all processes where they share it; the
// other two are each process's own.
type Seats struct {
	perKey, perWorkspace, all int
	share                     *places.Share // of the workspaces' places; nil when this process has all

	mu   sync.Mutex // guards what follows
	used int
	by   map[string]int // by id of a key or a workspace; none at zero
}

// NewSeats takes bounds; a zero one is an eighth of all for a key, and a quarter
// for a workspace.
func NewSeats(all, perWorkspace, perKey int) *Seats {
	return &Seats{
		all:          all,
		perWorkspace: min(DefaultTo(perWorkspace, max(all/4, 1)), all),
		perKey:       min(DefaultTo(perKey, max(all/8, 1)), all),
		by:           map[string]int{},
	}
}

// Seats makes some whose places for a workspace the processes share. kind tells them from
// others there, and nobody may hold one for longer than life.
func (s *Server) Seats(kind string, all, perWorkspace, perKey int, life time.Duration) *Seats {
	p := NewSeats(all, perWorkspace, perKey)
	if s.places != nil {
		p.share = s.places.Share(kind, p.perWorkspace, life)
	}
	return p
}

// neighbour begins what stands for the id of a key.
const neighbour = "address "

// Neighbour stands for all who come from the address of a request, for Seats of addresses.
func Neighbour(w http.ResponseWriter) *Caller {
	at := group(w.(*exchange).client).String() // a route is only reached through ServeHTTP
	return &Caller{Principal: account.Principal{KeyID: neighbour + at, WorkspaceID: "network " + at}}
}

// Enter takes a place for a caller, who must leave it. what says in a failure
// what the places are for.
func (p *Seats) Enter(ctx context.Context, c *Caller, what string) *Error {
	if e := p.enter(c, what); e != nil || p.share == nil {
		return e
	}
	if !p.share.Enter(ctx, c.WorkspaceID) {
		p.leave(c)
		return tooMany(c.workspaceFull(), p.perWorkspace, what)
	}
	return nil
}

// workspaceFull says whose requests take all places of a workspace.
func (c *Caller) workspaceFull() string {
	if c.Session {
		return "The keys and sessions of the workspace have %d requests %s, as many as they may have at once."
	}
	return "The keys of the workspace have %d requests %s, as many as they may have at once."
}

func (p *Seats) enter(c *Caller, what string) *Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.by[c.KeyID] >= p.perKey:
		who := "The key"
		switch {
		case c.Session:
			who = "The session"
		case strings.HasPrefix(c.KeyID, neighbour):
			who = "Your address"
		}
		return tooMany("%s has %d requests %s, as many as it may have at once.", who, p.perKey, what)
	case p.by[c.WorkspaceID] >= p.perWorkspace:
		return tooMany(c.workspaceFull(), p.perWorkspace, what)
	case p.used >= p.all:
		return RetryLater(1, nil, "The service is at its limit of concurrent requests.")
	}
	p.used++
	p.by[c.KeyID]++
	p.by[c.WorkspaceID]++
	return nil
}

// Leave gives a place back.
func (p *Seats) Leave(c *Caller) {
	p.leave(c)
	if p.share != nil {
		p.share.Leave(c.WorkspaceID)
	}
}

func (p *Seats) leave(c *Caller) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used--
	for _, id := range [...]string{c.KeyID, c.WorkspaceID} {
		if p.by[id]--; p.by[id] <= 0 {
			delete(p.by, id)
		}
	}
}

func tooMany(format string, args ...any) *Error {
	e := Because(ReasonConcurrency, format, args...)
	e.RetryAfter = 1
	return e
}
