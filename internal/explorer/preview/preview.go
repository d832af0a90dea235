// Package preview says in short what transactions do: the calls that were signed, the
// tokens that moved, and the bridges that were used. It has no rows of its own.
//
// Costs: a fixed number of GetMany for a whole list of transactions.
package preview

import (
	"context"
	"slices"

	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/explorer/message"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
)

// What a preview has at most.
const (
	MaxCalls         = 8
	MaxTargets       = 64
	MaxExchangeCalls = 16
	MaxTransfers     = 25
)

// Options say what is asked for.
type Options struct {
	Known     *registry.Chain
	Schemas   *decoded.Cache
	Verified  decoded.Verified
	Exchanges bool // the calls of known exchanges
}

// Preview is a transaction in short.
type Preview struct {
	*transaction.Record
	// ByAccount says that the calls are those that an account signed.
	ByAccount bool
	CallCount int
	Calls     []Call      // the first
	Targets   []felt.Felt // contracts that the account signed calls of, each once
	// Exchanges are signed calls of known exchanges; ExchangesCut says that there are more.
	Exchanges    []Call
	ExchangesCut bool

	Transfers     []transfer.Numbered // the first, with the standards of their tokens
	TransferCount int
	Minted, Burnt bool
	all           []transfer.Numbered

	Messages []message.Message
}

// Call is a call with its name.
type Call struct {
	Index int // among the transaction's calls
	decoded.Call
	*decoded.CallResult
}

// Of previews transactions by hash, in order: nil for one that is not indexed.
func Of(ctx context.Context, r store.Reader, hashes []felt.Felt, o Options) ([]*Preview, error) {
	records, err := transaction.ByHash(ctx, r, hashes)
	if err != nil {
		return nil, err
	}
	return OfRecords(ctx, r, records, o)
}

// OfRecords previews transactions that were read already, in order: nil for nil.
func OfRecords(ctx context.Context, r store.Reader, records []*transaction.Record, o Options) ([]*Preview, error) {
	all := make(map[*transaction.Record]*Preview, len(records)) // one, for a hash that is named twice
	out := make([]*Preview, len(records))
	each := make([]*Preview, 0, len(records))
	for i, t := range records {
		if t == nil {
			continue
		}
		p, twice := all[t]
		if !twice {
			p = &Preview{Record: t, Transfers: transfer.Of(t.Receipt.Events)}
			p.calls(&o)
			p.messages()
			all[t], each = p, append(each, p)
		}
		out[i] = p
	}
	if err := settleTransfers(ctx, r, each, o.Known); err != nil {
		return nil, err
	}
	return out, nameCalls(ctx, r, each, &o)
}

// calls lists what the sender signed.
func (p *Preview) calls(o *Options) {
	calls, byAccount := decoded.CallsOf(p.Record)
	p.ByAccount, p.CallCount = byAccount, len(calls)
	for i := range calls {
		if i < MaxCalls {
			p.Calls = append(p.Calls, Call{Index: i, Call: calls[i]})
		}
		if !byAccount {
			continue
		}
		if to := calls[i].To; len(p.Targets) < MaxTargets && !slices.Contains(p.Targets, to) {
			p.Targets = append(p.Targets, to)
		}
		if l, listed := o.Known.Label(calls[i].To); !o.Exchanges || !listed || l.Kind != "dex" {
			continue
		}
		if p.ExchangesCut = len(p.Exchanges) == MaxExchangeCalls; p.ExchangesCut {
			continue
		}
		p.Exchanges = append(p.Exchanges, Call{Index: i, Call: calls[i]})
	}
}

func (p *Preview) messages() {
	for i := range message.Count(&p.Transaction, &p.Receipt) {
		p.Messages = append(p.Messages, message.Of(&p.Transaction, &p.Receipt, i))
	}
}

// settleTransfers asks for the standards of all tokens at once that their events leave
// open, at their blocks, those of known tokens aside, and keeps the first transfers of each transaction.
func settleTransfers(ctx context.Context, r store.Reader, list []*Preview, known *registry.Chain) error {
	var ask []contract.At
	for _, p := range list {
		for i := range p.Transfers {
			if x := &p.Transfers[i]; leftOpen(x, known) {
				ask = append(ask, contract.At{Address: x.Token, Block: p.Block})
			}
		}
	}
	told, err := token.FewHistories(r).At(ctx, ask)
	if err != nil {
		return err
	}
	for _, p := range list {
		for i := range p.Transfers {
			x := &p.Transfers[i]
			p.Minted, p.Burnt = p.Minted || x.From.IsZero(), p.Burnt || x.To.IsZero()
			kind := transfer.ERC20
			if leftOpen(x, known) {
				kind, told = told[0], told[1:]
			}
			x.Transfer = x.As(kind)
		}
		p.TransferCount, p.all = len(p.Transfers), p.Transfers
		p.Transfers = p.Transfers[:min(p.TransferCount, MaxTransfers)]
	}
	return nil
}

// leftOpen says that neither its event nor the registry tells the standard of a transfer.
func leftOpen(x *transfer.Numbered, known *registry.Chain) bool {
	_, listed := known.Token(x.Token)
	return !listed && x.Standard != transfer.ERC1155
}

// nameCalls names the calls that are shown, all at once and each once.
func nameCalls(ctx context.Context, r store.Reader, list []*Preview, o *Options) error {
	var wanted []decoded.Call
	var named [][]*Call // that a result is for
	for _, p := range list {
		for i := range p.Calls {
			wanted, named = append(wanted, p.Calls[i].Call), append(named, []*Call{&p.Calls[i]})
		}
		first := len(named) - len(p.Calls)
		for i := range p.Exchanges {
			c := &p.Exchanges[i]
			if c.Index < len(p.Calls) {
				named[first+c.Index] = append(named[first+c.Index], c)
				continue
			}
			wanted, named = append(wanted, c.Call), append(named, []*Call{c})
		}
	}
	results, _, err := decoded.Calls(ctx, r, o.Schemas, wanted, decoded.Options{NoHistory: true, Verified: o.Verified})
	if err != nil {
		return err
	}
	for i := range results {
		for _, c := range named[i] {
			c.CallResult = &results[i]
		}
	}
	return nil
}

// Bridges are the known bridges that the transaction's messages are of, each once, by
// their contracts on this layer.
func (p *Preview) Bridges(known *registry.Chain) (out []felt.Felt) {
	for i := range p.Messages {
		if b, ok := message.BridgeOf(known, &p.Messages[i]); ok && !slices.Contains(out, b.L2) {
			out = append(out, b.L2)
		}
	}
	return out
}
