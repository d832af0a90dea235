package address

import (
	"bytes"
	"context"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// Seen is a transaction as an address sees it.
type Seen struct {
	transaction.Preview
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

// Also is shown the transactions that are read, i being the place in the list, for what else
// there is to learn from them. It may be called by several goroutines, and keeps nothing of a
// record, which has what transaction.Look shows.
type Also func(i int, t *transaction.Record)

// See reads transactions of an address, in order. kinds settles the transfers. One
// GetMany, and one question to kinds where tokens moved.
func See(ctx context.Context, r store.Reader, address felt.Felt, list []Tx, kinds transfer.Kinds, also Also) ([]Seen, error) {
	positions := make([]explorer.Position, len(list))
	for i := range list {
		positions[i] = list[i].Position
	}
	s := sight{address: address, list: list, out: make([]Seen, len(list)), rest: make([]beside, len(list))}
	err := transaction.Look(ctx, r, positions, transferTopics, func() func(int, *transaction.Record) {
		e := &eye{sight: &s}
		return func(i int, t *transaction.Record) {
			e.look(i, t)
			also(i, t)
		}
	})
	if err != nil {
		return nil, err
	}
	return s.out, s.settle(ctx, kinds)
}

var transferTopics = transfer.Selectors()

// sight is a page being read. Each transaction has its place in both lists.
type sight struct {
	address felt.Felt
	list    []Tx
	out     []Seen
	rest    []beside
}

// beside is what a Seen points to, and its transfers until they are settled.
type beside struct {
	ends  transaction.Ends
	calls int
	moved []transfer.Transfer
}

// eye is for one goroutine.
type eye struct {
	*sight
	list []transfer.Transfer // of an event
	mine []transfer.Transfer // of a transaction, from or to the address
	room []transfer.Transfer // for those of others
}

// transfersAtOnce is for how many transfers memory is taken at a time.
const transfersAtOnce = 32

func (e *eye) look(i int, t *transaction.Record) {
	out, beside := &e.out[i], &e.rest[i]
	*out = Seen{Preview: t.Preview(&beside.ends), Part: e.sight.list[i].Part}
	out.Counterparty = Counterparty(&out.Preview, &e.address, out.Part)
	if v, _ := t.PlainVersion(); t.Type == starknet.Invoke && v > 0 {
		if calls, ok := starknet.ListCalls(t.Transaction.Calldata); ok {
			beside.calls, out.Calls, out.Differ = calls.Len(), &beside.calls, differ(calls)
		}
	}
	e.mine = e.mine[:0]
	for j := range t.Receipt.Events {
		e.list, _ = transfer.Append(e.list[:0], &t.Receipt.Events[j])
		for k := range e.list {
			if x := &e.list[k]; x.From == e.address || x.To == e.address {
				e.mine = append(e.mine, *x)
			}
		}
	}
	n := len(e.mine)
	if len(e.room) < n {
		e.room = make([]transfer.Transfer, max(n, transfersAtOnce))
	}
	beside.moved, e.room = e.room[:n:n], e.room[n:]
	copy(beside.moved, e.mine)
}

// differ says that calls are not all of one function.
func differ(calls starknet.CallList) bool {
	first, _ := calls.First()
	for c := range calls.All() {
		if c.Selector != first.Selector {
			return true
		}
	}
	return false
}

// settle asks for the standards of all tokens at once, and finds the largest transfers.
func (s *sight) settle(ctx context.Context, kinds transfer.Kinds) error {
	var ask []contract.At
	for i := range s.rest {
		for j := range s.rest[i].moved {
			ask = append(ask, contract.At{Address: s.rest[i].moved[j].Token, Block: s.list[i].Block})
		}
	}
	if len(ask) == 0 {
		return nil
	}
	told, err := kinds(ctx, ask)
	if err != nil {
		return fmt.Errorf("tell the standards of %d transfers: %w", len(ask), err)
	}
	for i := range s.rest {
		if moved := s.rest[i].moved; len(moved) > 0 {
			s.out[i].Transfers, s.out[i].Top = len(moved), largest(moved, told)
			told = told[len(moved):]
		}
	}
	return nil
}

// largest is the Top of transfers, of which there are some. It settles them where they are, by the first of the standards.
func largest(list []transfer.Transfer, standards []transfer.Standard) (top *transfer.Transfer) {
	for i := range list {
		x := &list[i]
		*x = x.As(standards[i])
		if top == nil {
			top = x
			continue
		}
		most, amount := top.AmountBytes(), x.AmountBytes()
		if amount != nil && (most == nil || bytes.Compare(amount[:], most[:]) > 0) {
			top = x
		}
	}
	return top
}

// Counterparty is the other end of a transaction as an address sees it, nil when
// there is none: an account that deploys or calls itself has none, nor has the contract of
// an invocation of version 0, of which nothing says who made it.
func Counterparty(t *transaction.Preview, address *felt.Felt, part Part) *felt.Felt {
	other := t.From
	if part&Sender != 0 {
		other = t.To
	}
	if other != nil && *other == *address {
		return nil
	}
	return other
}

// Counterparty is the other side of a transfer, and of a transaction, which is t,
// what Counterparty says.
func (i *Item) Counterparty(address *felt.Felt, t *transaction.Preview) *felt.Felt {
	switch {
	case i.Transfer == nil:
		return Counterparty(t, address, i.Part)
	case i.Part == ReceivedTokens:
		return &i.Transfer.From
	}
	return &i.Transfer.To
}

// PreviewsOf reads the transactions among items, in their order, nil for a transfer.
// One GetMany.
func PreviewsOf(ctx context.Context, r store.Reader, items []Item, also Also) ([]*transaction.Preview, error) {
	var positions []explorer.Position
	var where []int
	for i := range items {
		if items[i].Transfer == nil {
			positions, where = append(positions, explorer.Position{Block: items[i].At.Block, Index: items[i].At.Tx}), append(where, i)
		}
	}
	out, previews, ends := make([]*transaction.Preview, len(items)), make([]transaction.Preview, len(where)), make([]transaction.Ends, len(where))
	err := transaction.Look(ctx, r, positions, nil, func() func(int, *transaction.Record) {
		return func(n int, t *transaction.Record) {
			previews[n] = t.Preview(&ends[n])
			out[where[n]] = &previews[n]
			also(where[n], t)
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
