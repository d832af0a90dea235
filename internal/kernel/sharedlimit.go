package kernel

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"chainexplorer/internal/control"
)

const (
	// drawTime bounds how long a request waits for its part of a budget.
	drawTime = 500 * time.Millisecond
	// awayTime is how long nobody asks again after the database did not answer.
	awayTime = time.Second
	// partTime is how long a part should last: one that is used up sooner is
	// followed by a larger one.
	partTime = time.Second
)

// sharedLimiter counts requests of all processes on one control database. Each
// takes parts of a workspace's budget out of it and spends them without asking, so
// that the sum never exceeds the limit. A part is small at first and grows with the
// workspace's traffic, to at most an eighth of what is left; the last ones are of one
// request. What a process took and did not spend is lost when the window ends.
//
// While the database does not answer, each process counts on its own: a failure
// of ours must not become the clients'. Keys cannot be checked then either, so
// that this is for the second in which they are known from memory.
type sharedLimiter struct {
	draw    func(context.Context, control.Draw) (control.Drawn, error)
	now     func() time.Time
	log     *slog.Logger
	metrics *Metrics
	local   *limiter     // while the database is away
	away    atomic.Int64 // until when, in nanoseconds since 1970

	mu    sync.Mutex // guards what follows
	parts map[budget]*part
	swept time.Time
}

// part is what a process may spend of a budget.
type part struct {
	asking chan struct{} // holds a token while somebody asks for more

	// The rest is guarded by the limiter's mu.
	left  int       // requests that may be accepted
	limit int       // of all processes, when last asked
	used  int       // by all processes, when last asked
	ends  time.Time // of the window, or a little earlier
	asked time.Time
	size  int64 // of the next part
}

func newSharedLimiter(draw func(context.Context, control.Draw) (control.Drawn, error), now func() time.Time, log *slog.Logger, m *Metrics) *sharedLimiter {
	return &sharedLimiter{draw: draw, now: now, log: log, metrics: m, local: newLimiter(now), parts: map[budget]*part{}}
}

func (l *sharedLimiter) take(ctx context.Context, owner string, class Class, limit int) Verdict {
	b := budget{owner, class}
	p, v, settled := l.spend(b, limit)
	if settled {
		return v
	}
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	case <-ctx.Done(): // the client is gone
		return v
	}
	if _, v, settled = l.spend(b, limit); settled { // somebody else asked meanwhile
		return v
	}
	start := l.now()
	if l.isAway(start) {
		return l.local.take(ctx, owner, class, limit)
	}
	// A client that goes away must not take a part with it.
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), drawTime)
	defer cancel()
	drawn, err := l.draw(asking, control.Draw{Owner: owner, Class: string(class), Want: l.size(p), Limit: int64(limit), Window: LimitWindow})
	if err != nil {
		l.metrics.draws.WithLabelValues("failed").Inc()
		told := l.isAway(start)
		if l.away.Store(start.Add(awayTime).UnixNano()); !told {
			l.log.Warn("rate limits are counted by this process alone", "err", err)
		}
		return l.local.take(ctx, owner, class, limit)
	}
	l.metrics.draws.WithLabelValues("ok").Inc()
	return l.receive(p, drawn, limit, start)
}

// isAway says that the database did not answer a moment ago. A clock that was set back does not make it longer.
func (l *sharedLimiter) isAway(now time.Time) bool {
	left := l.away.Load() - now.UnixNano()
	return left > 0 && left <= int64(awayTime)
}

// left does not ask: what others took meanwhile is found out by who takes next.
func (l *sharedLimiter) left(owner string, class Class, limit int) int {
	now := l.now()
	if l.isAway(now) {
		return l.local.left(owner, class, limit)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.parts[budget{owner, class}]
	if p == nil || !now.Before(p.ends) {
		return limit
	}
	return max(limit-p.used+p.left, 0)
}

// spend takes a request out of the part at hand. It is not settled when more has
// to be asked for.
func (l *sharedLimiter) spend(b budget, limit int) (p *part, v Verdict, settled bool) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.swept) >= LimitWindow {
		for b, p := range l.parts {
			if !now.Before(p.ends) && len(p.asking) == 0 {
				delete(l.parts, b)
			}
		}
		l.swept = now
	}
	if p = l.parts[b]; p == nil {
		p = &part{asking: make(chan struct{}, 1), size: 1}
		l.parts[b] = p
	}
	v = Verdict{Limit: limit, wait: p.ends.Sub(now)}
	switch {
	case !now.Before(p.ends):
		p.left, p.size = 0, 1
		return p, Verdict{Limit: limit, wait: time.Second}, false
	case p.left > 0 && p.used-p.left < limit: // another key's limit may have been higher
		p.left--
		v.allowed = true
	case p.used < limit || p.limit < limit:
		return p, v, false
	}
	v.Remaining = max(limit-p.used+p.left, 0)
	return p, v, true
}

// size is how much to ask for.
func (l *sharedLimiter) size(p *part) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch since := l.now().Sub(p.asked); {
	case p.asked.IsZero() || !l.now().Before(p.ends):
		p.size = 1
	case since < partTime:
		p.size = min(2*p.size, 1<<30)
	case since > 4*partTime:
		p.size = max(p.size/2, 1)
	}
	return p.size
}

// receive spends one request of what was given. The window's end is reckoned
// from before the question, so that nothing is spent after it.
func (l *sharedLimiter) receive(p *part, drawn control.Drawn, limit int, start time.Time) Verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.left, p.limit, p.used = int(drawn.Granted), limit, int(drawn.Used)
	p.asked, p.ends = start, start.Add(drawn.Ends)
	v := Verdict{Limit: limit, wait: drawn.Ends}
	if p.left > 0 {
		p.left--
		v.allowed = true
	}
	v.Remaining = max(limit-p.used+p.left, 0)
	return v
}
