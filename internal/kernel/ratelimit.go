package kernel

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"chainexplorer/internal/account"
)

const (
	HeaderRouteClass = "X-Service-Route-Class"
	HeaderLimit      = "X-Ratelimit-Limit"
	HeaderRemaining  = "X-Ratelimit-Remaining"
	HeaderPolicy     = "X-Ratelimit-Policy"
	// HeaderStability says that a route is still to change; most have none.
	HeaderStability = "X-Service-Route-Stability"
	// HeaderRPCClass says what kind of work a call of JSON-RPC, or a proof, is.
	HeaderRPCClass = "X-Service-Rpc-Class"
	// HeaderQueryClass and HeaderCostUnits say what kind of query an answer was made by,
	// and how many units it counts for.
	HeaderQueryClass = "X-Service-Query-Class"
	HeaderCostUnits  = "X-Service-Cost-Units"

	// LimitWindow is the length of the fixed window that budgets refer to.
	LimitWindow = time.Minute
)

// policies are the values of HeaderPolicy, by class.
var policies = func() map[Class]string {
	out := map[Class]string{}
	for _, c := range []Class{Light, Heavy, Batch} {
		out[c] = string(c) + ";w=" + strconv.Itoa(int(LimitWindow.Seconds()))
	}
	return out
}()

// maxBursts bounds the bursts that are told apart: more than there are workspaces
// and keys that ask within a minute.
const maxBursts = 1 << 20

// budgets count requests: a limiter those of this process, a sharedLimiter those of all.
type budgets interface {
	take(ctx context.Context, owner string, class Class, limit int) Verdict
	// left is how many requests could still be taken, as far as this process knows.
	left(owner string, class Class, limit int) int
}

// limiter counts requests per owner and class in windows of a minute. A window
// starts with the first request in it. Memory is bounded by the number of owners
// that were active within a window: older counters are swept.
type limiter struct {
	now func() time.Time

	mu     sync.Mutex // guards what follows
	counts map[budget]*window
	swept  time.Time
}

// budget is what a workspace, or a key with smaller limits of its own, may ask of
// a class.
type budget struct {
	owner string // the id of either
	class Class
}

type window struct {
	start time.Time
	used  int
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, counts: map[budget]*window{}}
}

// Verdict is the outcome for one request.
type Verdict struct {
	Limit, Remaining int
	allowed          bool
	wait             time.Duration // until the window ends
	Owner            string        // whose budget it is
}

// Seconds is how long to wait for the next window.
func (v *Verdict) Seconds() int { return wholeSeconds(v.wait) }

func (l *limiter) take(_ context.Context, owner string, class Class, limit int) Verdict {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.swept) >= LimitWindow {
		for b, w := range l.counts {
			if now.Sub(w.start) >= LimitWindow {
				delete(l.counts, b)
			}
		}
		l.swept = now
	}
	b := budget{owner, class}
	w := l.counts[b]
	if w == nil || now.Sub(w.start) >= LimitWindow {
		w = &window{start: now}
		l.counts[b] = w
	}
	v := Verdict{Limit: limit, wait: LimitWindow - now.Sub(w.start)}
	if w.used < limit {
		w.used++
		v.allowed = true
	}
	v.Remaining = max(limit-w.used, 0)
	return v
}

func (l *limiter) left(owner string, class Class, limit int) int {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.counts[budget{owner, class}]
	if w == nil || now.Sub(w.start) >= LimitWindow {
		return limit
	}
	return max(limit-w.used, 0)
}

// perMinute is a policy's budget for a class.
func perMinute(p *account.Policy, class Class) int {
	switch class {
	case Heavy:
		return p.HeavyPerMinute
	case Batch:
		return p.BatchPerMinute
	default:
		return p.LightPerMinute
	}
}

// allowance is what a request draws on.
type allowance struct {
	owner string
	pace
}

// allowances are those of a class. Every request draws on the workspace's, so that
// more keys are not more requests; a key to which the operator gave more than the
// plan raises the workspace's for its own requests. A key with less has one of its
// own besides.
func (c *Caller) allowances(class Class) (out [2]allowance, n int) {
	if c.Session {
		return [2]allowance{{c.PublicID, sessionPace}}, 1
	}
	plan := c.Plan.Policy()
	own := pace{perMinute(&c.Policy, class), c.Policy.Burst}
	all := pace{max(perMinute(&plan, class), own.perMinute), max(plan.Burst, own.burst)}
	if own != all {
		out[n] = allowance{c.PublicID, own}
		n++
	}
	out[n] = allowance{c.WorkspaceID, all}
	return out, n + 1
}

// limit draws on the caller's budgets and tells it how much is left.
func (s *Server) limit(ctx context.Context, h http.Header, c *Caller, req *Request) *Error {
	class := req.Route.Class
	v, e := s.Spend(ctx, c, class, 1)
	req.Budget = v
	values := []string{strconv.Itoa(v.Limit), strconv.Itoa(v.Remaining)}
	h[HeaderLimit], h[HeaderRemaining] = values[0:1:1], values[1:2:2]
	h[HeaderPolicy] = req.Route.policyHeader
	return e
}

// Spend draws a request's cost on the caller's budgets of a class, and a request on its
// bursts. What is refused half way stays spent: whoever asks for too much waits no
// shorter for it.
func (s *Server) Spend(ctx context.Context, c *Caller, class Class, cost int) (Verdict, *Error) {
	var in arrival
	return s.spend(ctx, c, class, cost, &in)
}

func (s *Server) spend(ctx context.Context, c *Caller, class Class, cost int, in *arrival) (v Verdict, e *Error) {
	list, n := c.allowances(class)
	for range max(cost, 1) {
		if v, e = s.draw(ctx, class, list[:n], in); e != nil {
			return v, e
		}
	}
	return v, nil
}

// arrival is a request's way into the bursts of a class. It takes one of each, and where
// one refuses that is its last word.
type arrival struct {
	taken   [2]bool
	verdict Verdict
	refused *Error
}

// enter takes a request out of a burst. One that is no smaller than the minute's budget
// adds nothing to it.
func (in *arrival) enter(s *Server, i int, class Class, a *allowance) bool {
	if in.taken[i] || a.burst >= a.perMinute {
		return true
	}
	wait, ok := s.bursts.take(budget{a.owner, class}, 1, a.pace)
	if in.taken[i] = ok; ok {
		return true
	}
	in.refused = Because(ReasonBurst, "More than %d %s requests came at once; they are taken evenly then, %d a minute.", a.burst, class, a.perMinute)
	in.refused.RetryAfter = wholeSeconds(wait)
	in.verdict = Verdict{Limit: a.perMinute, Remaining: s.limits.left(a.owner, class, a.perMinute), wait: wait, Owner: a.owner}
	return false
}

// draw takes a request out of all allowances, and returns the verdict of the one
// with the least left. What is refused by one costs nothing of those behind it.
func (s *Server) draw(ctx context.Context, class Class, list []allowance, in *arrival) (tightest Verdict, _ *Error) {
	for i, a := range list {
		if in.refused != nil || !in.enter(s, i, class, &a) {
			return in.verdict, in.refused
		}
		v := s.limits.take(ctx, a.owner, class, a.perMinute)
		v.Owner = a.owner
		if !v.allowed {
			e := Because(ReasonMinuteBudget, "The budget of %d %s requests a minute is used up.", v.Limit, class)
			e.RetryAfter = v.Seconds()
			return v, e
		}
		if i == 0 || v.Remaining < tightest.Remaining {
			tightest = v
		}
	}
	return tightest, nil
}

// Tab is for a request that brings several calls along. Every call costs what it costs
// alone, and of each class's burst the request takes one: a batch is one request that
// comes at once, however many calls it has. It is for one goroutine.
type Tab struct {
	server              *Server
	caller              *Caller
	light, heavy, batch arrival
}

// NewTab opens a tab for a caller.
func (s *Server) NewTab(c *Caller) *Tab { return &Tab{server: s, caller: c} }

// Spend draws the cost of one of the calls.
func (t *Tab) Spend(ctx context.Context, class Class, cost int) (Verdict, *Error) {
	in := &t.light
	switch class {
	case Heavy:
		in = &t.heavy
	case Batch:
		in = &t.batch
	}
	return t.server.spend(ctx, t.caller, class, cost, in)
}
