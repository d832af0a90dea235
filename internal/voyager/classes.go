package voyager

import (
	"context"
	"encoding/binary"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/identity"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
)

// classItem is a class. Its kind as a number is not known to be anything.
type classItem struct {
	Hash            padded     `json:"hash"`
	TransactionHash *felt.Felt `json:"transactionHash"`
	Version         *string    `json:"version"`
	Type            *int       `json:"type"`
	classFacts
	CreationTimestamp *uint64 `json:"creationTimestamp"`
	ClassAlias        *string `json:"classAlias"`
	VerifiedTimestamp *uint64 `json:"verifiedTimestamp"`
}

// classDetail is a class in full. Its code is not kept.
type classDetail struct {
	classItem
	ContractsCount uint64    `json:"contractsCount"`
	DeclaredBy     *padded   `json:"declaredBy"`
	ABI            *struct{} `json:"abi"`
	ByteCode       []string  `json:"byteCode"`
	Code           *string   `json:"code"`
	License        *string   `json:"license"`
}

// classContract is a contract of a class.
type classContract struct {
	Address             padded      `json:"address"`
	CreationTimestamp   *uint64     `json:"creationTimestamp"`
	TxnCount            uint64      `json:"txnCount"`
	StarknetID          *string     `json:"starknetId"`
	ContractAlias       *string     `json:"contractAlias"`
	ConstructorCalldata []felt.Felt `json:"constructorCalldata"`
}

// classes lists classes, the newest declaration first.
func (f *Feed) classes(c *call) (any, error) {
	return f.walked(c, c.identity(), func(_ context.Context, v *view) (walked, error) {
		return walked{read: func(ctx context.Context, after []byte, n int) (rows, error) {
			var from *class.Place
			if number, hash, ok := parseNumbered(after); ok {
				from = &class.Place{Number: number, Class: hash}
			}
			list, next, err := class.List(ctx, v.r, class.ByDeclared, from, n)
			out := rows{more: next != nil, render: func(ctx context.Context) (any, error) { return v.classItems(ctx, list) }}
			if next != nil {
				out.after = appendNumbered(next.Number, next.Class)
			}
			return out, err
		}}, nil
	})
}

// appendNumbered is a place of a list that is in the order of a number and a felt.
func appendNumbered(n uint64, f felt.Felt) []byte {
	return append(binary.BigEndian.AppendUint64(nil, n), f[:]...)
}

func parseNumbered(b []byte) (n uint64, f felt.Felt, ok bool) {
	if len(b) != 8+felt.Size {
		return 0, f, false
	}
	return binary.BigEndian.Uint64(b), felt.Felt(b[8:]), true
}

func (v *view) classItems(ctx context.Context, list []*class.Summary) ([]classItem, error) {
	hashes, numbers := make([]felt.Felt, len(list)), []uint64{}
	for i, s := range list {
		hashes[i] = s.Hash
		if s.WasDeclared {
			numbers = append(numbers, s.Declared)
		}
	}
	facts, err := class.FactsOf(ctx, v.r, hashes)
	if err != nil {
		return nil, err
	}
	declared, err := block.ByNumber(ctx, v.r, numbers)
	if err != nil {
		return nil, err
	}
	verified, err := v.verified(ctx, hashes...)
	if err != nil {
		return nil, err
	}
	out := make([]classItem, len(list))
	for i, s := range list {
		out[i] = classItem{Hash: padded(s.Hash), classFacts: factsOf(&facts[i]), ClassAlias: v.chain.AliasesOf(nil, &s.Hash).ClassAlias, VerifiedTimestamp: verified[s.Hash]}
		if s.WasDeclared {
			out[i].CreationTimestamp = &declared[s.Declared].Timestamp
		}
	}
	return out, nil
}

// classOf finds a class by its hash.
func (v *view) classOf(ctx context.Context, hash felt.Felt) (*class.Summary, error) {
	s, found, err := class.SummaryOf(ctx, v.r, hash)
	if err == nil && !found {
		err = notFound("Class")
	}
	return &s, err
}

func (f *Feed) class(c *call) (any, error) {
	hash, err := c.pathFelt("hash")
	if err != nil {
		return nil, err
	}
	out := &classDetail{}
	return out, f.on(c, func(ctx context.Context, v *view) error {
		s, err := v.classOf(ctx, hash)
		if err != nil {
			return err
		}
		items, err := v.classItems(ctx, []*class.Summary{s})
		if err != nil {
			return err
		}
		out.classItem, out.ContractsCount = items[0], s.Instances
		if !s.WasDeclared {
			return nil
		}
		t, err := transaction.DeclareOf(ctx, v.r, s.Declared, hash)
		if t != nil {
			from, _ := t.Ends()
			out.TransactionHash, out.DeclaredBy = &t.Hash, pad(from)
		}
		return err
	})
}

// classContracts lists the contracts that have a class, those that got it last first.
func (f *Feed) classContracts(c *call) (any, error) {
	hash, err := c.pathFelt("hash")
	if err != nil {
		return nil, err
	}
	return f.walked(c, c.identity(hash.String()), func(ctx context.Context, v *view) (walked, error) {
		s, err := v.classOf(ctx, hash)
		return walked{total: &s.Instances, read: func(ctx context.Context, after []byte, n int) (rows, error) {
			var from *class.Instance
			if since, address, ok := parseNumbered(after); ok {
				from = &class.Instance{Since: since, Address: address}
			}
			list, more, err := class.InstancesOf(ctx, v.r, hash, class.ByNewest, from, n)
			out := rows{more: more, render: func(ctx context.Context) (any, error) { return v.classContracts(ctx, list) }}
			if k := len(list); k > 0 {
				out.after = appendNumbered(list[k-1].Since, list[k-1].Address)
			}
			return out, err
		}}, err
	})
}

func (v *view) classContracts(ctx context.Context, list []class.Instance) ([]classContract, error) {
	addresses := make([]felt.Felt, len(list))
	for i := range list {
		addresses[i] = list[i].Address
	}
	found, err := identity.Of(ctx, v.r, addresses)
	if err != nil {
		return nil, err
	}
	out := make([]classContract, len(list))
	for i := range found {
		a := &found[i]
		out[i] = classContract{Address: padded(a.Address), ContractAlias: v.chain.AliasesOf(&a.Address, nil).ContractAlias}
		if a.Born != nil {
			out[i].CreationTimestamp = &a.Born.Timestamp
		}
		if a.Totals != nil {
			out[i].TxnCount = a.Totals.Transactions
		}
	}
	return out, nil
}
