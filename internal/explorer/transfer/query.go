package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// The bounds of a query.
const (
	MaxLimit = 1000
	// MaxAddresses and MaxTokens bound what a query names.
	MaxAddresses = 128
	MaxTokens    = 128
	// MaxPairs bounds the lists of (address, token) that a query joins. Beyond
	// it the addresses' own lists are used, and tokens are checked.
	MaxPairs = 256
)

// The errors of a caller.
var (
	ErrTooMany = fmt.Errorf("a query names at most %d addresses and %d tokens", MaxAddresses, MaxTokens)
	ErrSide    = errors.New("a direction needs an address")
	ErrLimit   = fmt.Errorf("a page has 1 to %d transfers", MaxLimit)
	ErrRange   = errors.New("the first block of a range comes after its last")
)

// Kinds tells the standards that tokens had at blocks, in order; Ambiguous where nothing is known. It is asked
// for all transfers of a round, of which many have one token, and may be asked for a token again.
type Kinds func(ctx context.Context, list []contract.At) ([]Standard, error)

// Query is what to list.
type Query struct {
	// Addresses are those of which one must be a party; any when empty.
	Addresses []felt.Felt
	// Side is the side on which one of them must stand; both sides when zero.
	Side Side
	// Exactly leaves out transfers in which they stand on the other side as well:
	// Both and Exactly are the transfers to oneself, or among them.
	Exactly bool
	// Tokens are those of which one must have moved; any when empty.
	Tokens []felt.Felt
	// From and To are the first and the last block; To may lie above the head.
	From, To uint64

	// Kinds settles ambiguous transfers; they stay so when it is nil.
	Kinds Kinds
	// Standards are those of which the transfer must be one, once settled; any
	// when empty. Ambiguous asks for those that could not be.
	Standards []Standard
	// TxTypes are the types of which its transaction must be one; any when empty.
	TxTypes []starknet.TxType

	// Order is newest first unless it says otherwise.
	Order event.Order
	// After is where the page before ended: its Page.Next.
	After *Place
	Limit int
	// Budget bounds the work of this page; zero fields take event.DefaultBudget's.
	Budget event.Budget
}

// Listed is a transfer of a list.
type Listed struct {
	Place
	BlockHash felt.Felt
	Timestamp uint64 // of the block
	TxHash    felt.Felt
	TxType    starknet.TxType
	Transfer
}

// Page is a part of a list.
type Page struct {
	Transfers []Listed
	// Done says that nothing in the range is left, as far as it is indexed.
	// Otherwise Next is where to go on. A page that was ended by its budget has
	// fewer transfers than asked for, or none, and is not done.
	Done bool
	Next *Place
	// NextHash is the hash of the block of Next; a cursor must carry it, and it
	// must hold: see block.Ref.
	NextHash felt.Felt
	Work     event.Work
}

// ListAll is the feed of all transfers.
func ListAll(ctx context.Context, r store.Reader, q Query) (Page, error) {
	q.Addresses, q.Tokens = nil, nil
	return List(ctx, r, q)
}

// ListByToken lists the transfers of a token.
func ListByToken(ctx context.Context, r store.Reader, token felt.Felt, q Query) (Page, error) {
	q.Tokens = []felt.Felt{token}
	return List(ctx, r, q)
}

// ListByAddress lists the transfers from and to an address.
func ListByAddress(ctx context.Context, r store.Reader, address felt.Felt, q Query) (Page, error) {
	q.Addresses = []felt.Felt{address}
	return List(ctx, r, q)
}

// ListByPair lists the transfers of a token from and to an address.
func ListByPair(ctx context.Context, r store.Reader, address, token felt.Felt, q Query) (Page, error) {
	q.Addresses, q.Tokens = []felt.Felt{address}, []felt.Felt{token}
	return List(ctx, r, q)
}

// stands says whether the sides on which the addresses stand are those asked for.
func (q *Query) stands(side Side) bool {
	if q.Exactly {
		return side == q.Side
	}
	return side&q.Side != 0
}

// List returns a page of the transfers that match, in the query's order.
func List(ctx context.Context, r store.Reader, q Query) (Page, error) {
	q.Addresses, q.Tokens = sortedSet(q.Addresses), sortedSet(q.Tokens)
	switch {
	case len(q.Addresses) > MaxAddresses || len(q.Tokens) > MaxTokens:
		return Page{}, ErrTooMany
	case q.Side != 0 && q.Side != Both && len(q.Addresses) == 0:
		return Page{}, ErrSide
	case q.Limit < 1 || q.Limit > MaxLimit:
		return Page{}, ErrLimit
	case q.From > q.To:
		return Page{}, ErrRange
	}
	if q.Side == 0 {
		q.Side = Both
	}
	p := pager{ctx: ctx, q: &q, budget: withDefaults(q.Budget)}
	if len(q.Addresses) == 0 {
		p.source = &searched{ctx: ctx, r: r, q: &q}
	} else {
		p.source = newListed(ctx, r, &q)
	}
	page, err := p.page()
	if err != nil {
		return Page{}, fmt.Errorf("list transfers: %w", err)
	}
	return page, nil
}

func withDefaults(b event.Budget) event.Budget {
	for _, f := range []struct{ v, def *int }{
		{&b.Seeks, &event.DefaultBudget.Seeks}, {&b.Rows, &event.DefaultBudget.Rows}, {&b.Events, &event.DefaultBudget.Events},
	} {
		if *f.v <= 0 {
			*f.v = *f.def
		}
	}
	return b
}

func sortedSet(fs []felt.Felt) []felt.Felt {
	if len(fs) == 0 {
		return nil
	}
	out := slices.Clone(fs)
	arrange.By(out, felt.Felt.Cmp)
	return slices.Compact(out)
}

func has(sorted []felt.Felt, f felt.Felt) bool {
	_, found := slices.BinarySearchFunc(sorted, f, felt.Felt.Cmp)
	return found
}

// Held is a token that an address has sent or received.
type Held struct {
	Token felt.Felt
	Block uint64 // of the newest transfer
}

// TokensOf lists up to limit tokens that an address has sent or received, by
// falling token address, in front of one; nil starts at the last. One seek for
// each, however many transfers there are.
func TokensOf(ctx context.Context, r store.Reader, address felt.Felt, before *felt.Felt, limit int) (out []Held, err error) {
	var to []byte
	if before != nil {
		to = before[:]
	}
	for len(out) < limit {
		found := false
		rng := store.Range{Table: Pairs, Partition: address[:], To: to, Reverse: true, Limit: 1}
		for row, err := range r.Scan(ctx, rng) {
			if err != nil {
				return nil, fmt.Errorf("list tokens of %s: %w", address, err)
			}
			l := list{prefix: string(row.Sort[:min(felt.Size, len(row.Sort))])}
			block, err := l.blockOf(row.Sort)
			if err != nil {
				return nil, err
			}
			found = true
			h := Held{Block: block}
			copy(h.Token[:], row.Sort)
			out = append(out, h)
		}
		if !found {
			break
		}
		to = slices.Clone(out[len(out)-1].Token[:])
	}
	return out, nil
}

// LatestOf returns the newest block up to one in which an address sent or received
// a token. One seek.
func LatestOf(ctx context.Context, r store.Reader, address, token felt.Felt, through uint64) (block uint64, found bool, err error) {
	l := pairList(&address, &token)
	rng := store.Range{Table: l.table, Partition: address[:], From: l.key(0), To: l.behind(through), Reverse: true, Limit: 1}
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return 0, false, fmt.Errorf("find the last transfer of %s by %s: %w", token, address, err)
		}
		block, err = l.blockOf(row.Sort)
		return block, err == nil, err
	}
	return 0, false, nil
}
