package api

import (
	"context"
	"encoding/binary"
	"net/http"
	"slices"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// ClassItem is a class of the directory.
type ClassItem struct {
	ClassHash     felt.Felt `json:"classHash"`
	ClassKind     *string   `json:"classKind" enum:"sierra,cairo0" doc:"Null while the class has neither been declared nor fetched."`
	OriginBlock   uint64    `json:"originBlock" doc:"First block that names the class."`
	OriginAtISO   string    `json:"originAtIso" format:"date-time"`
	DeclaredBlock *uint64   `json:"declaredBlock" doc:"First block that declared it; null for classes that came with their contracts."`
	DeclaredAtISO *string   `json:"declaredAtIso" format:"date-time"`
	InstanceCount *uint64   `json:"instanceCount" doc:"Contracts that have the class now, as blocks tell: exact, but for contracts that were there before the first block. Null for a class that only those have."`
	EverCount     *uint64   `json:"everInstanceCount" doc:"How often a block gave a contract the class. Null as instanceCount is."`
	ClassFacts
}

// ClassFacts is what was fetched of a class and what speaks for it.
type ClassFacts struct {
	ABIStatus string  `json:"abiStatus" enum:"fetched,missing,unparsable,without_abi,unverified" doc:"What is there of the ABI. What an unverified class was served with does not have its hash and is not used."`
	IsAccount *bool   `json:"isAccount" doc:"The class executes and validates; null while it is not fetched."`
	IsProxy   *bool   `json:"isProxy" doc:"The class has an entry point for whatever it does not define."`
	TokenKind *string `json:"tokenKind" enum:"erc20,erc721,erc1155" doc:"By the entry points, if exactly one standard fits."`
	SourceFacts
}

// ClassPage is a page of the directory.
type ClassPage struct {
	Items      []ClassItem `json:"items"`
	NextCursor *string     `json:"nextCursor"`
}

// ClassDetail is a class and the contracts that have it.
type ClassDetail struct {
	ChainID           string     `json:"chainId"`
	CompiledClassHash *felt.Felt `json:"compiledClassHash" doc:"As first declared; null for Cairo 0."`
	ClassItem
	Instances InstancePage `json:"instances"`
}

// InstancePage is a page of the contracts of a class.
type InstancePage struct {
	Items      []ClassInstance `json:"items"`
	NextCursor *string         `json:"nextCursor"`
}

// ClassInstance is a contract that has a class.
type ClassInstance struct {
	ContractAddress felt.Felt `json:"contractAddress"`
	SinceBlock      uint64    `json:"sinceBlock" doc:"The block that gave it the class."`
	SinceISO        string    `json:"sinceIso" format:"date-time"`
}

func (s *Routes) classRoutes() {
	base := kernel.Route{Method: http.MethodGet, Family: "Classes", Class: kernel.Light, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment,
		Statuses: []int{http.StatusNotFound}}
	list := base
	list.ID, list.Path, list.Summary = "listClasses", "/v1/{chain}/classes", "List classes"
	list.Description = "Every class that a block named. `sort` is `instances_desc` (most contracts first, the default), `declared_at_desc` (newest declaration first, undeclared ones last) or `origin_asc` (first named first). `limit` is {page}. A class whose count changes between two pages of `instances_desc` may be seen twice, or not at all."
	list.Page = kernel.Page{Usual: 50, Most: 100}
	kernel.Register(s.Server, list, s.listClasses)

	one := base
	one.ID, one.Path, one.Summary = "getClass", "/v1/{chain}/class/{class_hash}", "Get a class"
	one.Description = "A class, and a page of the contracts that have it now. `instanceSort` is `address_asc` (the default) or `newest_desc`; `instanceLimit` is {page}."
	one.Page = kernel.Page{Usual: 25, Most: 100}
	kernel.Register(s.Server, one, s.getClass)
	s.contractClassRoutes()
}

func (s *Routes) listClasses(ctx context.Context, in *struct {
	ChainInput
	Sort   string       `query:"sort" enum:"instances_desc,declared_at_desc,origin_asc" default:"instances_desc"`
	Limit  kernel.Limit `query:"limit"`
	Cursor string       `query:"cursor" doc:"nextCursor of the page before."`
}) (*body[ClassPage], error) {
	order := map[string]class.Sort{"instances_desc": class.ByInstances, "declared_at_desc": class.ByDeclared, "origin_asc": class.ByOrigin}[in.Sort]
	scope := "listClasses\x00" + in.Chain + "\x00" + in.Sort
	out := &body[ClassPage]{ClassPage{Items: []ClassItem{}}}
	err := s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		var after *class.Place
		if in.Cursor != "" {
			hash, number, err := s.openEntry(ctx, r, scope, in.Cursor)
			if err != nil {
				return err
			}
			after = &class.Place{Number: number, Class: hash}
		}
		page, next, err := class.List(ctx, r, order, after, in.Limit.Size())
		if err != nil {
			return err
		}
		var times stamps
		if out.Body.Items, times, err = s.renderClasses(ctx, r, c, state, page); err != nil || next == nil {
			return err
		}
		var at block.Ref
		switch last := page[len(page)-1]; {
		case order == class.ByDeclared && last.WasDeclared:
			at = block.Ref{Number: last.Declared, Hash: times[last.Declared].Hash}
		case order == class.ByOrigin:
			at = block.Ref{Number: last.Origin, Hash: times[last.Origin].Hash}
		}
		out.Body.NextCursor = s.sealEntry(scope, at, next.Class, next.Number)
		return nil
	})
	return out, err
}

// entrySize is that of the rest of a cursor of classes or contracts: a felt, and the
// number that the list is ordered by.
const entrySize = felt.Size + 8

func (s *Routes) sealEntry(scope string, at block.Ref, f felt.Felt, number uint64) *string {
	return s.sealAt(scope, at, binary.BigEndian.AppendUint64(f[:], number))
}

func (s *Routes) openEntry(ctx context.Context, r explorer.Reader, scope, cursor string) (f felt.Felt, number uint64, err error) {
	_, rest, err := s.openAt(ctx, r, scope, cursor, entrySize)
	if err != nil {
		return f, 0, err
	}
	return felt.Felt(rest[:felt.Size]), binary.BigEndian.Uint64(rest[felt.Size:]), nil
}

// renderClasses joins what blocks tell of classes with what was fetched and what was
// proven. Two round trips, however many classes, and one more where proofs are new.
func (s *Routes) renderClasses(ctx context.Context, r explorer.Reader, c *Chain, state *chain.State, list []*class.Summary) ([]ClassItem, stamps, error) {
	var numbers []uint64
	hashes := make([]felt.Felt, len(list))
	for i, k := range list {
		hashes[i] = k.Hash
		numbers = append(numbers, k.Origin)
		if k.WasDeclared {
			numbers = append(numbers, k.Declared)
		}
	}
	times, err := readStamps(ctx, r, numbers)
	if err != nil {
		return nil, nil, err
	}
	facts, err := classFacts(ctx, r, c, state, hashes)
	if err != nil {
		return nil, nil, err
	}
	out := make([]ClassItem, len(list))
	for i, k := range list {
		out[i] = ClassItem{ClassHash: k.Hash, OriginBlock: k.Origin, OriginAtISO: times.iso(k.Origin), InstanceCount: &k.Instances, EverCount: &k.Ever,
			ClassFacts: facts[i].render()}
		kind := k.Kind
		if kind == class.KindUnknown {
			kind = facts[i].Kind
		}
		if kind != class.KindUnknown {
			out[i].ClassKind = some(kind.String())
		}
		if k.WasDeclared {
			at := times.iso(k.Declared)
			out[i].DeclaredBlock, out[i].DeclaredAtISO = &k.Declared, &at
		}
	}
	return out, times, nil
}

// aboutClass is what was fetched of a class, and what was proven.
type aboutClass struct {
	class.Facts
	source SourceFacts
}

// classFacts reads what there is of classes. An answer about one that is yet to come is
// not kept.
func classFacts(ctx context.Context, r explorer.Reader, c *Chain, state *chain.State, hashes []felt.Felt) ([]aboutClass, error) {
	facts, err := class.FactsOf(ctx, r, hashes)
	if err != nil {
		return nil, err
	}
	kernel.RequestOf(ctx).Vouch(!slices.ContainsFunc(facts, func(f class.Facts) bool { return !f.Settled }))
	proven, err := c.Proofs.At(state).Of(ctx, r, hashes)
	if err != nil {
		return nil, err
	}
	out := make([]aboutClass, len(facts))
	for i, f := range facts {
		out[i] = aboutClass{f, sourceFacts(proven, hashes[i], f.Status == class.Ready)}
	}
	return out, nil
}

func (f *aboutClass) render() ClassFacts {
	out := ClassFacts{ABIStatus: f.Status.String(), SourceFacts: f.source}
	if !f.Settled {
		return out
	}
	out.IsAccount, out.IsProxy = &f.Account, &f.Proxy
	out.TokenKind = some(map[abi.Emitter]string{abi.EmitterERC20: "erc20", abi.EmitterERC721: "erc721", abi.EmitterERC1155: "erc1155"}[f.Token])
	return out
}

func (s *Routes) getClass(ctx context.Context, in *struct {
	ChainInput
	Hash   string       `path:"class_hash" format:"felt" maxLength:"70" doc:"Class hash."`
	Sort   string       `query:"instanceSort" enum:"address_asc,newest_desc" default:"address_asc"`
	Limit  kernel.Limit `query:"instanceLimit"`
	Cursor string       `query:"instanceCursor" doc:"instances.nextCursor of the page before."`
}) (*body[ClassDetail], error) {
	hash, err := kernel.FeltOf("path.class_hash", in.Hash)
	if err != nil {
		return nil, err
	}
	out := &body[ClassDetail]{}
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		summary, found, err := class.SummaryOf(ctx, r, hash)
		if err != nil {
			return err
		}
		summary.Hash = hash
		items, _, err := s.renderClasses(ctx, r, c, state, []*class.Summary{&summary})
		if err != nil {
			return err
		}
		if !found {
			// Contracts from before the first block have classes that no block names. That
			// a class was fetched says nothing: the block that led to it may have been forked away.
			first, err := contract.OriginHasClass(ctx, r, hash)
			if err != nil {
				return err
			}
			if !first {
				return kernel.Fail(kernel.CodeNotFound, "No indexed block names the class %s.", hash)
			}
			items[0].InstanceCount, items[0].EverCount = nil, nil
		}
		out.Body = ClassDetail{ChainID: c.ID, ClassItem: items[0]}
		if summary.Kind == class.Sierra {
			d, _, err := class.Declared(ctx, r, hash)
			if err != nil {
				return err
			}
			out.Body.CompiledClassHash = &d.Compiled
		}
		order := class.ByAddress
		if in.Sort == "newest_desc" {
			order = class.ByNewest
		}
		scope := "getClass\x00" + in.Chain + "\x00" + hash.String() + "\x00" + in.Sort
		out.Body.Instances, err = s.instances(ctx, r, hash, order, scope, in.Cursor, in.Limit.Size())
		return err
	})
	return out, err
}

func (s *Routes) instances(ctx context.Context, r explorer.Reader, hash felt.Felt, order class.InstanceSort, scope, cursor string, limit int) (InstancePage, error) {
	out := InstancePage{Items: []ClassInstance{}}
	var after *class.Instance
	if cursor != "" {
		address, number, err := s.openEntry(ctx, r, scope, cursor)
		if err != nil {
			return out, err
		}
		after = &class.Instance{Address: address, Since: number}
	}
	list, more, err := class.InstancesOf(ctx, r, hash, order, after, limit)
	if err != nil {
		return out, err
	}
	numbers := make([]uint64, len(list))
	for i := range list {
		numbers[i] = list[i].Since
	}
	times, err := readStamps(ctx, r, numbers)
	if err != nil {
		return out, err
	}
	for _, in := range list {
		out.Items = append(out.Items, ClassInstance{in.Address, in.Since, times.iso(in.Since)})
	}
	if more {
		last := list[len(list)-1]
		var at block.Ref
		if order == class.ByNewest {
			at = block.Ref{Number: last.Since, Hash: times[last.Since].Hash}
		}
		out.NextCursor = s.sealEntry(scope, at, last.Address, last.Since)
	}
	return out, nil
}
