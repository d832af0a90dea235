package api

import (
	"context"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/preview"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/starknet"
)

const (
	defaultPreviewLogs = 64
	maxPreviewLogs     = 256
)

// TransactionPreview is a transaction in a batch.
type TransactionPreview struct {
	Known             bool        `json:"known" doc:"False when no such transaction is indexed; everything else but txHash is then null or empty."`
	ChainID           string      `json:"chainId"`
	TimestampISO      *string     `json:"timestampIso" format:"date-time"`
	BlockNumber       *uint64     `json:"blockNumber"`
	TxIndex           *uint32     `json:"txIndex"`
	TxHash            felt.Felt   `json:"txHash"`
	TxCursor          *string     `json:"txCursor" doc:"block:tx"`
	FromAddress       *felt.Felt  `json:"fromAddress"`
	ToAddress         *felt.Felt  `json:"toAddress"`
	ExecutionStatus   *string     `json:"executionStatus" enum:"SUCCEEDED,REVERTED"`
	FinalityStatus    *string     `json:"finalityStatus" enum:"ACCEPTED_ON_L2,ACCEPTED_ON_L1"`
	TxType            *string     `json:"txType" enum:"INVOKE,DECLARE,DEPLOY,DEPLOY_ACCOUNT,L1_HANDLER"`
	SignedCallTargets []felt.Felt `json:"signedCallTargets" doc:"Contracts that the sender signed calls of, each once, at most 64."`
	MainMethod
	AccountCallCount        *int           `json:"accountCallCount" doc:"Null when the calldata is not a list of calls."`
	AccountCalls            []PreviewCall  `json:"accountCalls" doc:"What the account signed, in order; the first 8. The transaction itself has their arguments."`
	TransferCount           *int           `json:"transferCount"`
	TokenTransfersTruncated *bool          `json:"tokenTransfersTruncated"`
	TokenTransfers          []TxTransfer   `json:"tokenTransfers" doc:"The first 25."`
	ExchangeCalls           []ExchangeCall `json:"exchangeCalls" doc:"Signed calls of known exchanges, at most 16; empty unless asked for."`
	ExchangeCallsTruncated  *bool          `json:"exchangeCallsTruncated"`
	HasBurnToZero           *bool          `json:"hasBurnToZero"`
	HasMintFromZero         *bool          `json:"hasMintFromZero"`
	BridgeSignalContracts   *[]felt.Felt   `json:"bridgeSignalContracts,omitempty" doc:"Known bridges that the transaction's messages are of; only with includeBridgeSignals, and of a transaction that is indexed."`
	BridgeIntent            *BridgeIntent  `json:"bridgeIntent"`
	LogCount                *int           `json:"logCount" doc:"Only with includeLogCounts."`
	LogsTruncated           *bool          `json:"logsTruncated" doc:"Only with includeLogs."`
	Logs                    *[]PreviewLog  `json:"logs,omitempty" doc:"Only with includeLogs, and of a transaction that is indexed; empty when it has none."`
}

// PreviewCall is a signed call of a previewed transaction.
type PreviewCall struct {
	To          felt.Felt `json:"to"`
	Selector    felt.Felt `json:"selector"`
	CalldataLen int       `json:"calldataLen"`
	MethodContent
	CallTimeClassHash *felt.Felt `json:"callTimeClassHash" doc:"Class of the contract when it was called; null when its class was replaced since, and when there was no contract. The transaction itself tells more."`
	Aliases
}

// ExchangeCall is a signed call of a known exchange.
type ExchangeCall struct {
	ContractAddress    felt.Felt  `json:"contractAddress"`
	CallIndex          int        `json:"callIndex"`
	EntryPointSelector *felt.Felt `json:"entryPointSelector"`
	MethodName         *string    `json:"methodName" doc:"The function; certain, because the selector is its hash."`
}

// PreviewLog is an event of a previewed transaction.
type PreviewLog struct {
	LogIndex int        `json:"logIndex"`
	Address  felt.Felt  `json:"address"`
	Topic0   *felt.Felt `json:"topic0"`
}

// TransactionPreviews has them in the order of the request.
type TransactionPreviews struct {
	Items []TransactionPreview `json:"items"`
}

// PreviewRequest is the body of a batch of previews.
type PreviewRequest struct {
	Hashes               []string `json:"hashes" format:"felt" minItems:"1" maxItems:"100" doc:"1 to 100 transaction hashes. Each is answered, in order, also when it is named twice."`
	IncludeLogs          bool     `json:"includeLogs,omitempty" default:"false"`
	IncludeLogCounts     *bool    `json:"includeLogCounts,omitempty" doc:"As includeLogs, unless given."`
	IncludeBridgeSignals *bool    `json:"includeBridgeSignals,omitempty" doc:"True, unless given."`
	IncludeExchangeCalls bool     `json:"includeExchangeCalls,omitempty" default:"false"`
	LogLimitPerTx        int      `json:"logLimitPerTx,omitempty" minimum:"1" doc:"64 unless given, at most 256."`
}

func (s *Routes) previewTransactions(ctx context.Context, in *struct {
	ChainInput
	Body PreviewRequest
}) (*body[TransactionPreviews], error) {
	hashes, err := batchFelts("hashes", in.Body.Hashes)
	if err != nil {
		return nil, err
	}
	out := &body[TransactionPreviews]{TransactionPreviews{Items: make([]TransactionPreview, len(hashes))}}
	err = s.batchView(ctx, in.Chain, func(ctx context.Context, c *Chain, r explorer.Reader, state *chain.State) error {
		list, err := s.previews(ctx, c, r, state, hashes, in.Body.IncludeExchangeCalls)
		if err != nil {
			return err
		}
		p := previewer{c: c, state: state, req: &in.Body}
		for i, hash := range hashes {
			if list[i] == nil {
				out.Body.Items[i] = TransactionPreview{ChainID: c.ID, TxHash: hash, SignedCallTargets: []felt.Felt{}, AccountCalls: []PreviewCall{}, TokenTransfers: []TxTransfer{}, ExchangeCalls: []ExchangeCall{}}
				continue
			}
			out.Body.Items[i] = p.render(list[i])
		}
		return nil
	})
	return out, err
}

// Previews are transactions in short, in order and nil for one that is not indexed, as the
// batch of previews has them. A fixed number of round trips for all of them.
func (s *Routes) Previews(ctx context.Context, c *Chain, r explorer.Reader, state *chain.State, hashes []felt.Felt) ([]*preview.Preview, error) {
	return s.previews(ctx, c, r, state, hashes, false)
}

// PreviewsOf is Previews of transactions that were read in the same view.
func (s *Routes) PreviewsOf(ctx context.Context, c *Chain, r explorer.Reader, state *chain.State, records []*transaction.Record) ([]*preview.Preview, error) {
	return preview.OfRecords(ctx, r, records, s.previewing(c, state, false))
}

func (s *Routes) previewing(c *Chain, state *chain.State, exchanges bool) preview.Options {
	return preview.Options{Known: c.Registry, Schemas: s.schemas, Verified: c.verified(state), Exchanges: exchanges}
}

func (s *Routes) previews(ctx context.Context, c *Chain, r explorer.Reader, state *chain.State, hashes []felt.Felt, exchanges bool) ([]*preview.Preview, error) {
	return preview.Of(ctx, r, hashes, s.previewing(c, state, exchanges))
}

// previewer renders the previews of a request.
type previewer struct {
	c     *Chain
	state *chain.State
	req   *PreviewRequest
	text  texts
}

func (p *previewer) render(t *preview.Preview) TransactionPreview {
	iso, execution, final, kind, cursor := kernel.TimestampISO(t.BlockTime), t.Receipt.Execution.String(), finality(p.state, t.Block), t.Type.String(), txCursor(t.Position)
	out := TransactionPreview{Known: true, ChainID: p.c.ID, TimestampISO: &iso, BlockNumber: &t.Block, TxIndex: &t.Index, TxHash: t.Hash, TxCursor: &cursor,
		ExecutionStatus: &execution, FinalityStatus: &final, TxType: &kind, SignedCallTargets: []felt.Felt{}, AccountCalls: []PreviewCall{},
		TokenTransfers: []TxTransfer{}, ExchangeCalls: []ExchangeCall{}}
	out.FromAddress, out.ToAddress = t.Ends()
	p.calls(t, &out)
	cut := t.TransferCount > len(t.Transfers)
	for i := range t.Transfers {
		out.TokenTransfers = append(out.TokenTransfers, renderTxTransfer(&t.Transfers[i], &p.text))
	}
	out.TransferCount, out.HasMintFromZero, out.HasBurnToZero, out.TokenTransfersTruncated = &t.TransferCount, &t.Minted, &t.Burnt, &cut
	if p.req.IncludeBridgeSignals == nil || *p.req.IncludeBridgeSignals {
		bridges := append([]felt.Felt{}, t.Bridges(p.c.Registry)...)
		out.BridgeSignalContracts, out.BridgeIntent = &bridges, bridgeIntent(p.c.Registry, t.Messages)
	}
	p.logs(t.Receipt.Events, &out)
	return out
}

// calls lists what the sender signed.
func (p *previewer) calls(t *preview.Preview, out *TransactionPreview) {
	out.ExchangeCallsTruncated = &t.ExchangesCut
	if len(t.Calls) > 0 {
		out.MainMethod = MainMethod{some(t.Calls[0].Name), some(string(t.Calls[0].NameSource))}
	}
	if !t.ByAccount {
		return
	}
	out.AccountCallCount = &t.CallCount
	out.SignedCallTargets = append(out.SignedCallTargets, t.Targets...)
	for i := range t.Calls {
		c := &t.Calls[i]
		out.AccountCalls = append(out.AccountCalls, PreviewCall{c.To, c.Selector, len(c.Calldata), methodContent(c.CallResult), c.ClassHash, p.c.aliases(c.To, c.ClassHash)})
	}
	for i := range t.Exchanges {
		c := &t.Exchanges[i]
		out.ExchangeCalls = append(out.ExchangeCalls, ExchangeCall{c.To, c.Index, &c.Selector, some(c.Name)})
	}
}

func (p *previewer) logs(events []starknet.Event, out *TransactionPreview) {
	counted := p.req.IncludeLogs
	if p.req.IncludeLogCounts != nil {
		counted = *p.req.IncludeLogCounts
	}
	if n := len(events); counted {
		out.LogCount = &n
	}
	if !p.req.IncludeLogs {
		return
	}
	limit := min(kernel.DefaultTo(p.req.LogLimitPerTx, defaultPreviewLogs), maxPreviewLogs)
	truncated := len(events) > limit
	logs := []PreviewLog{}
	out.LogsTruncated, out.Logs = &truncated, &logs
	for i := range events[:min(limit, len(events))] {
		log := PreviewLog{LogIndex: i, Address: events[i].From}
		if len(events[i].Keys) > 0 {
			log.Topic0 = &events[i].Keys[0]
		}
		logs = append(logs, log)
	}
}
