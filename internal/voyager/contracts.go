package voyager

import (
	"context"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/identity"
	"chainexplorer/internal/felt"
)

// contractDetail is a contract. What only a node could tell is null.
type contractDetail struct {
	Address                padded     `json:"address"`
	BlockNumber            *uint64    `json:"blockNumber"`
	BlockHash              *felt.Felt `json:"blockHash"`
	CreationTimestamp      *uint64    `json:"creationTimestamp"`
	ClassHash              *padded    `json:"classHash"`
	ClassAlias             *string    `json:"classAlias"`
	ContractAlias          *string    `json:"contractAlias"`
	Type                   string     `json:"type"`
	IsAccount              *bool      `json:"isAccount"`
	IsProxy                *bool      `json:"isProxy"`
	IsErcToken             *bool      `json:"isErcToken"`
	TokenName              *string    `json:"tokenName"`
	TokenSymbol            *string    `json:"tokenSymbol"`
	VerifiedTimestamp      *uint64    `json:"verifiedTimestamp"`
	Version                *string    `json:"version"`
	Nonce                  *felt.Felt `json:"nonce"`
	ImplementationContract *felt.Felt `json:"implementationContract"`
}

func (f *Feed) contract(c *call) (any, error) {
	at, err := c.pathFelt("address")
	if err != nil {
		return nil, err
	}
	out := &contractDetail{}
	return out, f.on(c, func(ctx context.Context, v *view) error {
		found, err := identity.Of(ctx, v.r, []felt.Felt{at})
		if err != nil {
			return err
		}
		facts := &found[0]
		if !facts.Deployed() {
			return notFound("Contract")
		}
		v.fillContract(out, facts)
		if out.ClassHash == nil {
			return nil
		}
		verified, err := v.verified(ctx, felt.Felt(*out.ClassHash))
		out.VerifiedTimestamp = verified[felt.Felt(*out.ClassHash)]
		return err
	})
}

func (v *view) fillContract(out *contractDetail, f *identity.Facts) {
	out.Address, out.Type, out.IsAccount = padded(f.Address), f.TypeLabel(v.chain.Registry), f.IsAccount()
	if d := f.Deployment; d != nil {
		out.BlockNumber, out.BlockHash, out.CreationTimestamp, out.ClassHash = &d.Block, &f.Born.Hash, &f.Born.Timestamp, pad(&d.Class)
	}
	if f.Current != nil {
		out.ClassHash = pad(&f.Current.Class)
	}
	names := v.chain.AliasesOf(&f.Address, (*felt.Felt)(out.ClassHash))
	out.ContractAlias, out.ClassAlias = names.ContractAlias, names.ClassAlias
	if f.ABI != nil && !f.ABI.Status.Wanted() {
		out.IsProxy, out.IsErcToken = &f.ABI.Proxy, isErc(f.ABI.Token)
	}
	if kind, name, is := f.Token(v.chain.Registry); is {
		out.Type, out.IsErcToken, out.TokenName = kind.String(), &is, name
	}
	if f.Meta != nil {
		out.TokenSymbol = f.Meta.Symbol
	}
}

func isErc(e abi.Emitter) *bool {
	is := e == abi.EmitterERC20 || e == abi.EmitterERC721 || e == abi.EmitterERC1155
	return &is
}

// verified tells when the sources of classes were proven, of those that were.
func (v *view) verified(ctx context.Context, hashes ...felt.Felt) (map[felt.Felt]*uint64, error) {
	proven, err := v.chain.Proofs.At(v.state).Of(ctx, v.r, hashes)
	out := map[felt.Felt]*uint64{}
	for hash, s := range proven {
		at := uint64(s.Issued.Unix())
		out[hash] = &at
	}
	return out, err
}

// classFacts are what lists and details tell of a class by what was fetched of it.
type classFacts struct {
	IsAccount  *bool `json:"isAccount"`
	IsProxy    *bool `json:"isProxy"`
	IsErcToken *bool `json:"isErcToken"`
}

func factsOf(f *class.Facts) (out classFacts) {
	if f.Settled {
		out = classFacts{&f.Account, &f.Proxy, isErc(f.Token)}
	}
	return out
}
