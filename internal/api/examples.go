package api

import (
	"context"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/message"
	"chainexplorer/internal/explorer/places"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/store"
)

// examples are things that exist on the default chain, so that the requests in
// the documents can be pasted and answered. While the index has none they are
// shell variables.
type examples struct {
	chain     string
	tx        string
	block     string
	timestamp string
	message   string
}

// unsetExamples name what a reader has to fill in.
func unsetExamples(chain string) examples {
	return examples{chain: chain, tx: "$TX_HASH", block: "$BLOCK_NUMBER", timestamp: "$TIMESTAMP", message: "$MESSAGE_HASH"}
}

const (
	// examplesFor is how long examples are believed to exist: only a fork can end them.
	examplesFor = time.Minute
	// examplesRetry is how soon an index without blocks is looked at again.
	examplesRetry = time.Second
	// documentTime bounds the store's work for a document.
	documentTime = 2 * time.Second
)

// exampleFinder keeps examples from the finalized part of the default chain,
// and the same ones as long as they exist, so that documents do not change
// with every block.
type exampleFinder struct {
	s *Server

	mu       sync.Mutex // guards what follows
	found    examples
	position explorer.Position
	known    bool
	until    time.Time
}

func newExampleFinder(s *Server) *exampleFinder {
	return &exampleFinder{s: s, found: unsetExamples(s.order[0])}
}

func (f *exampleFinder) find(ctx context.Context) examples {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.s.now()
	if now.Before(f.until) {
		return f.found
	}
	// Others wait for this: it ends whether or not the first one stays.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), documentTime)
	defer cancel()
	c := f.s.chains[f.s.order[0]]
	err := c.Store.View(ctx, func(r store.Reader) error { return f.look(ctx, r, c) })
	f.until = now.Add(examplesFor)
	if err != nil || !f.known {
		if err != nil {
			f.s.log.Warn("examples not found", "chain", c.ID, "err", err)
		}
		f.until = now.Add(examplesRetry)
	}
	return f.found
}

// look keeps the examples that are still there, and finds others otherwise.
func (f *exampleFinder) look(ctx context.Context, r store.Reader, c *Chain) error {
	if f.known {
		if t, err := transaction.Get(ctx, r, f.position); err == nil && t.Hash.String() == f.found.tx {
			return nil
		}
	}
	f.found, f.known = unsetExamples(c.ID), false
	state, err := chain.Read(ctx, r)
	if err != nil || !state.HasHead {
		return err
	}
	settled := state.Head.Number
	if settled >= c.Depth {
		settled -= c.Depth
	}
	list, _, _, err := transaction.PreviewsBefore(ctx, r, explorer.Position{Block: settled + 1}, 1, feedSpans)
	if err != nil || len(list) == 0 {
		return err
	}
	b, err := block.Get(ctx, r, list[0].Block)
	if err != nil {
		return err
	}
	f.position, f.known = list[0].Position, true
	f.found.tx, f.found.block, f.found.timestamp = list[0].Hash.String(), strconv.FormatUint(b.Number, 10), timestampISO(b.Timestamp)
	found, _, err := message.List(ctx, r, message.Filter{}, places.End(state.Head.Number), 1, feedSpans)
	if err != nil || len(found) == 0 {
		return err
	}
	messages, err := message.Load(ctx, r, found)
	if err == nil {
		f.found.message = "0x" + hex.EncodeToString(messages[0].Hash[:])
	}
	return err
}

// feeToken is a contract that every chain of the network has.
const feeToken = "0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d"

// decimalsSelector is that of a function which every token has.
const decimalsSelector = "0x4c4fb1ab068f6039d5780c68dd0fa2f8742cceb3426d19667778ca7f3518a9"

// forParameter is a value for a parameter of the contract.
func (e examples) forParameter(name string) (string, bool) {
	values := map[string]string{
		"chain": e.chain, "number_or_hash": e.block, "tx_hash": e.tx, "q": e.block, "timestamp": e.timestamp,
		"message_hash": e.message, "address": feeToken, "token": feeToken, "selector": decimalsSelector,
	}
	v, ok := values[name]
	return v, ok
}

// escape makes a value fit for a path or query inside a shell's double quotes;
// a shell variable stays one.
func escape(v string) string {
	if strings.HasPrefix(v, "$") {
		return v
	}
	return strings.NewReplacer("$", "%24", "&", "%26", "+", "%2B", "=", "%3D").Replace(url.PathEscape(v))
}

// curl is a request with a key that works as pasted.
func curl(origin, target string) string {
	address := origin + target
	if strings.ContainsAny(address, "?&$()*';!~") {
		address = `"` + address + `"`
	}
	return `curl -H "` + headerKey + `: $SERVICE_API_KEY" ` + address
}
