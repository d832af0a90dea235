package voyager

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/address"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/starknet"
)

// The bounds of looking for transactions of a type, which no list of the index is about.
const (
	maxTyped      = 20_000 // transactions of a block
	maxTypedOf    = 2_000  // transactions of an address, for one page
	typedAtOnce   = 200
	maxInvocation = 4 // the largest number of a type
)

// txTypes are the types by the numbers that they have in the feed.
var txTypes = [maxInvocation + 1]starknet.TxType{starknet.Deploy, starknet.Invoke, starknet.Declare, starknet.L1Handler, starknet.DeployAccount}

// txItem is a transaction of a list.
type txItem struct {
	BlockNumber        uint64     `json:"blockNumber"`
	Hash               felt.Felt  `json:"hash"`
	Index              uint32     `json:"index"`
	L1VerificationHash *felt.Felt `json:"l1VerificationHash"`
	ClassHash          *padded    `json:"classHash"`
	ContractAddress    *padded    `json:"contractAddress"`
	Timestamp          uint64     `json:"timestamp"`
	ActualFee          *string    `json:"actualFee"`
	ContractAlias      *string    `json:"contractAlias"`
	ClassAlias         *string    `json:"classAlias"`
	Status             string     `json:"status"`
	Type               string     `json:"type"`
}

// padded is a felt with all its 64 digits.
type padded felt.Felt

// MarshalText spells it.
func (p padded) MarshalText() ([]byte, error) { return []byte(felt.Felt(p).Padded()), nil }

func pad(f *felt.Felt) *padded { return (*padded)(f) }

func (v *view) txItem(t *transaction.Record) txItem {
	out := txItem{BlockNumber: t.Block, Hash: t.Hash, Index: t.Index, Timestamp: t.BlockTime, Status: v.status(t.Block), Type: t.Type.String()}
	fee := t.Receipt.ActualFee.Big().String()
	out.ActualFee = &fee
	contract, class := subjectOf(t)
	out.ContractAddress, out.ClassHash = pad(contract), pad(class)
	names := v.chain.AliasesOf(contract, class)
	out.ContractAlias, out.ClassAlias = names.ContractAlias, names.ClassAlias
	return out
}

// subjectOf is the contract that a transaction runs on, which for an account's is the account,
// and the class that it names; nil where it has none.
func subjectOf(t *transaction.Record) (contract, class *felt.Felt) {
	switch t.Type {
	case starknet.Declare:
		return nil, &t.ClassHash
	case starknet.Deploy, starknet.DeployAccount:
		_, to := t.Ends()
		return to, &t.ClassHash
	case starknet.L1Handler:
		return &t.ContractAddress, nil
	}
	from, _ := t.Ends()
	return from, nil
}

func (f *Feed) txns(c *call) (any, error) {
	to, err := c.felt("to")
	if err != nil {
		return nil, err
	}
	kind, err := c.txType()
	if err != nil {
		return nil, err
	}
	in, inBlock := c.given["block"]
	switch rejected := c.given["rejected"]; {
	case rejected != "" && rejected != "true" && rejected != "false":
		return nil, invalid("rejected: %q is neither true nor false.", kernel.Clip(rejected, 20))
	case rejected == "true" && !inBlock: // a block has none
		return nil, refusef(http.StatusNotImplemented, "Rejected transactions are not served: they are in no block, and only blocks are indexed.")
	case to != nil && inBlock:
		return nil, invalid("block: it goes without to. Ask for the transactions of the block, and look at contractAddress.")
	case to != nil:
		return f.addressTxns(c, *to, kind)
	case inBlock:
		return f.blockTxns(c, in, kind)
	case kind != nil:
		return nil, invalid("type: it goes with block or with to. The index has no list of all transactions of a type.")
	}
	return f.numbered(c, c.identity("all"), func(ctx context.Context, v *view) (numbered, error) {
		top, err := block.Get(ctx, v.r, v.top.Number)
		if err != nil {
			return numbered{}, err
		}
		return numbered{top.TotalTransactions, func(ctx context.Context, first uint64, n int) (any, error) {
			return v.txnsDown(ctx, top.TotalTransactions-first, n)
		}}, nil
	})
}

// txType reads the type that is asked for, by its number or its name; nil when none is.
func (c *call) txType() (*starknet.TxType, error) {
	text, ok := c.given["type"]
	if !ok || text == "null" {
		return nil, nil //nolint:nilnil // none is
	}
	for i, t := range txTypes {
		if text == strconv.Itoa(i) || strings.EqualFold(text, t.String()) {
			return &t, nil
		}
	}
	return nil, invalid("type: %q is none of DEPLOY (0), INVOKE (1), DECLARE (2), L1_HANDLER (3) and DEPLOY_ACCOUNT (4).", kernel.Clip(text, 20))
}

// txnsDown returns n transactions, the newest first, from that one downwards in front of which
// the chain has as many as up to says, less one.
func (v *view) txnsDown(ctx context.Context, upTo uint64, n int) ([]txItem, error) {
	if n == 0 {
		return []txItem{}, nil
	}
	b, err := block.Reaching(ctx, v.r, 0, v.top.Number, upTo-1, func(s *block.Summary) uint64 { return s.TotalTransactions })
	if err != nil {
		return nil, err
	}
	at := explorer.Position{Block: b.Number, Index: uint32(upTo - (b.TotalTransactions - b.Transactions))}
	list, _, _, err := transaction.Before(ctx, v.r, at, n)
	items := make([]txItem, 0, len(list))
	for _, t := range list {
		items = append(items, v.txItem(t))
	}
	return items, err
}

// blockTxns lists the transactions of a block, the last first.
func (f *Feed) blockTxns(c *call, ref string, kind *starknet.TxType) (any, error) {
	return f.numbered(c, c.identity("block", ref, typeName(kind)), func(ctx context.Context, v *view) (numbered, error) {
		b, err := v.blockOf(ctx, "block", ref)
		if err != nil {
			return numbered{}, err
		}
		v.top = b.Ref()
		if kind != nil {
			return v.typedTxns(ctx, b, *kind)
		}
		return numbered{b.Transactions, func(ctx context.Context, first uint64, n int) (any, error) {
			return v.txnsDown(ctx, b.TotalTransactions-first, n)
		}}, nil
	})
}

// typedTxns are the transactions of a type in a block.
func (v *view) typedTxns(ctx context.Context, b *block.Summary, kind starknet.TxType) (numbered, error) {
	if b.Transactions > maxTyped {
		return numbered{}, invalid("type: block %d has more than %d transactions; leave type out.", b.Number, maxTyped)
	}
	all, err := transaction.Previews(ctx, v.r, b.Number, 0, maxTyped)
	if err != nil {
		return numbered{}, err
	}
	var places []explorer.Position
	for _, p := range slices.Backward(all) {
		if p.Type == kind {
			places = append(places, p.Position)
		}
	}
	return numbered{uint64(len(places)), func(ctx context.Context, first uint64, n int) (any, error) {
		return v.txnsAt(ctx, places[first:first+uint64(n)])
	}}, nil
}

func (v *view) txnsAt(ctx context.Context, places []explorer.Position) ([]txItem, error) {
	list, err := transaction.GetMany(ctx, v.r, places)
	items := make([]txItem, 0, len(list))
	for _, t := range list {
		items = append(items, v.txItem(t))
	}
	return items, err
}

// addressTxns lists the transactions that an address has a part in: those that it sent, that
// call it, deploy it, or bring it a message of L1.
func (f *Feed) addressTxns(c *call, of felt.Felt, kind *starknet.TxType) (any, error) {
	return f.walked(c, c.identity("to", of.String(), typeName(kind)), func(ctx context.Context, v *view) (walked, error) {
		out := walked{read: func(ctx context.Context, after []byte, n int) (rows, error) {
			from := explorer.Position{Block: v.top.Number + 1}
			if p, ok := explorer.ParsePosition(after); ok {
				from = p
			}
			places, more, err := v.parts(ctx, of, kind, from, n)
			if err != nil {
				return rows{}, err
			}
			r := rows{more: more, render: func(ctx context.Context) (any, error) { return v.txnsAt(ctx, places) }}
			if len(places) > 0 {
				r.after = places[len(places)-1].Append(nil)
			}
			return r, nil
		}}
		if kind != nil {
			return out, nil
		}
		totals, err := address.TotalsOf(ctx, v.r, []felt.Felt{of})
		if err != nil {
			return out, err
		}
		out.total = new(uint64)
		if totals[0] != nil {
			*out.total = totals[0].Parts
		}
		return out, nil
	})
}

// parts are the places of up to n transactions that an address has a part in, in front of one.
func (v *view) parts(ctx context.Context, of felt.Felt, kind *starknet.TxType, before explorer.Position, n int) (out []explorer.Position, more bool, err error) {
	chunk := n + 1 // one more tells whether there is more
	if kind != nil {
		chunk = typedAtOnce
	}
	for looked := 0; looked < maxTypedOf; looked += chunk {
		list, err := address.ListParts(ctx, v.r, of, before, chunk)
		if err != nil {
			return nil, false, err
		}
		places := make([]explorer.Position, len(list))
		for i := range list {
			places[i] = list[i].Position
		}
		if kind != nil && len(places) > 0 {
			before = places[len(places)-1]
			if places, err = v.ofType(ctx, places, *kind); err != nil {
				return nil, false, err
			}
		}
		if out = append(out, places...); len(out) > n {
			return out[:n], true, nil
		}
		if len(list) < chunk {
			return out, false, nil
		}
	}
	return nil, false, invalid("type: too few transactions of the address are of this type to fill a page. Leave type out, and look at the type of each.")
}

func (v *view) ofType(ctx context.Context, places []explorer.Position, kind starknet.TxType) (out []explorer.Position, err error) {
	heads, err := transaction.PreviewsOf(ctx, v.r, places)
	for _, h := range heads {
		if h.Type == kind {
			out = append(out, h.Position)
		}
	}
	return out, err
}

func typeName(kind *starknet.TxType) string {
	if kind == nil {
		return ""
	}
	return kind.String()
}

// txnOf finds a transaction by its hash.
func (v *view) txnOf(ctx context.Context, hash felt.Felt) (*transaction.Record, error) {
	p, err := transaction.PositionOf(ctx, v.r, hash)
	if errors.Is(err, transaction.ErrNotFound) {
		return nil, notFound("Transaction")
	}
	if err != nil {
		return nil, err
	}
	return transaction.Get(ctx, v.r, p)
}
