package fsck

import (
	"crypto/sha256"
	"fmt"
	"math/big"

	"chainexplorer/internal/explorer/audit"
	"chainexplorer/internal/explorer/census"
	"chainexplorer/internal/explorer/pools"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// derived checks what jobs made of the index. Blocks do not say what must be
// there, because jobs lag behind; but what is there agrees with itself: pools
// with their totals, published generations with their rows and digests, and ledgers
// of privacy pools with the events up to the block that they reach.
func (c *checker) derived() error {
	err := c.walk(audit.States, func(e store.Entry) error {
		_, err := audit.Decode(e.Value)
		if err == nil && string(e.Sort) != string(audit.StateKey.Sort) {
			err = fmt.Errorf("row %x belongs to nothing", e.Sort)
		}
		if err != nil {
			return c.problem("table %s: %v", audit.States.Name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := c.pools(); err != nil {
		return err
	}
	if err := c.privacy(); err != nil {
		return err
	}
	return c.generations()
}

func (c *checker) pools() error {
	counted := map[felt.Felt]uint64{}
	var n uint64
	for e, err := range c.r.Walk(c.ctx, pools.Pools, nil) {
		if err != nil {
			return fmt.Errorf("walk table %s: %w", pools.Pools.Name, err)
		}
		counted[felt.Felt(e.Partition)]++
		if n++; len(e.Sort) != 16 {
			if err := c.problem("row of a pool with a key of %d bytes", len(e.Sort)); err != nil {
				return err
			}
		}
	}
	c.report.Rows[pools.Pools.Name] = n
	s, err := pools.ReadState(c.ctx, c.r)
	if err != nil {
		return c.problem("state of pools: %v", err)
	}
	n = 0
	for e, err := range c.r.Walk(c.ctx, pools.Totals, nil) {
		if err != nil {
			return fmt.Errorf("walk table %s: %w", pools.Totals.Name, err)
		}
		n++
		token := felt.Felt(e.Partition)
		total, err := pools.DecodeTotal(e.Value)
		if err == nil && !s.Wiping && total != counted[token] {
			err = fmt.Errorf("%d are counted, %d are there", total, counted[token])
		}
		if err != nil {
			if err := c.problem("pools of %s: %v", token, err); err != nil {
				return err
			}
		}
		delete(counted, token)
	}
	c.report.Rows[pools.Totals.Name] = n
	if len(counted) > 0 && !s.Wiping {
		return c.problem("%d tokens have pools and no total", len(counted))
	}
	return nil
}

func (c *checker) generations() error {
	all, err := census.All(c.ctx, c.r)
	if err != nil {
		return c.problem("generations: %v", err)
	}
	c.report.Rows[census.Generations.Name] = uint64(len(all))
	known := map[string]bool{}
	for _, g := range all {
		known[string(census.HolderPartition(g.Token, g.ID))] = true
		if !g.Shown() {
			continue
		}
		if err := c.generation(g); err != nil {
			return err
		}
	}
	var n, stray uint64
	for e, err := range c.r.Walk(c.ctx, census.Holders, nil) {
		if err != nil {
			return fmt.Errorf("walk table %s: %w", census.Holders.Name, err)
		}
		if n++; !known[string(e.Partition)] {
			stray++
		}
	}
	c.report.Rows[census.Holders.Name] = n
	if stray > 0 {
		return c.problem("%d holders belong to no generation", stray)
	}
	return nil
}

// generation reads all rows of a generation in the order of their ranks.
func (c *checker) generation(g *census.Generation) error {
	const chunk = 4096
	digest, total, balance := sha256.New(), new(big.Int), new(big.Int)
	c.begin(census.Holders)
	var rank uint64
	var after *census.Place
	var line []byte
	for {
		rows, err := census.Page(c.ctx, c.r, g.Token, g.ID, after, chunk)
		if err != nil {
			return c.problem("%v", err)
		}
		c.read(uint64(len(rows)))
		for i := range rows {
			rank++
			line = census.AppendLine(line[:0], rank, &rows[i], balance)
			digest.Write(line) //nolint:errcheck // a hash never fails
			total.Add(total, balance)
		}
		if len(rows) < chunk {
			break
		}
		after = &rows[len(rows)-1].Place
	}
	switch {
	case rank != g.Holders:
		return c.problem("generation %d of %s has %d holders, its record says %d", g.ID, g.Token, rank, g.Holders)
	case total.Cmp(g.Total) != 0:
		return c.problem("generation %d of %s adds up to %s, its record says %s", g.ID, g.Token, total, g.Total)
	case [32]byte(digest.Sum(nil)) != g.Digest:
		return c.problem("generation %d of %s does not have the digest of its record", g.ID, g.Token)
	}
	return nil
}
