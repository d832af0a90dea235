package simnode

import (
	"context"
	"time"
)

// maxLiveFork is how deep the live driver's forks go.
const maxLiveFork = 8

// Run makes the chain live: one block per interval, and at each step a fork of
// small depth with the given chance, until the context ends. An interval of
// zero means the configured block time, a negative rate the configured one.
func (c *Chain) Run(ctx context.Context, interval time.Duration, forkRate float64) error {
	if interval <= 0 {
		interval = c.cfg.BlockTime
	}
	if forkRate < 0 {
		forkRate = c.cfg.ForkRate
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	r := newRandom(c.cfg.Seed, 0x11fe)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		if r.chance(forkRate) {
			c.Fork(1 + r.intn(maxLiveFork))
		}
		c.Extend(1)
	}
}
