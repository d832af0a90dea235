package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/job"
	"chainexplorer/internal/node"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	sandboxed "chainexplorer/internal/verification/build"
	verification "chainexplorer/internal/verification/job"
)

// role is what a process does for its chains. 'serve' does everything, 'api' only
// answers, 'index' writes blocks and does the jobs unless they are left to others,
// and 'worker' does the jobs.
type role struct {
	Serve bool // it answers requests: of several chains, each in a folder or schema of its own
	Index bool // it writes blocks, and makes an index where there is none
	Jobs  bool // it does the work beside the indexer
}

// access is what the role does with an index on PostgreSQL.
func (r role) access() access {
	return access{ReadOnly: !r.Index && !r.Jobs, Existing: !r.Index && r.Jobs, Follow: r.Serve}
}

// chainSettings are what the parts of a chain are set up by, whatever the role. Those
// of parts that the role does not have are not looked at.
type chainSettings struct {
	Role     role
	Registry *registry.Registry
	Depth    uint64

	Data     string     // directory of the index, or where chains are served, of theirs
	Store    storeFlags // where the indexes are when they are not in Data
	CacheMiB int
	MinFree  size // room that is kept on the disk of a directory

	NodeTimeout time.Duration // the default when zero
	NodeMemory  *node.Budget  // likewise
	Guests      guests        // what callers may take up of the nodes

	Quorum     int // nodes that must agree; see index.Options
	Verify     index.VerifyMode
	Unverified index.UnverifiedPolicy
	Window     int // the default when zero, as the size of a batch is
	BatchMiB   int
	UndoBlocks uint64
	ForkLeave  forkLeave

	// CensusInterval and CensusRetention are the defaults of the census when zero.
	CensusInterval, CensusRetention time.Duration
	AuditRate                       float64 // blocks a second; 0 for no auditor
}

// composition puts a process together, for every role: the engines of its chains,
// their nodes, indexers and jobs.
type composition struct {
	chainSettings
	con        *console
	registered *prometheus.Registry
	backups    *backups
	closers    []func()
	// verify makes the job that verifies sources; nil where none are.
	verify func(*chainParts, prometheus.Registerer) job.Job
	// deliver makes the job that delivers webhooks; nil where there is no control database.
	deliver func(*chainParts, prometheus.Registerer) job.Job
	// builder is what it builds them with; nil without a toolchain.
	builder *sandboxed.Builder
}

func newComposition(o chainSettings, con *console, backupDir string) *composition {
	return &composition{chainSettings: o, con: con, registered: newRegistry(), backups: newBackups(backupDir, con.log)}
}

func (p *composition) onClose(f func()) { p.closers = append(p.closers, f) }

// Close releases everything in reverse order. It may be called twice.
func (p *composition) Close() {
	for _, f := range slices.Backward(p.closers) {
		f()
	}
	p.closers = nil
}

// serveMetrics serves the operator's address, when there is one.
func (p *composition) serveMetrics(address string, operator *operatorFlags) error {
	if address == "" {
		return nil
	}
	stop, err := serveMetrics(address, operator, p.registered, p.backups, p.con.log)
	if err != nil {
		return err
	}
	p.onClose(stop)
	return nil
}

// chainParts are the parts of one chain that a process has.
type chainParts struct {
	id      string
	named   bool   // by --chain
	where   string // its index is, for messages; "" in a process of one chain
	chain   felt.Felt
	log     *slog.Logger
	engine  store.Engine
	pool    *node.Pool     // nil when no node is asked
	indexer *index.Indexer // nil when another process indexes
	jobs    *jobs          // nil when this one does none
}

// openChain opens the index of a chain and its nodes, and makes the writers that the
// role has. The id is "" for the chain that the nodes serve.
//
// Where chains are served, an index that is there is opened without a word from a
// node: it can be read while all nodes are away. Only where there is none yet, and in
// a process that would have nothing to do without, a node has to answer first.
func (p *composition) openChain(ctx context.Context, id string, endpoints []node.Endpoint) (_ *chainParts, err error) {
	c := &chainParts{id: id, named: id != "", log: p.con.log}
	plain := prometheus.Registerer(p.registered)
	early, name := p.registered, ""
	switch {
	case p.Role.Serve:
		if c.where = p.Data; c.where == "" {
			c.where = "the database"
		}
		if name, err = p.indexed(ctx, id); err != nil {
			return nil, err
		}
		early = prometheus.NewRegistry() // until the chain is known by name
	case p.Data != "":
		if err := p.openEngine(ctx, c, plain); err != nil { // the directory is the index, whatever the chain is called
			return nil, err
		}
	}
	nodes := node.Config{Nodes: endpoints, RequestTimeout: p.NodeTimeout, Budget: p.NodeMemory, GuestsInFlight: p.Guests.InFlight, GuestBudget: p.Guests.Memory, Logger: p.con.log, Metrics: node.NewMetrics(early), Patient: name != ""}
	if name == "" {
		name = id
	}
	if name != "" {
		if c.chain, err = chainID(name); err != nil {
			return nil, err
		}
		c.id, nodes.Chain = name, c.chain
	}
	if len(endpoints) > 0 {
		if err := p.openNodes(ctx, c, nodes); err != nil {
			return nil, err
		}
	}
	labelled := prometheus.WrapRegistererWith(prometheus.Labels{"chain": c.id}, plain)
	if p.Role.Serve {
		if err := labelled.Register(early); err != nil {
			return nil, err
		}
		plain, c.log = labelled, p.con.log.With("chain", c.id)
	}
	if c.engine == nil {
		if err := p.openEngine(ctx, c, plain); err != nil {
			return nil, err
		}
	}
	p.backups.add(c.id, c.engine)
	if p.Role.Jobs {
		if c.jobs, err = p.openJobs(c, labelled); err != nil {
			return nil, err
		}
	}
	if p.Role.Index {
		if c.indexer, err = p.openIndexer(c, plain); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// openNodes opens the nodes of a chain, and asks them which it is unless that is known.
func (p *composition) openNodes(ctx context.Context, c *chainParts, nodes node.Config) (err error) {
	if c.pool, err = node.Open(ctx, nodes); err != nil {
		return c.refusal(err)
	}
	p.onClose(c.pool.Close)
	if nodes.Patient {
		return nil
	}
	if c.chain, err = askChain(ctx, &index.Nodes{Pool: c.pool}, p.con.log); err != nil {
		return c.refusal(err)
	}
	c.id = index.ChainName(c.chain)
	return nil
}

// openEngine opens the index of a chain.
func (p *composition) openEngine(ctx context.Context, c *chainParts, reg prometheus.Registerer) (err error) {
	if c.engine, err = p.openStore(ctx, c.id, reg); err != nil {
		return err
	}
	p.onClose(func() { c.engine.Close() }) //nolint:errcheck // every commit is durable when it returns
	return nil
}

// openStore opens a schema, the directory of the process, or one of a chain in it.
func (p *composition) openStore(ctx context.Context, name string, reg prometheus.Registerer) (store.Engine, error) {
	switch {
	case p.Store.Store != "" && !p.Role.Index:
		return p.Store.awaitPostgres(ctx, name, p.Role.access(), p.con.log, reg)
	case p.Store.Store != "":
		return p.Store.openPostgres(ctx, name, p.Role.access(), p.con.log, reg)
	}
	pebble.LimitGarbage()
	o := pebble.Options{Dir: p.Data, CacheBytes: int64(p.CacheMiB) << 20, MinFree: uint64(p.MinFree), Logger: p.con.log, Metrics: reg}
	if !p.Role.Serve {
		return openPebble(ctx, o)
	}
	if strings.ContainsAny(name, "/\\.") {
		return nil, fmt.Errorf("the node serves a chain called %q, which cannot be a directory", name)
	}
	o.Dir = filepath.Join(p.Data, name)
	if err := checkDataDir(o.Dir); err != nil {
		return nil, err
	}
	return openDiskStore(ctx, o)
}

// openJobs makes the jobs of a chain.
func (p *composition) openJobs(c *chainParts, reg prometheus.Registerer) (*jobs, error) {
	var more []job.Job
	if p.verify != nil && c.id == verification.Chain {
		more = append(more, p.verify(c, reg))
	}
	if p.deliver != nil {
		more = append(more, p.deliver(c, reg))
	}
	return jobSettings{Store: c.engine, More: more, Shared: p.Store.shared(), TTL: p.Store.leaseTime(), Pool: c.pool, Chain: c.chain,
		Registry: p.Registry.Chain(c.id), Depth: p.Depth, CensusInterval: p.CensusInterval, CensusRetention: p.CensusRetention, AuditRate: p.AuditRate,
		Counting: p.con.counting(c.id), Logger: c.log, Metrics: reg}.open()
}

// openIndexer makes the writer of a chain, which wakes the jobs of this process.
func (p *composition) openIndexer(c *chainParts, reg prometheus.Registerer) (*index.Indexer, error) {
	return index.New(index.Options{
		Store: c.engine, Source: &index.Nodes{Pool: c.pool}, Verify: p.Verify, Unverified: p.Unverified, Quorum: p.Quorum, FinalityDepth: p.Depth, TTL: p.Store.leaseTime(),
		Window: p.Window, BatchBytes: p.BatchMiB << 20, UndoBlocks: p.UndoBlocks, AllowForkBelowL1: p.ForkLeave.of(c.id),
		Owner: owner(), Logger: c.log, Metrics: index.NewMetrics(reg), Announce: c.jobs.announced, Heard: c.heard,
	})
}

// work does the jobs of a chain beside the caller, until ctx ends or stop is called,
// which waits for them; ended is closed when they are over.
func (c *chainParts) work(ctx context.Context) (ended <-chan struct{}, stop func()) {
	working, cancel := context.WithCancel(ctx)
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		if err := c.jobs.run(working); err != nil && working.Err() == nil {
			c.log.Error("the jobs beside the indexer stopped", "err", err)
		}
	}()
	return worked, func() {
		cancel()
		<-worked
	}
}
