package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/store"
)

// renew brings a schema of a layout before up to date, in the transaction of the
// one who opens it: it is done as a whole or not at all.
func (e *Engine) renew(ctx context.Context, tx pgx.Tx, f found) error {
	if f.layout < 3 && f.citus {
		return fmt.Errorf("it has layout %d and is spread over machines: with the program that made it copy it to a directory "+
			"('admin copy'), drop the schema, and copy it back with this one, or index again", f.layout)
	}
	if f.layout < 2 {
		if err := e.nameLeases(ctx, tx); err != nil {
			return err
		}
	}
	if f.layout < 3 {
		return e.packTables(ctx, tx, f)
	}
	return nil
}

// nameLeases makes layout 2 of layout 1. The tables of the one lease go away, so
// that a process of the version before cannot commit any more: it would write
// under the writer's lease what has leases of its own now. It waits for a commit
// that is under way.
func (e *Engine) nameLeases(ctx context.Context, tx pgx.Tx) error {
	in := func(table string) string { return pgx.Identifier{e.o.Schema, table}.Sanitize() }
	writer, lease := in("_writer"), in("_lease")
	for _, statement := range []string{
		`lock table ` + writer + `, ` + lease + ` in access exclusive mode`,
		e.own.makeFences(), e.own.makeLeases(),
		`insert into ` + e.own.fences + ` (name, held, epoch, commits) select '', held, epoch, commits from ` + writer,
		`insert into ` + e.own.leases + ` (name, held, epoch, owner, expires) select '', held, epoch, owner, expires from ` + lease,
		`drop table ` + writer + `, ` + lease,
		`update ` + e.own.store + ` set layout = 2`,
	} {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// packTables makes layout 3 of layout 2: table by table the rows go into leaves,
// and the table goes away. A process of the version before finds its tables gone.
func (e *Engine) packTables(ctx context.Context, tx pgx.Tx, f found) error {
	e.log.Warn("packing the rows of an earlier version; this reads and writes the whole store once", "tables", len(f.tables))
	if _, err := tx.Exec(ctx, `set local statement_timeout = 0`); err != nil {
		return err
	}
	// A commit of the version before that is under way comes to its end.
	if _, err := tx.Exec(ctx, `lock table `+e.own.fences+` in access exclusive mode`); err != nil {
		return err
	}
	if err := e.makeLeaves(ctx, tx, false); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(f.tables)) {
		t := f.tables[id]
		name := pgx.Identifier{e.o.Schema, t.Name}.Sanitize()
		if err := e.packTable(ctx, tx, &t, name); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
		if _, err := tx.Exec(ctx, `drop table `+name); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `update `+e.own.store+` set layout = 3`)
	return err
}

// packTable reads a table in order and writes its leaves.
func (e *Engine) packTable(ctx context.Context, tx pgx.Tx, t *store.Table, name string) error {
	packed := &packer{}
	p := &page{columns: 3}
	sql, args := `select p, k, v from `+name+` order by p, k limit $1`, []any{}
	for size := 1000; ; size = p.next(maxPage) {
		if err := p.read(ctx, tx.Conn(), sql, append(args, size)...); err != nil {
			return err
		}
		for i := range p.rows() {
			packed.add(partitionOf(t, p.column(i, 0)), slices.Clone(p.column(i, 1)), slices.Clone(p.column(i, 2)))
		}
		if p.rows() < size {
			break
		}
		sql = `select p, k, v from ` + name + ` where (p, k) > ($1, $2) order by p, k limit $3`
		args = []any{slices.Clone(p.column(size-1, 0)), slices.Clone(p.column(size-1, 1))}
		if err := e.copyPacked(ctx, tx, packed); err != nil {
			return err
		}
	}
	packed.flush()
	return e.copyPacked(ctx, tx, packed)
}
