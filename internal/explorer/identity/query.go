// Package identity tells what stands at an address: the one question that spans
// contracts, classes, totals of addresses and tokens. It has no rows of its own.
//
// It reads the contract's current class and its deployment, the totals of the
// address, the class's ABI, the deploying transaction, the blocks of both, and the
// kind and the metadata of a token: a fixed number of GetMany for a whole list of
// addresses, and one scan for each contract whose class was replaced.
package identity

import (
	"context"
	"slices"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/address"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
)

// Facts is what the index has of an address.
type Facts struct {
	Address felt.Felt
	contract.Identity
	Totals *address.Totals      // nil when it never did anything
	ABI    *class.ABI           // of its class, nil when that was not looked at
	Tx     *transaction.Preview // that deployed it
	Born   *block.Summary       // block of the deployment
	Dated  *block.Summary       // block that set the class

	Standard transfer.Standard // of a token; Ambiguous of everything else
	Meta     *token.Metadata   // what a token calls itself
}

// Deployed says that a contract is indexed at the address.
func (f *Facts) Deployed() bool { return f.Current != nil || f.Deployment != nil }

// Known says that the address left any trace.
func (f *Facts) Known() bool { return f.Totals != nil || f.Deployed() }

// Of reads what there is of addresses, in order. A fixed number of round
// trips, however many there are.
func Of(ctx context.Context, r store.Reader, addresses []felt.Felt) ([]Facts, error) {
	identities, err := contract.Identities(ctx, r, addresses)
	if err != nil {
		return nil, err
	}
	if err := sinceFirst(ctx, r, addresses, identities); err != nil {
		return nil, err
	}
	totals, err := address.TotalsOf(ctx, r, addresses)
	if err != nil {
		return nil, err
	}
	out := make([]Facts, len(addresses))
	var classes []felt.Felt
	var positions []explorer.Position
	var numbers []uint64
	for i := range out {
		out[i] = Facts{Address: addresses[i], Identity: identities[i], Totals: totals[i]}
		if c := out[i].Current; c != nil {
			classes, numbers = append(classes, c.Class), append(numbers, c.Block)
		}
		if d := out[i].Deployment; d != nil {
			numbers = append(numbers, d.Block)
			if d.Kind != contract.UnknownDeployment {
				positions = append(positions, explorer.Position{Block: d.Block, Index: d.Tx})
			}
		}
	}
	abis, err := abisOf(ctx, r, classes)
	if err != nil {
		return nil, err
	}
	txs, err := transaction.PreviewsOf(ctx, r, positions)
	if err != nil {
		return nil, err
	}
	blocks := map[uint64]*block.Summary{}
	if len(numbers) > 0 {
		if blocks, err = block.ByNumber(ctx, r, numbers); err != nil {
			return nil, err
		}
	}
	if err := tokenFacts(ctx, r, out); err != nil {
		return nil, err
	}
	next := 0
	for i := range out {
		f := &out[i]
		if f.Current != nil {
			f.ABI, f.Dated = abis[f.Current.Class], blocks[f.Current.Block]
		}
		if d := f.Deployment; d != nil {
			f.Born = blocks[d.Block]
			if d.Kind != contract.UnknownDeployment {
				f.Tx = txs[next]
				next++
			}
		}
	}
	return out, nil
}

// sinceFirst dates the classes of contracts by the block that gave them, as the
// lists of classes do: a class that is replaced by itself is no other.
func sinceFirst(ctx context.Context, r store.Reader, addresses []felt.Felt, identities []contract.Identity) error {
	var replaced []felt.Felt
	var where []int
	for i := range identities {
		if c := identities[i].Current; c != nil && c.Replaced {
			replaced, where = append(replaced, addresses[i]), append(where, i)
		}
	}
	if len(replaced) == 0 {
		return nil
	}
	since, err := class.Since(ctx, r, replaced)
	if err != nil {
		return err
	}
	for k, i := range where {
		c, d := identities[i].Current, identities[i].Deployment
		if since[k] == c.Block {
			continue
		}
		c.Block = since[k]
		c.Replaced = d == nil || d.Block != since[k] || d.Class != c.Class
	}
	return nil
}

// tokenFacts adds what is known of contracts that are tokens.
func tokenFacts(ctx context.Context, r store.Reader, list []Facts) error {
	var contracts []felt.Felt
	var at []int
	for i := range list {
		if list[i].Deployed() {
			contracts, at = append(contracts, list[i].Address), append(at, i)
		}
	}
	if len(contracts) == 0 {
		return nil
	}
	kinds, err := token.Kinds(ctx, r, contracts)
	if err != nil {
		return err
	}
	names, err := token.MetadataOf(ctx, r, contracts)
	if err != nil {
		return err
	}
	for n, i := range at {
		list[i].Standard, list[i].Meta = kinds[n], names[n]
	}
	return nil
}

// abisOf reads what is kept of classes, in one round trip. One that cannot be
// read is as one that is not there.
func abisOf(ctx context.Context, r store.Reader, hashes []felt.Felt) (map[felt.Felt]*class.ABI, error) {
	out := map[felt.Felt]*class.ABI{}
	if len(hashes) == 0 {
		return out, nil
	}
	hashes = slices.Clone(hashes)
	arrange.By(hashes, felt.Felt.Cmp)
	hashes = slices.Compact(hashes)
	abis, _, err := class.ABIsOf(ctx, r, hashes)
	if err != nil {
		return nil, err
	}
	for i := range hashes {
		out[hashes[i]] = abis[i]
	}
	return out, nil
}

// IsAccount follows from the class, or from having sent a transaction.
func (f *Facts) IsAccount() *bool {
	known := f.ABI != nil && f.ABI.Status != class.Absent
	// The first declarations name a sender that is no account, nor any contract.
	is := known && f.ABI.Account || f.Deployed() && f.Totals != nil && f.Totals.Sends
	if !is && !known && !f.Reserved() {
		return nil
	}
	return &is
}

// Reserved says that the protocol keeps the address for itself: 0x0 is nobody, and
// 0x1 to 0x3 have storage of the system, but no class.
func (f *Facts) Reserved() bool { return f.Address.Cmp(felt.FromUint64(4)) < 0 }

// Token is the standard of a token and its name, from the registry or from the
// contract itself; false when the contract is not known to be a token.
func (f *Facts) Token(known *registry.Chain) (kind transfer.Standard, name *string, is bool) {
	if f.Standard == transfer.Ambiguous {
		return f.Standard, nil, false
	}
	if t, listed := known.Token(f.Address); listed {
		if t.Name != "" {
			name = &t.Name
		}
		return f.Standard, name, true
	}
	if f.Meta != nil {
		name = f.Meta.Name
	}
	return f.Standard, name, true
}

// DeployTx is the transaction that deployed the contract; nil when it is not known.
func (f *Facts) DeployTx() *felt.Felt {
	if f.Tx == nil {
		return nil
	}
	return &f.Tx.Hash
}

// Deployer is who called the universal deployer; nil when nobody is known to have.
func (f *Facts) Deployer() *felt.Felt {
	if f.Deployment == nil || f.Deployment.Kind != contract.ByDeployer {
		return nil
	}
	return &f.Deployment.Deployer
}

// TypeLabel is a word for what stands at the address.
func (f *Facts) TypeLabel(known *registry.Chain) string {
	is := f.IsAccount()
	_, _, token := f.Token(known)
	switch {
	case is != nil && *is:
		return "account"
	case f.Reserved():
		return "system"
	case !f.Deployed():
		return "not_deployed"
	case token:
		return "token"
	default:
		return "contract"
	}
}
