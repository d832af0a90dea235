package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/node"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/postgres"
)

// servedChain is one chain's part of the service.
type servedChain struct {
	id      string
	named   bool   // by --chain
	where   string // of its index, for messages
	chain   felt.Felt
	engine  store.Engine
	pool    *node.Pool     // nil when no node is asked
	indexer *index.Indexer // nil when another process indexes
	jobs    *jobs          // likewise
}

// openChain opens the index of a chain and its nodes. An index that is there is
// opened without a word from a node: it can be read while all nodes are away. Only
// where there is none yet a node has to answer first.
func (s *service) openChain(ctx context.Context, id string, endpoints []node.Endpoint) error {
	c := &servedChain{id: id, named: id != "", where: s.opts.Data}
	if c.where == "" {
		c.where = "the database"
	}
	name, err := s.indexed(ctx, id)
	if err != nil {
		return err
	}
	early := prometheus.NewRegistry() // until the chain is known by name
	nodes := node.Config{Nodes: endpoints, RequestTimeout: s.opts.NodeTimeout, Budget: s.opts.NodeMemory, Logger: s.con.log, Metrics: node.NewMetrics(early), Patient: name != ""}
	if name == "" {
		name = id
	}
	if name != "" {
		if c.chain, err = chainID(name); err != nil {
			return err
		}
		c.id, nodes.Chain = name, c.chain
	}
	if len(endpoints) > 0 {
		if c.pool, err = node.Open(ctx, nodes); err != nil {
			return c.refusal(err)
		}
		s.onClose(c.pool.Close)
		if !nodes.Patient {
			if c.chain, err = askChain(ctx, &index.Nodes{Pool: c.pool}, s.con.log); err != nil {
				return c.refusal(err)
			}
			c.id = index.ChainName(c.chain)
		}
	}
	reg := prometheus.WrapRegistererWith(prometheus.Labels{"chain": c.id}, s.registry)
	if err := reg.Register(early); err != nil {
		return err
	}
	if c.engine, err = s.openStore(ctx, c.id, reg); err != nil {
		return err
	}
	s.onClose(func() { c.engine.Close() }) //nolint:errcheck // every commit is durable when it returns
	s.backups.add(c.id, c.engine)
	if !s.opts.ReadOnly {
		if err := s.openIndexer(c, reg); err != nil {
			return err
		}
	}
	s.chains = append(s.chains, c)
	return nil
}

// openIndexer makes the writers of a chain.
func (s *service) openIndexer(c *servedChain, reg prometheus.Registerer) (err error) {
	log := s.con.log.With("chain", c.id)
	c.jobs, err = jobSettings{Store: c.engine, Shared: s.opts.Store.shared(), TTL: s.opts.Store.leaseTime(), Pool: c.pool, Chain: c.chain,
		Registry: s.opts.Registry.Chain(c.id), Depth: s.opts.Depth, CensusInterval: s.opts.CensusInterval, CensusRetention: s.opts.CensusRetention, AuditRate: s.opts.AuditRate, Counting: s.con.counting(c.id),
		Logger: log, Metrics: reg}.open()
	if err != nil {
		return err
	}
	c.indexer, err = index.New(index.Options{Store: c.engine, Source: &index.Nodes{Pool: c.pool}, Quorum: s.opts.Quorum, FinalityDepth: s.opts.Depth, Verify: s.opts.Verify, Unverified: s.opts.Unverified, UndoBlocks: s.opts.UndoBlocks, AllowForkBelowL1: s.opts.ForkLeave.of(c.id), Owner: owner(),
		TTL: s.opts.Store.leaseTime(), Logger: log, Metrics: index.NewMetrics(reg), Announce: c.jobs.announced, Heard: c.heard})
	return err
}

// indexed names the chain whose index is to be served, when there is one: the
// chain that the operator named, or else the only one in the directory or the
// database.
func (s *service) indexed(ctx context.Context, id string) (string, error) {
	if s.opts.Store.Store != "" {
		return s.opts.Store.indexed(ctx, id, s.opts.ReadOnly, s.con.log)
	}
	if isStore(s.opts.Data) {
		return "", &usageError{fmt.Sprintf("--data %s is the index of one chain, as 'index' makes it: give a directory that holds it as a folder named like the chain, such as DIR/SN_MAIN", s.opts.Data)}
	}
	if id != "" {
		if isStore(filepath.Join(s.opts.Data, id)) {
			return id, nil
		}
		return "", nil
	}
	found, err := filepath.Glob(filepath.Join(s.opts.Data, "*", "MANIFEST-*"))
	if err != nil {
		return "", err
	}
	var names []string
	for _, f := range found {
		if name := filepath.Base(filepath.Dir(f)); len(names) == 0 || names[len(names)-1] != name { // in order
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return "", nil
	case 1:
		return names[0], nil
	}
	return "", &usageError{fmt.Sprintf("--data %s holds the indexes of %s: name their nodes with --chain, such as --chain %s=URL, or give another --data",
		s.opts.Data, strings.Join(names, ", "), names[0])}
}

// indexed names the chain whose schema is there. Several chains share a database
// often, so that only a node can tell which of them is meant when none is named.
func (f *storeFlags) indexed(ctx context.Context, id string, readOnly bool, log *slog.Logger) (string, error) {
	if readOnly {
		return id, nil // it waits for the index
	}
	schemas, err := postgres.Schemas(ctx, f.Store)
	if err != nil {
		return "", err
	}
	schemas = slices.DeleteFunc(schemas, func(s string) bool { return !strings.HasPrefix(s, chainSchema) })
	if id != "" {
		if schema, err := schemaOf(id); err != nil || !slices.Contains(schemas, schema) {
			return "", err
		}
		return id, nil
	}
	if len(schemas) != 1 {
		return "", nil
	}
	e, err := f.openPostgres(ctx, strings.TrimPrefix(schemas[0], chainSchema), access{ReadOnly: true}, log, nil)
	if errors.Is(err, postgres.ErrOutdated) || errors.Is(err, postgres.ErrNoStore) {
		return "", nil // to be made, or made up to date, by who indexes
	}
	if err != nil {
		return "", err
	}
	state, err := stateOf(ctx, e)
	if err = errors.Join(err, e.Close()); err != nil || !state.Present {
		return "", err
	}
	return index.ChainName(state.Format.ChainID), nil
}

// chainID is the id of a chain by its name, the reverse of index.ChainName.
func chainID(name string) (felt.Felt, error) {
	var id felt.Felt
	var err error
	if strings.HasPrefix(name, "0x") {
		id, err = felt.Parse(name)
	} else {
		id, err = felt.FromShortString(name)
	}
	if err != nil {
		return id, fmt.Errorf("%q is not the name of a chain: %w", name, err)
	}
	return id, nil
}

// openStore opens the index of a chain: a schema, or a directory of its own.
func (s *service) openStore(ctx context.Context, name string, reg prometheus.Registerer) (store.Engine, error) {
	switch f := &s.opts.Store; {
	case f.Store != "" && s.opts.ReadOnly:
		return f.awaitPostgres(ctx, name, access{ReadOnly: true, Follow: true}, s.con.log, reg)
	case f.Store != "":
		return f.openPostgres(ctx, name, access{Follow: true}, s.con.log, reg)
	}
	if strings.ContainsAny(name, "/\\.") {
		return nil, fmt.Errorf("the node serves a chain called %q, which cannot be a directory", name)
	}
	dir := filepath.Join(s.opts.Data, name)
	if err := checkDataDir(dir); err != nil {
		return nil, err
	}
	return openDiskStore(ctx, pebble.Options{Dir: dir, CacheBytes: int64(s.opts.CacheMiB) << 20, MinFree: uint64(s.opts.MinFree), Logger: s.con.log, Metrics: reg})
}

// askChain waits for a node to say which chain it serves.
func askChain(ctx context.Context, source *index.Nodes, log *slog.Logger) (felt.Felt, error) {
	for wait := 250 * time.Millisecond; ; wait = min(2*wait, 15*time.Second) {
		id, err := source.ChainID(ctx)
		if wrong := new(node.WrongChainError); err == nil || errors.As(err, &wrong) {
			return id, err
		}
		log.Warn("waiting for a node", "err", err)
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return felt.Felt{}, ctx.Err()
		}
	}
}

// refuseStrangers ends the service when a node that answers at its start is none
// of the chain's. One that answers later is not asked anything, and the service
// goes on with what it has.
func (c *servedChain) refuseStrangers(ctx context.Context) error {
	if err := c.pool.Introduced(ctx); err != nil && ctx.Err() == nil {
		return c.refusal(err)
	}
	return nil
}

// refusal says what to do about a node of another chain.
func (c *servedChain) refusal(err error) error {
	wrong := new(node.WrongChainError)
	if !errors.As(err, &wrong) {
		return err
	}
	serves := index.ChainName(wrong.Chain)
	if c.named {
		return fmt.Errorf("--chain %s: its node serves the chain %s", c.id, serves)
	}
	return fmt.Errorf("%s holds the index of %s and the node serves the chain %s: give another node, or another --data; for several chains name them with --chain",
		c.where, c.id, serves)
}

// heard is what the chain's nodes said lately; it asks nobody.
func (c *servedChain) heard() chain.Seen { return heardBy(c.pool) }

// trouble is why nothing new is indexed, where that is a matter of this machine.
func (c *servedChain) trouble() string {
	if d, ok := c.engine.(*diskStore); ok {
		return d.trouble()
	}
	return ""
}
