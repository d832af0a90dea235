package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/identity"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

const (
	// MaxAddresses bounds a batch of addresses, maxHashes one of transactions.
	MaxAddresses = 128
	MaxHashes    = 100
	// batchTime bounds the store's work for a batch, batchRetryAfter is the hint
	// when it was not enough, in seconds.
	batchTime       = 3 * time.Second
	batchRetryAfter = 2
	batchBody       = 32 << 10
)

// AddressSummaries are summaries in the order of the request.
type AddressSummaries struct {
	Items []AddressSummary `json:"items"`
}

// AddressBatch names addresses.
type AddressBatch struct {
	ChainInput
	Body struct {
		Addresses []string `json:"addresses" format:"felt" minItems:"1" maxItems:"128" doc:"1 to 128 addresses. Each is answered, in order, also when it is named twice."`
	}
}

func (s *Routes) batchRoutes() {
	base := kernel.Route{Method: http.MethodPost, Class: kernel.Batch, Scope: account.Batch, Tier: kernel.TierUtility, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment,
		Statuses: []int{http.StatusNotFound}, MaxBody: batchBody, Family: "Batches"}
	summaries := base
	summaries.ID, summaries.Path, summaries.Summary = "summarizeAddresses", "/v1/{chain}/address/summaries", "Summarize many addresses"
	summaries.Description = "Summaries of up to 128 addresses, in the order of the request; one named twice is answered twice. Indexed only. " +
		"When the bounded query runs out of time the answer is 503 with Retry-After 2: send fewer."
	summaries.ExampleBody = func(kernel.Examples) string { return `{"addresses":["` + FeeToken + `"]}` }
	kernel.Register(s.Server, summaries, s.summarizeAddresses)
	intelligence := base
	intelligence.ID, intelligence.Path, intelligence.Summary = "describeAddresses", "/v1/{chain}/address/intelligence", "Describe many addresses"
	intelligence.Description = "Labels, kinds and whether funds were received, of up to 128 addresses, in the order of the request; one named twice is answered twice. " +
		"When the bounded query runs out of time the answer is 503 with Retry-After 2: send fewer."
	intelligence.ExampleBody = summaries.ExampleBody
	kernel.Register(s.Server, intelligence, s.describeAddresses)
	previews := base
	previews.ID, previews.Path, previews.Summary = "previewTransactions", "/v1/{chain}/tx/previews", "Preview many transactions"
	previews.Description = "Previews of up to 100 transactions, in the order of the request; one named twice is answered twice, and one that is not indexed has `known` false. " +
		"When the bounded query runs out of time the answer is 503 with Retry-After 2: send fewer."
	previews.ExampleBody = func(e kernel.Examples) string { return `{"hashes":["` + e.Tx + `"]}` }
	kernel.Register(s.Server, previews, s.previewTransactions)
}

// batchView is view with the time of a batch.
func (s *Routes) batchView(ctx context.Context, id string, fn func(ctx context.Context, c *Chain, r explorer.Reader, state *chain.State) error) error {
	bounded, cancel := context.WithTimeout(ctx, s.batchTime)
	defer cancel()
	err := s.view(bounded, id, func(c *Chain, r explorer.Reader, state *chain.State) error { return fn(bounded, c, r, state) })
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return kernel.RetryLater(batchRetryAfter, err, "The batch ran out of time; send fewer at a time.")
	}
	return err
}

// batchFelts reads the list of a batch.
func batchFelts(name string, texts []string) ([]felt.Felt, error) {
	out := make([]felt.Felt, len(texts))
	for i, text := range texts {
		f, err := kernel.FeltOf(fmt.Sprintf("body.%s[%d]", name, i), text)
		if err != nil {
			return nil, err
		}
		out[i] = f
	}
	return out, nil
}

func (s *Routes) summarizeAddresses(ctx context.Context, in *AddressBatch) (*body[AddressSummaries], error) {
	addresses, err := batchFelts("addresses", in.Body.Addresses)
	if err != nil {
		return nil, err
	}
	out := &body[AddressSummaries]{AddressSummaries{Items: make([]AddressSummary, len(addresses))}}
	err = s.batchView(ctx, in.Chain, func(ctx context.Context, c *Chain, r explorer.Reader, state *chain.State) error {
		found, err := identity.Of(ctx, r, addresses)
		if err != nil {
			return err
		}
		final, err := state.Finalized(ctx, r, c.Depth)
		if err != nil {
			return err
		}
		for i := range found {
			out.Body.Items[i] = renderSummary(ctx, c, final, &found[i])
		}
		return nil
	})
	return out, err
}
