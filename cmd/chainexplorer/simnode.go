package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
	sandboxed "chainexplorer/internal/verification/build"
	shipped "chainexplorer/internal/verification/sample"
)

type simnodeCommand struct {
	Listen string `default:"127.0.0.1:9545" placeholder:"ADDRESS" help:"Where to serve JSON-RPC, over HTTP and WebSocket; 127.0.0.1:9545 unless set."`
	Spec   string `default:"0.10" enum:"0.8,0.9,0.10" help:"Version of the node's interface: 0.8, 0.9 or 0.10."`
	Chain  string `default:"SN_SEPOLIA" help:"Chain id to serve, as a short text."`

	Seed   uint64  `default:"1" help:"The same seed gives the same chain."`
	Blocks int     `default:"1000" help:"Blocks of history."`
	Tx     int     `default:"5" help:"Transactions a block, on average."`
	Events float64 `default:"4" help:"Events a transaction, on average."`
	L1Lag  int     `name:"l1-lag" default:"20" help:"Blocks by which acceptance on L1 is behind; negative for never."`

	RealHashes bool   `help:"Compute real transaction, commitment and block hashes, so that blocks can be verified; slower to start. Without it, index with --verify off."`
	Version    string `placeholder:"VERSION" help:"starknet_version of the blocks; with --real-hashes one whose rules are known, such as 0.14.0."`

	Interval time.Duration `default:"3s" help:"Time between new blocks; 0 for a chain that stands still."`
	ForkRate float64       `default:"0.02" help:"Chance of a fork with every new block."`
}

func (c *simnodeCommand) Run(ctx context.Context, con *console) error {
	id, err := felt.FromShortString(c.Chain)
	if err != nil || c.Chain == "" {
		return &usageError{"--chain must be a text of 1 to 31 characters, such as SN_SEPOLIA"}
	}
	if c.Blocks < 1 || c.Tx < 0 || c.Events < 0 || c.ForkRate < 0 || c.ForkRate > 1 || c.Interval < 0 {
		return &usageError{"--blocks must be at least 1, --tx, --events and --interval not negative, --fork-rate between 0 and 1"}
	}
	version := map[string]starknet.SpecVersion{"0.8": starknet.V08, "0.9": starknet.V09, "0.10": starknet.V010}[c.Spec]
	cfg := simnode.Config{
		Seed: c.Seed, ChainID: id, Blocks: c.Blocks, TxPerBlock: c.Tx, EventsPerTx: c.Events, L1Lag: c.L1Lag,
		RealHashes: c.RealHashes, StarknetVersion: c.Version, ForkRate: c.ForkRate,
	}
	if cfg.Declare, err = sampleClass(); err != nil {
		return fmt.Errorf("simnode: %w", err)
	}
	if c.Tx == 0 {
		cfg.TxPerBlock = -1 // empty blocks: zero would be the default
	}
	if err := cfg.Check(); err != nil {
		return &usageError{err.Error()}
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("simnode: %w", err)
	}
	con.log.Info("making the chain", "blocks", c.Blocks)
	start := time.Now()
	chain := simnode.New(cfg)
	con.log.Info("serving a simulated chain", "address", "http://"+l.Addr().String(), "chain", c.Chain, "spec", c.Spec,
		"blocks", c.Blocks, "seconds", time.Since(start).Seconds())

	srv := &http.Server{Handler: simnode.NewNode(chain, simnode.NodeConfig{Version: version}), ReadHeaderTimeout: 5 * time.Second}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			cancel(err)
		}
	}()
	if c.Interval > 0 {
		if err := chain.Run(ctx, c.Interval, c.ForkRate); err != nil && ctx.Err() == nil {
			return fmt.Errorf("simnode: %w", err)
		}
	}
	<-ctx.Done()
	stop, done := context.WithTimeout(context.Background(), time.Second)
	defer done()
	srv.Shutdown(stop) //nolint:errcheck // open WebSockets end with the process
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("simnode: %w", err)
	}
	return nil
}

// sampleClass is the class of the source that comes with the program, for simulated chains
// to declare: so there is something to verify.
func sampleClass() ([]*contracts.Class, error) {
	made, err := sandboxed.ReadArtifact(shipped.Artifact)
	if err != nil {
		return nil, err
	}
	class, err := contracts.Foreign(made.Class, felt.Selector("compiled/"+made.ClassHash.String()))
	return []*contracts.Class{class}, err
}
