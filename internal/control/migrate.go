package control

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/sqlite/*.sql migrations/postgres/*.sql
var migrations embed.FS

// schemaTable is where the applied migrations are noted.
const schemaTable = "schema_migration"

func (d *DB) provider() (*goose.Provider, error) {
	folder, kind := d.kind.migrations()
	dir, err := fs.Sub(migrations, "migrations/"+folder)
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(kind, d.write, dir,
		goose.WithTableName(schemaTable), goose.WithDisableGlobalRegistry(true))
}

// migrationsPending refuses a schema that this program does not know, and says
// whether there is something to do, and whether there is a schema at all.
func (d *DB) migrationsPending(ctx context.Context) (pending, made bool, err error) {
	p, err := d.provider()
	if err != nil {
		return false, false, err
	}
	have, known, err := d.versions(ctx, p)
	if err != nil {
		return false, false, err
	}
	if have > known {
		return false, true, fmt.Errorf("its schema has version %d and this program knows versions up to %d: run the newer program that made it, or restore a backup from before the upgrade", have, known)
	}
	return have < known, have > 0, nil
}

// versions asks without writing, so that looking at a database never changes it.
func (d *DB) versions(ctx context.Context, p *goose.Provider) (have, known int64, err error) {
	for _, s := range p.ListSources() {
		known = max(known, s.Version)
	}
	present, err := d.kind.hasTable(ctx, d.write, schemaTable)
	if err != nil || !present {
		return 0, known, err
	}
	if have, err = p.GetDBVersion(ctx); err != nil {
		return 0, known, fmt.Errorf("read its schema version: %w", err)
	}
	return have, known, nil
}

// migrateLocked lets one process at a time change the schema.
func (d *DB) migrateLocked(ctx context.Context, o Options) error {
	pending, made, err := d.migrationsPending(ctx)
	if err == nil && pending && made && o.BeforeUpgrade != nil {
		if err := o.BeforeUpgrade(ctx); err != nil {
			return fmt.Errorf("it has the schema of an older version and is left as it is: %w", err)
		}
	}
	if err == nil && !pending { // a process may have ended between the two steps of migrate
		pending, err = d.kind.hasTable(ctx, d.write, auditBefore)
	}
	if err != nil || !pending {
		return err
	}
	return d.kind.lockSchema(ctx, d, func() error { return d.migrate(ctx, o.Logger) })
}

func (d *DB) migrate(ctx context.Context, log *slog.Logger) error {
	p, err := d.provider()
	if err != nil {
		return err
	}
	done, err := p.Up(ctx)
	if err != nil {
		return fmt.Errorf("bring its schema up to date: %w", err)
	}
	for _, r := range done {
		log.Info("changed the schema of the control database", "version", r.Source.Version, "took", r.Duration)
	}
	return d.chainAudit(ctx)
}
