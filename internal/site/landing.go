package site

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/store"
	"chainexplorer/internal/web"
)

const (
	// landingFor is how long the first page shows the same facts: however many
	// look at it, the store is asked once.
	landingFor  = time.Second
	landingRows = 10
)

// landing is the first page. Its facts are read from one view per chain.
type landing struct {
	s   *Site
	lib *library

	mu    sync.Mutex // guards what follows
	page  *document
	until time.Time
}

func (s *Site) newLanding(lib *library) *landing { return &landing{s: s, lib: lib} }

func (l *landing) serve(w http.ResponseWriter, r *http.Request) {
	d, err := l.look(r)
	if err != nil {
		l.s.failDocument(w, r, err)
		return
	}
	d.send(w, r)
}

func firstCalls(at setting) []web.Call {
	call := func(purpose, rest string) web.Call {
		return web.Call{Purpose: purpose, Code: web.Code{Text: curl(at.origin, at.chainPath(rest)), Status: http.StatusOK}}
	}
	return []web.Call{
		call("How far is the index?", "/status"),
		call("The newest block, with its first transactions:", "/block/latest?tx_limit=3"),
		call("The newest transactions:", "/txs?limit=5"),
	}
}

// look returns the page with facts that are at most landingFor old.
func (l *landing) look(r *http.Request) (*document, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.s.Now()
	if now.Before(l.until) {
		return l.page, nil
	}
	// Others wait for this: it ends whether or not the first one stays.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), documentTime)
	defer cancel()
	facts := make([]web.ChainFacts, 0, len(l.s.routes.Order))
	for i, id := range l.s.routes.Order {
		f, err := l.s.chainFacts(ctx, l.s.routes.Chains[id])
		if err != nil {
			l.s.Log.Warn("facts not read", "chain", id, "err", err)
			f = web.ChainFacts{State: "unavailable", Tone: "bad", Note: "The index cannot be read right now."}
			if layout := new(chain.LayoutError); errors.As(err, &layout) {
				f.Note = "The index was written by another version of the service."
			}
		}
		f.ID, f.Anchor = id, fmt.Sprintf("chain-%d", i+1)
		facts = append(facts, f)
	}
	d, err := l.s.page(web.Page{Title: "Starknet, indexed exactly", Description: "Blocks, transactions, events, tokens and addresses of Starknet, indexed exactly and served over a REST API."},
		web.Landing{Chains: facts, Calls: firstCalls(l.lib.at(r))})
	if err != nil {
		return nil, err
	}
	l.s.DocumentWritten()
	d.links = discoveryLinks
	l.page, l.until = d, now.Add(landingFor)
	return d, nil
}

// chainFacts reads what the page shows of a chain.
func (s *Site) chainFacts(ctx context.Context, c *api.Chain) (out web.ChainFacts, err error) {
	err = c.Store.View(ctx, func(r store.Reader) error {
		state, err := chain.Read(ctx, r)
		if err != nil {
			return err
		}
		var status api.Status
		if err := s.routes.FillStatus(ctx, r, c, &state, &status); err != nil {
			return err
		}
		out = headline(&status, state.HasHead)
		if !state.HasHead {
			return nil
		}
		blocks, err := block.List(ctx, r, state.Head.Number, landingRows)
		if err != nil {
			return err
		}
		for _, b := range blocks {
			out.Blocks = append(out.Blocks, web.BlockRow{Number: b.Number, Time: blockTime(b.Timestamp), Transactions: b.Transactions, Events: b.Events,
				Hash: b.Hash.String(), Finality: tierName(state.Finality(b.Number, c.Depth)), Version: b.StarknetVersion})
		}
		out.Cards = s.cards(c, &state, &status)
		out.Transactions, err = newestTransactions(ctx, r, state.Head.Number)
		return err
	})
	return out, err
}

func blockTime(seconds uint64) time.Time { return time.Unix(int64(seconds), 0).UTC() }

func tierName(f chain.Finality) string {
	switch f {
	case chain.AcceptedL1:
		return "accepted on L1"
	case chain.Finalized:
		return "finalized"
	default:
		return "accepted on L2"
	}
}

// headline is the state of the index in a word and a sentence.
func headline(status *api.Status, hasHead bool) web.ChainFacts {
	switch {
	case status.Indexing.Status == "degraded" && *status.Indexing.ReasonCode == api.ReasonAudit:
		return web.ChainFacts{State: "degraded", Tone: "bad", Note: "The auditor found what contradicts the index. The status route tells what."}
	case status.Indexing.Status == "degraded":
		return web.ChainFacts{State: "degraded", Tone: "bad", Note: "Indexing has stopped; what is shown is as of the last good block. The status route tells why."}
	case !hasHead:
		return web.ChainFacts{State: "being built", Tone: "warn", Note: "The index is being built and has no block yet. Reload this page in a moment."}
	case status.Indexing.Status == "stalled":
		return web.ChainFacts{State: "stalled", Tone: "warn", Note: "What is shown may be old. " + *status.Indexing.Reason}
	case status.Indexing.Status == "catching_up":
		return web.ChainFacts{State: "catching up", Tone: "warn", Note: fmt.Sprintf("The index is %s blocks behind the node.", web.Group(*status.LagBlocks))}
	default:
		return web.ChainFacts{State: "current", Tone: "good"}
	}
}

// cards shows numbers that the service stands behind; what it does not know is left out.
func (s *Site) cards(c *api.Chain, state *chain.State, status *api.Status) []web.Card {
	head := web.Card{Label: "Head block", Value: web.Group(state.Head.Number), Time: blockTime(state.Head.Timestamp)}
	cards := []web.Card{head}
	add := func(label string, n *uint64, note string) {
		if n != nil {
			cards = append(cards, web.Card{Label: label, Value: web.Group(*n), Note: note})
		}
	}
	add("Lag", status.LagBlocks, "blocks behind the node")
	add("Transactions", status.TotalTransactions, "since the first block")
	add("Events", status.TotalEvents, "since the first block")
	add("Finalized", status.FinalizedBlockNumber, fmt.Sprintf("%s blocks below the head", web.Group(c.Depth)))
	add("Accepted on L1", status.LatestL1AcceptedBlockNumber, "as the node reports")
	if f := status.LastFork; f != nil {
		cards = append(cards, web.Card{Label: "Last fork", Value: "above " + web.Group(f.AncestorBlock),
			Note: fmt.Sprintf("%s deep; %s in all", plural(f.DepthBlocks, "block"), web.Group(f.Count))})
	}
	return cards
}

func plural(n uint64, word string) string {
	if n != 1 {
		word += "s"
	}
	return web.Group(n) + " " + word
}

func newestTransactions(ctx context.Context, r store.Reader, head uint64) (out []web.TransactionRow, err error) {
	list, _, _, err := transaction.PreviewsBefore(ctx, r, explorer.Position{Block: head + 1}, landingRows, api.FeedSpans)
	if err != nil {
		return nil, err
	}
	for _, t := range list {
		at := time.Unix(int64(t.BlockTime), 0).UTC()
		row := web.TransactionRow{Hash: t.Hash.String(), Type: t.Type.String(), Status: t.Execution.String(), Block: t.Block, Time: at}
		if t.From != nil {
			row.From = t.From.String()
		}
		out = append(out, row)
	}
	return out, nil
}
