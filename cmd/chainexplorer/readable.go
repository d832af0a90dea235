package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/control"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/index"
	"chainexplorer/internal/node"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/postgres"
)

// Indexes that this version cannot read are refused before the control database is brought up
// to date: whoever has to go on with the version before could not start that any more. What
// keeps an index from being served and may pass is told later.

// readable looks at the indexes of the chains that a process is about to serve or to work for.
func (p *composition) readable(nodes map[string][]node.Endpoint) func(context.Context) error {
	return func(ctx context.Context) error {
		for id, endpoints := range nodes {
			name, err := p.indexed(ctx, id)
			if err == nil && name == "" && p.Data == "" && len(endpoints) > 0 {
				name, err = p.chainOf(ctx, endpoints) // a database may hold several
			}
			if err == nil && name != "" {
				err = readableIndex(ctx, p.Data, p.Store, name, p.con.log)
			}
			if err = lasting(err); err != nil {
				return err
			}
		}
		return nil
	}
}

// chainOf asks nodes which chain they serve, for a process that does nothing before it knows.
func (p *composition) chainOf(ctx context.Context, endpoints []node.Endpoint) (string, error) {
	pool, err := node.Open(ctx, node.Config{Nodes: endpoints, RequestTimeout: p.NodeTimeout, Budget: p.NodeMemory, Logger: p.con.log, Metrics: node.NewMetrics(prometheus.NewRegistry())})
	if err != nil {
		return "", err
	}
	defer pool.Close()
	id, err := askChain(ctx, &index.Nodes{Pool: pool}, p.con.log)
	if err != nil {
		return "", err
	}
	return index.ChainName(id), nil
}

// readable looks at all indexes beside the control database, since a command that changes keys
// is not told which chains are served with them.
func (f *controlFlags) readable(log *slog.Logger) func(context.Context) error {
	return func(ctx context.Context) error {
		data, s := f.Data, storeFlags{Store: f.Store}
		switch {
		case data != "" || s.Store != "":
		case control.IsAddress(f.Control):
			s.Store = f.Control
		default:
			data = filepath.Dir(f.Control)
		}
		names, err := indexesIn(ctx, data, s)
		for _, name := range names {
			if err == nil {
				err = lasting(readableIndex(ctx, data, s, name, log))
			}
		}
		if err != nil && strings.Contains(err.Error(), "in use by another process") {
			err = fmt.Errorf("%w: start the service with this version first, or use the version that is running", err)
		}
		return err
	}
}

// indexesIn names the indexes in a data directory, or else in a database.
func indexesIn(ctx context.Context, data string, s storeFlags) (names []string, err error) {
	if data == "" {
		schemas, err := postgres.Schemas(ctx, s.Store)
		for _, schema := range schemas {
			if name, ours := strings.CutPrefix(schema, chainSchema); ours {
				names = append(names, name)
			}
		}
		return names, err
	}
	entries, err := os.ReadDir(data)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	for _, e := range entries {
		if isStore(filepath.Join(data, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// lasting leaves out what may pass.
func lasting(err error) error {
	if noRoom(err) || pebble.Damaged(err) || errors.Is(err, postgres.ErrNoStore) || errors.Is(err, postgres.ErrOutdated) {
		return nil
	}
	return err
}

// readableIndex refuses the index of a chain, in a data directory or else in a database, if its layout is another.
func readableIndex(ctx context.Context, data string, s storeFlags, name string, log *slog.Logger) (err error) {
	var e store.Engine
	where := "the index of " + name
	if data == "" {
		e, err = s.openMeta(ctx, name, log)
	} else {
		where = filepath.Join(data, name)
		e, err = openPebble(ctx, pebble.Options{Dir: where, ReadOnly: true, Logger: log})
	}
	if err != nil {
		return err
	}
	err = e.View(ctx, func(r store.Reader) error {
		if f, present, err := chain.FormatNow(ctx, r); err == nil && present && f.Layout != chain.Layout {
			return fmt.Errorf("%s: %w", where, &chain.LayoutError{Found: f.Layout})
		}
		return nil // whatever else there is, who serves it tells
	})
	return errors.Join(err, e.Close())
}

// openMeta opens what an index says of itself: other tables of this version may be missing in it.
func (f *storeFlags) openMeta(ctx context.Context, name string, log *slog.Logger) (store.Engine, error) {
	schema, err := schemaOf(name)
	if err != nil {
		return nil, err
	}
	return postgres.Open(ctx, postgres.Options{URL: f.Store, Schema: schema, Tables: []*store.Table{chain.Meta}, StatementTimeout: f.StoreTimeout, ReadOnly: true, Logger: log})
}
