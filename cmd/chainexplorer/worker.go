package main

import (
	"context"
	"time"

	"chainexplorer/internal/control"
	"chainexplorer/internal/node"
)

type workerCommand struct {
	Node []string `required:"" sep:"none" placeholder:"URL" help:"JSON-RPC address of a node; repeat for several nodes of one chain."`

	storeFlags
	nodeFlags

	Control string `placeholder:"FILE|URL" help:"Control database, for verification and webhooks: a file, or a PostgreSQL database. Default: the database of --store."`

	Metrics string `placeholder:"ADDRESS" help:"Serve Prometheus metrics on this address, such as 127.0.0.1:9464."`
	operatorFlags

	FinalityDepth   uint64        `default:"120" help:"How many blocks below the head a block is called finalized."`
	Registry        string        `placeholder:"FILE" help:"Tokens, exchanges, bridges and labels beyond the built-in ones; see docs/registry.md."`
	CensusInterval  time.Duration `default:"2h" help:"How old a holder census gets before a token that has moved is counted again."`
	CensusRetention time.Duration `default:"6h" help:"How long a holder census can be read after it was published."`
	AuditRate       float64       `default:"0.1" placeholder:"BLOCKS" help:"How many blocks a second the auditor recomputes and samples, over and over; 0 for no auditor. See docs/indexing.md."`

	signerFlags
	receiptLogFlags
	verifierFlags
	webhookFlags
}

// Help is shown by worker --help.
func (workerCommand) Help() string {
	return "Does the work beside the indexers of a chain that is kept in PostgreSQL: names and supplies of tokens, pools of exchanges, the ledger of privacy pools, the holder census, the verification of sources, and the delivery of webhooks. " +
		"Any number of these may run; each job is done by one of them, and by another when that one ends. " +
		"Start the indexers with --no-jobs, or they do such work as well."
}

// Run does jobs until it is stopped. It never writes what comes from blocks.
func (c *workerCommand) Run(ctx context.Context, con *console) error {
	endpoints, err := parseNodes("--node", c.Node)
	if err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	known, err := loadRegistry(c.Registry)
	if err != nil {
		return err
	}
	p := newComposition(chainSettings{
		Role: role{Jobs: true}, Registry: known, Depth: c.FinalityDepth, Store: c.storeFlags, NodeTimeout: c.NodeTimeout, NodeMemory: c.budget(),
		CensusInterval: c.CensusInterval, CensusRetention: c.CensusRetention, AuditRate: c.AuditRate,
	}, con, "")
	defer p.Close()
	if err := p.serveMetrics(c.Metrics, &c.operatorFlags); err != nil {
		return err
	}
	if c.Control == "" {
		c.Control = c.Store
	}
	db, err := control.Open(ctx, control.Options{Path: c.Control, BeforeUpgrade: p.readable(map[string][]node.Endpoint{"": endpoints}), Logger: con.log})
	if err != nil {
		return stopped(ctx, err)
	}
	p.onClose(func() { db.Close() }) //nolint:errcheck // every change is durable when it is acknowledged
	if err := p.verifyWith(db, c.verifierFlags, c.signerFlags); err != nil {
		return err
	}
	if err := p.deliverWith(db, c.webhookFlags); err != nil {
		return err
	}
	log, _, err := c.receiptLogFlags.open(db)
	if err != nil {
		return err
	}
	by, err := c.client()
	if err != nil {
		return err
	}
	parts, err := p.openChain(ctx, "", endpoints)
	if err != nil {
		return stopped(ctx, err)
	}
	p.backups.open(nil)
	con.log.Info("working", "chain", parts.id, "owner", owner())
	publishing, stop := context.WithCancel(ctx)
	published := make(chan struct{})
	go func() {
		defer close(published)
		p.keepPublishing(publishing, log, by)
	}()
	err = parts.jobs.run(ctx)
	stop()
	<-published
	if err != nil {
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
	if err := c.operatorFlags.check(c.Metrics); err != nil {
		return err
	}
	if err := c.receiptLogFlags.check(); err != nil {
		return err
	}
	if _, err := c.client(); err != nil {
		return err
	}
	if err := c.verifierFlags.check(); err != nil {
		return err
	}
	if err := c.webhookFlags.check(); err != nil {
		return err
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
