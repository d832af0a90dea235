package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"chainexplorer/internal/control"
	"chainexplorer/internal/durable"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/fsck"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

type adminCommands struct {
	Fsck      fsckCommand       `cmd:"" help:"Walk a whole index and check that it is sound. The indexer of a directory must be stopped."`
	Verify    verifyCommand     `cmd:"" help:"Recompute blocks of an index against their hashes, from the index alone or with a node, and record what is proved."`
	Copy      copyCommand       `cmd:"" help:"Copy an index into another place, such as from a directory to PostgreSQL. No indexer may run on either."`
	Backup    backupCommand     `cmd:"" help:"Copy the indexes and the control database of a data directory, also while they are in use."`
	Restore   restoreCommand    `cmd:"" help:"Make a data directory of a backup."`
	Export    exportCommand     `cmd:"" help:"Write an index to Parquet files, by which other programs analyze it."`
	Workspace workspaceCommands `cmd:"" help:"Make, change and list workspaces, which own API keys."`
	Key       keyCommands       `cmd:"" help:"Make, list and revoke API keys."`
	Codes     codeCommands      `cmd:"" help:"Make, list and revoke codes, which give a workspace a plan."`
	Audit     auditCommands     `cmd:"" help:"List who changed workspaces, keys and labels, and check that nobody tampered with that log."`
	Usage     usageCommand      `cmd:"" help:"Tell what workspaces and keys asked for, how much of it failed, and when. A running service need not stop."`
	Login     loginCommand      `cmd:"" help:"Print a link by which somebody signs in with a browser, once."`
	Member    memberCommands    `cmd:"" help:"List the members of a workspace, say who owns it, and remove them."`
	Session   sessionCommands   `cmd:"" help:"Sign people in without a browser, and end their sessions."`
	Label     labelCommands     `cmd:"" help:"Name addresses, list these names and take them away."`

	SigningKey   signingKeyCommands   `cmd:"" help:"Make, list, rotate and revoke the keys that verification receipts are signed with."`
	Toolchain    toolchainCommands    `cmd:"" help:"Make and check the compilers that exact verification builds with."`
	Verification verificationCommands `cmd:"" help:"List verification jobs, and pause their intake."`
	Prover       proverCommands       `cmd:"" help:"Say how many proofs keys may ask the prover relay for."`

	PrivacyPool privacyPoolCommands `cmd:"" help:"Have the ledger of privacy pools made anew."`
}

type fsckCommand struct {
	Data  string `placeholder:"DIR" help:"Directory of an index, or a data directory: all indexes in it and the control database are checked. Use this or --store with --chain."`
	Chain string `placeholder:"CHAIN" help:"With --store: which chain's index to check, such as SN_MAIN."`
	storeFlags
	Scratch string `placeholder:"DIR" help:"Where to put temporary files; they take about as much room as the balances and totals of the index. Default: the system's place."`
	JSON    bool   `name:"json" help:"Print JSON, in the end."`

	found fsckView
}

// Run prints what was found and fails when anything is wrong. It changes nothing.
func (c *fsckCommand) Run(ctx context.Context, con *console) error {
	if !c.JSON {
		return c.run(ctx, con)
	}
	silent := *con
	silent.out = io.Discard
	err := c.run(ctx, &silent)
	var usage *usageError
	if errors.As(err, &usage) {
		return err
	}
	return errors.Join(err, c.found.print(con))
}

func (c *fsckCommand) run(ctx context.Context, con *console) error {
	if err := c.check(); err != nil {
		return err
	}
	if (c.Data == "") == (c.Store == "") || (c.Store == "") != (c.Chain == "") {
		return &usageError{"which index? Give --data DIR, or --store postgres://... with --chain"}
	}
	if c.Store != "" {
		engine, err := c.openPostgres(ctx, c.Chain, access{ReadOnly: true}, con.log, nil)
		if err != nil {
			return err
		}
		return c.index(ctx, con, engine, "the schema of "+c.Chain, c.Chain)
	}
	dirs, err := storesIn(c.Data)
	if err != nil {
		return err
	}
	var failed []error
	sound := 0
	for i, dir := range dirs {
		if i > 0 {
			fmt.Fprintln(con.out) //nolint:errcheck // stdout
		}
		if len(dirs) > 1 || dir != c.Data {
			fmt.Fprintf(con.out, "index         %s\n", dir) //nolint:errcheck // stdout
		}
		engine, err := openPebble(ctx, pebble.Options{Dir: dir, ReadOnly: true, Logger: con.log})
		if err == nil {
			err = c.index(ctx, con, engine, dir, filepath.Base(dir))
		} else {
			summary(con, filepath.Base(dir), "cannot be opened")
			c.found.Indexes = append(c.found.Indexes, fsckIndex{Place: dir, State: "unreadable", Problems: []string{err.Error()}})
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			sound++
		}
		failed = append(failed, err) // the others are worth looking at
	}
	keys := c.control(ctx, con)
	fmt.Fprintf(con.out, "\ntotal         %d of %d indexes clean", sound, len(dirs)) //nolint:errcheck // stdout
	switch _, err := os.Stat(filepath.Join(c.Data, "control.db")); {
	case keys != nil:
		fmt.Fprintln(con.out, ", control database damaged") //nolint:errcheck // stdout
	case err == nil:
		fmt.Fprintln(con.out, ", control database clean") //nolint:errcheck // stdout
	default:
		fmt.Fprintln(con.out) //nolint:errcheck // stdout
	}
	return errors.Join(append(failed, keys)...)
}

// summary is the last line about an index, whatever was found.
func summary(con *console, chain, format string, args ...any) {
	fmt.Fprintf(con.out, "summary       %s: %s\n", chain, fmt.Sprintf(format, args...)) //nolint:errcheck // stdout
}

// index checks one index and closes it.
func (c *fsckCommand) index(ctx context.Context, con *console, engine store.Engine, where, name string) error {
	defer engine.Close() //nolint:errcheck // opened for reading
	dir, remove, err := durable.Scratch(c.Scratch, "chainexplorer-fsck-")
	if err != nil {
		return err
	}
	defer remove()
	scratch, err := pebble.Open(pebble.Options{Dir: dir, Tables: catalog.Tables(), Logger: con.log})
	if err != nil {
		return err
	}
	defer scratch.Close() //nolint:errcheck // removed next
	show, end := checking(con)
	report, err := fsck.Check(ctx, fsck.Options{Store: engine, Scratch: scratch, Progress: show})
	end()
	if err != nil {
		summary(con, name, "the check did not come to its end")
		return fmt.Errorf("check: %w", err)
	}
	if report.State.Present {
		name = index.ChainName(report.State.Format.ChainID)
	}
	var loss string
	if disk, ok := engine.(pebble.Engine); ok {
		if l, lost := disk.Lost(); lost {
			loss = l.String()
			fmt.Fprintf(con.out, "lost          %s\n", loss) //nolint:errcheck // stdout
		}
	}
	printReport(con, report)
	c.found.add(where, name, report, loss)
	switch {
	case !report.Clean():
		also := ""
		if loss != "" {
			also = ", and blocks were lost"
		}
		summary(con, name, "not sound, %d problems in %d blocks%s", len(report.Problems), report.Blocks, also)
		return fmt.Errorf("the index is not sound: %d problems; move %s away and index again, or restore a backup", len(report.Problems), where)
	case loss != "":
		summary(con, name, "sound and incomplete, %d blocks are left", report.Blocks)
		return fmt.Errorf("%s is sound and incomplete: %s; look at the disk, then start the indexer, which indexes them again", where, loss)
	case !report.State.Present:
		summary(con, name, "empty")
	default:
		fmt.Fprintln(con.out, "clean") //nolint:errcheck // stdout
		summary(con, name, "clean, %d blocks", report.Blocks)
	}
	return nil
}

// checking shows the blocks, and then the tables, whose rows nobody has counted. The blocks
// that are searched for what is wrong are shown by themselves.
func checking(con *console) (show func(fsck.Progress), end func()) {
	m, now := con.meter("checking blocks", "blocks"), "checking blocks"
	step := func(what, unit string) {
		if now != what {
			m.end()
			m, now = con.meter(what, unit), what
		}
	}
	var searched uint64
	return func(p fsck.Progress) {
		if !p.Walking() {
			m.at(amount{done: p.Blocks, total: p.BlocksTotal})
			return
		}
		if p.Searched != searched {
			searched = p.Searched
			step("searching blocks", "blocks")
			m.at(amount{done: p.Searched, total: p.SearchTotal})
			return
		}
		step("checking tables", "rows")
		m.at(amount{done: p.Rows, detail: fmt.Sprintf("table %s, %d of %d", p.Table, min(p.Tables+1, p.TablesTotal), p.TablesTotal)})
	}, func() { m.end() }
}

// control checks the control database of a data directory, where there is one.
func (c *fsckCommand) control(ctx context.Context, con *console) error {
	file := filepath.Join(c.Data, "control.db")
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	problems, err := control.Check(ctx, file)
	if err != nil {
		return err
	}
	fmt.Fprintf(con.out, "\ncontrol       %s\n", file) //nolint:errcheck // stdout
	c.found.Control = &fsckControl{Place: file, Clean: len(problems) == 0, Problems: append([]string{}, problems...)}
	for _, p := range problems {
		fmt.Fprintf(con.out, "problem       %s\n", p) //nolint:errcheck // stdout
	}
	if len(problems) > 0 {
		return fmt.Errorf("the control database %s is damaged: restore it from the newest backup", file)
	}
	fmt.Fprintln(con.out, "clean") //nolint:errcheck // stdout
	return nil
}

// printReport says what was found.
func printReport(con *console, r *fsck.Report) {
	say := func(format string, args ...any) { fmt.Fprintf(con.out, format+"\n", args...) } //nolint:errcheck // stdout
	if !r.State.Present && r.Clean() {
		say("the index is empty")
		return
	}
	say("chain         %s", index.ChainName(r.State.Format.ChainID))
	say("head          %d %s", r.State.Head.Number, r.State.Head.Hash)
	say("digest        %x", r.State.Head.Digest)
	say("blocks        %d", r.Blocks)
	say("transactions  %d", r.Transactions)
	say("events        %d", r.Events)
	say("undo records  %d", r.UndoRecords)
	checked := r.State.Checked
	say("verified      %d, not checked %d, unverified %d, unknown %d", checked.Verified, checked.NotChecked, checked.Unverified,
		r.Blocks-min(r.Blocks, checked.Verified+checked.NotChecked+checked.Unverified))
	for _, f := range r.Unverified {
		say("unverified    blocks %d to %d: %s", f.First, f.Last, f.Reason)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Rows)) {
		say("rows          %-12s %d", name, r.Rows[name])
	}
	for _, p := range r.Problems {
		say("problem       %s", p)
	}
}
