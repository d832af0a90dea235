package node

import (
	"sync"
	"sync/atomic"
	"time"

	"chainexplorer/internal/felt"
)

// Head is the newest block that a node told of and showed.
type Head struct {
	Number uint64
	Hash   felt.Felt // zero if only the number is known
	Node   string
}

// unhealthyAfter is how many failures in a row make a node the last choice.
const unhealthyAfter = 3

// node is one endpoint and what is known of it.
type node struct {
	index int
	name  string
	addr  address

	slots    chan struct{} // one per request in flight
	guests   chan struct{} // and one per request that is passed on, see forward.go
	identify chan struct{} // held by whoever asks the node who it is
	wake     chan struct{} // asks the watcher to look now
	looking  chan struct{} // held by whoever looks at the head for a guest

	bodySize atomic.Int64 // about the largest recent body of unannounced length

	mu        sync.Mutex
	id        *identity
	refused   error // the node may not be used: other chain, unknown version
	head      Head  // the newest that it showed, see shown.go
	headKnown bool
	headSeq   uint64    // counts head changes, to drop answers that were overtaken
	headTime  time.Time // when the head was last confirmed
	peak      peak
	served    uint64    // highest block that the node gave out
	fails     int       // failures in a row
	restUntil time.Time // Retry-After
	noBatch   time.Time // until when batches are not tried
	noFlags   bool      // response flags were rejected
	live      bool      // heads arrive by WebSocket
	pushed    uint64    // a head that arrived so and was not shown when it did

	quarantine quarantine
	doubts     doubts
	latencies  map[string]*latencies // by method
	losses     map[string]*losses    // by kind of request
	guestRests map[string]time.Time  // until when callers' requests of a kind are not put to it
}

// healthyLocked needs mu.
func (n *node) healthyLocked() bool { return n.fails < unhealthyAfter }

func (n *node) failures() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.fails
}

// rest keeps everyone away from the node until t.
func (n *node) rest(t time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if t.After(n.restUntil) {
		n.restUntil = t
	}
}

// restFor keeps callers' requests of a kind away from the node until t. What one caller
// was told says nothing of other requests.
func (n *node) restFor(kind string, t time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if t.After(n.guestRests[kind]) {
		if n.guestRests == nil {
			n.guestRests = map[string]time.Time{}
		}
		n.guestRests[kind] = t
	}
}

func (n *node) resting(now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return now.Before(n.restUntil)
}

func (n *node) takesBatches(now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !now.Before(n.noBatch)
}

func (n *node) refuseBatches(until time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.noBatch = until
}

// takesFlags says whether the node knows response flags.
func (n *node) takesFlags() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.id != nil && n.id.spec.atLeast(0, 10, 1) && !n.noFlags
}

// rejectFlags remembers that it does not, whatever its version says, and
// reports whether that is news.
func (n *node) rejectFlags() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	was := n.noFlags
	n.noFlags = true
	return !was
}

// level is the highest block the node is known to have.
func (n *node) level() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.levelLocked()
}

func (n *node) levelLocked() uint64 { return max(n.head.Number, n.served) }

// serves notes that the node gave out the block.
func (n *node) serves(number uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.served = max(n.served, number)
	n.doubts.clearLocked(number)
}

func (n *node) headMark() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.headSeq
}

// setHead takes what the node says its head is now, lower than before or not.
// mark is headMark from before the question was asked: if a head came in by
// another way meanwhile, the answer may be older than that.
func (n *node) setHead(h Head, mark uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.headTime = time.Now()
	if mark != n.headSeq {
		return
	}
	n.headSeq++
	n.head, n.headKnown = h, true
	n.served = h.Number
	n.peak.told(h.Number, n.headTime)
}

// freshLocked says whether the head still counts. Needs mu.
func (p *Pool) freshLocked(n *node, now time.Time) bool {
	return n.headKnown && n.refused == nil && now.Sub(n.headTime) <= p.cfg.HeadTTL && !p.shunnedLocked(n, now)
}

// bestHead is the highest head that any node told of recently; on a tie the
// node configured first wins, so that the choice is steady.
func (p *Pool) bestHead(now time.Time) (best Head, ok bool) {
	for _, n := range p.nodes {
		n.mu.Lock()
		if p.freshLocked(n, now) && (!ok || n.head.Number > best.Number) {
			best, ok = n.head, true
		}
		n.mu.Unlock()
	}
	return best, ok
}

// bestLevel is the highest block that any node is known to have.
func (p *Pool) bestLevel(now time.Time) (best uint64) {
	for _, n := range p.nodes {
		n.mu.Lock()
		if p.freshLocked(n, now) {
			best = max(best, n.levelLocked())
		}
		n.mu.Unlock()
	}
	return best
}

// failed books a failure. A probe is sure enough to count at once.
func (p *Pool) failed(n *node, err error, probe bool) {
	n.mu.Lock()
	was := n.healthyLocked()
	if n.fails++; probe {
		n.fails = max(n.fails, unhealthyAfter)
	}
	n.fails = min(n.fails, 64)
	is := n.healthyLocked()
	n.mu.Unlock()
	if was && !is {
		p.cfg.Metrics.setHealthy(n.name, false)
		p.log.Warn("node is failing", "node", n.name, "error", err)
	}
}

// succeeded books an answer. After a failing spell, a good probe only opens
// the door half: one more failure shuts it again.
func (p *Pool) succeeded(n *node, probe bool) {
	n.mu.Lock()
	was := n.healthyLocked()
	if !probe {
		n.fails = 0
	} else {
		n.fails = min(n.fails, unhealthyAfter-1)
	}
	sound := n.soundLocked(time.Now())
	n.mu.Unlock()
	if !was {
		p.cfg.Metrics.setHealthy(n.name, sound)
		p.log.Info("node answers again", "node", n.name)
	}
}
