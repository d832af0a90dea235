package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/explorer/message"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/starknet"
)

const MaxCalldata = 1024

// TxItem is a transaction in the chain's feed.
type TxItem struct {
	BlockNumber     uint64     `json:"blockNumber"`
	TimestampISO    string     `json:"timestampIso" format:"date-time"`
	TxHash          felt.Felt  `json:"txHash"`
	TxIndex         uint32     `json:"txIndex"`
	TxType          string     `json:"txType" enum:"INVOKE,DECLARE,DEPLOY,DEPLOY_ACCOUNT,L1_HANDLER"`
	FromAddress     *felt.Felt `json:"fromAddress"`
	ToAddress       *felt.Felt `json:"toAddress"`
	ExecutionStatus *string    `json:"executionStatus" enum:"SUCCEEDED,REVERTED"`
	FinalityStatus  string     `json:"finalityStatus" enum:"ACCEPTED_ON_L2,ACCEPTED_ON_L1"`
}

// TxPage is a page of the feed, newest first.
type TxPage struct {
	Items      []TxItem `json:"items"`
	NextCursor *string  `json:"nextCursor"`
}

// Tx is a transaction in full.
type Tx struct {
	ChainID                string           `json:"chainId"`
	BlockNumber            uint64           `json:"blockNumber"`
	BlockHash              felt.Felt        `json:"blockHash"`
	TimestampISO           *string          `json:"timestampIso" format:"date-time"`
	TxIndex                uint32           `json:"txIndex"`
	TxHash                 felt.Felt        `json:"txHash"`
	TxCursor               string           `json:"txCursor" doc:"block:tx"`
	FromAddress            *felt.Felt       `json:"fromAddress"`
	ToAddress              *felt.Felt       `json:"toAddress"`
	ExecutionStatus        *string          `json:"executionStatus" enum:"SUCCEEDED,REVERTED"`
	FinalityStatus         *string          `json:"finalityStatus" enum:"ACCEPTED_ON_L2,ACCEPTED_ON_L1"`
	TxType                 *string          `json:"txType" enum:"INVOKE,DECLARE,DEPLOY,DEPLOY_ACCOUNT,L1_HANDLER"`
	TxVersion              felt.Felt        `json:"txVersion"`
	Nonce                  *felt.Felt       `json:"nonce"`
	RawObjectKey           string           `json:"rawObjectKey" doc:"Names the stored transaction: chain/tx/hash."`
	Receipt                *Receipt         `json:"receipt"`
	LogCount               int              `json:"logCount"`
	LogsTruncated          bool             `json:"logsTruncated"`
	EventDecodingDegraded  bool             `json:"eventDecodingDegraded"`
	Logs                   []Log            `json:"logs"`
	Calldata               []felt.Felt      `json:"calldata" doc:"At most 1,024 felts."`
	CalldataTruncated      bool             `json:"calldataTruncated"`
	AccountCallCount       *int             `json:"accountCallCount" doc:"Null when the calldata is not a list of calls."`
	AccountCalls           []AccountCall    `json:"accountCalls" doc:"What the account signed, in order; the first 500."`
	EntryPoint             *AccountCall     `json:"entryPoint" doc:"What the protocol runs when it is no list of account calls: the contract's function of an INVOKE of version 0, a handler of L1 messages, a constructor; null for others."`
	CallDecodingDegraded   bool             `json:"callDecodingDegraded" doc:"The look-up of classes failed for this answer: calls may lack names and arguments."`
	DeclaredClassHash      *felt.Felt       `json:"declaredClassHash" doc:"The class that a DECLARE declares; null for other types."`
	CompiledClassHash      *felt.Felt       `json:"compiledClassHash" doc:"What that class compiles to, by the declaration; null for Cairo 0 and for other types."`
	DeclaredL2GasCap       *string          `json:"declaredL2GasCap" doc:"Decimal; null before version 3."`
	TokenTransfers         []TxTransfer     `json:"tokenTransfers" doc:"In order; at most 1,000."`
	TokenTransfersCoverage Coverage         `json:"tokenTransfersCoverage"`
	Messages               []Message        `json:"messages"`
	MessagesCoverage       MessagesCoverage `json:"messagesCoverage"`
	BridgeIntent           *BridgeIntent    `json:"bridgeIntent"`
}

// Receipt is what a transaction cost and how it ended.
type Receipt struct {
	ExecutionStatus   *string    `json:"executionStatus" enum:"SUCCEEDED,REVERTED"`
	FinalityStatus    *string    `json:"finalityStatus" enum:"ACCEPTED_ON_L2,ACCEPTED_ON_L1"`
	GasUsed           *string    `json:"gasUsed" doc:"Decimal: L2 gas, or L1 gas where no L2 gas was charged; null when the node does not tell."`
	EffectiveGasPrice *string    `json:"effectiveGasPrice" doc:"Decimal: the block's price of that gas in the fee's unit; null where the block has none."`
	ActualFeeAmount   *felt.Felt `json:"actualFeeAmount"`
	ActualFeeUnit     *string    `json:"actualFeeUnit" enum:"WEI,FRI"`
	RevertReason      *string    `json:"revertReason" doc:"Null of a transaction that was not reverted, and where the node gives no reason."`
}

// Log is an event of a transaction.
type Log struct {
	LogIndex int `json:"logIndex"`
	EventContent
}

// Coverage says how complete a part of an answer is.
type Coverage struct {
	Status     string `json:"status" enum:"exact,partial,unavailable"`
	ReasonCode string `json:"reasonCode"`
}

func (s *Routes) transactionRoutes() {
	base := kernel.Route{Method: http.MethodGet, Family: "Transactions", Class: kernel.Light, Scope: account.Read, Tier: kernel.TierOfficial, Audience: kernel.External, Depends: kernel.OnChain}
	one := base
	one.ID, one.Path, one.Certification = "getTransaction", "/v1/{chain}/tx/{tx_hash}", kernel.Certified
	one.Depends |= kernel.OnEnrichment // classes
	one.Summary = "Get a transaction"
	one.Description = "A transaction with its receipt, events, token transfers, calldata, calls with their names and arguments, and messages. `logLimit` is {page}."
	one.Page = kernel.Page{Usual: 96, Most: 1000}
	one.Statuses = []int{http.StatusNotFound}
	kernel.Register(s.Server, one, s.getTransaction)

	feed := base
	feed.ID, feed.Path, feed.Certification = "listTransactions", "/v1/{chain}/txs", kernel.Beta
	feed.Summary = "List transactions"
	feed.Description = "The newest transactions of the chain first. `limit` is {page}. However many blocks without transactions lie between, only the last page is short."
	feed.Page = kernel.Page{Usual: 25, Most: 200}
	feed.Statuses = []int{http.StatusNotFound}
	kernel.Register(s.Server, feed, s.listTransactions)
}

func (s *Routes) listTransactions(ctx context.Context, in *struct {
	ChainInput
	Limit  kernel.Limit `query:"limit"`
	Cursor string       `query:"cursor" doc:"nextCursor of the page before."`
}) (*body[TxPage], error) {
	limit := in.Limit.Size()
	scope := "listTransactions\x00" + in.Chain
	out := &body[TxPage]{TxPage{Items: []TxItem{}}}
	err := s.view(ctx, in.Chain, func(_ *Chain, r explorer.Reader, state *chain.State) error {
		from := explorer.Position{Block: state.Head.Number + 1}
		if in.Cursor != "" {
			var err error
			if from.Block, err = s.openSpot(ctx, r, scope, in.Cursor, &from.Index); err != nil {
				return err
			}
		}
		list, next, done, err := transaction.PreviewsBefore(ctx, r, from, limit)
		if err != nil {
			return err
		}
		text := &texts{}
		out.Body.Items = make([]TxItem, len(list))
		for i, t := range list {
			out.Body.Items[i] = TxItem{t.Block, text.iso(t.BlockTime), t.Hash, t.Index, t.Type.String(), t.From, t.To, text.at(t.Execution.String()), finality(state, t.Block)}
		}
		if !done {
			b, err := block.Get(ctx, r, next.Block)
			if err != nil {
				return err
			}
			out.Body.NextCursor = s.sealSpot(scope, b.Ref(), next.Index)
		}
		return nil
	})
	return out, err
}

func (s *Routes) getTransaction(ctx context.Context, in *struct {
	ChainInput
	Hash     string       `path:"tx_hash" format:"felt" maxLength:"70" doc:"Transaction hash."`
	LogLimit kernel.Limit `query:"logLimit" doc:"How many events to return."`
}) (*body[Tx], error) {
	hash, err := kernel.FeltOf("path.tx_hash", in.Hash)
	if err != nil {
		return nil, err
	}
	room := txRooms.Get().(*txRoom)
	out := &room.out
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		p, err := transaction.PositionOf(ctx, r, hash)
		if errors.Is(err, transaction.ErrNotFound) {
			return kernel.Fail(kernel.CodeNotFound, "No indexed transaction has the hash %s.", hash)
		}
		if err != nil {
			return err
		}
		t, err := room.record.Get(ctx, r, p)
		if err != nil {
			return err
		}
		b, err := room.block.Get(ctx, r, p.Block)
		if err != nil {
			return err
		}
		limit := in.LogLimit.Size()
		out.Body = renderTx(c, state, b, t, limit, room)
		out.Body.Logs, out.Body.EventDecodingDegraded, err = s.renderLogs(ctx, r, c, state, t, limit, room)
		if err != nil {
			return err
		}
		if err := s.fillMessages(ctx, r, c, state, b, t, &out.Body); err != nil {
			return err
		}
		var certain bool
		if out.Body.TokenTransfers, out.Body.TokenTransfersCoverage, certain, err = txTransfers(ctx, r, t, room); err != nil {
			return err
		}
		called, err := s.fillCalls(ctx, r, c, state, t, &out.Body, room)
		if err != nil {
			return err
		}
		certain = certain && called
		for i := range out.Body.Logs {
			certain = certain && out.Body.Logs[i].certain()
		}
		kernel.RequestOf(ctx).Vouch(certain)
		kernel.RequestOf(ctx).VouchIndex(!out.Body.EventDecodingDegraded && !out.Body.CallDecodingDegraded)
		// The same message may be sent again, and is counted; a proof can be withdrawn, and
		// whoever keeps the answer for good would not hear of it.
		settle(ctx, c, state, p.Block, len(t.Receipt.MessagesSent) == 0 && !out.Body.tellsProofs())
		kernel.RequestOf(ctx).Lend(room)
		return nil
	})
	return out, err
}

func renderTx(c *Chain, state *chain.State, b *block.Summary, t *transaction.Record, logLimit int, room *txRoom) Tx {
	text := &room.text
	execution, final := text.at(t.Receipt.Execution.String()), text.at(finality(state, t.Block))
	room.receipt = renderReceipt(b, &t.Receipt, execution, final, text)
	out := Tx{
		ChainID: c.ID, BlockNumber: t.Block, BlockHash: b.Hash, TimestampISO: text.at(text.iso(b.Timestamp)), TxIndex: t.Index, TxHash: t.Hash, TxCursor: text.cursor(t.Position),
		ExecutionStatus: execution, FinalityStatus: final, TxType: text.at(t.Type.String()), TxVersion: t.Version,
		RawObjectKey: txObject(c, t, text), Receipt: &room.receipt,
		LogCount: len(t.Receipt.Events), LogsTruncated: len(t.Receipt.Events) > logLimit,
		Calldata: head(t.Passed(), MaxCalldata), CalldataTruncated: len(t.Passed()) > MaxCalldata,
	}
	var some bool
	if room.from, some = t.From(t.Receipt.ContractAddress); some {
		out.FromAddress = &room.from
	}
	if room.to, some = t.To(t.Receipt.ContractAddress); some {
		out.ToAddress = &room.to
	}
	if t.HasNonce {
		out.Nonce = &t.Nonce
	}
	if t.Type == starknet.Declare {
		out.DeclaredClassHash = &t.ClassHash
		if v, _ := t.PlainVersion(); v >= 2 {
			out.CompiledClassHash = &t.CompiledClassHash
		}
	}
	if t.ResourceBounds != nil {
		out.DeclaredL2GasCap = text.number(t.ResourceBounds.L2Gas.MaxAmount)
	}
	return out
}

// txObject names a stored transaction.
func txObject(c *Chain, t *transaction.Record, text *texts) string {
	var room [128]byte
	return text.keep(t.Hash.AppendHex(append(append(room[:0], c.ID...), "/tx/"...)))
}

// head returns at most n elements, and never nil.
func head[T any](list []T, n int) []T {
	if len(list) == 0 {
		return []T{}
	}
	return list[:min(n, len(list))]
}

// someOf is some for a text that stays as it is: it is pointed to, not copied.
func someOf(s *string) *string {
	if *s == "" {
		return nil
	}
	return s
}

// some is nil for an empty text: the contract says null.
func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func renderReceipt(b *block.Summary, r *starknet.Receipt, execution, final *string, text *texts) Receipt {
	out := Receipt{ExecutionStatus: execution, FinalityStatus: final, ActualFeeAmount: &r.ActualFee, ActualFeeUnit: text.at(r.FeeUnit.String())}
	if r.Execution == starknet.Reverted {
		out.RevertReason = someOf(&r.RevertReason)
	}
	gas, price := r.Resources.L2Gas, &b.L2GasPrice
	if gas == 0 {
		gas, price = r.Resources.L1Gas, &b.L1GasPrice
	}
	if gas > 0 {
		paid := &price.InWei
		if r.FeeUnit == starknet.Fri {
			paid = &price.InFri
		}
		out.GasUsed, out.EffectiveGasPrice = text.number(gas), text.price(paid)
	}
	return out
}

// renderLogs decodes and renders the first events of a transaction.
func (s *Routes) renderLogs(ctx context.Context, r explorer.Reader, c *Chain, state *chain.State, t *transaction.Record, limit int, room *txRoom) (logs []Log, degraded bool, err error) {
	shown := t.Receipt.Events[:min(len(t.Receipt.Events), limit)]
	events := slices.Grow(room.events[:0], len(shown))
	for i := range shown {
		events = append(events, decoded.EventOf(t.Block, &shown[i]))
	}
	room.events = events
	results, degraded, err := room.decoded.Decode(ctx, r, s.schemas, c.verified(state), events)
	if err != nil {
		return nil, false, err
	}
	n := 0
	for i := range results {
		n += len(results[i].Fields)
	}
	fields := room.fieldsFor(n)
	logs = slices.Grow(room.logs[:0], max(len(shown), 1)) // which is not nil
	for i := range shown {
		logs = append(logs, Log{i, renderEvent(c, &shown[i], &results[i], &fields)})
	}
	room.logs = logs
	return logs, degraded, nil
}

// fillMessages lists the messages that a transaction consumed and sent.
func (s *Routes) fillMessages(ctx context.Context, r explorer.Reader, c *Chain, state *chain.State, b *block.Summary, t *transaction.Record, out *Tx) error {
	list, err := message.OfTransaction(ctx, r, t, MaxMessages)
	if err != nil {
		return err
	}
	out.Messages = make([]Message, len(list))
	messages := make([]message.Message, len(list))
	for i := range list {
		messages[i] = list[i].Message
		out.Messages[i] = renderMessage(c, state, b, &list[i])
	}
	out.BridgeIntent = bridgeIntent(c.Registry, messages)
	out.MessagesCoverage = messagesCoverage(len(list), "All messages of the transaction are shown.", "The transaction has no messages.")
	if message.Count(&t.Transaction, &t.Receipt) > len(list) {
		out.MessagesCoverage = MessagesCoverage{"partial", "starknet_protocol_messages", "transaction_messages_truncated",
			fmt.Sprintf("The first %d messages are shown.", MaxMessages)}
	}
	return nil
}
