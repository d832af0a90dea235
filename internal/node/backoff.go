package node

import (
	"context"
	"time"

	"chainexplorer/internal/backoff"
)

// waitTime is the pause before the next round: growing, jittered, and not
// shorter than what all nodes asked for.
func (p *Pool) waitTime(round int, op readOp, useless []bool) time.Duration {
	now := time.Now()
	rest := time.Duration(-1)
	for i, n := range p.nodes {
		n.mu.Lock()
		if p.usable(&op, n) && (useless == nil || !useless[i]) {
			if d := max(n.restUntil.Sub(now), 0); rest < 0 || d < rest {
				rest = d
			}
		}
		n.mu.Unlock()
	}
	return max(p.backoff(round), rest)
}

// backoff doubles from the base to the maximum; half of it is chance.
func (p *Pool) backoff(round int) time.Duration {
	return backoff.Policy{Min: p.cfg.BackoffBase, Max: p.cfg.BackoffMax, Rand: p.cfg.Rand}.After(round + 1)
}

// pause waits for d. It does not begin a wait that the context would cut off.
func (p *Pool) pause(ctx context.Context, d time.Duration) error {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return context.DeadlineExceeded
	}
	return backoff.Wait(ctx, d)
}
