package api

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/asset"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// snapshotLife is how long after page one a snapshot can be continued.
const snapshotLife = 5 * time.Minute

// AssetPage is a page of tokens that an address may hold.
type AssetPage struct {
	SchemaVersion string        `json:"schemaVersion" enum:"service.wallet_asset_discovery.v1"`
	ChainID       string        `json:"chainId"`
	OwnerAddress  felt.Felt     `json:"ownerAddress"`
	Scope         string        `json:"scope" enum:"discovered,discovered_plus_registry"`
	SnapshotID    string        `json:"snapshotId" doc:"block:hash; all pages of one walk have the same."`
	Items         []Asset       `json:"items"`
	HasMore       bool          `json:"hasMore"`
	NextCursor    *string       `json:"nextCursor" doc:"Works for five minutes after page one."`
	Coverage      AssetCoverage `json:"coverage"`
}

// Asset is a token that an address may hold. It says nothing of a balance.
type Asset struct {
	TokenAddress felt.Felt       `json:"tokenAddress"`
	Evidence     []AssetEvidence `json:"evidence"`
	Metadata     AssetMetadata   `json:"metadata"`
}

// AssetEvidence is why a token is a candidate.
type AssetEvidence struct {
	Tier                    string  `json:"tier" enum:"reviewed_registry,indexed_discovery"`
	Source                  string  `json:"source" enum:"checked_in_registry,fungible_transfer_evidence"`
	LastObservedBlock       *uint64 `json:"lastObservedBlock"`
	EvidenceCountLowerBound *uint64 `json:"evidenceCountLowerBound"`
}

// AssetMetadata is what is known of a token.
type AssetMetadata struct {
	Symbol     *string `json:"symbol"`
	Name       *string `json:"name"`
	Decimals   *int    `json:"decimals"`
	Source     string  `json:"source" enum:"reviewed_registry,indexed_metadata,unavailable"`
	Trusted    bool    `json:"trusted"`
	SpamStatus string  `json:"spamStatus" enum:"not_assessed"`
}

// AssetCoverage says how complete the candidates are.
type AssetCoverage struct {
	DeclaredScope            string   `json:"declaredScope" enum:"standard_fungible_transfer_evidence,caller_explicit"`
	CompleteWithinScope      bool     `json:"completeWithinScope"`
	GloballyComplete         bool     `json:"globallyComplete" doc:"Always false: a token may move balances without events."`
	ReasonCodes              []string `json:"reasonCodes" doc:"seed_incomplete, source_truncated, tail_stale, unsupported_nonstandard"`
	CoveredThroughBlock      *uint64  `json:"coveredThroughBlock"`
	TargetThroughBlock       *uint64  `json:"targetThroughBlock" doc:"Null when no node told lately how far the chain is."`
	TailObservedThroughBlock *uint64  `json:"tailObservedThroughBlock"`
}

func (s *Routes) assetRoutes() {
	r := kernel.Route{Method: http.MethodGet, Family: "Addresses", Class: kernel.Heavy, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment | kernel.OnClock,
		Page: kernel.Page{Usual: 25, Most: 100}, Statuses: []int{http.StatusNotFound}, ID: "discoverAssets", Path: "/v1/{chain}/address/{address}/assets/discovery", Summary: "Find tokens that an address may hold"}
	r.Description = "Tokens with transfers from or to the address, and with `scope` discovered_plus_registry the known ones: candidates with evidence, not balances. " +
		"Known tokens come first. NFT collections are left out and take no room of a page. Pages are of one snapshot, whose cursors expire after five minutes. `limit` is {page}."
	kernel.Register(s.Server, r, s.discoverAssets)
}

func (s *Routes) discoverAssets(ctx context.Context, in *struct {
	AddressInput
	Scope string `query:"scope" enum:"discovered,discovered_plus_registry" default:"discovered_plus_registry"`
}) (*body[AssetPage], error) {
	owner, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	limit := in.Limit.Size()
	scope := fmt.Sprintf("discoverAssets\x00%s\x00%s\x00%s", in.Chain, owner, in.Scope)
	out := &body[AssetPage]{AssetPage{SchemaVersion: "service.wallet_asset_discovery.v1", ChainID: in.Chain, OwnerAddress: owner, Scope: in.Scope, Items: []Asset{}}}
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		snap := &snapshot{block: contractcall.Block{Number: state.Head.Number, Hash: state.Head.Hash}, issued: s.Now()}
		if in.Cursor != "" {
			if snap, err = s.openSnapshot(ctx, r, scope, in.Cursor); err != nil {
				return err
			}
		}
		list, more, err := snap.Candidates(ctx, r, asset.Query{Owner: owner, Known: c.Registry, Listed: in.Scope == "discovered_plus_registry", Block: snap.block.Number}, limit)
		if err != nil {
			return err
		}
		for i := range list {
			out.Body.Items = append(out.Body.Items, renderAsset(&list[i]))
		}
		out.Body.SnapshotID, out.Body.HasMore = fmt.Sprintf("%d:%s", snap.block.Number, snap.block.Hash), more
		out.Body.Coverage = discoveryCoverage(c, state, snap.block.Number)
		if more {
			out.Body.NextCursor = s.sealSnapshot(scope, snap)
		}
		return nil
	})
	return out, err
}

// discoveryCoverage says how far candidates go: through the whole index, which
// may lie behind the chain.
func discoveryCoverage(c *Chain, state *chain.State, through uint64) AssetCoverage {
	out := AssetCoverage{DeclaredScope: "standard_fungible_transfer_evidence", CompleteWithinScope: true, ReasonCodes: []string{"unsupported_nonstandard"},
		CoveredThroughBlock: &through, TargetThroughBlock: &through, TailObservedThroughBlock: &state.Head.Number}
	if f := c.freshness(state); !f.current() {
		out.CompleteWithinScope, out.TargetThroughBlock = false, nil
		if f.lag != nil {
			target := state.Head.Number + *f.lag
			out.TargetThroughBlock = &target
		}
		out.ReasonCodes = append(out.ReasonCodes, "tail_stale")
	}
	return out
}

func renderAsset(x *asset.Candidate) Asset {
	out := Asset{TokenAddress: x.Token, Metadata: assetMetadata(x), Evidence: []AssetEvidence{}}
	if x.Known != nil {
		out.Evidence = append(out.Evidence, AssetEvidence{Tier: "reviewed_registry", Source: "checked_in_registry"})
	}
	if x.Seen != nil {
		one := uint64(1)
		out.Evidence = append(out.Evidence, AssetEvidence{"indexed_discovery", "fungible_transfer_evidence", x.Seen, &one})
	}
	return out
}

func assetMetadata(x *asset.Candidate) AssetMetadata {
	if t := x.Known; t != nil {
		decimals := int(t.Decimals)
		return AssetMetadata{some(t.Symbol), some(t.Name), &decimals, "reviewed_registry", true, "not_assessed"}
	}
	out := AssetMetadata{Source: "unavailable", SpamStatus: "not_assessed"}
	if m := x.Meta; m != nil && m.Known && (m.Symbol != nil || m.Name != nil || m.Decimals != nil) {
		out.Source, out.Symbol, out.Name = "indexed_metadata", m.Symbol, m.Name
		if m.Decimals != nil {
			decimals := int(*m.Decimals)
			out.Decimals = &decimals
		}
	}
	return out
}

// snapshot pins a walk over candidates to a block.
type snapshot struct {
	block  contractcall.Block
	issued time.Time
	asset.Place
}

// snapshotSize is that of the rest of a snapshot's cursor: when it was issued, the
// leg, and the last token, zero for none.
const snapshotSize = 8 + 1 + felt.Size

func (s *Routes) sealSnapshot(scope string, p *snapshot) *string {
	rest := binary.BigEndian.AppendUint64(nil, uint64(p.issued.UnixMicro()))
	var leg byte
	if p.Others {
		leg = 1
	}
	var last felt.Felt
	if p.Last != nil {
		last = *p.Last
	}
	return s.sealAt(scope, block.Ref(p.block), append(append(rest, leg), last[:]...))
}

// openSnapshot reads a cursor, which ends with its snapshot: when its time is
// over, or its block is no longer part of the chain.
func (s *Routes) openSnapshot(ctx context.Context, r explorer.Reader, scope, cursor string) (*snapshot, error) {
	at, rest, err := s.openAt(ctx, r, scope, cursor, snapshotSize)
	if err != nil {
		return nil, err
	}
	p := &snapshot{block: contractcall.Block{Number: at.Number, Hash: at.Hash}, issued: time.UnixMicro(int64(binary.BigEndian.Uint64(rest))), Place: asset.Place{Others: rest[8] == 1}}
	if last := felt.Felt(rest[9:]); !last.IsZero() {
		p.Last = &last
	}
	if s.Now().Sub(p.issued) > snapshotLife {
		return nil, kernel.Fail(kernel.CodeInvalidCursor, "The snapshot of this cursor has expired. Start again without a cursor.")
	}
	return p, nil
}
