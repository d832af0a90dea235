package api

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	headerRouteClass = "X-Service-Route-Class"
	headerLimit      = "X-Ratelimit-Limit"
	headerRemaining  = "X-Ratelimit-Remaining"
	headerPolicy     = "X-Ratelimit-Policy"

	// limitWindow is the length of the fixed window that budgets refer to.
	limitWindow = time.Minute
)

// budgets count requests: a limiter those of this process, a sharedLimiter those of all.
type budgets interface {
	take(ctx context.Context, key string, class Class, limit int) verdict
}

// limiter counts requests per key and class in windows of a minute. A window
// starts with the first request in it. Memory is bounded by the number of keys
// that were active within a window: older counters are swept.
type limiter struct {
	now func() time.Time

	mu     sync.Mutex // guards what follows
	counts map[budget]*window
	swept  time.Time
}

type budget struct {
	key   string
	class Class
}

type window struct {
	start time.Time
	used  int
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, counts: map[budget]*window{}}
}

// verdict is the outcome for one request.
type verdict struct {
	limit, remaining int
	allowed          bool
	wait             time.Duration // until the window ends
}

// seconds is how long to wait for the next window.
func (v *verdict) seconds() int { return max(int((v.wait+time.Second-1)/time.Second), 1) }

func (l *limiter) take(_ context.Context, key string, class Class, limit int) verdict {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.swept) >= limitWindow {
		for b, w := range l.counts {
			if now.Sub(w.start) >= limitWindow {
				delete(l.counts, b)
			}
		}
		l.swept = now
	}
	b := budget{key, class}
	w := l.counts[b]
	if w == nil || now.Sub(w.start) >= limitWindow {
		w = &window{start: now}
		l.counts[b] = w
	}
	v := verdict{limit: limit, wait: limitWindow - now.Sub(w.start)}
	if w.used < limit {
		w.used++
		v.allowed = true
	}
	v.remaining = max(limit-w.used, 0)
	return v
}

// perMinute is the caller's budget for a class.
func (c *caller) perMinute(class Class) int {
	switch class {
	case Heavy:
		return c.Policy.HeavyPerMinute
	case Batch:
		return c.Policy.BatchPerMinute
	default:
		return c.Policy.LightPerMinute
	}
}

// limit draws on the caller's budget and tells it how much is left.
func (s *Server) limit(ctx context.Context, h http.Header, c *caller, req *request) *Error {
	class := req.route.Class
	v := s.limits.take(ctx, c.PublicID, class, c.perMinute(class))
	req.budget = v
	values := []string{strconv.Itoa(v.limit), strconv.Itoa(v.remaining)}
	h[headerLimit], h[headerRemaining] = values[0:1:1], values[1:2:2]
	h[headerPolicy] = req.route.policyHeader
	if v.allowed {
		return nil
	}
	e := fail(CodeRateLimited, "The budget of %d %s requests a minute is used up.", v.limit, class)
	e.RetryAfter = v.seconds()
	return e
}
