package address

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// Seen is a transaction as an address sees it.
type Seen struct {
	*transaction.Record
	Part         Part
	Counterparty *felt.Felt // see Counterparty
	// Calls is how many calls the account signed, nil when the calldata is no list of
	// them, and Differ says that they are not all of one function.
	Calls  *int
	Differ bool
	// Transfers is how many token transfers of it are from or to the address, and Top
	// the one of them with the largest amount, in smallest units whatever the token:
	// the first of equals, one whose amount is not known below all others. It is nil
	// when there is none.
	Transfers int
	Top       *transfer.Transfer
}

// See reads transactions of an address, in order. kinds settles the transfers. One
// GetMany, and one question to kinds where tokens moved.
func See(ctx context.Context, r store.Reader, address felt.Felt, list []Tx, kinds transfer.Kinds) ([]Seen, error) {
	positions := make([]explorer.Position, len(list))
	for i := range list {
		positions[i] = list[i].Position
	}
	records, err := transaction.GetMany(ctx, r, positions)
	if err != nil {
		return nil, err
	}
	out := make([]Seen, len(list))
	moved := make([][]transfer.Numbered, len(list))
	standards := map[felt.Felt]transfer.Standard{}
	var tokens []felt.Felt
	for i, t := range records {
		out[i] = Seen{Record: t, Part: list[i].Part, Counterparty: Counterparty(t, &address, list[i].Part)}
		if v, _ := t.PlainVersion(); t.Type == starknet.Invoke && v > 0 {
			if calls, ok := starknet.AccountCalls(t.Transaction.Calldata); ok {
				n := len(calls)
				out[i].Calls, out[i].Differ = &n, slices.ContainsFunc(calls, func(c starknet.Call) bool { return c.Selector != calls[0].Selector })
			}
		}
		for _, x := range transfer.Of(t.Receipt.Events) {
			if x.From != address && x.To != address {
				continue
			}
			moved[i] = append(moved[i], x)
			if _, there := standards[x.Token]; !there {
				standards[x.Token] = transfer.Ambiguous
				tokens = append(tokens, x.Token)
			}
		}
	}
	if len(tokens) == 0 {
		return out, nil
	}
	told, err := kinds(ctx, tokens)
	if err != nil {
		return nil, fmt.Errorf("tell the standards of %d tokens: %w", len(tokens), err)
	}
	for i, kind := range told {
		standards[tokens[i]] = kind
	}
	for i := range out {
		out[i].Transfers, out[i].Top = len(moved[i]), largest(moved[i], standards)
	}
	return out, nil
}

// largest is the Top of transfers.
func largest(list []transfer.Numbered, standards map[felt.Felt]transfer.Standard) (top *transfer.Transfer) {
	most := big.NewInt(-1)
	for i := range list {
		x := list[i].As(standards[list[i].Token])
		if amount := x.Amount(); top == nil || amount != nil && amount.Cmp(most) > 0 {
			top = &x
			if amount != nil {
				most = amount
			}
		}
	}
	return top
}

// Counterparty is the other end of a transaction as an address sees it, nil when
// there is none: an account that deploys itself has none, nor has the contract of
// an invocation of version 0, of which nothing says who made it.
func Counterparty(t *transaction.Record, address *felt.Felt, part Part) *felt.Felt {
	from, to := t.Ends()
	switch {
	case part&Sender != 0 && part&Deployed == 0:
		return to
	case from != nil && *from == *address:
		return nil
	}
	return from
}

// Counterparty is the other side of a transfer, and of a transaction, which is t,
// what Counterparty says.
func (i *Item) Counterparty(address *felt.Felt, t *transaction.Record) *felt.Felt {
	switch {
	case i.Transfer == nil:
		return Counterparty(t, address, i.Part)
	case i.Part == ReceivedTokens:
		return &i.Transfer.From
	}
	return &i.Transfer.To
}

// RecordsOf reads the transactions among items, in their order, nil for a transfer.
// One GetMany.
func RecordsOf(ctx context.Context, r store.Reader, items []Item) ([]*transaction.Record, error) {
	var positions []explorer.Position
	var where []int
	for i := range items {
		if items[i].Transfer == nil {
			positions, where = append(positions, explorer.Position{Block: items[i].At.Block, Index: items[i].At.Tx}), append(where, i)
		}
	}
	records, err := transaction.GetMany(ctx, r, positions)
	if err != nil {
		return nil, err
	}
	out := make([]*transaction.Record, len(items))
	for n, t := range records {
		out[where[n]] = t
	}
	return out, nil
}
