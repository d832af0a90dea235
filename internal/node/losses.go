package node

import (
	"errors"
	"strings"
	"time"
)

// This file ranks a node down for the kind of request that it does not answer. A
// node may be quick with its head and hang on blocks: its good answers to the one
// say nothing of the other.

const (
	// lostAfter is how many requests of a kind must be lost in a row: to another
	// node that answered first, or to the timeout. Failures that are told cost
	// little, and count against the node as a whole; those of callers' requests
	// count here alone.
	lostAfter = 3
	// lostBase is how long the node is then the last choice for that kind, and
	// lostMost how long at most; it doubles when the node loses again after it.
	lostBase, lostMost = 15 * time.Second, 15 * time.Minute
)

// losses is how a node does with one kind of request.
type losses struct {
	count int // in a row
	spell time.Duration
	until time.Time // the end of the spell
}

// kind is what a node's answer to the read tells about: other reads of the same
// first method. What callers ask must not grow what is kept.
func (op *readOp) kind(n *node) string {
	if op.guest != nil {
		return op.guest.kind
	}
	if op.calls == nil {
		return ""
	}
	return methodKind(op.calls(n)[0].method)
}

// guestKind marks the kinds of what callers ask. How long the answer to a caller
// takes, and whether there is one, is in the caller's hand: it says which node to ask
// first for the next one, and nothing of the node's health.
const guestKind = "caller's "

// kindOfGuest is the kind of a method that a caller asks for. Writes have kinds of
// their own: what is refused to one must not be taken from another.
func kindOfGuest(method string) string {
	if writeMethods[method] {
		return guestKind + method
	}
	return guestKind + methodKind(method)
}

// loses says whether a failure is a request that was lost. Of callers' requests it is
// every one that is neither our own lack of room nor a limit that the node told of.
func loses(kind string, err error) bool {
	var ne *NodeError
	if !errors.As(err, &ne) {
		return false
	}
	switch ne.outcome {
	case "timeout", "slow":
		return true
	case "busy", "no_room", "too_large", "rate_limited":
		return false
	}
	return strings.HasPrefix(kind, guestKind)
}

func methodKind(method string) string {
	if !readMethods[method] {
		return ""
	}
	return method
}

// lostLocked says whether the node is the last choice for a kind. Needs mu.
func (n *node) lostLocked(kind string, now time.Time) bool {
	l := n.losses[kind]
	return l != nil && now.Before(l.until)
}

func (n *node) isLost(kind string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lostLocked(kind, now)
}

// soundLocked says whether the node answers what it is asked, of every kind. One
// that lost a kind and has not answered it since is not called sound before it was
// left alone for long. Needs mu.
func (n *node) soundLocked(now time.Time) bool {
	for kind, l := range n.losses {
		if !strings.HasPrefix(kind, guestKind) && l.count >= lostAfter && now.Before(l.until.Add(lostMost)) {
			return false
		}
	}
	return n.healthyLocked()
}

// lose books a request of a kind that the node did not answer in time, or for a
// caller not at all. Requests that were under way together are one step.
func (p *Pool) lose(n *node, kind string, err error) {
	if !loses(kind, err) {
		return
	}
	now := time.Now()
	n.mu.Lock()
	l := n.losses[kind]
	if l == nil {
		if n.losses == nil {
			n.losses = map[string]*losses{}
		}
		l = &losses{}
		n.losses[kind] = l
	}
	l.count = min(l.count+1, lostAfter)
	begins := l.count == lostAfter && !now.Before(l.until)
	if begins {
		l.spell = min(max(2*l.spell, lostBase), lostMost)
		l.until = now.Add(l.spell)
	}
	spell, sound := l.spell, n.soundLocked(now)
	n.mu.Unlock()
	if begins {
		if strings.HasPrefix(kind, guestKind) {
			n.wakeUp() // the watcher finds out whether it is the node or what was asked
		}
		p.cfg.Metrics.setHealthy(n.name, sound)
		p.log.Warn("node does not answer a kind of request; others are asked first", "node", n.name, "method", kind, "for", spell, "error", err)
	}
}

// answered books an answer to a kind.
func (p *Pool) answered(n *node, kind string) {
	now := time.Now()
	n.mu.Lock()
	l := n.losses[kind]
	back := l != nil && l.count >= lostAfter
	delete(n.losses, kind)
	sound := n.soundLocked(now)
	n.mu.Unlock()
	if back {
		p.cfg.Metrics.setHealthy(n.name, sound)
		p.log.Info("node answers a kind of request again", "node", n.name, "method", kind)
	}
}

// places are what bounds the requests in flight.
func (n *node) places(guest bool) chan struct{} {
	if guest {
		return n.guests
	}
	return n.slots
}

// hasRoom says whether the node could take more without those that it has waiting.
func (n *node) hasRoom(guest bool) bool {
	places := n.places(guest)
	return 2*len(places) < cap(places)
}
