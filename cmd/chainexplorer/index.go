package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"chainexplorer/internal/backup"
	"chainexplorer/internal/index"
	"chainexplorer/internal/node"
)

type indexCommand struct {
	Node []string `required:"" sep:"none" placeholder:"URL" help:"JSON-RPC address of a node; repeat for several nodes of one chain. A WebSocket address for new heads can follow after a comma: http://host:6060,ws://host:6061/ws."`
	Data string   `placeholder:"DIR" help:"Directory of the index; made when missing. Use this or --store."`

	storeFlags
	roomFlags
	nodeFlags

	Verify     index.VerifyMode       `default:"tail" enum:"off,tail,all" help:"Which blocks to recompute: off, tail (not yet accepted on L1, or among the newest) or all."`
	Unverified index.UnverifiedPolicy `default:"refuse" enum:"refuse,store" help:"What to do with a block that cannot be verified: refuse it, or store it marked as unverified."`
	To         *uint64                `placeholder:"BLOCK" help:"Stop when this block is indexed."`

	Quorum int `default:"1" help:"How many nodes must have a block before it is called finalized or replaces an indexed one; at most as many as there are."`

	Window           int       `default:"32" help:"Blocks fetched and prepared ahead."`
	BatchMib         int       `default:"40" help:"What a commit holds in memory while catching up, in MiB."`
	UndoBlocks       uint64    `default:"10000" help:"Newest blocks that can be undone whatever L1 says."`
	AllowForkBelowL1 forkLeave `name:"allow-fork-below-l1" placeholder:"BLOCK" help:"Undo blocks from this one on if a verified branch replaces them, though they had been accepted on L1; see docs/indexing.md."`
	CacheMib         int       `default:"128" help:"Memory for the store's cache, in MiB."`
	Metrics          string    `placeholder:"ADDRESS" help:"Serve Prometheus metrics on this address, such as 127.0.0.1:9464."`
	operatorFlags

	BackupDir string `placeholder:"DIR" help:"Where 'admin backup' puts backups of this running process; on the file system of --data. Needs --metrics."`

	FinalityDepth   uint64        `default:"120" help:"How many blocks below the head a block is called finalized."`
	Registry        string        `placeholder:"FILE" help:"Tokens, exchanges, bridges and labels beyond the built-in ones; see docs/registry.md."`
	CensusInterval  time.Duration `default:"2h" help:"How old a holder census gets before a token that has moved is counted again."`
	CensusRetention time.Duration `default:"6h" help:"How long a holder census can be read after it was published."`
	AuditRate       float64       `default:"0.1" placeholder:"BLOCKS" help:"How many blocks a second the auditor recomputes and samples, over and over; 0 for no auditor. See docs/indexing.md."`

	Jobs bool `default:"true" negatable:"" help:"Do the jobs beside the indexer as well: names of tokens, pools, the ledger of privacy pools, holder census. With --no-jobs they are left to 'worker' processes."`
}

func (c *indexCommand) Run(ctx context.Context, con *console) error {
	endpoints, err := parseNodes("--node", c.Node)
	if err != nil {
		return err
	}
	if c.Window < 1 || c.Window > 4096 || c.BatchMib < 1 || c.BatchMib > 1024 || c.CacheMib < 1 || c.FinalityDepth < 1 {
		return &usageError{"--window must be 1 to 4096, --batch-mib 1 to 1024, --cache-mib and --finality-depth at least 1"}
	}
	if err := c.storeFlags.check(); err != nil {
		return err
	}
	if err := checkQuorum(c.Quorum, len(endpoints)); err != nil {
		return err
	}
	if err := c.nodeFlags.check(); err != nil {
		return err
	}
	if err := c.operatorFlags.check(c.Metrics); err != nil {
		return err
	}
	if err := checkAudit(c.AuditRate); err != nil {
		return err
	}
	if err := checkCensus(c.CensusInterval, c.CensusRetention); err != nil {
		return err
	}
	if (c.Data == "") == (c.Store == "") {
		return &usageError{"where is the index? Give --data DIR or --store postgres://..., one of them"}
	}
	if c.Data != "" {
		if err := checkDataDir(c.Data); err != nil {
			return err
		}
	}
	if err := c.checkBackups(); err != nil {
		return err
	}
	known, err := loadRegistry(c.Registry)
	if err != nil {
		return err
	}
	p := newComposition(chainSettings{
		Role: role{Index: true, Jobs: c.Jobs}, Registry: known, Depth: c.FinalityDepth, Data: c.Data, Store: c.storeFlags, CacheMiB: c.CacheMib, MinFree: c.MinFree,
		NodeTimeout: c.NodeTimeout, NodeMemory: c.budget(), Quorum: c.Quorum, Verify: c.Verify, Unverified: c.Unverified, Window: c.Window, BatchMiB: c.BatchMib,
		UndoBlocks: c.UndoBlocks, ForkLeave: c.AllowForkBelowL1, CensusInterval: c.CensusInterval, CensusRetention: c.CensusRetention, AuditRate: c.AuditRate,
	}, con, c.BackupDir)
	defer p.Close()
	if err := p.serveMetrics(c.Metrics, &c.operatorFlags); err != nil {
		return err
	}
	parts, err := p.openChain(ctx, "", endpoints)
	if err != nil {
		return err
	}
	p.backups.open(nil)
	_, stopWorking := parts.work(ctx)
	x := parts.indexer
	err = keepIndexing(ctx, x, c.shared(), con.log, func(ctx context.Context, next *index.Indexer) error {
		x = next
		return con.shown(ctx, parts.id, next, func(ctx context.Context) error {
			if c.To != nil {
				return next.RunTo(ctx, *c.To)
			}
			return next.Run(ctx)
		})
	})
	stopWorking()
	if err != nil {
		return fmt.Errorf("index stopped: %w", err)
	}
	con.log.Info("index closed", "progress", x.Progress().String())
	return nil
}

// checkBackups keeps backups out of the folder of the store itself.
func (c *indexCommand) checkBackups() error {
	if c.BackupDir == "" || c.Data == "" {
		return checkBackupDir(c.BackupDir, c.Metrics, c.Store, c.Data)
	}
	data, err := filepath.Abs(c.Data)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(c.BackupDir)
	if err != nil {
		return err
	}
	if rest, err := filepath.Rel(data, dir); err == nil && filepath.IsLocal(rest) {
		return &usageError{"--backup-dir must not be inside --data, which is the store's own"}
	}
	return checkBackupDir(dir, c.Metrics, c.Store, data)
}

// parseNodes reads URL or URL,WEBSOCKET of a flag.
func parseNodes(flag string, list []string) ([]node.Endpoint, error) {
	var out []node.Endpoint
	for _, s := range list {
		url, ws, _ := strings.Cut(s, ",")
		e := node.Endpoint{URL: strings.TrimSpace(url), WebSocketURL: strings.TrimSpace(ws)}
		if err := e.Check(); err != nil {
			return nil, &usageError{fmt.Sprintf("%s: %v: want one such as http://127.0.0.1:6060", flag, err)}
		}
		out = append(out, e)
	}
	return out, nil
}

// checkDataDir keeps a mistyped directory from being filled with our files.
func checkDataDir(dir string) error {
	if err := checkRestored(filepath.Dir(filepath.Clean(dir))); err != nil { // an index lies in a data directory
		return err
	}
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if isStore(dir) {
		return nil
	}
	return &usageError{fmt.Sprintf("the directory %s holds files that are not an index: give another --data, or empty it", dir)}
}

// checkRestored refuses a data directory that a restore left half full: what is missing
// would be made anew in silence.
func checkRestored(data string) error {
	if backup.Unfinished(data) {
		return &usageError{fmt.Sprintf("the directory %s was left by a restore that did not end: remove it, and restore the backup again", data)}
	}
	return nil
}

// owner names this process in the store's leases. Host and process id do not: two
// containers may have both in common.
var owner = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	var unique [4]byte
	rand.Read(unique[:]) //nolint:errcheck // never fails
	return fmt.Sprintf("%s/%d/%x", host, os.Getpid(), unique)
})
