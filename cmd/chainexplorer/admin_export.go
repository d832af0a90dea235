package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"chainexplorer/internal/export"
	"chainexplorer/internal/index"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

type exportCommand struct {
	Dir   string `required:"" placeholder:"DIR" help:"Folder of the export: missing, empty, or an export of the same chain, which is gone on with."`
	Data  string `placeholder:"DIR" help:"Directory of an index, a data directory or a backup. No process may run on it. Use this or --store."`
	Chain string `placeholder:"CHAIN" help:"Which chain to export, such as SN_MAIN, where there are several, and with --store."`
	storeFlags
	Family        []string `sep:"none" placeholder:"NAME" help:"What to export, repeated or with commas: blocks, transactions, events, transfers, balances, messages, contracts, classes, tokens. All unless set."`
	From          uint64   `default:"0" help:"The first block, a multiple of --blocks-per-file."`
	To            string   `default:"finalized" placeholder:"BLOCK" help:"The last block: its number, finalized, or latest, which a fork may undo."`
	BlocksPerFile *uint64  `placeholder:"N" help:"How many blocks a file covers. An export keeps what it began with; a new one has 10000 unless set."`
	Parallel      int      `default:"2" help:"How many ranges of blocks are written at once, 1 to 16."`
	FinalityDepth uint64   `default:"120" help:"How many blocks below the head a block is called finalized."`
	Registry      string   `placeholder:"FILE" help:"Tokens, exchanges, bridges and labels beyond the built-in ones; see docs/registry.md."`
	JSON          bool     `name:"json" help:"Print JSON."`
}

// Help is shown by export --help.
func (exportCommand) Help() string {
	return "Files are Parquet. An export that was interrupted goes on where it stopped when the same command is given again, " +
		"and one that is complete takes in the blocks that came since. The index of a running process is exported from PostgreSQL, or from a backup."
}

// Run exports, and says what the folder holds then.
func (c *exportCommand) Run(ctx context.Context, con *console) error {
	if err := c.check(); err != nil {
		return err
	}
	if (c.Data == "") == (c.Store == "") || c.Store != "" && c.Chain == "" {
		return &usageError{"which index? Give --data DIR, or --store postgres://... with --chain"}
	}
	if c.FinalityDepth < 1 {
		return &usageError{"--finality-depth must be at least 1"}
	}
	o := export.Options{Dir: c.Dir, First: c.From, Depth: c.FinalityDepth, Parallel: c.Parallel, Program: version()}
	if c.BlocksPerFile != nil {
		if o.BlocksPerFile = *c.BlocksPerFile; o.BlocksPerFile == 0 { // which the package takes for unset
			return &usageError{"--blocks-per-file must be at least 1"}
		}
	}
	for _, given := range c.Family {
		for name := range strings.SplitSeq(given, ",") { // an empty one is refused, and does not stand for all
			o.Families = append(o.Families, strings.TrimSpace(name))
		}
	}
	switch c.To {
	case "finalized":
	case "latest":
		o.Latest = true
	default:
		last, err := strconv.ParseUint(c.To, 10, 64)
		if err != nil {
			return &usageError{fmt.Sprintf("--to %s: want the number of a block, finalized or latest", c.To)}
		}
		o.Last = &last
	}
	known, err := registry.Load(c.Registry)
	if err != nil {
		return &usageError{err.Error()}
	}
	engine, err := c.open(ctx, con)
	if err != nil {
		return err
	}
	defer engine.Close() //nolint:errcheck // opened for reading
	state, err := stateOf(ctx, engine)
	if err != nil {
		return err
	}
	o.Index, o.Registry = engine, known.Chain(index.ChainName(state.Format.ChainID))
	if o.Latest {
		con.log.Warn("the newest blocks are exported, which a fork may undo: files of undone blocks are written again by the next run")
	}
	meter := con.meter("exporting", "blocks")
	o.Progress = func(p export.Progress) { meter.at(amount{done: p.Blocks, total: p.Total}) }
	report, err := export.Run(ctx, o)
	meter.end()
	var bad *export.BadOptionError
	switch {
	case errors.As(err, &bad):
		return &usageError{bad.Error()}
	case errors.Is(err, export.ErrNothingFinal):
		return fmt.Errorf("%w: wait until the chain is more than %d blocks long, or give --to latest", err, c.FinalityDepth)
	case ctx.Err() != nil:
		return errors.New("the export was stopped; give the same command again to go on")
	case err != nil:
		return fmt.Errorf("export (give the same command again to go on): %w", err)
	}
	return c.print(con, report)
}

// exportCache is enough for who reads every row once.
const exportCache = 32 << 20

// open opens the index to read it.
func (c *exportCommand) open(ctx context.Context, con *console) (store.Engine, error) {
	if c.Store != "" {
		return c.openPostgres(ctx, c.Chain, access{ReadOnly: true}, con.log, nil)
	}
	dirs, err := storesIn(c.Data)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, dir := range dirs {
		names = append(names, filepath.Base(dir))
		if len(dirs) > 1 && filepath.Base(dir) != c.Chain {
			continue
		}
		e, err := openPebble(ctx, pebble.Options{Dir: dir, ReadOnly: true, CacheBytes: exportCache, Logger: con.log})
		if err != nil {
			return nil, errRunning(err)
		}
		if len(dirs) > 1 || c.Chain == "" {
			return e, nil
		}
		state, err := stateOf(ctx, e)
		if name := index.ChainName(state.Format.ChainID); err == nil && name != c.Chain {
			err = &usageError{fmt.Sprintf("%s holds the index of %s, not of %s", c.Data, name, c.Chain)}
		}
		if err != nil {
			return nil, errors.Join(err, e.Close())
		}
		return e, nil
	}
	return nil, &usageError{fmt.Sprintf("which chain? Give --chain with one of %s", strings.Join(names, ", "))}
}

// exportView is what export prints as JSON.
type exportView struct {
	Folder   string          `json:"folder"`
	Chain    string          `json:"chain"`
	Last     uint64          `json:"lastBlock"`
	Written  int             `json:"filesWritten"`
	Kept     int             `json:"filesKept"`
	Undone   int             `json:"filesUndone"`
	Families []export.Family `json:"families"`
}

func (c *exportCommand) print(con *console, r *export.Report) error {
	m := &r.Manifest
	if c.JSON {
		return printJSON(con.out, exportView{c.Dir, m.Chain, r.Last, r.Written, r.Kept, r.Undone, m.Families})
	}
	rows := [][]string{
		{"folder", c.Dir}, {"chain", m.Chain}, {"last block", strconv.FormatUint(r.Last, 10)},
		{"files", fmt.Sprintf("%d written, %d kept, %d undone", r.Written, r.Kept, r.Undone)},
	}
	for _, f := range m.Families {
		rows = append(rows, []string{f.Name, fmt.Sprintf("%d rows in %d files, %d bytes, blocks %d to %d", f.Rows, f.Files, f.Bytes, f.First, f.Last)})
	}
	return table(con.out, rows)
}
