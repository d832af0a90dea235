package api

import (
	"context"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/explorer/message"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/starknet"
)

const (
	MaxPreviewTransfers = 25
	MaxExchangeCalls    = 16
	defaultPreviewLogs  = 64
	maxPreviewLogs      = 256
	maxSignedTargets    = 64
	maxPreviewCalls     = 8
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
		records, err := transactionsOf(ctx, r, hashes)
		if err != nil {
			return err
		}
		p := previewer{c: c, state: state, req: &in.Body}
		if p.kinds, err = previewKinds(ctx, r, records); err != nil {
			return err
		}
		if err := p.readCalls(ctx, s, r, records); err != nil {
			return err
		}
		for i, hash := range hashes {
			if records[i] == nil {
				out.Body.Items[i] = TransactionPreview{ChainID: c.ID, TxHash: hash, SignedCallTargets: []felt.Felt{}, AccountCalls: []PreviewCall{}, TokenTransfers: []TxTransfer{}, ExchangeCalls: []ExchangeCall{}}
				continue
			}
			out.Body.Items[i] = p.render(records[i])
		}
		return nil
	})
	return out, err
}

// transactionsOf reads transactions by hash, nil for one that is not indexed,
// in two round trips, however many there are.
func transactionsOf(ctx context.Context, r explorer.Reader, hashes []felt.Felt) ([]*transaction.Record, error) {
	found, err := transaction.PositionsOf(ctx, r, hashes)
	if err != nil {
		return nil, err
	}
	var positions []explorer.Position
	at := map[explorer.Position]int{}
	for _, p := range found {
		if p == nil {
			continue
		}
		if _, twice := at[*p]; !twice {
			at[*p] = len(positions)
			positions = append(positions, *p)
		}
	}
	out := make([]*transaction.Record, len(hashes))
	records, err := transaction.GetMany(ctx, r, positions)
	if err != nil {
		return nil, err
	}
	for i, p := range found {
		if p != nil {
			out[i] = records[at[*p]]
		}
	}
	return out, nil
}

// previewKinds asks for the standards of all tokens at once.
func previewKinds(ctx context.Context, r explorer.Reader, records []*transaction.Record) (map[felt.Felt]transfer.Standard, error) {
	var tokens []felt.Felt
	for _, t := range records {
		if t == nil {
			continue
		}
		for _, x := range transfer.Of(t.Receipt.Events) {
			tokens = append(tokens, x.Token)
		}
	}
	k := token.NewKindMemo(r)
	_, err := k.Of(ctx, tokens)
	return k.Known, err
}

type previewer struct {
	c     *Chain
	state *chain.State
	req   *PreviewRequest
	kinds map[felt.Felt]transfer.Standard
	named map[calledAt]*decoded.CallResult
}

// calledAt names a call: the one with an index of a transaction.
type calledAt struct {
	explorer.Position
	call int
}

func (p *previewer) render(t *transaction.Record) TransactionPreview {
	iso, execution, final, kind, cursor := kernel.TimestampISO(t.BlockTime), t.Receipt.Execution.String(), finality(p.state, t.Block), t.Type.String(), txCursor(t.Position)
	out := TransactionPreview{Known: true, ChainID: p.c.ID, TimestampISO: &iso, BlockNumber: &t.Block, TxIndex: &t.Index, TxHash: t.Hash, TxCursor: &cursor,
		ExecutionStatus: &execution, FinalityStatus: &final, TxType: &kind, SignedCallTargets: []felt.Felt{}, AccountCalls: []PreviewCall{},
		TokenTransfers: []TxTransfer{}, ExchangeCalls: []ExchangeCall{}}
	out.FromAddress, out.ToAddress = t.Ends()
	p.calls(t, &out)
	count, minted, burnt, cut := 0, false, false, false
	for _, x := range transfer.Of(t.Receipt.Events) {
		minted, burnt = minted || x.From.IsZero(), burnt || x.To.IsZero()
		if count++; count > MaxPreviewTransfers {
			cut = true
			continue
		}
		x.Transfer = x.As(p.kinds[x.Token])
		out.TokenTransfers = append(out.TokenTransfers, renderTxTransfer(&x))
	}
	out.TransferCount, out.HasMintFromZero, out.HasBurnToZero, out.TokenTransfersTruncated = &count, &minted, &burnt, &cut
	if p.req.IncludeBridgeSignals == nil || *p.req.IncludeBridgeSignals {
		p.bridges(t, &out)
	}
	p.logs(t.Receipt.Events, &out)
	return out
}

// bridges names the known bridges that the transaction's messages are of.
func (p *previewer) bridges(t *transaction.Record, out *TransactionPreview) {
	var list []message.Loaded
	bridges := []felt.Felt{}
	out.BridgeSignalContracts = &bridges
	for i := range message.Count(&t.Transaction, &t.Receipt) {
		m := message.Of(&t.Transaction, &t.Receipt, i)
		list = append(list, message.Loaded{Message: m})
		if b, ok := bridgeOf(p.c.Registry, &m); ok && !slices.Contains(bridges, b.L2) {
			bridges = append(bridges, b.L2)
		}
	}
	out.BridgeIntent = bridgeIntent(p.c.Registry, list)
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
