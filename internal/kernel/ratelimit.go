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
	list, n := c.allowances(class)
	v, e := s.draw(ctx, class, list[:n])
	req.Budget = v
	values := []string{strconv.Itoa(v.Limit), strconv.Itoa(v.Remaining)}
	h[HeaderLimit], h[HeaderRemaining] = values[0:1:1], values[1:2:2]
	h[HeaderPolicy] = req.Route.policyHeader
	return e
}

// burst takes a request out of a burst. One that is no smaller than the minute's
// budget adds nothing to it.
func (s *Server) burst(b budget, p pace) (wait time.Duration, ok bool) {
	if p.burst >= p.perMinute {
		return 0, true
	}
	return s.bursts.take(b, 1, p)
}

// draw takes a request out of all allowances, and returns the verdict of the one
// with the least left. What is refused by one costs nothing of those behind it.
func (s *Server) draw(ctx context.Context, class Class, list []allowance) (tightest Verdict, _ *Error) {
	for i, a := range list {
		if wait, ok := s.burst(budget{a.owner, class}, a.pace); !ok {
			e := Because(ReasonBurst, "More than %d %s requests came at once; they are taken evenly then, %d a minute.", a.burst, class, a.perMinute)
			e.RetryAfter = wholeSeconds(wait)
			return Verdict{Limit: a.perMinute, wait: wait, Owner: a.owner}, e
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
