package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/index"
	"chainexplorer/internal/node"
	"chainexplorer/internal/registry"
)

type workerCommand struct {
	Node []string `required:"" sep:"none" placeholder:"URL" help:"JSON-RPC address of a node; repeat for several nodes of one chain."`

	storeFlags
	nodeFlags

	Metrics string `placeholder:"ADDRESS" help:"Serve Prometheus metrics on this address, such as 127.0.0.1:9464."`
	operatorFlags

	FinalityDepth   uint64        `default:"120" help:"How many blocks below the head a block is called finalized."`
	Registry        string        `placeholder:"FILE" help:"Tokens, exchanges, bridges and labels beyond the built-in ones; see docs/registry.md."`
	CensusInterval  time.Duration `default:"2h" help:"How old a holder census gets before a token that has moved is counted again."`
	CensusRetention time.Duration `default:"6h" help:"How long a holder census can be read after it was published."`
	AuditRate       float64       `default:"0.1" placeholder:"BLOCKS" help:"How many blocks a second the auditor recomputes and samples, over and over; 0 for no auditor. See docs/indexing.md."`
}

// Help is shown by worker --help.
func (workerCommand) Help() string {
	return "Does the work beside the indexers of a chain that is kept in PostgreSQL: names and supplies of tokens, pools of exchanges, the holder census. " +
		"Any number of these may run; each job is done by one of them, and by another when that one ends. " +
		"Start the indexers with --no-jobs, or they do such work as well."
}

// Run does jobs until it is stopped. It never writes what comes from blocks.
func (c *workerCommand) Run(ctx context.Context, con *console) error {
	endpoints, err := parseNodes(c.Node)
	if err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	known, err := registry.Load(c.Registry)
	if err != nil {
		return err
	}
	registered := newRegistry()
	if c.Metrics != "" {
		stop, err := serveMetrics(c.Metrics, &c.operatorFlags, registered, newBackups("", con.log), con.log)
		if err != nil {
			return err
		}
		defer stop()
	}
	pool, err := node.Open(ctx, node.Config{Nodes: endpoints, RequestTimeout: c.NodeTimeout, Budget: c.budget(), Logger: con.log, Metrics: node.NewMetrics(registered)})
	if err != nil {
		return err
	}
	defer pool.Close()
	id, err := askChain(ctx, &index.Nodes{Pool: pool}, con.log)
	if err != nil {
		return stopped(ctx, err)
	}
	name := index.ChainName(id)
	engine, err := c.awaitPostgres(ctx, name, access{Existing: true}, con.log, registered)
	if err != nil {
		return stopped(ctx, err)
	}
	defer engine.Close() //nolint:errcheck // every commit is durable when it returns
	work, err := jobSettings{Store: engine, Shared: true, TTL: c.leaseTime(), Pool: pool, Chain: id, Registry: known.Chain(name), Depth: c.FinalityDepth,
		CensusInterval: c.CensusInterval, CensusRetention: c.CensusRetention, AuditRate: c.AuditRate, Counting: con.counting(name), Logger: con.log,
		Metrics: prometheus.WrapRegistererWith(prometheus.Labels{"chain": name}, registered)}.open()
	if err != nil {
		return err
	}
	con.log.Info("working", "chain", name, "owner", owner())
	if err := work.run(ctx); err != nil {
		return err
	}
	con.log.Info("stopped")
	return nil
}

// check refuses settings that would only fail later.
func (c *workerCommand) check() error {
	if err := c.storeFlags.check(); err != nil {
		return err
	}
	if err := c.nodeFlags.check(); err != nil {
		return err
	}
	if c.Store == "" {
		return &usageError{"a worker shares its index with an indexer: give --store postgres://... ('serve' and 'index' do the jobs themselves on a directory)"}
	}
	if c.FinalityDepth < 1 {
		return &usageError{"--finality-depth must be at least 1"}
	}
	if err := checkAudit(c.AuditRate); err != nil {
		return err
	}
	return checkCensus(c.CensusInterval, c.CensusRetention)
}

// stopped takes the end that was asked for as no error.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
