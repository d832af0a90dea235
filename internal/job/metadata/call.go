package metadata

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
)

// The entry points that are called, in both spellings where there are two.
var (
	doorName     = felt.Selector("name")
	doorSymbol   = felt.Selector("symbol")
	doorDecimals = felt.Selector("decimals")
	doorsSupply  = []felt.Felt{felt.Selector("total_supply"), felt.Selector("totalSupply")}
	doorsSupport = []felt.Felt{felt.Selector("supports_interface"), felt.Selector("supportsInterface")}

	interfaceERC721  = felt.MustParse("0x33eb2f84c309543403fd69f0d0f363781ef06ef6faeb0131ff16ea3175bd943")
	interfaceERC1155 = felt.MustParse("0x6114a8f75559e1b39fcba08ce02961a1aa082d9256a158dd3e64964e4b1b52")
)

// read asks a token. An error means that nobody could answer: then nothing is
// known, also of what was answered before it.
func (j *Job) read(ctx context.Context, t *task, head chain.Head, now uint64) (*token.Metadata, error) {
	c := caller{j: j, ctx: ctx, block: head.Hash, token: t.token}
	m := &token.Metadata{Known: true, Block: head.Number, BlockHash: head.Hash, Time: now}
	m.Name, _ = text(c.call(nil, doorName), maxName)
	m.Symbol, _ = text(c.call(nil, doorSymbol), maxSymbol)
	m.Decimals = decimals(c.call(nil, doorDecimals))
	m.Supply = amount(c.call(nil, doorsSupply...))
	m.Standard, m.Evidence = t.class, token.FromABI
	if t.class == transfer.Ambiguous {
		m.Standard, m.Evidence = c.standard(m)
	}
	return m, c.err
}

// caller runs the calls of one token, until one of them fails.
type caller struct {
	j            *Job
	ctx          context.Context
	block, token felt.Felt
	err          error
}

// call tries entry points until one answers; nil when the contract has none.
func (c *caller) call(calldata []felt.Felt, doors ...felt.Felt) []felt.Felt {
	for _, door := range doors {
		if c.err != nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(c.ctx, c.j.CallTime)
		out, err := c.j.Source.Call(ctx, c.block, c.token, door, calldata)
		cancel()
		switch {
		case err == nil:
			return out
		case !errors.Is(err, index.ErrReverted):
			c.err = fmt.Errorf("call of %s: %w", c.token, err)
		}
	}
	return nil
}

// standard tells what a contract is whose class does not, such as one behind an
// old proxy.
func (c *caller) standard(m *token.Metadata) (transfer.Standard, token.Evidence) {
	for _, s := range []struct {
		standard transfer.Standard
		id       felt.Felt
	}{{transfer.ERC721, interfaceERC721}, {transfer.ERC1155, interfaceERC1155}} {
		if yes(c.call([]felt.Felt{s.id}, doorsSupport...)) {
			return s.standard, token.FromCalls
		}
	}
	if m.Decimals != nil && m.Supply != nil {
		return transfer.ERC20, token.FromCalls
	}
	return transfer.Ambiguous, token.NoEvidence
}
