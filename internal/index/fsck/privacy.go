package fsck

import (
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/privacypool/ledger"
	"chainexplorer/internal/store"
)

// privacy makes the ledgers of privacy pools again, from the events that are stored and
// with the pools and classes that they were made by, and compares row by row.
func (c *checker) privacy() error {
	s, err := ledger.ReadState(c.ctx, c.r)
	if err != nil {
		return c.problem("%v", err)
	}
	if _, err := ledger.ReadRequest(c.ctx, c.r); err != nil {
		return c.problem("%v", err)
	}
	known := map[string]bool{}
	for _, n := range s.Dead {
		known[string(ledger.Partition(n))] = true
	}
	var made []*ledger.Generation
	for _, g := range []*ledger.Generation{s.Serving, s.Building} {
		if g == nil {
			continue
		}
		known[string(ledger.Partition(g.Number))] = true
		if g.Some {
			made = append(made, g)
		}
	}
	for _, t := range ledger.Enrichment() {
		kept := t.PartitionLen > 0
		var stray uint64
		err := c.walk(t, func(e store.Entry) error {
			if kept && !known[string(e.Partition)] {
				stray++
			}
			return nil
		})
		if err == nil && stray > 0 {
			err = c.problem("%d rows of table %s belong to no ledger", stray, t.Name)
		}
		if err != nil {
			return err
		}
	}
	for _, g := range made {
		holds, err := block.Ref{Number: g.Through, Hash: g.Hash}.Holds(c.ctx, c.r)
		if err != nil {
			return c.problem("%v", err)
		}
		if !holds { // a fork took its block away, and the job will end it
			continue
		}
		if err := c.ledger(g); err != nil {
			return err
		}
	}
	return nil
}

// ledgerSteps are large: nobody waits for one of them.
var ledgerSteps = ledger.Limits{Events: 1000, Hours: 10_000}

// ledger makes a generation again in the scratch store and compares.
func (c *checker) ledger(g *ledger.Generation) error {
	again := ledger.New(g.Number, g.Request, g.Pools)
	for done := false; !done; {
		b := &store.Batch{}
		var err error
		made := c.Scratch.View(c.ctx, func(r store.Reader) error {
			again, done, err = ledger.Advance(c.ctx, c.r, r, again, g.Through, ledgerSteps, time.Unix(0, 0), b)
			return nil
		})
		if made != nil {
			return fmt.Errorf("read the scratch store: %w", made)
		}
		if err != nil {
			return c.problem("the ledger of privacy pools cannot be made again: %v", err)
		}
		b.Under(c.scratch.lease)
		if err := c.Scratch.Commit(c.ctx, b); err != nil {
			return fmt.Errorf("write the scratch store: %w", err)
		}
	}
	if g.Pending { // its last hours are not there yet, and so it is not at its end
		return c.sameLedger(g, true)
	}
	if !g.Same(again) {
		if err := c.problem("generation %d of the ledger of privacy pools says other than the events up to block %d", g.Number, g.Through); err != nil {
			return err
		}
	}
	return c.sameLedger(g, false)
}

// sameLedger holds the rows of a generation against those that were made again. Some
// may be missing when it is not at its end.
func (c *checker) sameLedger(g *ledger.Generation, fewer bool) error {
	return c.Scratch.View(c.ctx, func(s store.Reader) error {
		for _, t := range ledger.Kept() {
			var made, stored uint64
			for e, err := range s.Walk(c.ctx, t, nil) {
				if err != nil {
					return fmt.Errorf("walk the replay of table %s: %w", t.Name, err)
				}
				if string(e.Partition) != string(ledger.Partition(g.Number)) {
					continue // of the generation before this one
				}
				k := store.Key{Table: t, Partition: e.Partition, Sort: e.Sort}
				got, err := c.r.Get(c.ctx, k)
				switch {
				case errors.Is(err, store.ErrNotFound) && fewer && (t == ledger.Points || t == ledger.Snapshots):
					continue
				case errors.Is(err, store.ErrNotFound):
					err = c.problem("row %x of table %s is missing", keyBytes(k), t.Name)
				case err == nil:
					var same bool
					if same, err = ledger.SameRow(t, e.Sort, got, e.Value); err != nil || !same {
						err = c.problem("row %x of table %s differs from its replay", keyBytes(k), t.Name)
					}
				}
				if err != nil {
					return err
				}
				made++
			}
			for e, err := range c.r.Walk(c.ctx, t, nil) {
				if err != nil {
					return fmt.Errorf("walk table %s: %w", t.Name, err)
				}
				if string(e.Partition) == string(ledger.Partition(g.Number)) {
					stored++
				}
			}
			if stored > made {
				if err := c.problem("table %s has %d rows of generation %d, the events explain %d", t.Name, stored, g.Number, made); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
