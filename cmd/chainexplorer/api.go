package main

import (
	"context"
	"strings"
	"time"

	"chainexplorer/internal/node"
)

type apiCommand struct {
	storeFlags
	nodeFlags
	Chain   []string `required:"" sep:"none" placeholder:"CHAIN[=URL]" help:"A chain to serve, such as SN_MAIN; with the address of a node, which live reads need and whose head is compared with the index. Repeatable."`
	Control string   `placeholder:"FILE|URL" help:"Control database: a file, or a PostgreSQL database. Default: the database of --store."`

	Listen  string `default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Where to serve the API and the pages; 127.0.0.1:8080 unless set."`
	Metrics string `placeholder:"ADDRESS" help:"Serve Prometheus metrics on this address, for the operator alone."`
	operatorFlags
	FinalityDepth uint64 `default:"120" help:"How many blocks below the head a block is called finalized."`

	stopFlags

	Registry      string        `placeholder:"FILE" help:"Tokens, exchanges, bridges and labels beyond the built-in ones; see docs/registry.md."`
	Origin        []string      `sep:"none" placeholder:"ORIGIN" help:"Web origin that may call with credentials, such as https://explorer.example; repeatable."`
	BaseURL       string        `placeholder:"URL" help:"How the service is reached from outside, for the documents."`
	HeadMaxAge    time.Duration `default:"60s" help:"How long what a node said of its head counts: after that the index is not called current any more. At least 1s."`
	TraceEndpoint string        `placeholder:"URL" help:"OpenTelemetry collector for traces (OTLP over HTTP), such as http://127.0.0.1:4318."`

	callerFlags
	rpcFlags
	oidcFlags
	receiptFlags
	proverFlags
	egressFlags
}

// Run serves what other processes index. Any number of these may run.
func (c *apiCommand) Run(ctx context.Context, con *console) error {
	if err := c.check(); err != nil {
		return err
	}
	nodes := map[string][]node.Endpoint{}
	for _, s := range c.Chain {
		id, address, named := strings.Cut(s, "=")
		if id != "SN_MAIN" && id != "SN_SEPOLIA" {
			return &usageError{"--chain: want SN_MAIN or SN_SEPOLIA, with =URL for a node"} // and no word of it: an address may hold a key
		}
		list := nodes[id]
		if named {
			more, err := parseNodes("--chain "+id, []string{address})
			if err != nil {
				return err
			}
			list = append(list, more...)
		}
		nodes[id] = list // also without a node
	}
	known, err := loadRegistry(c.Registry)
	if err != nil {
		return err
	}
	return serveUntilStopped(ctx, con, serviceOptions{
		chainSettings: chainSettings{Role: role{Serve: true}, Registry: known, Depth: c.FinalityDepth, Store: c.storeFlags, NodeTimeout: c.NodeTimeout, NodeMemory: c.budget()},
		Listen:        c.Listen, Metrics: c.Metrics, Operator: c.operatorFlags, Control: c.Control, Nodes: nodes, LameDuck: c.LameDuck,
		Origins: c.Origin, BaseURL: c.BaseURL, HeadMaxAge: c.HeadMaxAge, TraceEndpoint: c.TraceEndpoint, Callers: c.callerFlags, RPC: c.rpcFlags, OIDC: c.oidcFlags, Receipts: c.receiptFlags, Prover: c.proverFlags, Webhooks: webhookFlags{egressFlags: c.egressFlags},
	})
}

func (c *apiCommand) check() error {
	if err := c.storeFlags.check(); err != nil {
		return err
	}
	if err := c.nodeFlags.check(); err != nil {
		return err
	}
	if c.Store == "" {
		return &usageError{"an API process shares its index with an indexer: give --store postgres://... ('serve' does both on a directory)"}
	}
	if c.FinalityDepth < 1 {
		return &usageError{"--finality-depth must be at least 1"}
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
	if err := checkHeadMaxAge(c.HeadMaxAge); err != nil {
		return err
	}
	if err := c.callerFlags.check(); err != nil {
		return err
	}
	if err := c.rpcFlags.check(); err != nil {
		return err
	}
	if err := c.proverFlags.check(); err != nil {
		return err
	}
	if _, err := c.policy(); err != nil {
		return err
	}
	if _, err := c.provider(c.BaseURL); err != nil {
		return err
	}
	return checkPublic(c.Origin, c.BaseURL, c.TraceEndpoint)
}
