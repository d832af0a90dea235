package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/store"
)

// Schemas lists the schemas of a database that hold a store, in order of name.
func Schemas(ctx context.Context, url string) (list []string, err error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("%w: the database's address: %w", store.ErrInvalid, redact(err))
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = 10 * time.Second
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("list the stores of the database: %w", redact(err))
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it held nothing
	rows, err := conn.Query(ctx, `select n.nspname from pg_namespace n
		where exists (select from pg_class c where c.relnamespace = n.oid and c.relname in ('_leases', '_lease')) order by 1`)
	if err == nil {
		list, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil {
		return nil, fmt.Errorf("list the stores of the database: %w", redact(err))
	}
	return list, nil
}
