package api

import (
	"context"
	"strings"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/search"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// SearchResult is what an identifier or a name finds.
type SearchResult struct {
	Blocks       []SearchBlock `json:"blocks" doc:"Blocks with this hash or number."`
	Transactions []SearchTx    `json:"transactions" doc:"Transactions with this hash."`
	Addresses    []felt.Felt   `json:"addresses" doc:"Addresses that did something or have a contract."`
	Classes      []felt.Felt   `json:"classes" doc:"Classes with this hash that a block named."`
	Tokens       []SearchToken `json:"tokens" doc:"Tokens whose symbol or name begins so, in whatever case: known ones first, whether or not the chain has shown them yet, then others by symbol and by name, then those whose symbol or name only looks so; at most 20."`
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
	Lookalike    bool      `json:"lookalike" doc:"The token is not known, and its symbol or its name is that of one that is, or looks like it: letters of other alphabets and signs that are not seen make no difference."`
	Source       string    `json:"source" enum:"registry,token_contract" doc:"Who says what it is called."`
}

func (s *Routes) search(ctx context.Context, in *struct {
	ChainInput
	Query string `query:"q" required:"true" minLength:"1" maxLength:"70" doc:"Transaction hash, address, class hash, block hash, block number, or the beginning of a token's symbol or name."`
}) (*body[SearchResult], error) {
	q := strings.TrimSpace(in.Query)
	var wanted search.Query
	if number, numeric := kernel.NumberOf(q); numeric {
		wanted.Number = &number
	}
	id, err := kernel.FeltOf("query.q", q)
	named := err != nil
	switch hex := strings.HasPrefix(strings.ToLower(q), "0x"); {
	case named && hex:
		return nil, err
	case q == "":
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "query.q: %q is neither a hash nor a block number nor a name.", kernel.Clip(in.Query, 70))
	case named:
		wanted.Name = q
	default:
		wanted.ID = &id
	}
	out := &body[SearchResult]{}
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, _ *chain.State) error {
		kernel.RequestOf(ctx).Vouch(!named) // names come from calls
		found, err := search.Find(ctx, r, c.Registry, wanted)
		if err == nil {
			out.Body = renderFound(found)
		}
		return err
	})
	return out, err
}

func renderFound(f *search.Result) SearchResult {
	out := SearchResult{[]SearchBlock{}, []SearchTx{}, append([]felt.Felt{}, f.Addresses...), append([]felt.Felt{}, f.Classes...), []SearchToken{}}
	for _, b := range f.Blocks {
		out.Blocks = append(out.Blocks, SearchBlock{b.Number, b.Hash})
	}
	for _, t := range f.Transactions {
		out.Transactions = append(out.Transactions, SearchTx{t.Hash, t.Block, t.Index})
	}
	for _, t := range f.Tokens {
		source := "token_contract"
		if t.Known {
			source = "registry"
		}
		out.Tokens = append(out.Tokens, SearchToken{t.Address, t.Symbol, t.Name, t.Known, t.Lookalike, source})
	}
	return out
}
