package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"chainexplorer/internal/index"
	"chainexplorer/internal/node"
)

type serveCommand struct {
	Node  []string `sep:"none" placeholder:"URL" help:"JSON-RPC address of a node; repeat for several nodes of one chain. A WebSocket address for new heads can follow after a comma."`
	Chain []string `sep:"none" placeholder:"CHAIN=URL" help:"A node of a named chain, such as SN_MAIN=http://127.0.0.1:6060; repeat for more nodes and more chains. Use this or --node."`
	Data  string   `placeholder:"DIR" help:"Directory for the indexes and the control database; made when missing. Needed unless --store is given."`

	storeFlags
	roomFlags
	nodeFlags
	Control string `placeholder:"FILE|URL" help:"Control database: a file, or a PostgreSQL database. Default: control.db in --data, or else the database of --store."`

	Listen  string `default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Where to serve the API and the pages; 127.0.0.1:8080 unless set."`
	Metrics string `placeholder:"ADDRESS" help:"Serve Prometheus metrics on this address, for the operator alone."`
	operatorFlags

	BackupDir string `placeholder:"DIR" help:"Where 'admin backup' puts backups of this running process; on the file system of --data. Needs --metrics."`

	Verify           index.VerifyMode       `default:"tail" enum:"off,tail,all" help:"Which blocks to recompute: off, tail or all."`
	Unverified       index.UnverifiedPolicy `default:"refuse" enum:"refuse,store" help:"What to do with a block that cannot be verified: refuse it, or store it marked as unverified."`
	UndoBlocks       uint64                 `default:"10000" help:"Newest blocks that can be undone whatever L1 says."`
	AllowForkBelowL1 forkLeave              `name:"allow-fork-below-l1" placeholder:"[CHAIN=]BLOCK" help:"Undo blocks from this one on if a verified branch replaces them, though they had been accepted on L1; see docs/indexing.md."`
	Quorum           int                    `default:"1" help:"How many nodes of a chain must have a block before it is called finalized or replaces an indexed one; at most as many as there are."`
	FinalityDepth    uint64                 `default:"120" help:"How many blocks below the head a block is called finalized."`
	CacheMib         int                    `default:"128" help:"Memory for each store's cache, in MiB."`
	Registry         string                 `placeholder:"FILE" help:"Tokens, exchanges, bridges and labels beyond the built-in ones; see docs/registry.md."`

	CensusInterval  time.Duration `default:"2h" help:"How old a holder census gets before a token that has moved is counted again."`
	CensusRetention time.Duration `default:"6h" help:"How long a holder census can be read after it was published."`
	AuditRate       float64       `default:"0.1" placeholder:"BLOCKS" help:"How many blocks a second the auditor recomputes and samples, over and over; 0 for no auditor. See docs/indexing.md."`

	stopFlags

	Origin        []string      `sep:"none" placeholder:"ORIGIN" help:"Web origin that may call with credentials, such as https://explorer.example; repeatable."`
	BaseURL       string        `placeholder:"URL" help:"How the service is reached from outside, for the documents."`
	HeadMaxAge    time.Duration `default:"60s" help:"How long what a node said of its head counts: after that the index is not called current any more. At least 1s."`
	TraceEndpoint string        `placeholder:"URL" help:"OpenTelemetry collector for traces (OTLP over HTTP), such as http://127.0.0.1:4318."`

	callerFlags
	rpcFlags
	oidcFlags
	receiptFlags
	signerFlags
	verifierFlags
	proverFlags
	webhookFlags
}

func (c *serveCommand) Run(ctx context.Context, con *console) error {
	nodes, err := c.nodes()
	if err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	if err := c.AllowForkBelowL1.check(len(nodes)); err != nil {
		return err
	}
	for _, endpoints := range nodes {
		if err := checkQuorum(c.Quorum, len(endpoints)); err != nil {
			return err
		}
	}
	known, err := loadRegistry(c.Registry)
	if err != nil {
		return err
	}
	return serveUntilStopped(ctx, con, serviceOptions{
		chainSettings: chainSettings{
			Role: role{Serve: true, Index: true, Jobs: true}, Registry: known, Depth: c.FinalityDepth, Data: c.Data, Store: c.storeFlags, CacheMiB: c.CacheMib, MinFree: c.MinFree,
			NodeTimeout: c.NodeTimeout, NodeMemory: c.budget(), Quorum: c.Quorum, Verify: c.Verify, Unverified: c.Unverified, UndoBlocks: c.UndoBlocks, ForkLeave: c.AllowForkBelowL1,
			CensusInterval: c.CensusInterval, CensusRetention: c.CensusRetention, AuditRate: c.AuditRate,
		},
		Listen: c.Listen, Metrics: c.Metrics, Operator: c.operatorFlags, BackupDir: c.BackupDir, Control: c.Control, Nodes: nodes, LameDuck: c.LameDuck,
		Origins: c.Origin, BaseURL: c.BaseURL, HeadMaxAge: c.HeadMaxAge, TraceEndpoint: c.TraceEndpoint, Callers: c.callerFlags, RPC: c.rpcFlags, OIDC: c.oidcFlags, Receipts: c.receiptFlags, Signer: c.signerFlags, Verifier: c.verifierFlags, Prover: c.proverFlags, Webhooks: c.webhookFlags,
	})
}

// stopFlags say how a process that serves ends.
type stopFlags struct {
	LameDuck time.Duration `default:"5s" placeholder:"TIME" help:"How long /readyz fails before the listener is closed when the process is asked to stop; 5s unless set."`
}

func (f *stopFlags) check() error {
	if f.LameDuck < 0 || f.LameDuck > 10*time.Minute {
		return &usageError{"--lame-duck must be 0s to 10m"}
	}
	return nil
}

func serveUntilStopped(ctx context.Context, con *console, o serviceOptions) error {
	s, err := openService(ctx, o, con)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer s.Close()
	con.log.Info("serving", "address", "http://"+s.listener.Addr().String())
	if err := s.Run(ctx); err != nil {
		return err
	}
	con.log.Info("stopped")
	return nil
}

// nodes reads --node and --chain.
func (c *serveCommand) nodes() (map[string][]node.Endpoint, error) {
	if len(c.Node) > 0 && len(c.Chain) > 0 {
		return nil, &usageError{"give --node for one chain, or --chain for named ones, not both"}
	}
	if len(c.Node) > 0 {
		list, err := parseNodes("--node", c.Node)
		return map[string][]node.Endpoint{"": list}, err
	}
	out := map[string][]node.Endpoint{}
	for _, s := range c.Chain {
		id, address, ok := strings.Cut(s, "=")
		if !ok || (id != "SN_MAIN" && id != "SN_SEPOLIA") {
			return nil, &usageError{"--chain: want SN_MAIN=URL or SN_SEPOLIA=URL"} // and no word of it: an address may hold a key
		}
		list, err := parseNodes("--chain "+id, []string{address})
		if err != nil {
			return nil, err
		}
		out[id] = append(out[id], list...)
	}
	if len(out) == 0 {
		return nil, &usageError{"where is the chain? Give --node URL or --chain SN_MAIN=URL"}
	}
	return out, nil
}

// check refuses settings that would only fail later.
func (c *serveCommand) check() error {
	if err := c.storeFlags.check(); err != nil {
		return err
	}
	if err := c.nodeFlags.check(); err != nil {
		return err
	}
	if c.Data == "" && c.Store == "" {
		return &usageError{"where are the indexes? Give --data DIR or --store postgres://..."}
	}
	if err := checkBackupDir(c.BackupDir, c.Metrics, c.Store, c.Data); err != nil {
		return err
	}
	if err := checkPublic(c.Origin, c.BaseURL, c.TraceEndpoint); err != nil {
		return err
	}
	if err := c.receiptFlags.check(); err != nil {
		return err
	}
	if err := checkListen("--listen", c.Listen); err != nil {
		return err
	}
	if err := c.operatorFlags.check(c.Metrics); err != nil {
		return err
	}
	if err := c.stopFlags.check(); err != nil {
		return err
	}
	if err := c.callerFlags.check(); err != nil {
		return err
	}
	if err := c.rpcFlags.check(); err != nil {
		return err
	}
	if _, err := c.provider(c.BaseURL); err != nil {
		return err
	}
	if _, err := c.client(); err != nil {
		return err
	}
	if err := c.verifierFlags.check(); err != nil {
		return err
	}
	if err := c.proverFlags.check(); err != nil {
		return err
	}
	if err := c.webhookFlags.check(); err != nil {
		return err
	}
	if err := checkAudit(c.AuditRate); err != nil {
		return err
	}
	if err := checkCensus(c.CensusInterval, c.CensusRetention); err != nil {
		return err
	}
	if err := checkHeadMaxAge(c.HeadMaxAge); err != nil {
		return err
	}
	if c.CacheMib < 1 || c.FinalityDepth < 1 {
		return &usageError{"--cache-mib and --finality-depth must be at least 1"}
	}
	return nil
}

// checkPublic refuses addresses that would only fail later.
func checkPublic(origins []string, baseURL, traceEndpoint string) error {
	for _, o := range origins {
		u, err := url.Parse(o)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.Scheme+"://"+u.Host != o {
			return &usageError{fmt.Sprintf("--origin %s: want a scheme and a host alone, such as https://explorer.example", withoutUser(o))}
		}
	}
	for name, s := range map[string]string{"--base-url": baseURL, "--trace-endpoint": traceEndpoint} {
		u, err := url.Parse(s)
		if s != "" && (err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "") {
			return &usageError{fmt.Sprintf("%s %s: want an address such as https://api.example", name, withoutUser(s))}
		}
		if err == nil && u.User != nil && name == "--base-url" {
			return &usageError{name + ": an address that everybody is told must not hold a user or a password"}
		}
	}
	return nil
}

// withoutUser is an address that is not one as an error may show it: what stands in front
// of an at sign may be a password.
func withoutUser(address string) string {
	if at := strings.LastIndexByte(address, '@'); at >= 0 {
		return "***" + address[at:]
	}
	return address
}

// checkListen refuses what is no address to listen on.
func checkListen(flag, address string) error {
	if address == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return &usageError{fmt.Sprintf("%s %s: want a host and a port, such as 127.0.0.1:8080", flag, withoutUser(address))}
	}
	return nil
}
