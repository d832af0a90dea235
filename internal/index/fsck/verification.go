package fsck

import (
	"errors"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store/record"
)

// maxSpans is how many runs of unverified blocks a report lists.
const maxSpans = 100

// verification checks the record of which blocks were recomputed, and lists
// those that could not be.
func (c *checker) verification(state *chain.State) error {
	var sum chain.Summary
	var last *chain.FindingSpan
	rows := uint64(0)
	for e, err := range c.r.Walk(c.ctx, chain.Verifications, nil) {
		if err != nil {
			return err
		}
		rows++
		f, err := chain.DecodeFindings(e.Sort, e.Value)
		if errors.Is(err, record.ErrCorrupt) {
			if err := c.problem("table %s: %v", chain.Verifications.Name, err); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if last != nil && f.First <= last.Last {
			if err := c.problem("table %s says two things of block %d", chain.Verifications.Name, f.First); err != nil {
				return err
			}
		}
		if f.Last > state.Head.Number {
			if err := c.problem("table %s speaks of block %d, the head is %d", chain.Verifications.Name, f.Last, state.Head.Number); err != nil {
				return err
			}
		}
		n := f.Last - f.First + 1
		switch f.Outcome {
		case chain.Verified:
			sum.Verified += n
		case chain.NotChecked:
			sum.NotChecked += n
		case chain.Unverified:
			if sum.Unverified == 0 {
				sum.FirstUnverified = f.First
			}
			sum.Unverified += n
			if len(c.report.Unverified) < maxSpans {
				c.report.Unverified = append(c.report.Unverified, f)
			}
		}
		last = &f
	}
	c.report.Rows[chain.Verifications.Name] = rows
	if sum != state.Checked {
		return c.problem("the verification row of %s is %+v, its table adds up to %+v", chain.Meta.Name, state.Checked, sum)
	}
	return nil
}
