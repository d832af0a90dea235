package fsck

import (
	"errors"
	"fmt"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// noteClasses remembers the classes that a block names.
func (c *checker) noteClasses(b *explorer.Block) {
	for _, m := range class.Of(b) {
		c.classes[m.Hash] = struct{}{}
	}
}

// enrichment checks what was fetched from nodes. Blocks do not say what must be
// there, because a class can be missing and fetching can be off; but each row
// can be read, belongs to a class that blocks name, and what is noted as
// missing is in the list of missing classes and nothing else is. What can be
// called is known of fetched classes alone, and not of all that an older program
// fetched. A fork leaves the classes of the blocks that it undid.
func (c *checker) enrichment(forked bool) error {
	if err := c.origins(); err != nil {
		return err
	}
	absent, fetched := map[felt.Felt]uint64{}, map[felt.Felt]struct{}{}
	var n uint64
	for e, err := range c.r.Walk(c.ctx, class.ABIs, nil) {
		if err != nil {
			return fmt.Errorf("walk table %s: %w", class.ABIs.Name, err)
		}
		n++
		hash := felt.Felt(e.Partition)
		if err := c.classRow(hash, e, forked, absent, fetched); err != nil {
			return err
		}
	}
	c.report.Rows[class.ABIs.Name] = n
	n = 0
	for e, err := range c.r.Walk(c.ctx, class.Missing, nil) {
		if err != nil {
			return fmt.Errorf("walk table %s: %w", class.Missing.Name, err)
		}
		n++
		hash, block, err := class.ParseMissing(e.Sort, e.Value)
		if err == nil {
			if wanted, there := absent[hash]; !there || wanted != block {
				err = fmt.Errorf("class %s is listed as missing since block %d, and its row says otherwise", hash, block)
			}
			delete(absent, hash)
		}
		if err != nil {
			if err := c.problem("%v", err); err != nil {
				return err
			}
		}
	}
	c.report.Rows[class.Missing.Name] = n
	if len(absent) > 0 {
		if err := c.problem("%d classes are missing and not in the list of missing classes", len(absent)); err != nil {
			return err
		}
	}
	return c.interfaces(fetched)
}

// origins checks the contracts that no diff deployed, and remembers their classes.
func (c *checker) origins() error {
	var n uint64
	for e, err := range c.r.Walk(c.ctx, contract.Origins, nil) {
		if err != nil {
			return fmt.Errorf("walk table %s: %w", contract.Origins.Name, err)
		}
		n++
		_, hash, wanted, err := contract.ParseOrigin(e.Sort, e.Value)
		if err != nil {
			if err := c.problem("%v", err); err != nil {
				return err
			}
		} else if !wanted {
			c.classes[hash] = struct{}{}
		}
	}
	c.report.Rows[contract.Origins.Name] = n
	return nil
}

func (c *checker) interfaces(fetched map[felt.Felt]struct{}) error {
	var n uint64
	for e, err := range c.r.Walk(c.ctx, class.Interfaces, nil) {
		if err != nil {
			return fmt.Errorf("walk table %s: %w", class.Interfaces.Name, err)
		}
		n++
		hash := felt.Felt(e.Partition)
		_, err := class.DecodeInterface(e.Value)
		if _, had := fetched[hash]; err == nil && (!had || len(e.Sort) != 0) {
			err = errors.New("it belongs to no class that was fetched")
		}
		if err != nil {
			if err := c.problem("interface of class %s: %v", hash, err); err != nil {
				return err
			}
		}
	}
	c.report.Rows[class.Interfaces.Name] = n
	return c.names()
}

// names checks that each name is that of its selector.
func (c *checker) names() error {
	var n uint64
	for e, err := range c.r.Walk(c.ctx, class.Names, nil) {
		if err != nil {
			return fmt.Errorf("walk table %s: %w", class.Names.Name, err)
		}
		n++
		if err := class.CheckName(felt.Felt(e.Partition), e.Sort, e.Value); err != nil {
			if err := c.problem("%v", err); err != nil {
				return err
			}
		}
	}
	c.report.Rows[class.Names.Name] = n
	return nil
}

func (c *checker) classRow(hash felt.Felt, e store.Entry, forked bool, absent map[felt.Felt]uint64, fetched map[felt.Felt]struct{}) error {
	a, err := class.DecodeABI(e.Value)
	if err == nil && len(e.Sort) != 0 {
		err = errors.New("its key is too long")
	}
	if err == nil && a.Status == class.Ready {
		_, err = abi.Load(a.Schema)
	}
	if err != nil {
		return c.problem("row of class %s: %v", hash, err)
	}
	if a.Status.Wanted() {
		absent[hash] = a.Block
	} else {
		fetched[hash] = struct{}{}
	}
	if _, named := c.classes[hash]; !named && !forked {
		return c.problem("class %s is named by no block", hash)
	}
	return nil
}
