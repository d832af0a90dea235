package site

import (
	"context"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/message"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/store"
)

// unsetExamples name what a reader has to fill in.
func unsetExamples(chain string) kernel.Examples {
	return kernel.Examples{Chain: chain, Tx: "$TX_HASH", Block: "$BLOCK_NUMBER", Timestamp: "$TIMESTAMP", Message: "$MESSAGE_HASH", Class: "$CLASS_HASH"}
}

const (
	// examplesFor is how long examples are believed to exist: only a fork can end them.
	examplesFor = time.Minute
	// examplesRetry is how soon an index without blocks is looked at again.
	examplesRetry = time.Second
	// exampleSpans is how far a message is looked for, in spans of blocks.
	exampleSpans = 4
	// documentTime bounds the store's work for a document.
	documentTime = 2 * time.Second
)

// exampleFinder keeps examples from the finalized part of the default chain,
// and the same ones as long as they exist, so that documents do not change
// with every block.
type exampleFinder struct {
	s *Site

	mu       sync.Mutex // guards what follows
	found    kernel.Examples
	position explorer.Position
	known    bool
	until    time.Time
}

func newExampleFinder(s *Site) *exampleFinder {
	return &exampleFinder{s: s, found: unsetExamples(s.routes.Order[0])}
}

func (f *exampleFinder) find(ctx context.Context) kernel.Examples {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.s.Now()
	if now.Before(f.until) {
		return f.found
	}
	// Others wait for this: it ends whether or not the first one stays.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), documentTime)
	defer cancel()
	c := f.s.routes.Chains[f.s.routes.Order[0]]
	err := c.Store.View(ctx, func(r store.Reader) error { return f.look(ctx, r, c) })
	f.until = now.Add(examplesFor)
	if err != nil || !f.known {
		if err != nil {
			f.s.Log.Warn("examples not found", "chain", c.ID, "err", err)
		}
		f.until = now.Add(examplesRetry)
	}
	return f.found
}

// look keeps the examples that are still there, and finds others otherwise.
func (f *exampleFinder) look(ctx context.Context, r store.Reader, c *api.Chain) error {
	if f.known {
		if t, err := transaction.Get(ctx, r, f.position); err == nil && t.Hash.String() == f.found.Tx {
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
	list, _, _, err := transaction.PreviewsBefore(ctx, r, explorer.Position{Block: settled + 1}, 1)
	if err != nil || len(list) == 0 {
		return err
	}
	b, err := block.Get(ctx, r, list[0].Block)
	if err != nil {
		return err
	}
	classes, _, err := class.List(ctx, r, class.ByInstances, nil, 1)
	if err != nil {
		return err
	}
	f.position, f.known = list[0].Position, true
	if len(classes) > 0 {
		f.found.Class = classes[0].Hash.String()
	}
	f.found.Tx, f.found.Block, f.found.Timestamp = list[0].Hash.String(), strconv.FormatUint(b.Number, 10), kernel.TimestampISO(b.Timestamp)
	found, _, err := message.List(ctx, r, message.Filter{}, explorer.EndOf(state.Head.Number), 1, exampleSpans)
	if err != nil || len(found) == 0 {
		return err
	}
	messages, err := message.Load(ctx, r, found)
	if err == nil {
		f.found.Message = "0x" + hex.EncodeToString(messages[0].Hash[:])
	}
	return err
}

// decimalsSelector is that of a function which every token has.
const decimalsSelector = "0x4c4fb1ab068f6039d5780c68dd0fa2f8742cceb3426d19667778ca7f3518a9"

// forParameter is a value for a parameter of the contract.
func forParameter(e kernel.Examples, name string) (string, bool) {
	values := map[string]string{
		"chain": e.Chain, "number_or_hash": e.Block, "tx_hash": e.Tx, "q": e.Block, "timestamp": e.Timestamp,
		"message_hash": e.Message, "address": api.FeeToken, "token": api.FeeToken, "selector": decimalsSelector, "class_hash": e.Class,
		"from": wholeHour(e.Timestamp), "to": wholeHour(e.Timestamp),
	}
	v, ok := values[name]
	return v, ok
}

// wholeHour is when the hour of a moment began; a shell variable stays one.
func wholeHour(moment string) string {
	at, err := time.Parse(time.RFC3339, moment)
	if err != nil {
		return "$HOUR"
	}
	return at.UTC().Truncate(time.Hour).Format(time.RFC3339)
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
	return `curl -H "` + kernel.HeaderKey + `: $SERVICE_API_KEY" ` + address
}

// Example is a request for a route of a chain, to be pasted into a shell.
func Example(origin, chain, rest string) string { return curl(origin, "/v1/"+escape(chain)+rest) }
