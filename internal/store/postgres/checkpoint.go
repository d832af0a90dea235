package postgres

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/store"
)

// manifest says what a checkpoint holds.
type manifest struct {
	Program string          `json:"program"`
	Layout  int             `json:"layout"`
	Leases  []manifestLease `json:"leases"`
	Tables  []manifestTable `json:"tables"`
}

// manifestLease keeps the epochs of a copy from falling.
type manifestLease struct {
	Name    string `json:"name"`
	Epoch   int64  `json:"epoch"`
	Commits int64  `json:"commits"`
}

type manifestTable struct {
	ID           byte   `json:"id"`
	Name         string `json:"name"`
	PartitionLen int    `json:"partitionLen"`
	Rows         int64  `json:"rows"`
}

const manifestName = "manifest.json"

// Checkpoint writes every table to a file in dir, in the form of COPY, all from
// one snapshot, beside reads and commits; Restore makes a store of it, on this
// server or another. It reads the whole store.
func (e *Engine) Checkpoint(ctx context.Context, dir string) error {
	if err := e.begin(ctx); err != nil {
		return err
	}
	defer e.running.Done()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	err := e.export(ctx, dir)
	if err != nil {
		return errors.Join(e.fault(ctx, "checkpoint", err), os.RemoveAll(dir))
	}
	return nil
}

func (e *Engine) export(ctx context.Context, dir string) error {
	r, err := e.openView(ctx)
	if err != nil {
		return err
	}
	defer e.endView(r)
	if e.citus {
		r.snapshot.altered = true
	}
	for i := range r.places { // as long as it takes
		if _, err := r.places[i].conn.Exec(ctx, "set local statement_timeout = 0"); err != nil {
			return err
		}
	}
	m := manifest{Program: program, Layout: layout}
	// Under Citus those of a later moment: they only rise.
	leases, sql := r.places[0].conn.Conn(), "select name, epoch, commits from "+e.own.fences+" order by name"
	if e.citus {
		named, err := e.read.Acquire(ctx)
		if err != nil {
			return err
		}
		defer named.Release()
		leases = named.Conn()
	}
	rows, err := leases.Query(ctx, sql)
	if err != nil {
		return err
	}
	if m.Leases, err = pgx.CollectRows(rows, pgx.RowToStructByPos[manifestLease]); err != nil {
		return err
	}
	for _, t := range e.schema.Tables() {
		rows, err := r.exportTable(ctx, t, filepath.Join(dir, t.Name))
		if err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
		m.Tables = append(m.Tables, manifestTable{t.ID, t.Name, t.PartitionLen, rows})
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	// The manifest comes last: a directory without one is no checkpoint.
	return os.WriteFile(filepath.Join(dir, manifestName), text, 0o600)
}

// exportTable writes one stream of what all shards have of a table.
func (r *reader) exportTable(ctx context.Context, t *store.Table, path string) (rows int64, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := &copyJoin{w: bufio.NewWriterSize(f, 1<<20)}
	for _, in := range r.ring.shards {
		w.begin()
		tag, err := r.places[in.server].conn.Conn().PgConn().CopyTo(ctx, w, fmt.Sprintf(in.sql.copyTable, bytea(t.ID), bytea(t.ID+1)))
		if err != nil {
			return 0, err
		}
		rows += tag.RowsAffected()
	}
	if err := w.end(); err != nil {
		return 0, err
	}
	return rows, f.Sync()
}

// Restore makes a store of what Checkpoint wrote to dir, in a schema that holds
// none, in one transaction, and opens it.
func Restore(ctx context.Context, o Options, dir string) (*Engine, error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, fmt.Errorf("restore: %s is no checkpoint: %w", dir, err)
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil || m.Program != program || m.Layout != layout {
		return nil, fmt.Errorf("restore: %s is no checkpoint that this program can read", dir)
	}
	e, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := e.load(ctx, m, dir); err != nil {
		return nil, errors.Join(fmt.Errorf("restore store %s from %s: %w", o.Schema, dir, redact(err)), e.Close())
	}
	return e, nil
}

func (e *Engine) load(ctx context.Context, m manifest, dir string) error {
	return pgx.BeginFunc(ctx, e.write, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "set local statement_timeout = 0"); err != nil {
			return err
		}
		var used bool
		if _, err := tx.Exec(ctx, e.own.lockFence, store.Writer); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, "select exists (select from "+e.own.fences+" where epoch != 0 or commits != 0)").Scan(&used); err != nil {
			return err
		}
		if used {
			return errors.New("the schema was written to before: name another")
		}
		for _, mt := range m.Tables {
			t := e.tableOf(mt)
			if t == nil {
				return fmt.Errorf("%w: table %q (%d) is not one that this program has", store.ErrInvalid, mt.Name, mt.ID)
			}
			if err := e.loadTable(ctx, tx, t, mt.Rows, dir); err != nil {
				return fmt.Errorf("table %s: %w", t.Name, err)
			}
		}
		for _, l := range m.Leases {
			for _, step := range []struct {
				sql  string
				args []any
			}{
				{e.own.addFence, []any{l.Name}},
				{e.own.addLease, []any{l.Name}},
				{"update " + e.own.fences + " set epoch = $1, commits = $2 where name = $3", []any{l.Epoch, l.Commits, l.Name}},
				{"update " + e.own.leases + " set epoch = $1 where name = $2", []any{l.Epoch, l.Name}},
			} {
				if _, err := tx.Exec(ctx, step.sql, step.args...); err != nil {
					return fmt.Errorf("lease %q: %w", l.Name, err)
				}
			}
		}
		return nil
	})
}

// tableOf is our table that a checkpoint's was written from, or nil.
func (e *Engine) tableOf(m manifestTable) *store.Table {
	for _, t := range e.schema.Tables() {
		if t.ID == m.ID && t.Name == m.Name && t.PartitionLen == m.PartitionLen {
			return t
		}
	}
	return nil
}

// bytea is a byte as SQL writes it.
func bytea(b byte) string { return fmt.Sprintf("\\x%02x", b) }

func (e *Engine) loadTable(ctx context.Context, tx pgx.Tx, t *store.Table, want int64, dir string) error {
	f, err := os.Open(filepath.Join(dir, t.Name))
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	in := bufio.NewReaderSize(f, 1<<20)
	tag, err := tx.Conn().PgConn().CopyFrom(ctx, in, e.sql.copyIn)
	if err != nil {
		return err
	}
	if rows := tag.RowsAffected(); rows != want {
		return fmt.Errorf("%d rows, want %d", rows, want)
	}
	return nil
}
