// Package backoff says how long to wait before something that failed is tried
// again: twice as long with every failure, half of it left to chance, so that
// many who failed together do not come back together.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Policy bounds the waits.
type Policy struct {
	// Min is the wait after the first failure, and Max the longest.
	Min, Max time.Duration
	// Rand returns numbers from 0 to below 1; nil for the usual ones.
	Rand func() float64
}

// After is the wait after so many failures in a row: between half of and all of
// Min, doubled with every failure after the first up to Max.
func (p Policy) After(failures int) time.Duration {
	d := p.Max
	if doublings := max(failures-1, 0); doublings < 32 {
		if grown := p.Min << doublings; grown > 0 && grown < d {
			d = grown
		}
	}
	chance := rand.Float64
	if p.Rand != nil {
		chance = p.Rand
	}
	return d/2 + time.Duration(chance()*float64(d)/2)
}

// Wait waits, unless the context ends before.
func Wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
