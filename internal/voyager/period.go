package voyager

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer/block"
)

// period is what a list is bounded to, in Unix seconds with both ends; nil is no bound.
type period struct{ from, to *uint64 }

func (c *call) period() (p period, err error) {
	if p.from, err = c.seconds("timestampFrom"); err != nil {
		return p, err
	}
	if p.to, err = c.seconds("timestampTo"); err != nil {
		return p, err
	}
	if p.from != nil && p.to != nil && *p.from > *p.to {
		return p, invalid("timestampFrom comes after timestampTo.")
	}
	return p, nil
}

func (p period) given() bool { return p.from != nil || p.to != nil }

func (p period) identity() string {
	text := func(n *uint64) string {
		if n == nil {
			return ""
		}
		return fmt.Sprint(*n)
	}
	return text(p.from) + "-" + text(p.to)
}

// blocks are the first and the last block of the period, up to the top of the list; some is
// false when there is none.
func (p period) blocks(ctx context.Context, v *view) (first, last uint64, some bool, err error) {
	last = v.top.Number
	if p.from != nil {
		b, err := block.AtOrAfter(ctx, v.r, *p.from)
		if errors.Is(err, block.ErrNotFound) {
			return 0, 0, false, nil
		}
		if err != nil {
			return 0, 0, false, err
		}
		first = b.Number
	}
	if p.to != nil {
		b, err := block.AtOrBefore(ctx, v.r, *p.to)
		if errors.Is(err, block.ErrNotFound) {
			return 0, 0, false, nil
		}
		if err != nil {
			return 0, 0, false, err
		}
		last = min(last, b.Number)
	}
	return first, last, first <= last, nil
}
