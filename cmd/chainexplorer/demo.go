package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/index"
	"chainexplorer/internal/node"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/signin"
	"chainexplorer/internal/simnode"
)

// demoAuditRate lets visitors see the auditor move: it goes over the history in
// minutes, for a hundredth of a core.
const demoAuditRate = 1

type demoCommand struct {
	Listen   string        `default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Where to serve the API and the pages; 127.0.0.1:8080 unless set."`
	Blocks   int           `default:"400" help:"Blocks of history. All are verified, at about a hundred a second."`
	Seed     uint64        `default:"1" help:"The same seed gives the same history."`
	Interval time.Duration `default:"3s" help:"Time between new blocks."`
	ForkRate float64       `default:"0.03" help:"Chance of a fork with every new block."`
}

// Help is shown by demo --help.
func (demoCommand) Help() string {
	return "Everything runs in this process on a simulated chain, in a temporary directory that is removed at the end: " +
		"a node, the indexer, the API and the pages. Nothing else has to be installed or running."
}

// Run starts a node of its own and serves it.
func (c *demoCommand) Run(ctx context.Context, con *console) error {
	if c.Blocks < 1 || c.Interval <= 0 || c.ForkRate < 0 || c.ForkRate > 1 {
		return &usageError{"--blocks must be at least 1, --interval positive, --fork-rate between 0 and 1"}
	}
	say := func(format string, args ...any) { fmt.Fprintf(con.out, format+"\n", args...) } //nolint:errcheck // stdout
	say("Making a simulated chain of %d blocks ...", c.Blocks)
	chain := simnode.New(simnode.Config{
		Seed: c.Seed, Blocks: c.Blocks, RealHashes: true, ForkRate: c.ForkRate, BlockTime: c.Interval, L1Lag: min(600, c.Blocks/3+1), PoolUses: 1,
		StartTime: time.Now().Add(-time.Duration(c.Blocks) * c.Interval).Truncate(time.Second),
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	nodeServer := &http.Server{Handler: simnode.NewNode(chain, simnode.NodeConfig{}), ReadHeaderTimeout: 5 * time.Second}
	go nodeServer.Serve(l)   //nolint:errcheck // ends with the demo
	defer nodeServer.Close() //nolint:errcheck // as above

	dir, err := os.MkdirTemp("", "chainexplorer-demo-")
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a left-over in the temporary directory
	address := l.Addr().String()
	known, err := registry.Builtin().With(index.ChainName(chain.Network().ChainID), chain.Network().Registry())
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	s, err := openService(ctx, serviceOptions{
		chainSettings: chainSettings{Role: role{Serve: true, Index: true, Jobs: true}, Registry: known, Data: dir, Verify: index.VerifyAll, AuditRate: demoAuditRate},
		Listen:        c.Listen,
		RPC:           defaultRPC(),
		Nodes:         map[string][]node.Endpoint{"": {{URL: "http://" + address, WebSocketURL: "ws://" + address + "/ws"}}},
	}, con.quiet())
	if err != nil {
		return err
	}
	defer s.Close()
	space, key, err := s.demoKey(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	if err := waitForBlock(ctx, con, s.chains[0].indexer, uint64(c.Blocks-1), ended); err != nil {
		return err
	}
	// The link is made now, so that it does not get old while the history is indexed.
	link, err := s.people.NewLink(ctx, "demo", space)
	if err != nil {
		return err
	}
	base := "http://" + s.listener.Addr().String()
	say("%s", greeting(base, s.chains[0].id, key, signin.LinkURL(base, link.Token), c.Interval))
	go chain.Run(ctx, c.Interval, c.ForkRate) //nolint:errcheck // ends with ctx
	return <-ended
}

// demoKey makes a workspace and a key for the life of the demo: of the plan that
// may search events over any range, so that this can be tried as well.
func (s *service) demoKey(ctx context.Context) (workspaceID, key string, err error) {
	w, err := s.accounts.CreateWorkspace(ctx, "demo", account.Wallet)
	if err != nil {
		return "", "", err
	}
	k, err := s.accounts.CreateKey(ctx, account.NewKey{WorkspaceID: w.ID, Label: "demo", Environment: account.Test, Scopes: account.DefaultScopes | account.Partner | account.Trace})
	return w.ID, k.Plaintext, err
}

// waitForBlock waits until the history is indexed. A terminal shows it by itself.
func waitForBlock(ctx context.Context, con *console, x *index.Indexer, number uint64, ended <-chan error) error {
	t := time.NewTicker(100 * time.Millisecond)
	defer t.Stop()
	shown := time.Now()
	for {
		p := x.Progress()
		done := p.Blocks > 0 && p.Head >= number
		if con.terminal == nil && (done || time.Since(shown) > 2*time.Second) {
			shown = time.Now()
			fmt.Fprintf(con.out, "Indexing: %s\n", p) //nolint:errcheck // only for show
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

func greeting(base, chain, key, link string, interval time.Duration) string {
	return fmt.Sprintf(`
Ready. A new block arrives every %s; now and then there is a fork.

  Pages          %[2]s/
  API reference  %[2]s/docs/api
  API key        %[4]s
  JSON-RPC       %[2]s/rpc/v0_10/%[3]s/%[4]s
  Sign in        %[5]s
                 (once, within ten minutes)

Try:

  curl -H 'X-Service-Api-Key: %[4]s' %[2]s/v1/%[3]s/status
  curl -H 'X-Service-Api-Key: %[4]s' '%[2]s/v1/%[3]s/block/latest?tx_limit=3'
  curl -H 'X-Service-Api-Key: %[4]s' '%[2]s/v1/%[3]s/txs?limit=2'
  curl -H 'X-Service-Api-Key: %[4]s' %[2]s/v1/%[3]s/rpc -d '{"jsonrpc":"2.0","id":1,"method":"starknet_blockNumber"}'

Stop with Ctrl-C.`, interval, base, chain, key, link)
}
