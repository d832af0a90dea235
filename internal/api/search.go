package api

import (
	"context"
	"errors"
	"slices"
	"strings"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/identity"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/registry"
)

const (
	// maxFoundTokens bounds the tokens of an answer, maxNamedTokens those that are
	// looked at for it by symbol, and as many by name.
	maxFoundTokens = 20
	maxNamedTokens = 100
)

// SearchResult is what an identifier or a name finds.
type SearchResult struct {
	Blocks       []SearchBlock `json:"blocks" doc:"Blocks with this hash or number."`
	Transactions []SearchTx    `json:"transactions" doc:"Transactions with this hash."`
	Addresses    []felt.Felt   `json:"addresses" doc:"Addresses that did something or have a contract."`
	Classes      []felt.Felt   `json:"classes" doc:"Classes with this hash that a block named."`
	Tokens       []SearchToken `json:"tokens" doc:"Tokens whose symbol or name begins so, in whatever case: known ones first, then by symbol, then by name; at most 20."`
}

// SearchBlock is a block that was found.
type SearchBlock struct {
	BlockNumber uint64    `json:"blockNumber" doc:"Its number."`
	BlockHash   felt.Felt `json:"blockHash" doc:"Its hash."`
}

// SearchTx is a transaction that was found.
type SearchTx struct {
	TxHash      felt.Felt `json:"txHash" doc:"Its hash."`
	BlockNumber uint64    `json:"blockNumber" doc:"The block that it is in."`
	TxIndex     uint32    `json:"txIndex" doc:"Its place in that block."`
}

// SearchToken is a token that was found by what it is called.
type SearchToken struct {
	TokenAddress felt.Felt `json:"tokenAddress" doc:"The token's contract."`
	Symbol       *string   `json:"symbol" doc:"As the registry has it for a known token, otherwise as the contract calls itself."`
	Name         *string   `json:"name" doc:"As the symbol."`
	Known        bool      `json:"known" doc:"The token is in the registry. Everything else only calls itself so."`
	Lookalike    bool      `json:"lookalike" doc:"The token is not known and has the symbol or the name of one that is."`
	Source       string    `json:"source" enum:"registry,token_contract" doc:"Who says what it is called."`
}

func (s *Routes) search(ctx context.Context, in *struct {
	ChainInput
	Query string `query:"q" required:"true" minLength:"1" maxLength:"70" doc:"Transaction hash, address, class hash, block hash, block number, or the beginning of a token's symbol or name."`
}) (*body[SearchResult], error) {
	out := &body[SearchResult]{SearchResult{[]SearchBlock{}, []SearchTx{}, []felt.Felt{}, []felt.Felt{}, []SearchToken{}}}
	q := strings.TrimSpace(in.Query)
	number, numeric := kernel.NumberOf(q)
	id, err := kernel.FeltOf("query.q", q)
	named := err != nil
	switch hex := strings.HasPrefix(strings.ToLower(q), "0x"); {
	case named && hex:
		return nil, err
	case q == "":
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "query.q: %q is neither a hash nor a block number nor a name.", kernel.Clip(in.Query, 70))
	}
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, _ *chain.State) error {
		if numeric {
			if err := findNumber(ctx, r, number, &out.Body); err != nil {
				return err
			}
		}
		kernel.RequestOf(ctx).Vouch(!named) // names come from calls
		if named {
			return findTokens(ctx, r, c.Registry, q, &out.Body)
		}
		return findHash(ctx, r, id, &out.Body)
	})
	return out, err
}

func findNumber(ctx context.Context, r explorer.Reader, number uint64, out *SearchResult) error {
	b, err := block.Get(ctx, r, number)
	if errors.Is(err, block.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	out.Blocks = append(out.Blocks, SearchBlock{b.Number, b.Hash})
	return nil
}

func findHash(ctx context.Context, r explorer.Reader, id felt.Felt, out *SearchResult) error {
	p, err := transaction.PositionOf(ctx, r, id)
	if err == nil {
		out.Transactions = append(out.Transactions, SearchTx{id, p.Block, p.Index})
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
		out.Blocks = append(out.Blocks, SearchBlock{n, id})
	} else if !errors.Is(err, block.ErrNotFound) {
		return err
	}
	return nil
}

// findTokens lists the known tokens that are called so, by us or by themselves, and
// then others that call themselves so. A known token that the chain does not have is
// left out.
func findTokens(ctx context.Context, r explorer.Reader, known *registry.Chain, text string, out *SearchResult) error {
	found, err := token.Named(ctx, r, text, maxNamedTokens)
	if err != nil {
		return err
	}
	taken := map[string]bool{} // symbols and names of known tokens
	begins := func(s string) bool { return strings.HasPrefix(strings.ToLower(s), strings.ToLower(text)) }
	var ours []registry.Token
	for _, t := range known.Tokens() {
		taken[strings.ToLower(t.Symbol)], taken[strings.ToLower(t.Name)] = true, true
		if begins(t.Symbol) || begins(t.Name) || slices.Contains(found, t.Address) {
			ours = append(ours, t)
		}
	}
	slices.SortFunc(ours, func(a, b registry.Token) int { return a.Address.Cmp(b.Address) })
	ours = ours[:min(len(ours), maxNamedTokens)]
	addresses := make([]felt.Felt, len(ours))
	for i := range ours {
		addresses[i] = ours[i].Address
	}
	there, err := identity.Of(ctx, r, addresses)
	if err != nil {
		return err
	}
	for i, t := range ours {
		if there[i].Known() && len(out.Tokens) < maxFoundTokens {
			out.Tokens = append(out.Tokens, SearchToken{TokenAddress: t.Address, Symbol: some(t.Symbol), Name: some(t.Name), Known: true, Source: "registry"})
		}
	}
	found = slices.DeleteFunc(found, func(a felt.Felt) bool { _, listed := known.Token(a); return listed })
	found = found[:min(len(found), maxFoundTokens-len(out.Tokens))]
	names, err := token.MetadataOf(ctx, r, found)
	if err != nil {
		return err
	}
	looks := func(s *string) bool { return s != nil && taken[strings.ToLower(strings.TrimSpace(*s))] }
	for i, m := range names {
		if m == nil {
			continue
		}
		out.Tokens = append(out.Tokens, SearchToken{TokenAddress: found[i], Symbol: m.Symbol, Name: m.Name, Source: "token_contract",
			Lookalike: looks(m.Symbol) || looks(m.Name)})
	}
	return nil
}
