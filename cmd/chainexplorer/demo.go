package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/durable"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/index"
	"chainexplorer/internal/node"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/signin"
)

// demoAuditRate lets visitors see the auditor move: it goes over the history in
// minutes, for a hundredth of a core.
const demoAuditRate = 1

// demoCacheMiB is enough for two chains of a few hundred blocks.
const demoCacheMiB = 32

type demoCommand struct {
	Listen   string        `default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Where to serve the API and the pages; 127.0.0.1:8080 unless set."`
	Blocks   int           `default:"400" help:"Blocks of history on SN_SEPOLIA; SN_MAIN has a few dozen. All are verified, at about a hundred a second."`
	Seed     uint64        `default:"1" help:"The same seed gives the same history, up to now: times and hashes are others at each start."`
	Interval time.Duration `default:"3s" help:"Time between new blocks."`
	ForkRate float64       `default:"0.03" help:"Chance of a fork with every new block."`

	VerificationToolchains string `placeholder:"DIR" help:"Policy directory of compilers, to verify a source with. Default: service-exact-v25 in the working directory, in chainexplorer of the user's data directory or in /usr/local/share/chainexplorer, the first that is there."`
}

// Help is shown by demo --help.
func (demoCommand) Help() string {
	return "Everything runs in this process on two simulated chains, in a temporary directory that is removed at the end: " +
		"nodes, the indexers, the API and the pages, a prover, and a signer of verification receipts. Nothing else has to be installed or running; " +
		"to verify a source to a receipt, a compiler and bubblewrap have to be there."
}

// Run starts nodes of its own and serves them.
func (c *demoCommand) Run(ctx context.Context, con *console) error {
	if c.Blocks < 1 || c.Interval <= 0 || c.ForkRate < 0 || c.ForkRate > 1 {
		return &usageError{"--blocks must be at least 1, --interval positive, --fork-rate between 0 and 1"}
	}
	say := func(format string, args ...any) { fmt.Fprintf(con.out, format+"\n", args...) } //nolint:errcheck // stdout
	verifier, err := findVerifier(c.VerificationToolchains)
	if err != nil {
		return err
	}
	say("Making simulated chains: %d blocks of SN_SEPOLIA and %d of SN_MAIN ...", c.Blocks, c.mainBlocks())
	played, err := c.play()
	if err != nil {
		return err
	}
	dir, remove, err := durable.Scratch("", "chainexplorer-demo-")
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer remove()
	o := serviceOptions{
		chainSettings: chainSettings{Role: role{Serve: true, Index: true, Jobs: true}, Registry: registry.Builtin(), Depth: chain.DefaultDepth, Data: dir,
			CacheMiB: demoCacheMiB, Verify: index.VerifyAll, AuditRate: demoAuditRate},
		Listen: c.Listen, RPC: defaultRPC(), Nodes: map[string][]node.Endpoint{}, Verifier: verifier,
		Webhooks: webhookFlags{egressFlags: egressFlags{WebhookAllow: []string{"127.0.0.0/8", "::1/128"}}},
	}
	for _, p := range played {
		defer p.Close() //nolint:errcheck // ends with the demo
		o.Nodes[p.id] = []node.Endpoint{p.node}
		if o.Registry, err = o.Registry.With(p.id, p.Network().Registry()); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
	}
	stopSigner, err := o.signHere(ctx, filepath.Join(dir, "signing"))
	if err != nil {
		return err
	}
	defer stopSigner()
	stopProver, err := o.proveHere()
	if err != nil {
		return err
	}
	defer stopProver()
	s, err := openService(ctx, o, con.quiet())
	if err != nil {
		return stopped(ctx, err)
	}
	defer s.Close()
	space, key, err := s.demoKey(ctx)
	if err != nil {
		return stopped(ctx, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		defer close(ended)
		ended <- s.Run(ctx)
	}()
	defer func() { // however this ends, nothing is closed while it is in use
		cancel()
		<-ended
	}()
	for _, parts := range s.chains {
		if err := waitForBlock(ctx, con, parts, uint64(played[parts.id].blocks-1), ended); err != nil || ctx.Err() != nil {
			return err
		}
	}
	g := greeting{base: "http://" + s.listener.Addr().String(), dir: dir, key: key, interval: c.Interval}
	if g.verify, err = s.showVerification(ctx, &g); err != nil {
		return stopped(ctx, err)
	}
	if g.prove, err = g.showRelay(); err != nil {
		return err
	}
	// The link is made now, so that it does not get old while the history is indexed.
	link, err := s.people.NewLink(ctx, "demo", space)
	if err != nil {
		return stopped(ctx, err)
	}
	g.link = signin.LinkURL(g.base, link.Token)
	say("%s", g.String())
	for _, p := range played {
		go p.Run(ctx, c.Interval, c.ForkRate) //nolint:errcheck // ends with ctx
	}
	return <-ended
}

// demoKey makes a workspace and a key for the life of the demo: of the plan that
// may search events over any range, so that this can be tried as well.
func (s *service) demoKey(ctx context.Context) (workspaceID, key string, err error) {
	w, err := s.accounts.CreateWorkspace(ctx, "demo", account.Wallet)
	if err != nil {
		return "", "", err
	}
	k, err := s.accounts.CreateKey(ctx, account.NewKey{WorkspaceID: w.ID, Label: "demo", Environment: account.Test, Scopes: account.DefaultScopes | account.Partner | account.Trace | account.Prove})
	return w.ID, k.Plaintext, err
}

// waitForBlock waits until the history of a chain is indexed. A terminal shows it by itself.
func waitForBlock(ctx context.Context, con *console, c *chainParts, number uint64, ended <-chan error) error {
	t := time.NewTicker(100 * time.Millisecond)
	defer t.Stop()
	shown := time.Now()
	for {
		p := c.indexer.Progress()
		done := p.Blocks > 0 && p.Head >= number
		if con.terminal == nil && (done || time.Since(shown) > 2*time.Second) {
			shown = time.Now()
			fmt.Fprintf(con.out, "Indexing %s: %s\n", c.id, p) //nolint:errcheck // only for show
		}
		if done {
			return nil
		}
		select {
		case <-t.C:
		case err := <-ended:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

// greeting is what the demo says when it is ready.
type greeting struct {
	base, dir, key, link string
	interval             time.Duration
	verify               string // how to verify a source, or what is missing
	prove                string // how to have a transaction proven
}

func (g *greeting) String() string {
	const example = "SN_SEPOLIA" // the one with a history
	return strings.Join([]string{
		fmt.Sprintf("\nReady. On both chains, SN_MAIN and SN_SEPOLIA, a new block arrives every %s; now and then there is a fork.\n", g.interval),
		"  Pages          " + g.base + "/",
		"  API reference  " + g.base + "/docs/api",
		"  API key        " + g.key,
		"  JSON-RPC       " + g.base + "/rpc/v0_10/" + example + "/" + g.key,
		"  Sign in        " + g.link,
		"                 (once, within ten minutes)",
		"  Data           " + g.dir + " (removed at the end)",
		"\nTry:\n",
		g.curl("/v1/" + example + "/status"),
		g.curl("/v1/" + example + "/block/latest?tx_limit=3"),
		g.curl("/v1/SN_MAIN/txs?limit=2"),
		g.curl("/v1/"+example+"/rpc") + ` -d '{"jsonrpc":"2.0","id":1,"method":"starknet_blockNumber"}'`,
		"",
		g.verify,
		"",
		g.prove,
		"\nStop with Ctrl-C.",
	}, "\n")
}

// curl is a command that reads a path.
func (g *greeting) curl(path string) string {
	address := g.base + path
	if strings.Contains(path, "?") {
		address = "'" + address + "'"
	}
	return fmt.Sprintf("  curl -H 'X-Service-Api-Key: %s' %s", g.key, address)
}
