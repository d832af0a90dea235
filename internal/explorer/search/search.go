// Package search finds what an identifier or a name stands for: the one question that
// spans blocks, transactions, addresses, classes and the names of tokens. It has no
// rows of its own.
//
// Costs: a number is one Get, an identifier a fixed number of reads, and a name four
// scans of at most MaxNamed rows each with three GetMany, and as many again for every
// MaxTokens tokens of that name that a fork took away.
package search

import (
	"context"
	"errors"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/identity"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
)

const (
	// MaxTokens bounds the tokens of a result.
	MaxTokens = 20
	// MaxNamed bounds the tokens that are looked at for it by symbol, and as many by name.
	MaxNamed = 100
)

// Query is what a text may mean. Several of its fields may be set.
type Query struct {
	Number *uint64    // of a block
	ID     *felt.Felt // a hash or an address
	Name   string     // the beginning of a token's symbol or name; "" for none
}

// Result is what was found.
type Result struct {
	Blocks       []block.Ref
	Transactions []Transaction
	Addresses    []felt.Felt // that did something or have a contract
	Classes      []felt.Felt // that a block named
	Tokens       []Token     // known ones first
}

// Transaction is one that was found, and where it is.
type Transaction struct {
	Hash felt.Felt
	explorer.Position
}

// Token is one that was found by what it is called.
type Token struct {
	Address      felt.Felt
	Symbol, Name *string
	Known        bool // it is in the registry, which says what it is called
	Lookalike    bool // it is not, and is called so that it is taken for one that is
}

// Find finds what a query may mean.
func Find(ctx context.Context, r store.Reader, known *registry.Chain, q Query) (*Result, error) {
	out := &Result{}
	if q.Number != nil {
		if err := out.number(ctx, r, *q.Number); err != nil {
			return nil, err
		}
	}
	if q.ID != nil {
		if err := out.id(ctx, r, *q.ID); err != nil {
			return nil, err
		}
	}
	if q.Name != "" {
		if err := out.tokens(ctx, r, known, q.Name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (out *Result) number(ctx context.Context, r store.Reader, number uint64) error {
	b, err := block.Get(ctx, r, number)
	if errors.Is(err, block.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	out.Blocks = append(out.Blocks, b.Ref())
	return nil
}

func (out *Result) id(ctx context.Context, r store.Reader, id felt.Felt) error {
	p, err := transaction.PositionOf(ctx, r, id)
	if err == nil {
		out.Transactions = append(out.Transactions, Transaction{id, p})
	} else if !errors.Is(err, transaction.ErrNotFound) {
		return err
	}
	f, err := identity.Of(ctx, r, []felt.Felt{id})
	if err != nil {
		return err
	}
	if f[0].Known() {
		out.Addresses = append(out.Addresses, id)
	}
	_, declared, err := class.SummaryOf(ctx, r, id)
	if err != nil {
		return err
	}
	if declared {
		out.Classes = append(out.Classes, id)
	}
	n, err := block.NumberOf(ctx, r, id)
	if err == nil {
		out.Blocks = append(out.Blocks, block.Ref{Number: n, Hash: id})
	} else if !errors.Is(err, block.ErrNotFound) {
		return err
	}
	return nil
}

// tokens lists the known tokens that are called so, by us or by themselves, or look so, and
// then others: those that call themselves so, and those whose names only look so. A known
// token is found before the chain has anything of it.
func (out *Result) tokens(ctx context.Context, r store.Reader, known *registry.Chain, text string) error {
	found, err := token.Named(ctx, r, text, MaxNamed)
	if err != nil {
		return err
	}
	for _, t := range known.Tokens() {
		if len(out.Tokens) < MaxTokens && (token.Called(t.Symbol, t.Name, text) || slices.Contains(found, t.Address)) {
			out.Tokens = append(out.Tokens, Token{Address: t.Address, Symbol: told(t.Symbol), Name: told(t.Name), Known: true})
		}
	}
	found = slices.DeleteFunc(found, func(a felt.Felt) bool { _, listed := known.Token(a); return listed })
	looks := func(s *string) bool { return s != nil && known.Imitated(*s) }
	for len(found) > 0 && len(out.Tokens) < MaxTokens { // once, but where forks took tokens away
		next := found[:min(len(found), MaxTokens-len(out.Tokens))]
		found = found[len(next):]
		names, err := token.StillNamed(ctx, r, next)
		if err != nil {
			return err
		}
		for i, m := range names {
			if m != nil {
				out.Tokens = append(out.Tokens, Token{Address: next[i], Symbol: m.Symbol, Name: m.Name, Lookalike: looks(m.Symbol) || looks(m.Name)})
			}
		}
	}
	return nil
}

// told is nil for a name that the registry does not have.
func told(name string) *string {
	if name == "" {
		return nil
	}
	return &name
}
