package kernel

import "sync"

// Seats bounds how many requests do one thing at once: those of a key, those of
// a workspace, and all together. One customer, however greedy, leaves room for
// the others.
type Seats struct {
	perKey, perWorkspace, all int

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

// Enter takes a place for a caller, who must leave it. what says in a failure
// what the places are for.
func (p *Seats) Enter(c *Caller, what string) *Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.by[c.KeyID] >= p.perKey:
		return tooMany("The key has %d requests %s, as many as it may have at once.", p.perKey, what)
	case p.by[c.WorkspaceID] >= p.perWorkspace:
		return tooMany("The keys of the workspace have %d requests %s, as many as they may have at once.", p.perWorkspace, what)
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
