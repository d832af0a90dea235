package api

import (
	"context"
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

// ContractClassPage is a page of the classes that a contract had, newest first.
type ContractClassPage struct {
	ChainID         string          `json:"chainId"`
	ContractAddress felt.Felt       `json:"contractAddress"`
	Items           []ContractClass `json:"items"`
	NextCursor      *string         `json:"nextCursor"`
}

// ContractClass is a class that a contract had for a while.
type ContractClass struct {
	ClassHash felt.Felt `json:"classHash"`
	Change    string    `json:"change" enum:"deployed,replaced,genesis" doc:"How the contract got it. genesis: it was there before the first block, and the node names its class."`
	Current   bool      `json:"current"`
	FromBlock uint64    `json:"fromBlock"`
	FromISO   string    `json:"fromIso" format:"date-time"`
	ToBlock   *uint64   `json:"toBlock" doc:"The block that replaced it; null for the current one."`
	ToISO     *string   `json:"toIso" format:"date-time"`
	ClassFacts
}

// Entrypoints is what can be called of a contract at a block.
type Entrypoints struct {
	ChainID           string       `json:"chainId"`
	ContractAddress   felt.Felt    `json:"contractAddress"`
	ClassHash         felt.Felt    `json:"classHash"`
	RequestedBlockTag string       `json:"requestedBlockTag"`
	BlockTag          felt.Felt    `json:"blockTag" doc:"Hash of the block that the tag stands for."`
	BlockNumber       uint64       `json:"blockNumber"`
	FinalityStatus    string       `json:"finalityStatus" enum:"ACCEPTED_ON_L2,ACCEPTED_ON_L1"`
	External          []Entrypoint `json:"external"`
	Constructor       []Entrypoint `json:"constructor"`
	L1Handler         []Entrypoint `json:"l1Handler"`
	ABITypes          []ABIType    `json:"abiTypes"`
	ABITypesTruncated bool         `json:"abiTypesTruncated"`
}

// Entrypoint is one door of a class.
type Entrypoint struct {
	Selector        felt.Felt  `json:"selector"`
	Name            *string    `json:"name" doc:"Null when the ABI does not name it."`
	StateMutability *string    `json:"stateMutability" enum:"view,external"`
	Inputs          []ABIParam `json:"inputs"`
	Outputs         []ABIParam `json:"outputs"`
}

// ABIParam is an argument, a result, or a member of a type.
type ABIParam struct {
	Name *string `json:"name"`
	Type string  `json:"type"`
}

// ABIType is a struct or an enum that the ABI defines.
type ABIType struct {
	Name    string     `json:"name"`
	Kind    string     `json:"kind" enum:"struct,enum"`
	Members []ABIParam `json:"members"`
}

func (s *Routes) contractClassRoutes() {
	base := kernel.Route{Method: http.MethodGet, Family: "Classes", Class: kernel.Light, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment,
		Statuses: []int{http.StatusNotFound}}
	history := base
	history.ID, history.Path, history.Summary = "listContractClasses", "/v1/{chain}/contract/{address}/classes", "List a contract's classes"
	history.Description = "The classes that a contract has had, newest first, with the blocks that changed them. `limit` is {page}."
	history.Page = kernel.Page{Usual: 25, Most: 100}
	kernel.Register(s.Server, history, s.listContractClasses)

	points := base
	points.ID, points.Path, points.Summary = "getContractEntrypoints", "/v1/{chain}/contract/{address}/entrypoints", "Get a contract's entry points"
	points.Description = "What can be called of the class that the contract ended a block with. `block_tag` is `latest` (the default), a block number or a block hash. Answers 503 while the class has not been fetched from a node."
	kernel.Register(s.Server, points, s.getContractEntrypoints)
}

func (s *Routes) listContractClasses(ctx context.Context, in *struct {
	ChainInput
	Address string       `path:"address" format:"felt" maxLength:"70" doc:"Contract address."`
	Limit   kernel.Limit `query:"limit"`
	Cursor  string       `query:"cursor" doc:"nextCursor of the page before."`
}) (*body[ContractClassPage], error) {
	address, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	scope := "listContractClasses\x00" + in.Chain + "\x00" + address.String()
	out := &body[ContractClassPage]{}
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		out.Body = ContractClassPage{ChainID: c.ID, ContractAddress: address, Items: []ContractClass{}}
		var before *contract.Place
		var next *contract.Epoch // the one that replaced the first of the page
		if in.Cursor != "" {
			var err error
			if before, err = s.openEpoch(ctx, r, scope, in.Cursor); err != nil {
				return err
			}
			next = &contract.Epoch{Block: before.Block}
		}
		list, more, err := contract.Epochs(ctx, r, address, before, in.Limit.Size())
		if err != nil {
			return err
		}
		if len(list) == 0 && in.Cursor == "" {
			return kernel.Because(kernel.ReasonContractNotFound, "No indexed block has the contract %s.", address)
		}
		hashes := make([]felt.Felt, len(list))
		for i := range list {
			hashes[i] = list[i].Class
		}
		facts, err := classFacts(ctx, r, c, state, hashes)
		if err != nil {
			return err
		}
		return s.renderEpochs(ctx, r, &out.Body, scope, list, facts, next, more)
	})
	return out, err
}

func (s *Routes) renderEpochs(ctx context.Context, r explorer.Reader, out *ContractClassPage, scope string, list []contract.Epoch, facts []aboutClass, next *contract.Epoch, more bool) error {
	var numbers []uint64
	for _, e := range list {
		numbers = append(numbers, e.Block)
	}
	if next != nil {
		numbers = append(numbers, next.Block)
	}
	times, err := readStamps(ctx, r, numbers)
	if err != nil {
		return err
	}
	for i, e := range list {
		row := ContractClass{ClassHash: e.Class, Change: "replaced", Current: next == nil, FromBlock: e.Block, FromISO: times.iso(e.Block), ClassFacts: facts[i].render()}
		if e.Deployed {
			row.Change = "deployed"
		}
		if e.Origin {
			row.Change = "genesis"
		}
		if next != nil {
			at := times.iso(next.Block)
			row.ToBlock, row.ToISO = &next.Block, &at
		}
		out.Items = append(out.Items, row)
		next = &list[i]
	}
	if more {
		last := list[len(list)-1]
		out.NextCursor = s.sealAt(scope, block.Ref{Number: last.Block, Hash: times[last.Block].Hash}, []byte{boolByte(last.Deployed)})
	}
	return nil
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func (s *Routes) openEpoch(ctx context.Context, r explorer.Reader, scope, cursor string) (*contract.Place, error) {
	at, rest, err := s.openAt(ctx, r, scope, cursor, 1)
	if err != nil {
		return nil, err
	}
	return &contract.Place{Block: at.Number, Deployed: rest[0] == 1}, nil
}

func (s *Routes) getContractEntrypoints(ctx context.Context, in *struct {
	ChainInput
	Address string `path:"address" format:"felt" maxLength:"70" doc:"Contract address."`
	Tag     string `query:"block_tag" maxLength:"70" default:"latest" doc:"latest, a block number or a block hash. Pending blocks are not indexed."`
}) (*body[Entrypoints], error) {
	address, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	if in.Tag == "pending" || in.Tag == "pre_confirmed" {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "query.block_tag: %s blocks are not indexed; use latest, a number or a hash.", in.Tag)
	}
	out := &body[Entrypoints]{}
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		b, err := blockRef(ctx, r, state, "query.block_tag", in.Tag, &block.Room{})
		if err != nil {
			return err
		}
		classes, found, err := contract.ClassesAt(ctx, r, address, b.Number)
		if err != nil {
			return err
		}
		if !found {
			return kernel.Because(kernel.ReasonContractNotFound, "The contract %s did not exist at block %d.", address, b.Number)
		}
		i, found, err := class.InterfaceAt(ctx, r, classes.After)
		if err != nil {
			return err
		}
		if !found {
			return kernel.RetryLater(30, nil, "The class %s of the contract has not been fetched from a node yet.", classes.After)
		}
		out.Body = Entrypoints{
			ChainID: c.ID, ContractAddress: address, ClassHash: classes.After, RequestedBlockTag: in.Tag, BlockTag: b.Hash, BlockNumber: b.Number,
			FinalityStatus: finality(state, b.Number), External: renderDoors(i.External), Constructor: renderDoors(i.Constructors),
			L1Handler: renderDoors(i.L1Handlers), ABITypes: renderTypes(i.Types), ABITypesTruncated: i.TypesTruncated,
		}
		kernel.RequestOf(ctx).Vouch(true) // a class that is there stays as it is
		settle(ctx, c, state, b.Number, true)
		return nil
	})
	return out, err
}

func renderDoors(list []class.Door) []Entrypoint {
	out := make([]Entrypoint, len(list))
	for i := range list {
		d := &list[i]
		out[i] = Entrypoint{d.Selector, some(d.Name), nil, renderParams(d.Inputs), renderParams(d.Outputs)}
		switch d.Mutability {
		case class.View:
			out[i].StateMutability = some("view")
		case class.Changing:
			out[i].StateMutability = some("external")
		}
	}
	return out
}

func renderParams(list []abi.Param) []ABIParam {
	out := make([]ABIParam, len(list))
	for i, p := range list {
		out[i] = ABIParam{some(p.Name), p.Type}
	}
	return out
}

func renderTypes(list []abi.TypeDef) []ABIType {
	out := make([]ABIType, len(list))
	for i, t := range list {
		out[i] = ABIType{t.Name, "struct", renderParams(t.Members)}
		if t.Enum {
			out[i].Kind = "enum"
		}
	}
	return out
}

// stamps are the hashes and times of the blocks that an answer shows.
type stamps map[uint64]block.Stamp

func (s stamps) iso(number uint64) string { return kernel.TimestampISO(s[number].Timestamp) }

// readStamps reads each of the blocks once, all in one round trip.
func readStamps(ctx context.Context, r explorer.Reader, numbers []uint64) (stamps, error) {
	numbers = slices.Clone(numbers)
	slices.Sort(numbers)
	list, err := block.Stamps(ctx, r, slices.Compact(numbers))
	if err != nil {
		return nil, err
	}
	out := make(stamps, len(list))
	for _, b := range list {
		out[b.Number] = b
	}
	return out, nil
}
