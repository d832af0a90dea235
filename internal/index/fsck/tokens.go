package fsck

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// tokenNames checks what tokens said of themselves: each row can be read, its
// token stands in the queue when it is due, among those read at its block and
// under its symbol, and nobody else does.
func (c *checker) tokenNames() error {
	var queued, read, named uint64
	err := c.walk(token.MetadataRows, func(e store.Entry) error {
		m, err := token.DecodeMetadata(e.Value)
		if err == nil && len(e.Sort) != 0 {
			err = errors.New("its key is too long")
		}
		address := felt.Felt(e.Partition)
		if err != nil {
			return c.problem("metadata of token %s: %v", address, err)
		}
		keys := []store.Key{token.QueueKey(m.Due, address)}
		queued++
		if m.Known {
			keys = append(keys, token.ReadKey(m.Block, address))
			read++
		}
		if m.Symbol != nil {
			keys = append(keys, token.SymbolKey(*m.Symbol, address))
			named++
		}
		for _, k := range keys {
			if _, err := c.r.Get(c.ctx, k); errors.Is(err, store.ErrNotFound) {
				if err := c.problem("token %s is not at %x of table %s", address, keyBytes(k), k.Table.Name); err != nil {
					return err
				}
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := c.walk(token.Symbols, func(store.Entry) error { return nil }); err != nil {
		return err
	}
	err = c.walk(token.NameRows, func(e store.Entry) error {
		address, err := token.ParseName(e.Sort)
		if err != nil {
			return c.problem("%v", err)
		}
		found, err := token.MetadataOf(c.ctx, c.r, []felt.Felt{address})
		if err != nil {
			return err
		}
		at := store.Key{Table: token.NameRows, Partition: e.Partition, Sort: e.Sort}
		if found[0] == nil || !slices.ContainsFunc(found[0].NameKeys(address), func(k store.Key) bool { return bytes.Equal(keyBytes(k), keyBytes(at)) }) {
			return c.problem("token %s does not call itself what table %s says", address, token.NameRows.Name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	progress := uint64(0)
	err = c.walk(token.Jobs, func(e store.Entry) error {
		var err error
		switch string(e.Sort) {
		case string(token.ProgressKey.Sort):
			_, err = token.DecodeProgress(e.Value)
		case string(token.UpgradesKey.Sort):
			_, err = token.DecodeUpgrades(e.Value)
		default:
			return nil
		}
		progress++
		if err != nil {
			return c.problem("progress of token metadata: %v", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for table, want := range map[*store.Table]uint64{token.Symbols: named, token.Jobs: queued + read + progress} {
		if n := c.report.Rows[table.Name]; n != want {
			if err := c.problem("table %s has %d rows, tokens explain %d", table.Name, n, want); err != nil {
				return err
			}
		}
	}
	return nil
}

// walk visits and counts the rows of a table.
func (c *checker) walk(t *store.Table, visit func(store.Entry) error) error {
	var n uint64
	for e, err := range c.r.Walk(c.ctx, t, nil) {
		if err != nil {
			return fmt.Errorf("walk table %s: %w", t.Name, err)
		}
		n++
		if err := visit(e); err != nil {
			return err
		}
	}
	c.report.Rows[t.Name] = n
	return nil
}
