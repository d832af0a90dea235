package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"chainexplorer/internal/control"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/index"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/postgres"
	"chainexplorer/internal/store/rowcopy"
)

type copyCommand struct {
	From     string `required:"" placeholder:"PLACE" help:"Index to copy: pebble:DIR, or postgres://user@host/db with --chain."`
	To       string `required:"" placeholder:"PLACE" help:"Where to: an empty pebble:DIR, or postgres://user@host/db, where the chain gets a schema of its own."`
	Chain    string `placeholder:"CHAIN" help:"Which chain to copy out of PostgreSQL, such as SN_MAIN."`
	BatchMib int    `default:"16" help:"Size of a commit, in MiB."`
	Shards   int    `default:"0" help:"Shards, when the new index is distributed by Citus; 0: eight for each worker, and at least 16."`
	JSON     bool   `name:"json" help:"Print JSON."`
}

// Help is shown by copy --help.
func (copyCommand) Help() string {
	return "A copy that was interrupted goes on where it stopped when the same command is given again. " +
		"In the end both indexes are read and compared, and the digest of the head is printed."
}

// Run copies and compares.
func (c *copyCommand) Run(ctx context.Context, con *console) error {
	if c.BatchMib < 1 || c.BatchMib > 512 || c.Shards < 0 {
		return &usageError{"--batch-mib must be 1 to 512, --shards at least 1"}
	}
	from, err := c.open(ctx, con, "--from", c.From, c.Chain, true)
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // opened for reading
	if err := finished(ctx, from, "--from"); err != nil {
		return err
	}
	state, err := stateOf(ctx, from)
	if err != nil {
		return err
	}
	if !state.Present || !state.HasHead {
		return errors.New("there is nothing to copy: --from holds no index")
	}
	name := index.ChainName(state.Format.ChainID)
	to, err := c.open(ctx, con, "--to", c.To, name, false)
	if err != nil {
		return err
	}
	defer to.Close() //nolint:errcheck // every commit is durable when it returns
	show, end := c.progress(con)
	result, err := rowcopy.Copy(ctx, rowcopy.Options{
		From: from, To: to, Tables: copyOrder(), Marker: copyMarker, Owner: owner(), BatchBytes: c.BatchMib << 20,
		Source:   fmt.Sprintf("%s %d %x", name, state.Head.Number, state.Head.Digest),
		Progress: show,
		Waiting: func() {
			con.log.Warn("waiting for the lease of another process on the destination, which runs out within half a minute if that was killed")
		},
	})
	end()
	switch {
	case errors.Is(err, rowcopy.ErrOtherSource), errors.Is(err, rowcopy.ErrNotEmpty):
		return fmt.Errorf("copy: %w", err)
	case ctx.Err() != nil:
		return errors.New("the copy was stopped; give the same command again to go on")
	case err != nil:
		return fmt.Errorf("copy (give the same command again to go on): %w", err)
	}
	copied, err := stateOf(ctx, to)
	if err != nil {
		return err
	}
	if copied.Head != state.Head {
		return fmt.Errorf("the copy's head is %+v, the source's %+v", copied.Head, state.Head)
	}
	if c.JSON {
		return printJSON(con.out, map[string]any{"chain": name, "head": copied.Head.Number, "hash": copied.Head.Hash.String(),
			"digest": fmt.Sprintf("%x", copied.Head.Digest), "rows": result.Rows, "content": fmt.Sprintf("%x", result.Digest), "equal": true})
	}
	_, err = fmt.Fprintf(con.out, "chain    %s\nhead     %d %s\ndigest   %x\nrows     %d\ncontent  %x\nequal\n",
		name, copied.Head.Number, copied.Head.Hash, copied.Head.Digest, result.Rows, result.Digest)
	return err
}

// open opens one side.
func (c *copyCommand) open(ctx context.Context, con *console, flag, place, name string, readOnly bool) (store.Engine, error) {
	if dir, ok := strings.CutPrefix(place, "pebble:"); ok && dir != "" {
		if !readOnly {
			if err := checkDataDir(dir); err != nil {
				return nil, err
			}
		}
		return pebble.Open(pebble.Options{Dir: dir, Tables: catalog.Tables(), ReadOnly: readOnly, Logger: con.log})
	}
	if !control.IsAddress(place) {
		return nil, &usageError{fmt.Sprintf("%s %s: want pebble:DIR or postgres://...", flag, place)}
	}
	if name == "" {
		return nil, &usageError{"which chain? Give --chain to copy out of PostgreSQL"}
	}
	schema, err := schemaOf(name)
	if err != nil {
		return nil, err
	}
	return postgres.Open(ctx, postgres.Options{URL: place, Schema: schema, Tables: catalog.Tables(), ReadOnly: readOnly,
		StatementTimeout: time.Minute, ShardCount: c.Shards, Logger: con.log})
}

// copyOrder ends with the table that says what the index holds.
func copyOrder() []*store.Table {
	var list []*store.Table
	for _, t := range catalog.Tables() {
		if t != chain.Meta {
			list = append(list, t)
		}
	}
	return append(list, chain.Meta)
}

func stateOf(ctx context.Context, e store.Engine) (s chain.State, err error) {
	err = e.View(ctx, func(r store.Reader) (err error) {
		s, err = chain.Read(ctx, r)
		return err
	})
	return s, err
}

// progress shows the copying, of which nobody knows the end, and then the comparing.
func (c *copyCommand) progress(con *console) (show func(rowcopy.Progress), end func()) {
	m := con.meter("copying", "rows")
	comparing := false
	copied := uint64(0)
	return func(p rowcopy.Progress) {
		if p.Comparing && !comparing {
			m.end()
			m, comparing = con.meter("comparing", "rows"), true
		}
		a := amount{done: p.Rows, detail: fmt.Sprintf("table %s, %d of %d", p.Table, min(p.Done+1, p.Tables), p.Tables)}
		if p.Comparing {
			a.total = copied
		} else {
			copied = p.Rows
		}
		m.at(a)
	}, func() { m.end() }
}
