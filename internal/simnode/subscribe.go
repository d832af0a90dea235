package simnode

import (
	"context"
	"encoding/json"
	"slices"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// maxBlocksBack is how far back a subscription may start.
const maxBlocksBack = 1024

// follower walks the canonical branch for one subscription: every block once,
// in order, and every reorg that took back a block it had given.
type follower struct {
	s      *session
	id     string
	next   uint64
	reorgs int
	block  func(v *view, rec *record) bool
}

// follow runs until the subscription ends.
func (f *follower) follow(ctx context.Context) {
	chain := f.s.node.chain
	for {
		changed := chain.Changed()
		v := chain.view.Load()
		if !f.takeBack(chain.reorgsBetween(f.reorgs, v.reorgs)) {
			return
		}
		f.reorgs = v.reorgs
		for f.next < uint64(len(v.blocks)) {
			if ctx.Err() != nil || !f.block(v, v.blocks[f.next]) {
				return
			}
			f.next++
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (c *Chain) reorgsBetween(from, to int) []Reorg {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Clone(c.reorgs[from:to])
}

func (f *follower) takeBack(reorgs []Reorg) bool {
	for _, r := range reorgs {
		if r.StartNumber >= f.next {
			continue
		}
		f.next = r.StartNumber
		if !f.s.notify("starknet_subscriptionReorg", f.id, map[string]any{
			"starting_block_hash": r.StartHash, "starting_block_number": r.StartNumber,
			"ending_block_hash": r.EndHash, "ending_block_number": r.EndNumber}) {
			return false
		}
	}
	return true
}

// from is where a subscription starts: at the given block, or at the head.
func (c *rpcCall) from() (uint64, error) {
	p, err := c.block("block_id")
	if err != nil {
		return 0, err
	}
	if p.pending {
		return 0, failure(codeInvalidParams)
	}
	if head := c.v.head().header.Number; head-p.number() > maxBlocksBack {
		return 0, failure(codeTooManyBlocksBack)
	}
	return p.number(), nil
}

// watch starts a subscription that looks at blocks from a number on.
func (c *rpcCall) watch(next uint64, block func(v *view, rec *record, id string) bool) (any, error) {
	s, reorgs := c.session, c.v.reorgs
	return c.start(func(ctx context.Context, id string) {
		f := &follower{s: s, id: id, next: next, reorgs: reorgs}
		f.block = func(v *view, rec *record) bool { return block(v, rec, id) }
		f.follow(ctx)
	})
}

func subscribeNewHeads(c *rpcCall) (any, error) {
	next, err := c.from()
	if err != nil {
		return nil, err
	}
	s, version := c.session, c.node.cfg.Version
	return c.watch(next, func(_ *view, rec *record, id string) bool {
		h := rec.header
		h.Status = 0 // heads have none
		return s.notify("starknet_subscriptionNewHeads", id, json.RawMessage(starknet.AppendHeader(nil, &h, version)))
	})
}

func subscribeEvents(c *rpcCall) (any, error) {
	next, err := c.from()
	if err != nil {
		return nil, err
	}
	var filter EventFilter
	if filter.Addresses, err = c.node.addresses(c.args["from_address"]); err != nil {
		return nil, err
	}
	if filter.Keys, err = arg[[][]felt.Felt](c, "keys"); err != nil {
		return nil, err
	}
	if len(filter.Keys) > maxKeyPositions {
		return nil, failure(codeTooManyKeys)
	}
	s, node := c.session, c.node
	if _, given := c.args["finality_status"]; given && node.cfg.Version < starknet.V09 {
		return nil, failure(codeInvalidParams)
	}
	return c.watch(next, func(v *view, rec *record, id string) bool {
		b := node.chain.finalized(v, rec)
		for i := range b.Receipts {
			for j := range b.Receipts[i].Events {
				if !filter.matches(&b.Receipts[i].Events[j]) {
					continue
				}
				e := node.emitted(b, i, j)
				if node.cfg.Version >= starknet.V09 {
					e.Finality = b.Status.String()
				}
				if !s.notify("starknet_subscriptionEvents", id, e) {
					return false
				}
			}
		}
		return true
	})
}

// senders reads the filter by sender and the wanted finalities.
func (c *rpcCall) senders() (func(*starknet.Transaction) bool, error) {
	list, err := arg[[]felt.Felt](c, "sender_address")
	if err != nil {
		return nil, err
	}
	if len(list) > maxAddresses {
		return nil, failure(codeTooManyAddresses)
	}
	finality, err := arg[[]string](c, "finality_status")
	if err != nil {
		return nil, err
	}
	// Only accepted transactions ever come; who wants none of them gets none.
	accepted := len(finality) == 0 || slices.Contains(finality, "ACCEPTED_ON_L2")
	return func(tx *starknet.Transaction) bool {
		return accepted && (len(list) == 0 || slices.Contains(list, tx.Sender))
	}, nil
}

// afterHead is where subscriptions to what is new start.
func (c *rpcCall) afterHead() uint64 { return uint64(len(c.v.blocks)) }

func subscribeTransactions(c *rpcCall) (any, error) {
	wanted, err := c.senders()
	if err != nil {
		return nil, err
	}
	tags, err := arg[[]string](c, "tags")
	if err != nil {
		return nil, err
	}
	s, version := c.session, c.node.cfg.Version
	if len(tags) > 0 && version < starknet.V010 {
		return nil, failure(codeInvalidParams)
	}
	include := slices.Contains(tags, "INCLUDE_PROOF_FACTS")
	return c.watch(c.afterHead(), func(_ *view, rec *record, id string) bool {
		b := rec.block()
		for i := range b.Transactions {
			if !wanted(&b.Transactions[i]) {
				continue
			}
			tx := withProofFacts(b.Transactions[i], include)
			text := starknet.AppendTransaction(nil, &tx, version)
			text = append(text[:len(text)-1], `,"finality_status":"ACCEPTED_ON_L2"}`...)
			if !s.notify("starknet_subscriptionNewTransaction", id, json.RawMessage(text)) {
				return false
			}
		}
		return true
	})
}

func subscribeReceipts(c *rpcCall) (any, error) {
	wanted, err := c.senders()
	if err != nil {
		return nil, err
	}
	s := c.session
	return c.watch(c.afterHead(), func(_ *view, rec *record, id string) bool {
		b := rec.block()
		for i := range b.Transactions {
			if !wanted(&b.Transactions[i]) {
				continue
			}
			text := c.receipt(TxRef{b, i, &b.Transactions[i], &b.Receipts[i]})
			if !s.notify("starknet_subscriptionNewTransactionReceipts", id, json.RawMessage(text)) {
				return false
			}
		}
		return true
	})
}

// subscribePending is the oldest version's way to see transactions early. Here
// they are seen when their block is there.
func subscribePending(c *rpcCall) (any, error) {
	wanted, err := c.senders()
	if err != nil {
		return nil, err
	}
	details, err := arg[bool](c, "transaction_details")
	if err != nil {
		return nil, err
	}
	s := c.session
	return c.watch(c.afterHead(), func(_ *view, rec *record, id string) bool {
		b := rec.block()
		for i := range b.Transactions {
			tx := &b.Transactions[i]
			if !wanted(tx) {
				continue
			}
			var item any = tx.Hash
			if details {
				item = json.RawMessage(starknet.AppendTransaction(nil, tx, starknet.V08))
			}
			if !s.notify("starknet_subscriptionPendingTransactions", id, item) {
				return false
			}
		}
		return true
	})
}

func subscribeStatus(c *rpcCall) (any, error) {
	h, err := arg[felt.Felt](c, "transaction_hash")
	if err != nil {
		return nil, err
	}
	s, chain := c.session, c.node.chain
	return c.start(func(ctx context.Context, id string) {
		var last txStatus
		for {
			changed := chain.Changed()
			if now, ok := chain.txStatus(chain.view.Load(), h); ok && now != last {
				last = now
				if !s.notify("starknet_subscriptionTransactionStatus", id, map[string]any{"transaction_hash": h, "status": now}) {
					return
				}
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	})
}
