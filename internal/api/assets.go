package api

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
)

const (
	defaultAssets = 25
	maxAssets     = 100
	// snapshotLife is how long after page one a snapshot can be continued.
	snapshotLife = 5 * time.Minute
)

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

func (s *Server) assetRoutes() {
	r := Route{Method: http.MethodGet, Family: "Addresses", Class: Heavy, Scope: account.Read, Tier: TierOfficial, Certification: Beta, Audience: External,
		Statuses: []int{http.StatusNotFound}, ID: "discoverAssets", Path: "/v1/{chain}/address/{address}/assets/discovery", Summary: "Find tokens that an address may hold"}
	r.Description = "Tokens with transfers from or to the address, and with `scope` discovered_plus_registry the known ones: candidates with evidence, not balances. " +
		"NFT collections are left out. Pages are of one snapshot, whose cursors expire after five minutes. `limit` is 1 to 100, 25 by default."
	register(s, r, s.discoverAssets)
}

// snapshot pins a walk over candidates to a block.
type snapshot struct {
	block  contractcall.Block
	issued time.Time
	last   *felt.Felt // the last token that was looked at
}

// candidate is a token that an address may hold.
type candidate struct {
	token felt.Felt
	seen  *uint64 // block of the newest transfer
	known *registry.Token
	meta  *token.Metadata // what it calls itself
}

func (s *Server) discoverAssets(ctx context.Context, in *struct {
	AddressInput
	Scope string `query:"scope" enum:"discovered,discovered_plus_registry" default:"discovered_plus_registry"`
}) (*body[AssetPage], error) {
	owner, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	limit := in.Limit.clamp(defaultAssets, maxAssets)
	scope := fmt.Sprintf("discoverAssets\x00%s\x00%s\x00%s", in.Chain, owner, in.Scope)
	out := &body[AssetPage]{AssetPage{SchemaVersion: "service.wallet_asset_discovery.v1", ChainID: in.Chain, OwnerAddress: owner, Scope: in.Scope, Items: []Asset{}}}
	err = s.liveView(ctx, in.Chain, func(c *Chain, r store.Reader, state *chain.State) error {
		snap := &snapshot{block: contractcall.Block{Number: state.Head.Number, Hash: state.Head.Hash}, issued: s.now()}
		if in.Cursor != "" {
			if snap, err = s.openSnapshot(ctx, r, scope, in.Cursor); err != nil {
				return err
			}
		}
		list, more, err := snap.candidates(ctx, c, r, owner, in.Scope == "discovered_plus_registry", limit)
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

// candidates lists up to limit tokens as of the snapshot's block, by falling
// address, and moves on behind them. Tokens that are known not to be fungible are
// left out, so that there may be fewer. It costs a few seeks for each.
func (p *snapshot) candidates(ctx context.Context, c *Chain, r store.Reader, owner felt.Felt, listed bool, limit int) (out []candidate, more bool, err error) {
	held, err := transfer.TokensOf(ctx, r, owner, p.last, limit+1)
	if err != nil {
		return nil, false, err
	}
	byToken := map[felt.Felt]*candidate{}
	for _, h := range held {
		seen := h.Block
		byToken[h.Token] = &candidate{token: h.Token, seen: &seen}
	}
	if listed {
		for _, t := range c.Registry.Tokens() {
			if p.last != nil && t.Address.Cmp(*p.last) >= 0 {
				continue
			}
			if byToken[t.Address] == nil {
				byToken[t.Address] = &candidate{token: t.Address}
			}
		}
	}
	var all []candidate
	for _, x := range byToken {
		all = append(all, *x)
	}
	slices.SortFunc(all, func(a, b candidate) int { return b.token.Cmp(a.token) })
	if more = len(all) > limit; more {
		all = all[:limit]
	}
	if len(all) > 0 {
		last := all[len(all)-1].token
		p.last = &last
	}
	tokens := make([]felt.Felt, len(all))
	for i := range all {
		tokens[i] = all[i].token
	}
	kinds, err := newTokenKinds(r).of(ctx, tokens)
	if err != nil {
		return nil, false, err
	}
	names, err := token.MetadataOf(ctx, r, tokens)
	if err != nil {
		return nil, false, err
	}
	for i := range all {
		x := &all[i]
		x.meta = names[i]
		if t, ok := c.Registry.Token(x.token); ok {
			x.known = &t
		}
		if x.seen != nil && *x.seen > p.block.Number {
			if err := p.pin(ctx, r, owner, x); err != nil {
				return nil, false, err
			}
		}
		if kinds[i] == transfer.ERC721 || kinds[i] == transfer.ERC1155 || x.seen == nil && (x.known == nil || !listed) {
			continue
		}
		out = append(out, *x)
	}
	return out, more, nil
}

// pin finds the newest transfer that the snapshot has, if it has one.
func (p *snapshot) pin(ctx context.Context, r store.Reader, owner felt.Felt, x *candidate) error {
	page, err := transfer.ListByPair(ctx, r, owner, x.token, transfer.Query{To: p.block.Number, Limit: 1})
	x.seen = nil
	if err == nil && len(page.Transfers) > 0 {
		x.seen = &page.Transfers[0].Block
	}
	return err
}

// snapshotSize is that of the rest of a snapshot's cursor.
const snapshotSize = 8 + felt.Size

func (s *Server) sealSnapshot(scope string, p *snapshot) *string {
	rest := binary.BigEndian.AppendUint64(nil, uint64(p.issued.UnixMicro()))
	return s.sealAt(scope, anchor{p.block.Number, p.block.Hash}, append(rest, p.last[:]...))
}

// openSnapshot reads a cursor, which ends with its snapshot: when its time is
// over, or its block is no longer part of the chain.
func (s *Server) openSnapshot(ctx context.Context, r store.Reader, scope, cursor string) (*snapshot, error) {
	at, rest, err := s.openAt(ctx, r, scope, cursor, snapshotSize)
	if err != nil {
		return nil, err
	}
	last := felt.Felt(rest[8:])
	p := &snapshot{block: contractcall.Block{Number: at.number, Hash: at.hash}, issued: time.UnixMicro(int64(binary.BigEndian.Uint64(rest))), last: &last}
	if s.now().Sub(p.issued) > snapshotLife {
		return nil, fail(CodeInvalidCursor, "The snapshot of this cursor has expired. Start again without a cursor.")
	}
	return p, nil
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

func renderAsset(x *candidate) Asset {
	out := Asset{TokenAddress: x.token, Metadata: x.metadata(), Evidence: []AssetEvidence{}}
	if x.known != nil {
		out.Evidence = append(out.Evidence, AssetEvidence{Tier: "reviewed_registry", Source: "checked_in_registry"})
	}
	if x.seen != nil {
		one := uint64(1)
		out.Evidence = append(out.Evidence, AssetEvidence{"indexed_discovery", "fungible_transfer_evidence", x.seen, &one})
	}
	return out
}

func (x *candidate) metadata() AssetMetadata {
	if t := x.known; t != nil {
		decimals := int(t.Decimals)
		return AssetMetadata{some(t.Symbol), some(t.Name), &decimals, "reviewed_registry", true, "not_assessed"}
	}
	out := AssetMetadata{Source: "unavailable", SpamStatus: "not_assessed"}
	if m := x.meta; m != nil && m.Known && (m.Symbol != nil || m.Name != nil || m.Decimals != nil) {
		out.Source, out.Symbol, out.Name = "indexed_metadata", m.Symbol, m.Name
		if m.Decimals != nil {
			decimals := int(*m.Decimals)
			out.Decimals = &decimals
		}
	}
	return out
}
