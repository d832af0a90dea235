package node

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// This file asks again when an answer takes much longer than usual. Blocks are
// committed in order: one request that hangs would hold up all that follow until
// it times out.

const (
	// latencyKept is how many answers the usual time is worked out from, and
	// latencyNeeded how many it takes to know one.
	latencyKept, latencyNeeded = 64, 8
	// hedgeFactor times the time within which nearly all answers come is when
	// somebody else is asked.
	hedgeFactor = 3
	// hedgeFloor keeps short hiccups from being answered with more requests.
	hedgeFloor = 50 * time.Millisecond
	// hedgeUnknown is when somebody else is asked while it is not known how long
	// answers take.
	hedgeUnknown = time.Second
	// maxHedges is how often one request is asked again beside itself.
	maxHedges = 2
	// hedgeShare is how many requests in a hundred may be asked again of a node that
	// is busy or slow itself, and hedgeBurst how many of these may come together. A
	// pool that is slow as a whole must not be given twice the work.
	hedgeShare, hedgeBurst = 10, 16
)

// latencies remembers how long the latest answers took. It is safe for concurrent use.
type latencies struct {
	mu    sync.Mutex
	took  [latencyKept]time.Duration
	n     int           // how many ever
	known time.Duration // what usual said last
	at    int           // and what n was then
}

// latencyAnew is after how many answers the usual time is worked out again, once there
// are as many as are kept.
const latencyAnew = 8

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took[l.n%latencyKept] = d
	l.n++
}

// usual is the time within which 95 of 100 answers came, if that is known.
func (l *latencies) usual() (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n < latencyNeeded {
		return 0, false
	}
	if l.at < latencyKept || l.n >= l.at+latencyAnew {
		buffer := l.took
		kept := buffer[:min(l.n, latencyKept)]
		slices.Sort(kept)
		l.known, l.at = kept[len(kept)*95/100], l.n
	}
	return l.known, true
}

// latency is how long the node takes for a method.
func (n *node) latency(method string) *latencies {
	method = methodKind(method)
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.latencies[method]
	if l == nil {
		if n.latencies == nil {
			n.latencies = map[string]*latencies{}
		}
		l = &latencies{}
		n.latencies[method] = l
	}
	return l
}

// hedgeAfter is how long an answer is waited for before it is asked for again.
func (p *Pool) hedgeAfter(n *node, method string, timeout time.Duration) time.Duration {
	usual, known := n.latency(method).usual()
	if !known {
		return min(hedgeUnknown, timeout/4)
	}
	return min(max(hedgeFactor*usual, hedgeFloor), timeout/4)
}

// allowance grants a share of requests a second try. It begins with all that may
// come together: a node may hang from the start.
type allowance struct {
	mu    sync.Mutex
	spent int // in hundredths, of hedgeBurst requests
}

func (a *allowance) earn() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spent = max(a.spent-hedgeShare, 0)
}

func (a *allowance) spend() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.spent+100 > 100*hedgeBurst {
		return false
	}
	a.spent += 100
	return true
}

// tryOut is what one of several equal requests came to.
type tryOut struct {
	n       *node
	calls   []call
	replies []reply
	err     error
	hold    *hold
	asked   []bool // all that were asked, by node
	sent    int    // how many requests were made
}

// exchangeHedged puts the open calls of op to n and, if that takes long, to
// another node as well, or to n again, which is not done with callers' reads. The first answer counts, and the others are
// given up. If all fail, the failure is n's own. What op doubts counts only when
// nobody says more.
func (p *Pool) exchangeHedged(ctx context.Context, n *node, op readOp, open []int, tried, useless []bool) (won tryOut) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(errOvertaken)
	results := make(chan tryOut, maxHedges+1)
	var holds []*hold
	sent := 0
	start := func(n *node) {
		sent++
		t := tryOut{n: n, hold: newHold(p.budgetOf(&op)), calls: pickCalls(op.calls(n), open)}
		holds = append(holds, t.hold)
		go func() {
			began := time.Now()
			t.replies, t.err = p.exchange(ctx, n, t.calls, p.laneOf(&op, t.hold))
			if t.err == nil {
				n.latency(t.calls[0].method).add(time.Since(began))
			}
			results <- t
		}()
	}
	hedges, most := p.hedgesOf(&op)
	hedges.earn()
	start(n)
	running, asked := 1, slices.Clone(tried)
	defer func() {
		// Nobody reads what the others still say, and it must not stay taken.
		if left := running; left > 0 {
			go func() {
				for range left {
					(<-results).hold.release()
				}
			}()
		}
	}()
	delay := p.hedgeAfter(n, op.calls(n)[open[0]].method, p.laneOf(&op, nil).timeout)
	timer := time.NewTimer(delay)
	defer timer.Stop()
	var failed, doubted tryOut
	defer func() {
		won.asked, won.sent = asked, sent
		if doubted.n != nil && won.hold != doubted.hold {
			doubted.hold.release()
		}
	}()
	for {
		select {
		case t := <-results:
			running--
			if t.err == nil && op.guest != nil && op.guest.doubts(t) {
				if doubted.n != nil {
					doubted.hold.release()
				}
				if doubted = t; running == 0 {
					return t
				}
				continue
			}
			if t.err == nil {
				if t.n != n && ctx.Err() == nil {
					p.lose(n, op.kind(n), n.fail("slow", errors.New("took much longer than usual: another node answered first")))
				}
				return t
			}
			if failed.n == nil || t.n == n {
				failed = t
			}
			t.hold.release()
			if running == 0 && doubted.n != nil {
				return doubted
			}
			if running == 0 {
				return failed
			}
		case <-timer.C:
			if running > maxHedges || sent > most {
				continue
			}
			if slices.ContainsFunc(holds, func(h *hold) bool { return h.waiting.Load() > 0 }) {
				timer.Reset(delay) // an answer is there, and it is us who have no room
				continue
			}
			other := n
			if op.only == "" {
				if o := p.pick(op, asked, useless); o != nil && p.identified(o) {
					other = o
				}
			}
			if other == n && op.guest != nil {
				timer.Reset(delay) // more of the same would only make it slower
				continue
			}
			// Another node that does its work and has room is always asked: what comes
			// after this answer waits for it. Only more work for a node that is busy, or
			// for the same one, needs the allowance.
			kind := op.kind(other)
			free := other != n && other.failures() < unhealthyAfter && !other.isLost(kind, time.Now()) && other.hasRoom(op.guest != nil)
			if !free && !hedges.spend() {
				timer.Reset(delay)
				continue
			}
			asked[other.index] = true
			p.cfg.Metrics.hedge(other.name)
			running++
			start(other)
			timer.Reset(2 * delay)
		}
	}
}

// errOvertaken ends the requests that another one was faster than.
var errOvertaken = errors.New("another request was faster")

func pickCalls(all []call, open []int) []call {
	out := make([]call, len(open))
	for k, i := range open {
		out[k] = all[i]
	}
	return out
}

func (p *Pool) identified(n *node) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.id != nil
}
