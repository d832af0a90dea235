package api

import (
	"context"
	"encoding/binary"
	"errors"
	"math/big"
	"net/http"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/census"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

const (
	defaultScreening   = 10
	warmingRetryAfter  = 15 // seconds
	censusBalanceCheck = "starknet_rpc_balanceOf"
)

// HolderSnapshot names the generation that an answer is from.
type HolderSnapshot struct {
	GenerationID  uint64    `json:"generationId"`
	AsOfBlock     uint64    `json:"asOfBlock" doc:"A finalized block: balances are those after it."`
	AsOfBlockHash felt.Felt `json:"asOfBlockHash"`
	RowDigest     string    `json:"rowDigest" doc:"SHA-256, in hex, of all rows in the order of their ranks, each as the line rank,address,balanceRaw,lastUpdatedBlock and a line feed."`
	ExpiresAt     string    `json:"expiresAt" format:"date-time" doc:"Until then cursors into this generation work."`
	UpdatedAt     string    `json:"updatedAt" format:"date-time" doc:"When the generation was published."`
	LagBlocks     uint64    `json:"lagBlocks" doc:"How far the indexed head is above asOfBlock."`
	Source        string    `json:"source" enum:"sealed_finalized_holder_generation,sealed_finalized_holder_screening_projection"`
	Freshness     string    `json:"freshness" enum:"finalized_generation,finalized_screening_generation"`
}

// HolderCompleteness says what can be claimed of the list.
type HolderCompleteness struct {
	PopulationComplete   bool   `json:"populationComplete" doc:"Every holder is there."`
	PopulationReasonCode string `json:"populationReasonCode" enum:"complete_canonical_transfer_coverage,population_coverage_unproven"`
	Exact                bool   `json:"exact"`
	Truncated            bool   `json:"truncated"`
	ReasonCode           string `json:"reasonCode" enum:"materialized_snapshot,uncertified_materialized_snapshot,certification_not_run,revoked,unavailable,audit_failed"`
}

// HolderCertification says how the list was held against the chain.
type HolderCertification struct {
	Status           string  `json:"status" enum:"certified,uncertified,revoked,stale,unavailable,audit_failed"`
	ValidatedAgainst *string `json:"validatedAgainst" enum:"starknet_rpc_balanceOf" doc:"Supply and sampled balances were asked of the contract at asOfBlockHash."`
	CheckedAt        *string `json:"checkedAt" format:"date-time"`
	ReasonCode       string  `json:"reasonCode" enum:"materialized_snapshot,certification_not_run,revoked,unavailable,audit_failed"`
	SampledBalances  uint64  `json:"sampledBalances"`
	TotalSupplyRaw   *string `json:"totalSupplyRaw" doc:"What the contract reports at asOfBlockHash."`
}

// HolderItem is a holder.
type HolderItem struct {
	Rank                    uint64    `json:"rank" doc:"From 1: by balance, most first, then by address."`
	Address                 felt.Felt `json:"address"`
	BalanceRaw              string    `json:"balanceRaw"`
	LastUpdatedBlock        uint64    `json:"lastUpdatedBlock"`
	LastUpdatedTimestampISO *string   `json:"lastUpdatedTimestampIso" format:"date-time"`
}

// HolderPage is a page of the census.
type HolderPage struct {
	ChainID               string              `json:"chainId"`
	TokenAddress          felt.Felt           `json:"tokenAddress"`
	Snapshot              HolderSnapshot      `json:"snapshot"`
	HolderCount           uint64              `json:"holderCount" doc:"0 with a null total is a withheld list, not an empty one: see certification."`
	HolderBalanceTotalRaw *string             `json:"holderBalanceTotalRaw"`
	Items                 []HolderItem        `json:"items"`
	NextCursor            *string             `json:"nextCursor"`
	Completeness          HolderCompleteness  `json:"completeness"`
	Certification         HolderCertification `json:"certification"`
	Limits                PartnerPage         `json:"limits"`
}

// Screening says what the screening is not.
type Screening struct {
	Kind               string `json:"kind" enum:"top_k_screening"`
	RequestedTopN      int    `json:"requestedTopN" doc:"The operator's policy for the token: 10, 50, 100 or 200."`
	ReturnedCount      int    `json:"returnedCount" doc:"Holders on this page."`
	PopulationComplete bool   `json:"populationComplete"`
	Exact              bool   `json:"exact"`
	ReasonCode         string `json:"reasonCode" enum:"screening_projection_not_population_proof"`
}

// ScreeningPage is a page of the largest holders.
type ScreeningPage struct {
	ChainID      string         `json:"chainId"`
	TokenAddress felt.Felt      `json:"tokenAddress"`
	Snapshot     HolderSnapshot `json:"snapshot"`
	Screening    Screening      `json:"screening"`
	Items        []HolderItem   `json:"items"`
	NextCursor   *string        `json:"nextCursor"`
	Limits       PartnerPage    `json:"limits"`
}

func (s *Routes) tokenHolderRoutes() {
	base := kernel.Route{Method: http.MethodGet, Family: "Tokens", Class: kernel.Heavy, Scope: account.Partner, Tier: kernel.TierPartner, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment | kernel.OnClock,
		Statuses: []int{http.StatusNotFound, http.StatusUnprocessableEntity}}
	list := base
	list.ID, list.Path, list.Summary = "listTokenHolders", "/v1/{chain}/token/{token}/holders", "List all holders of a token"
	list.Description = "The complete census of a token's holders: an immutable generation as of a finalized block, with ranks from 1 to holderCount. " +
		"Cursors belong to one generation and work until its expiresAt, while newer ones appear; an expired or revoked one is 400. " +
		"`certification.status` is `certified` only when no balance is impossible, all add up to the supply that the contract reports at that block's hash, and sampled balances agree. " +
		"503 with Retry-After while the first generation is built. `limit` is {page}."
	list.Page, list.Shown = kernel.Page{Usual: 25, Most: 100}, true
	kernel.Register(s.Server, list, s.listTokenHolders)
	screen := base
	screen.ID, screen.Path, screen.Summary = "screenTokenHolders", "/v1/{chain}/token/{token}/holders/screening", "List the largest holders of a token"
	screen.Description = "The largest holders of the newest generation: a bounded list for screening, and no claim to be complete."
	screen.Page = kernel.Page{Usual: 25, Most: 100}
	kernel.Register(s.Server, screen, s.screenTokenHolders)
	metrics := base
	metrics.ID, metrics.Path, metrics.Summary = "getTokenHolderAnalytics", "/v1/{chain}/token/{token}/holders/analytics", "Read how a token is spread"
	metrics.Description = "Concentration and distribution, computed from the whole newest generation in whole numbers, and growth since the generation before it."
	metrics.Shown = true
	kernel.Register(s.Server, metrics, s.getTokenHolderAnalytics)
}

// HolderInput is what the lists of holders take.
type HolderInput struct {
	ChainInput
	TokenPath
	Limit  kernel.Limit `query:"limit"`
	Cursor string       `query:"cursor" doc:"nextCursor of the page before."`
}

// generationFor finds the generation that a request is about, in the view of
// the request: the cursor's, or the newest of a token with a census.
func (s *Routes) generationFor(ctx context.Context, c *Chain, r explorer.Reader, state *chain.State, address felt.Felt, at *holderCursor) (g *census.Generation, revoked bool, err error) {
	if err := knownToken(ctx, c, r, address, state.Head.Number); err != nil {
		return nil, false, err
	}
	if t, ok := c.Registry.Token(address); !ok || !t.Census.Qualified {
		return nil, false, kernel.Fail(kernel.CodeUnqualifiedPolicy, "The token has no qualified census policy.")
	}
	g, revoked, err = census.Find(ctx, r, address, at.pinned(), s.Now())
	switch {
	case errors.Is(err, census.ErrNeverMoved):
		err = kernel.Fail(kernel.CodeNotFound, "No transfer of the token %s is indexed.", address)
	case errors.Is(err, census.ErrExpired):
		err = kernel.Fail(kernel.CodeInvalidCursor, "The cursor's generation has expired. Start again without a cursor.")
	case errors.Is(err, census.ErrRevoked):
		err = kernel.Fail(kernel.CodeInvalidCursor, "The cursor's generation was revoked. Start again without a cursor.")
	case errors.Is(err, census.ErrNotFound):
		err = kernel.RetryLater(warmingRetryAfter, nil, "The holders of this token have not been counted yet. Send the same request again later.")
	}
	return g, revoked, err
}

// holderCursor is where a page of a generation begins.
type holderCursor struct {
	census.Pin
	census.Cut
}

// pinned is the generation of a cursor; nil of none.
func (h *holderCursor) pinned() *census.Pin {
	if h == nil {
		return nil
	}
	return &h.Pin
}

func (h *holderCursor) position() []byte {
	b := binary.BigEndian.AppendUint64(nil, h.ID)
	b = binary.BigEndian.AppendUint64(append(b, h.Digest[:]...), h.Rank)
	return append(b, h.After[:]...)
}

func (s *Routes) openHolderCursor(ctx context.Context, scope, text string) (*holderCursor, error) {
	if text == "" {
		return nil, nil
	}
	b, e := s.OpenCursor(ctx, scope, text)
	if e != nil {
		return nil, e
	}
	if len(b) != 24+census.PlaceSize {
		return nil, otherVersion()
	}
	return &holderCursor{census.Pin{ID: binary.BigEndian.Uint64(b), Digest: [8]byte(b[8:16])}, census.Cut{Rank: binary.BigEndian.Uint64(b[16:]), After: census.Place(b[24:])}}, nil
}

func holderScope(operation, chain string, token felt.Felt) string {
	return operation + "\x00" + chain + "\x00" + token.String()
}

func (s *Routes) listTokenHolders(ctx context.Context, in *HolderInput) (*body[HolderPage], error) {
	token, err := kernel.FeltOf("path.token", in.Token)
	if err != nil {
		return nil, err
	}
	scope := holderScope("listTokenHolders", in.Chain, token)
	at, err := s.openHolderCursor(ctx, scope, in.Cursor)
	if err != nil {
		return nil, err
	}
	out := &body[HolderPage]{HolderPage{ChainID: in.Chain, TokenAddress: token, Items: []HolderItem{}, Limits: PartnerPage{in.Limit.Most(), "partner"}}}
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		g, revoked, err := s.generationFor(ctx, c, r, state, token, at)
		if err != nil {
			return err
		}
		out.Body.Snapshot = renderSnapshot(g, state, false)
		out.Body.Completeness, out.Body.Certification = renderClaims(g, revoked)
		if g.Withheld(revoked) {
			return nil
		}
		total := g.Total.String()
		out.Body.HolderCount, out.Body.HolderBalanceTotalRaw = g.Holders, &total
		items, next, err := holderItems(ctx, r, g, at, in.Limit.Size(), g.Holders)
		if err != nil {
			return err
		}
		out.Body.Items = items
		if next != nil {
			text := s.Seal(scope, next.position())
			out.Body.NextCursor = &text
		}
		return nil
	})
	return out, err
}

func (s *Routes) screenTokenHolders(ctx context.Context, in *HolderInput) (*body[ScreeningPage], error) {
	token, err := kernel.FeltOf("path.token", in.Token)
	if err != nil {
		return nil, err
	}
	scope := holderScope("screenTokenHolders", in.Chain, token)
	at, err := s.openHolderCursor(ctx, scope, in.Cursor)
	if err != nil {
		return nil, err
	}
	out := &body[ScreeningPage]{ScreeningPage{ChainID: in.Chain, TokenAddress: token, Limits: PartnerPage{in.Limit.Most(), "partner"}}}
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		g, revoked, err := s.generationFor(ctx, c, r, state, token, at)
		if err != nil {
			return err
		}
		if g.Withheld(revoked) {
			return kernel.RetryLater(warmingRetryAfter, nil, "No screening is published for this token at present.")
		}
		known, _ := c.Registry.Token(token)
		top := kernel.DefaultTo(known.Census.Screening, defaultScreening)
		items, next, err := holderItems(ctx, r, g, at, in.Limit.Size(), uint64(top))
		if err != nil {
			return err
		}
		out.Body.Snapshot = renderSnapshot(g, state, true)
		out.Body.Items = items
		out.Body.Screening = Screening{Kind: "top_k_screening", RequestedTopN: top, ReturnedCount: len(items), ReasonCode: "screening_projection_not_population_proof"}
		if next != nil {
			text := s.Seal(scope, next.position())
			out.Body.NextCursor = &text
		}
		return nil
	})
	return out, err
}

// holderItems reads a page of at most limit holders, none behind rank last.
func holderItems(ctx context.Context, r explorer.Reader, g *census.Generation, at *holderCursor, limit int, last uint64) ([]HolderItem, *holderCursor, error) {
	var from *census.Cut
	if at != nil {
		from = &at.Cut
	}
	rows, next, err := g.Ranked(ctx, r, from, limit, last)
	if err != nil {
		return nil, nil, err
	}
	items := make([]HolderItem, len(rows))
	for i := range rows {
		h := &rows[i]
		raw, at := h.Balance(), kernel.TimestampISO(h.Time)
		items[i] = HolderItem{h.Rank, h.Address(), new(big.Int).SetBytes(raw[:]).String(), h.LastBlock, &at}
	}
	if next == nil {
		return items, nil, nil
	}
	return items, &holderCursor{g.Pin(), *next}, nil
}

func instant(seconds uint64) string { return time.Unix(int64(seconds), 0).UTC().Format(time.RFC3339) }
