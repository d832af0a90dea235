package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/control"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/postgres"
	"chainexplorer/internal/store/rowcopy"
)

// storeFlags say where indexes are kept when it is not a directory.
type storeFlags struct {
	Store            string        `placeholder:"URL" help:"PostgreSQL database for the index, such as postgres://user@host/db, in place of a directory; each chain has a schema of its own in it. A password is better put into CHAINEXPLORER_STORE or a password file."`
	StoreConnections int           `default:"16" help:"Connections to PostgreSQL for reads, for each chain."`
	StoreTimeout     time.Duration `default:"15s" help:"How long PostgreSQL may take for one read."`
	StoreShards      int           `default:"0" help:"Shards, when a new index is distributed by Citus; 0: eight for each worker, and at least 16."`
}

func (f *storeFlags) check() error {
	if f.Store != "" && !control.IsAddress(f.Store) {
		return &usageError{"--store must begin with postgres://; give the directory of an embedded index with --data"}
	}
	if f.StoreConnections < 4 || f.StoreConnections > 1000 || f.StoreTimeout < time.Millisecond || f.StoreShards < 0 {
		return &usageError{"--store-connections must be 4 to 1000, --store-timeout at least 1ms, --store-shards at least 1"}
	}
	return nil
}

// shared says that other processes may write the same index.
func (f *storeFlags) shared() bool { return f.Store != "" }

// leaseTime is how long a writer that fell silent is waited for. On a store of
// its own a process waits for nobody.
func (f *storeFlags) leaseTime() time.Duration {
	if f.shared() {
		return 5 * time.Second
	}
	return 15 * time.Second
}

// chainName is what becomes a part of a schema's or a directory's name.
var chainName = regexp.MustCompile(`^[A-Za-z0-9_]{1,31}$`)

// chainSchema is what the names of all chains' schemas begin with.
const chainSchema = "chain_"

// schemaOf is the schema of a chain.
func schemaOf(name string) (string, error) {
	if !chainName.MatchString(name) {
		return "", fmt.Errorf("a chain called %q cannot have a schema", name)
	}
	return chainSchema + strings.ToLower(name), nil
}

// access is what a process does with an index on PostgreSQL.
type access struct {
	ReadOnly bool // it only reads
	Existing bool // it writes rows, and leaves it to others to make an index
	Follow   bool // it keeps answers until there is a commit
}

// openPostgres opens the index of a chain.
func (f *storeFlags) openPostgres(ctx context.Context, name string, a access, log *slog.Logger, reg prometheus.Registerer) (store.Engine, error) {
	schema, err := schemaOf(name)
	if err != nil {
		return nil, err
	}
	e, err := postgres.Open(ctx, postgres.Options{
		URL: f.Store, Schema: schema, Tables: catalog.Tables(), PoolSize: f.StoreConnections, StatementTimeout: f.StoreTimeout,
		ShardCount: f.StoreShards, ReadOnly: a.ReadOnly, Existing: a.Existing, Follow: a.Follow, Logger: log, Metrics: reg,
	})
	if err != nil {
		return nil, err
	}
	if err := finished(ctx, e, schema); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	log.Info("index opened in PostgreSQL", "schema", schema, "tls", control.TLSMode(f.Store))
	return e, nil
}

// awaitPostgres opens an index for who does not make one, and waits for one that
// no indexer has begun yet, or brought up to date.
func (f *storeFlags) awaitPostgres(ctx context.Context, name string, a access, log *slog.Logger, reg prometheus.Registerer) (store.Engine, error) {
	said := ""
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		e, err := f.openPostgres(ctx, name, a, log, reg)
		if !errors.Is(err, postgres.ErrNoStore) && !errors.Is(err, postgres.ErrOutdated) {
			return e, err
		}
		if said != err.Error() {
			said = err.Error()
			log.Warn("waiting for an indexer to begin", "chain", name, "err", err)
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil, ctx.Err()
		}
	}
}

// openPebble opens the index in a directory. It comes back when ctx ends, whatever
// the disk does.
func openPebble(ctx context.Context, o pebble.Options) (pebble.Engine, error) {
	o.Tables, o.Height, o.HeightRow = catalog.Tables(), heightOf, &chain.HeadKey
	type result struct {
		e   pebble.Engine
		err error
	}
	opened := make(chan result, 1)
	go func() {
		e, err := pebble.Open(o)
		opened <- result{e, err}
	}()
	select {
	case r := <-opened:
		if r.err != nil {
			return nil, r.err
		}
		if err := finished(ctx, r.e, o.Dir); err != nil {
			return nil, errors.Join(err, r.e.Close())
		}
		return r.e, nil
	case <-ctx.Done():
		return nil, ctx.Err() // the process ends, and the directory is as after a crash
	}
}

// heightOf is the head that a batch writes.
func heightOf(c *store.Changes) (uint64, bool) {
	value, changed := c.Last(chain.HeadKey)
	if !changed || value == nil {
		return 0, false
	}
	head, err := chain.DecodeHead(value)
	return head.Number, err == nil
}

// copyMarker is a row that only an unfinished copy has.
var copyMarker = store.Key{Table: chain.Meta, Sort: []byte("copy")}

// finished refuses a store that 'admin copy' has not come to the end of.
func finished(ctx context.Context, e store.Engine, where string) error {
	unfinished, err := rowcopy.Unfinished(ctx, e, copyMarker)
	if err == nil && unfinished {
		err = fmt.Errorf("%s holds an unfinished copy: run 'chainexplorer admin copy' again, or empty it", where)
	}
	return err
}
