package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"chainexplorer/internal/store"
)

// layout is the version of what is in a schema. A program refuses another than its
// own: what was kept in the ones before, no program with this one can read.
//
//	1  one lease, in _writer and _lease
//	2  leases by name, in _fences and _leases; a SQL table for every table, a row for every row
//	3  all rows in leaves, in _leaves
const layout = 3

// program marks a schema as ours.
const program = "chainexplorer store"

// found is what a schema says about itself.
type found struct {
	exists bool
	layout int
	citus  bool
	tables map[int]store.Table
}

// migrate makes or completes the schema in one transaction. Processes that open
// the same schema at once wait for one another.
func (e *Engine) migrate(ctx context.Context, pool *pgxpool.Pool) error {
	if e.o.ReadOnly || e.o.Existing {
		return pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
			f, err := e.inspect(ctx, tx)
			if err != nil {
				return err
			}
			if !f.exists {
				return fmt.Errorf("%w in schema %s", ErrNoStore, e.o.Schema)
			}
			if f.layout < layout {
				return e.older(f)
			}
			for _, t := range e.schema.Tables() {
				if _, ok := f.tables[int(t.ID)]; !ok {
					return fmt.Errorf("table %q is missing: %w", t.Name, ErrOutdated)
				}
			}
			if e.citus = f.citus; e.citus {
				return checkCitus(ctx, tx)
			}
			return nil
		})
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, e.own.lockSchema); err != nil {
			return err
		}
		f, err := e.inspect(ctx, tx)
		if err != nil {
			return err
		}
		if !f.exists {
			if f.citus, err = e.createSchema(ctx, tx); err != nil {
				return fmt.Errorf("make schema %s: %w", e.o.Schema, err)
			}
		} else if f.layout < layout {
			return e.older(f)
		}
		if e.citus = f.citus; e.citus {
			if err := checkCitus(ctx, tx); err != nil {
				return err
			}
		}
		return e.createTables(ctx, tx, f)
	})
}

// older is why a schema of a layout before is left as it is.
func (e *Engine) older(f found) error {
	return fmt.Errorf("schema %s has layout %d and this program's is %d: index again into an empty database, or run the version of the program that wrote it", e.o.Schema, f.layout, layout)
}

// inspect says what is in the schema, and refuses what is not ours.
func (e *Engine) inspect(ctx context.Context, tx pgx.Tx) (f found, err error) {
	var relations int
	var ours bool
	err = tx.QueryRow(ctx, `select count(*), coalesce(bool_or(c.relname = '_store'), false) from pg_class c
		join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind in ('r', 'p', 'v', 'm', 'f')`, e.o.Schema).Scan(&relations, &ours)
	if err != nil {
		return f, err
	}
	if relations == 0 {
		return f, nil
	}
	foreign := fmt.Errorf("schema %s holds tables of another program: name another schema or database", e.o.Schema)
	if !ours {
		return f, foreign
	}
	var by string
	switch err := tx.QueryRow(ctx, `select program, layout, citus from `+e.own.store).Scan(&by, &f.layout, &f.citus); {
	case errors.Is(err, pgx.ErrNoRows) || (err == nil && by != program):
		return f, foreign
	case err != nil:
		return f, err
	case f.layout > layout:
		return f, fmt.Errorf("schema %s has layout %d and this program knows layouts up to %d: run the newer program that made it", e.o.Schema, f.layout, layout)
	}
	f.exists, f.tables = true, map[int]store.Table{}
	rows, err := tx.Query(ctx, `select id, name, partition_len from `+e.own.tables)
	if err != nil {
		return f, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		var t store.Table
		if err := rows.Scan(&id, &t.Name, &t.PartitionLen); err != nil {
			return f, err
		}
		t.ID = byte(id)
		f.tables[id] = t
	}
	if err := rows.Err(); err != nil {
		return f, err
	}
	named := make(map[string]int, len(f.tables))
	for id, t := range f.tables {
		named[t.Name] = id
	}
	for _, t := range e.schema.Tables() {
		if id, ok := named[t.Name]; ok && id != int(t.ID) {
			return f, fmt.Errorf("table %q of schema %s has the number %d, and this program's has %d: index again into another schema", t.Name, e.o.Schema, id, t.ID)
		}
		if known, ok := f.tables[int(t.ID)]; ok && (known.Name != t.Name || known.PartitionLen != t.PartitionLen) {
			return f, fmt.Errorf("table %d of schema %s is %q with partitions of %d bytes, and this program's is %q with %d: index again into another schema",
				t.ID, e.o.Schema, known.Name, known.PartitionLen, t.Name, t.PartitionLen)
		}
	}
	return f, nil
}

func (e *Engine) createSchema(ctx context.Context, tx pgx.Tx) (citus bool, err error) {
	if citus, err = e.wantCitus(ctx, tx); err != nil {
		return false, err
	}
	for _, statement := range []string{
		`create schema if not exists ` + pgx.Identifier{e.o.Schema}.Sanitize(),
		`create table ` + e.own.store + ` (one bool primary key default true check (one), program text not null, layout int not null, citus bool not null)`,
		`create table ` + e.own.tables + ` (id int primary key, name text not null unique, partition_len int not null)`,
		e.own.makeFences(), e.own.makeLeases(),
		`insert into ` + e.own.fences + ` (name, held, epoch, commits) values ('', false, 0, 0)`,
		`insert into ` + e.own.leases + ` (name, held, epoch, owner, expires) values ('', false, 0, '', 0)`,
	} {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return false, err
		}
	}
	if citus {
		if _, err := tx.Exec(ctx, `create table `+e.own.pin+` (p bytea primary key)`); err != nil {
			return false, err
		}
		if err := e.distribute(ctx, tx, e.own.pin, ""); err != nil {
			return false, fmt.Errorf("distribute: %w", err)
		}
	}
	if err := e.makeLeaves(ctx, tx, citus); err != nil {
		return false, err
	}
	_, err = tx.Exec(ctx, `insert into `+e.own.store+` (program, layout, citus) values ($1, $2, $3)`, program, layout, citus)
	return citus, err
}

func (s *ownStatements) makeFences() string {
	return `create table ` + s.fences + ` (name text primary key, held bool not null, epoch bigint not null, commits bigint not null)`
}

func (s *ownStatements) makeLeases() string {
	return `create table ` + s.leases + ` (name text primary key, held bool not null, epoch bigint not null,
		owner text not null, expires bigint not null)`
}

// makeLeaves makes the table of all rows.
func (e *Engine) makeLeaves(ctx context.Context, tx pgx.Tx, citus bool) error {
	var lz4 bool
	err := tx.QueryRow(ctx, `select coalesce((select 'lz4' = any(enumvals) from pg_settings where name = 'default_toast_compression'), false)`).Scan(&lz4)
	if err != nil {
		return err
	}
	compression := ""
	if lz4 {
		compression = " compression lz4"
	}
	_, err = tx.Exec(ctx, `create table `+e.own.leaves+` (n int2 not null, p bytea not null, k bytea not null, v bytea`+compression+` not null, primary key (p, k))`)
	if err != nil || !citus {
		return err
	}
	if err := e.distribute(ctx, tx, e.own.leaves, e.own.pin); err != nil {
		return fmt.Errorf("distribute: %w", err)
	}
	return nil
}

// createTables notes the tables that are new in this version of the program.
func (e *Engine) createTables(ctx context.Context, tx pgx.Tx, f found) error {
	for _, t := range e.schema.Tables() {
		if _, ok := f.tables[int(t.ID)]; ok {
			continue
		}
		if _, err := tx.Exec(ctx, `insert into `+e.own.tables+` values ($1, $2, $3)`, int(t.ID), t.Name, t.PartitionLen); err != nil {
			return fmt.Errorf("note table %s: %w", t.Name, err)
		}
	}
	return nil
}

// Drop removes the schema and everything in it, if it is a store of ours.
func Drop(ctx context.Context, o Options) error {
	o.ReadOnly = false
	if err := o.fill(); err != nil {
		return err
	}
	o.Tables = nil
	schema, err := store.NewSchema(nil)
	if err != nil {
		return err
	}
	e := &Engine{o: o, name: o.Schema, schema: schema, own: newOwnStatements(o.Schema), closing: make(chan struct{})}
	if e.write, err = e.pool(ctx, 1, e.session(false, o.CommitTimeout, commitIdle)); err != nil {
		return redact(err)
	}
	defer e.write.Close()
	err = pgx.BeginFunc(ctx, e.write, func(tx pgx.Tx) error {
		f, err := e.inspect(ctx, tx)
		if err != nil || !f.exists {
			return err
		}
		_, err = tx.Exec(ctx, `drop schema `+pgx.Identifier{o.Schema}.Sanitize()+` cascade`)
		return err
	})
	if err != nil {
		return fmt.Errorf("drop store %s: %w", o.Schema, redact(err))
	}
	return nil
}
