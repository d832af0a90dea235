package node

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// guest is what holds for a call that is passed on.
type guest struct {
	pool  *Pool
	spec  SpecVersion // zero: any
	at    *uint64
	until time.Time
	limit int64 // of the result
	kind  string
	left  int // requests that the read is still worth
	check func(result []byte) error
}

// accept says why an answer cannot be passed on as it is. Others have to read it as
// text, and JSON is UTF-8.
func (l lane) accept(r reply) error {
	switch {
	case !l.guest:
		return nil
	case !utf8.Valid(r.result) || !utf8.Valid(r.raw):
		return errors.New("not UTF-8")
	case r.err == nil && l.check != nil:
		return l.check(r.result)
	}
	return nil
}

func (g *guest) speaks(v SpecVersion) bool {
	return g.spec == SpecVersion{} || g.spec.Major == v.Major && g.spec.Minor == v.Minor
}

// usable says whether the node may be asked: one that has said who it is, answers and
// speaks the version. Needs n.mu.
func (g *guest) usable(n *node) bool {
	return n.id != nil && n.healthyLocked() && g.speaks(n.id.spec)
}

func (g *guest) usableNow(n *node) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	return g.usable(n) && !g.pool.shunnedLocked(n, now) && !now.Before(n.restUntil) && !now.Before(n.guestRests[g.kind])
}

// doubts says whether another node might say more: this one tells of its own state,
// does not know the method, or denies what it may only not have yet.
func (g *guest) doubts(t tryOut) bool {
	r := t.replies[0]
	switch {
	case r.err == nil:
		return false
	case r.err.transient(), r.err.Code == CodeMethodNotFound:
		return true
	case !r.err.notFound():
		return false
	}
	level := t.n.level()
	if g.at == nil {
		return level < g.pool.bestLevel(time.Now())
	}
	// It has the block and denies it, or does not have it.
	return r.err.Code == CodeBlockNotFound || level < *g.at
}

// behind says whether the node denies what others may have: they have blocks that it
// does not.
func (g *guest) behind(n *node, r reply) bool {
	if r.err == nil || !r.err.notFound() {
		return false
	}
	level := n.level()
	return level < g.pool.bestLevel(time.Now()) && (g.at == nil || level < *g.at)
}

// moreTelling keeps one of two answers that are both in doubt: what a node that is
// not behind says of the chain, before what a node says of itself, before what it may
// not know.
func (g *guest) moreTelling(a, b tryOut) tryOut {
	if a.n == nil {
		return b
	}
	worth := func(t tryOut) int {
		switch r := t.replies[0]; {
		case g.behind(t.n, r):
			return 0
		case r.err.Code == CodeMethodNotFound:
			return 1
		case r.err.transient():
			return 2
		}
		return 3
	}
	if worth(b) > worth(a) {
		a, b = b, a
	}
	b.hold.release()
	return a
}

// settles says whether no other node is worth asking after the failure: the answer is
// too long, whoever gives it, or it is us who have no place for it.
func (g *guest) settles(err error) bool {
	return errors.Is(err, ErrTooLarge) || errors.Is(err, ErrBusy) || !time.Now().Before(g.until)
}

// told makes the answer of a reply.
func (g *guest) told(n *node, r reply, h *hold) (Told, error) {
	if size := int64(max(len(r.result), len(r.raw))); size > g.limit {
		h.release()
		return Told{Release: func() {}}, n.fail("too_large", fmt.Errorf("%w: %d bytes, %d allowed", ErrTooLarge, size, g.limit))
	}
	t := Told{Result: r.result, Node: n.name, Release: h.release}
	if r.err != nil {
		t.Result, t.Error, t.Code = nil, r.raw, r.err.Code
	}
	return t, nil
}
