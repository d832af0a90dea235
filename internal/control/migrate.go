package control

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// schemaTable is where the applied migrations are noted.
const schemaTable = "schema_migration"

func provider(db *sql.DB) (*goose.Provider, error) {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(gooseDialect, db, dir,
		goose.WithTableName(schemaTable), goose.WithDisableGlobalRegistry(true))
}

// migrationsPending refuses a schema that this program does not know, and says
// whether there is something to do.
func migrationsPending(ctx context.Context, db *sql.DB) (bool, error) {
	p, err := provider(db)
	if err != nil {
		return false, err
	}
	have, known, err := versions(ctx, db, p)
	if err != nil {
		return false, err
	}
	if have > known {
		return false, fmt.Errorf("its schema has version %d and this program knows versions up to %d: run the newer program that made it, or restore a backup from before the upgrade", have, known)
	}
	return have < known, nil
}

// versions asks without writing, so that looking at a database never changes it.
func versions(ctx context.Context, db *sql.DB, p *goose.Provider) (have, known int64, err error) {
	for _, s := range p.ListSources() {
		known = max(known, s.Version)
	}
	present, err := hasTable(ctx, db, schemaTable)
	if err != nil || !present {
		return 0, known, err
	}
	if have, err = p.GetDBVersion(ctx); err != nil {
		return 0, known, fmt.Errorf("read its schema version: %w", err)
	}
	return have, known, nil
}

func migrate(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	p, err := provider(db)
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
	return nil
}
