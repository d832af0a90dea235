package main

import (
	"context"
	"fmt"
	"math"
	"os"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/recheck"
	"chainexplorer/internal/node"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

type verifyCommand struct {
	Data  string `placeholder:"DIR" help:"Directory of the index, whose indexer must be stopped. Use this or --store with --chain."`
	Chain string `placeholder:"CHAIN" help:"With --store: which chain's index to verify, such as SN_MAIN."`
	storeFlags
	Node []string `sep:"none" placeholder:"URL" help:"JSON-RPC address of a node, for blocks whose hash covers more than the index keeps; repeat for several."`
	From uint64   `placeholder:"BLOCK" help:"First block."`
	To   *uint64  `placeholder:"BLOCK" help:"Last block; the newest unless set."`
	JSON bool     `name:"json" help:"Print JSON, in the end."`
}

// maxRuns bounds the list of runs in JSON.
const maxRuns = 1000

// verifyView is what --json prints.
type verifyView struct {
	Blocks     uint64    `json:"blocks"`
	Verified   uint64    `json:"verified"`
	Unverified uint64    `json:"unverified"`
	NotChecked uint64    `json:"notChecked"`
	Mismatches uint64    `json:"mismatches"`
	Recorded   uint64    `json:"recorded"`
	Held       bool      `json:"held"` // another process had the index: nothing was recorded
	Runs       []runView `json:"runs"`
	Truncated  bool      `json:"runsTruncated"`
}

type runView struct {
	First  uint64 `json:"first"`
	Last   uint64 `json:"last"`
	Result string `json:"result"`
}

// Run recomputes blocks and fails when one contradicts its hash.
func (c *verifyCommand) Run(ctx context.Context, con *console) error {
	if c.To != nil && *c.To < c.From {
		return &usageError{"--to must not be below --from"}
	}
	engine, err := c.open(ctx, con)
	if err != nil {
		return err
	}
	defer engine.Close() //nolint:errcheck // every commit is durable when it returns
	view := verifyView{Runs: []runView{}}
	o := recheck.Options{Store: engine, From: c.From, To: math.MaxUint64, Owner: owner(), Report: func(r recheck.Run) {
		switch {
		case !c.JSON:
			fmt.Fprintf(con.out, "%-24s %s\n", fmt.Sprintf("blocks %d to %d", r.First, r.Last), runResult(&r)) //nolint:errcheck // stdout
		case len(view.Runs) < maxRuns:
			view.Runs = append(view.Runs, runView{r.First, r.Last, runResult(&r)})
		default:
			view.Truncated = true
		}
	}}
	if c.To != nil {
		o.To = *c.To
	}
	if len(c.Node) > 0 {
		pool, err := c.openNodes(ctx, con, engine)
		if err != nil {
			return err
		}
		defer pool.Close()
		o.Node = &index.Nodes{Pool: pool}
	}
	out, err := recheck.Range(ctx, o)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if c.JSON {
		view.Blocks, view.Verified, view.Unverified, view.NotChecked = out.Blocks, out.Verified, out.Unverified, out.NotChecked
		view.Mismatches, view.Recorded, view.Held = out.Mismatches, out.Recorded, out.Held
		if err := printJSON(con.out, view); err != nil {
			return err
		}
	} else {
		printOutcome(con, &out)
	}
	if out.Mismatches > 0 {
		return fmt.Errorf("%d blocks of the index contradict their hashes: index again into an empty place, or restore a backup", out.Mismatches)
	}
	return nil
}

func printOutcome(con *console, out *recheck.Outcome) {
	say := func(format string, args ...any) { fmt.Fprintf(con.out, format+"\n", args...) } //nolint:errcheck // stdout
	say("%d blocks: %d verified, %d unverified, %d need a node, %d false; %d newly recorded as verified",
		out.Blocks, out.Verified, out.Unverified, out.NotChecked, out.Mismatches, out.Recorded)
	if out.Held {
		say("nothing was recorded while another process had the index")
	}
}

// open opens the index for reading and for recording what is found.
func (c *verifyCommand) open(ctx context.Context, con *console) (store.Engine, error) {
	if (c.Data == "") == (c.Store == "") || (c.Store == "") != (c.Chain == "") {
		return nil, &usageError{"which index? Give --data DIR, or --store postgres://... with --chain"}
	}
	if c.Store != "" {
		return c.openPostgres(ctx, c.Chain, access{Existing: true}, con.log, nil)
	}
	if _, err := os.Stat(c.Data); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := checkDataDir(c.Data); err != nil {
		return nil, err
	}
	return openPebble(ctx, pebble.Options{Dir: c.Data, Logger: con.log})
}

// openNodes connects to the nodes and sees that they serve the chain of the index.
func (c *verifyCommand) openNodes(ctx context.Context, con *console, engine store.Engine) (*node.Pool, error) {
	endpoints, err := parseNodes("--node", c.Node)
	if err != nil {
		return nil, err
	}
	var state chain.State
	err = engine.View(ctx, func(r store.Reader) (err error) {
		state, err = chain.Read(ctx, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	pool, err := node.Open(ctx, node.Config{Nodes: endpoints, Logger: con.log})
	if err != nil {
		return nil, err
	}
	id, err := (&index.Nodes{Pool: pool}).ChainID(ctx)
	if err == nil && state.Present && id != state.Format.ChainID {
		err = fmt.Errorf("the index holds chain %s and the node serves chain %s", index.ChainName(state.Format.ChainID), index.ChainName(id))
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

// runResult says in words what was found of a run of blocks.
func runResult(r *recheck.Run) string {
	switch {
	case r.Mismatch != "":
		return "FALSE: " + r.Mismatch
	case r.Finding.Outcome == chain.Unverified:
		return "unverified: " + r.Finding.Reason
	case r.Method == recheck.NotAtAll:
		return "not checked: their hashes cover storage, which the index does not keep; give --node"
	case r.Method == recheck.WithNode:
		return "verified with a node"
	}
	return "verified from the index alone"
}
