package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chainexplorer/bench/memory"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/index"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store/postgres"
	"chainexplorer/internal/store/postgres/pgtest"
)

const benchSchema = "bench_ingest"

// compareEngines indexes the same blocks into both engines, once without undo
// records, as when catching up, and once with them, as at the tail.
func compareEngines(ctx context.Context, m *memory.Source, chain simnode.Config, address string, pebbleStore func() (*target, error), show func(string, float64, string)) error {
	used := func() time.Duration { return 0 }
	if address == "start" {
		// fsync and full-page writes are on, as in earnest.
		server, err := pgtest.Start(ctx, pgtest.Options{Durable: true, Settings: map[string]string{"shared_buffers": "512MB"}})
		if err != nil {
			return err
		}
		defer server.Stop() //nolint:errcheck // temporary
		address, used = server.URL(), server.CPU
	}
	source := func() index.Source { return m }
	if overHTTP {
		served, stop, err := serveChain(ctx, chain)
		if err != nil {
			return err
		}
		defer stop()
		source = served
	}
	postgresStore := func() (*target, error) { return openPostgres(ctx, address) }
	for _, c := range []struct {
		name string
		opts index.Options
	}{
		{"index everything", index.Options{Verify: index.VerifyOff, UndoBlocks: 1}},
		{"the same with undo records", index.Options{Verify: index.VerifyOff, UndoBlocks: 1 << 40}},
	} {
		c.opts.Source = source()
		first, more, err := indexAll(ctx, m, c.opts, pebbleStore)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		show(c.name+", Pebble", first, more)
		c.opts.Source = source()
		before := used()
		second, more, err := indexAll(ctx, m, c.opts, postgresStore)
		if err != nil {
			return fmt.Errorf("%s, PostgreSQL: %w", c.name, err)
		}
		show(c.name+", PostgreSQL", second, more)
		if server := used() - before; server > 0 { // some of it for making the schema and for the vacuum
			fmt.Printf("%-46s %.2f ms of CPU a block in the server\n", "", float64(server.Microseconds())/float64(m.Length)/1e3)
		}
		fmt.Printf("%-46s %.2f of Pebble\n", "", second/first)
	}
	return nil
}

func openPostgres(ctx context.Context, address string) (*target, error) {
	o := postgres.Options{URL: address, Schema: benchSchema, Tables: catalog.Tables()}
	if err := postgres.Drop(ctx, o); err != nil {
		return nil, err
	}
	engine, err := postgres.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &target{
		Engine: engine,
		size: func() (int64, int64, error) {
			s, err := engine.Stats(ctx)
			return int64(s.DiskBytes), 0, err
		},
		close: func() {
			if err := errors.Join(engine.Close(), postgres.Drop(ctx, o)); err != nil {
				fmt.Println(err)
			}
		},
	}, nil
}
