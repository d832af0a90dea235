package api

import (
	"context"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/explorer/privacypool"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// PrivacyEventName is the name of a pool's event, one of those that are known.
type PrivacyEventName string

// Schema lists the names, so that another is refused.
func (PrivacyEventName) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, name := range privacypool.Names() {
		s.Enum = append(s.Enum, name)
	}
	return s
}

// PrivacyEventPage is a page of pools' events.
type PrivacyEventPage struct {
	Items      []PrivacyEvent `json:"items"`
	NextCursor *string        `json:"nextCursor"`
}

// PrivacyEvent is an event of a pool.
type PrivacyEvent struct {
	BlockNumber     uint64      `json:"blockNumber"`
	TimestampISO    *string     `json:"timestampIso" format:"date-time"`
	TxIndex         uint32      `json:"txIndex"`
	LogIndex        uint32      `json:"logIndex" doc:"The event's index in its transaction."`
	TxHash          felt.Felt   `json:"txHash"`
	ContractAddress felt.Felt   `json:"contractAddress" doc:"The pool."`
	ClassHash       *felt.Felt  `json:"classHash" doc:"The pool's class in force at the event; null when the block replaced it and does not tell where."`
	Topic0          *felt.Felt  `json:"topic0"`
	EventName       string      `json:"eventName" doc:"In snake_case; protocol_event when the selector is not known."`
	EventGroup      *string     `json:"eventGroup" enum:"value_in,value_out,commitment,nullifier,registration,interaction,config,governance" doc:"Null when the selector is not known."`
	DecodingStatus  string      `json:"decodingStatus" enum:"decoded,name_only,unknown" doc:"decoded when the layout of the pool's class in force used the event up exactly. Otherwise what was not read is null."`
	Key1            *felt.Felt  `json:"key1" doc:"Of keys; null when there is none."`
	Key2            *felt.Felt  `json:"key2" doc:"Of keys; null when there is none."`
	Data0           *felt.Felt  `json:"data0" doc:"Of data; null when there is none."`
	Data1           *felt.Felt  `json:"data1" doc:"Of data; null when there is none."`
	Data2           *felt.Felt  `json:"data2" doc:"Of data; null when there is none."`
	Keys            []felt.Felt `json:"keys" doc:"All keys: evidence, whatever was decoded."`
	Data            []felt.Felt `json:"data" doc:"All data: evidence, whatever was decoded."`

	PublicFields PrivacyFields `json:"publicFields" doc:"What the event says in public; what it does not say, or what was not read, is null."`
	HiddenFields []string      `json:"hiddenFields" doc:"What an event of this name leaves out by design."`
	PrivacyFees  []PrivacyFee  `json:"privacyFees" nullable:"true" doc:"Transfers of the fee in force to the collector in force that paid for the transaction's calls of pools: the same on all events of a transaction. Empty when there are none; null when a setting in force, or the class, is not known."`
	RowTier
}

// PrivacyFields is what an event says in public. What it does not say is null.
type PrivacyFields struct {
	Visibility       string        `json:"visibility" enum:"public,partial,hidden_by_design" doc:"How much of what happened an event of this name tells."`
	ActorAddress     *felt.Felt    `json:"actorAddress" doc:"Who deposited, registered, paused, or gave a role."`
	ToAddress        *felt.Felt    `json:"toAddress" doc:"Who was paid, or was given a role."`
	Token            *PrivacyToken `json:"token"`
	AmountRaw        *string       `json:"amountRaw" doc:"Decimal, in base units; of fee_amount_set the new fee."`
	NoteID           *felt.Felt    `json:"noteId"`
	Nullifier        *felt.Felt    `json:"nullifier"`
	AuditorPublicKey *felt.Felt    `json:"auditorPublicKey" doc:"What the event hides is encrypted for this key."`
	PublicViewingKey *felt.Felt    `json:"publicViewingKey"`
	TargetAddress    *felt.Felt    `json:"targetAddress" doc:"The contract that was called, or that a setting is about."`
	TargetSelector   *felt.Felt    `json:"targetSelector"`
	ConfigValue      *felt.Felt    `json:"configValue" doc:"The new setting, the role, or the class."`
}

// PrivacyFee is a transfer that paid for a call of a pool.
type PrivacyFee struct {
	TokenAddress                  felt.Felt `json:"tokenAddress"`
	AmountRaw                     string    `json:"amountRaw" doc:"Decimal, in base units."`
	CollectorAddress              felt.Felt `json:"collectorAddress"`
	TransferLogIndex              uint32    `json:"transferLogIndex" doc:"The Transfer event's index in the transaction."`
	TransferIndex                 uint32    `json:"transferIndex" doc:"The transfer's index in its event."`
	FeeCollectorConfigBlockNumber uint64    `json:"feeCollectorConfigBlockNumber" doc:"Where the collector in force was set."`
	FeeCollectorConfigTxIndex     uint32    `json:"feeCollectorConfigTxIndex" doc:"Of that setting's transaction in its block."`
	FeeCollectorConfigLogIndex    uint32    `json:"feeCollectorConfigLogIndex" doc:"Of that setting's event in its transaction."`
	FeeAmountConfigBlockNumber    uint64    `json:"feeAmountConfigBlockNumber" doc:"Where the fee in force was set."`
	FeeAmountConfigTxIndex        uint32    `json:"feeAmountConfigTxIndex" doc:"Of that setting's transaction in its block."`
	FeeAmountConfigLogIndex       uint32    `json:"feeAmountConfigLogIndex" doc:"Of that setting's event in its transaction."`
}

// hiddenFields is what events leave out by design.
var hiddenFields = map[privacypool.Kind][]string{
	privacypool.Deposit:           {"fundedNotes"},
	privacypool.OpenNoteDeposited: {"noteOwner"},
	privacypool.Withdrawal:        {"withdrawingAddress", "spentNotes"},
	privacypool.OpenNoteCreated:   {"recipientAddress"},
	privacypool.EncNoteCreated:    {"token", "amount", "sender", "recipient"},
	privacypool.NoteUsed:          {"note", "token", "amount", "owner"},
	privacypool.ViewingKeySet:     {"privateViewingKey"},
}

func (s *Routes) listPrivacyEvents(ctx context.Context, in *struct {
	ChainInput
	Event  PrivacyEventName `query:"event" doc:"Only events of this name, which their selector tells. The only filter."`
	Limit  kernel.Limit     `query:"limit"`
	Cursor string           `query:"cursor" doc:"nextCursor of the page before, with the same filter."`
}) (*body[PrivacyEventPage], error) {
	out := &body[PrivacyEventPage]{PrivacyEventPage{Items: []PrivacyEvent{}}}
	q := &privacyList{operation: "listPrivacyPoolEvents", input: &PrivacyListInput{ChainInput: in.ChainInput, Limit: in.Limit, Cursor: in.Cursor}, filter: string(in.Event)}
	if in.Event != "" {
		k, ok := privacypool.KindNamed(string(in.Event))
		if !ok {
			return nil, kernel.Fail(kernel.CodeInvalidRequest, "query.event: %q is no name of an event.", kernel.Clip(string(in.Event), 40))
		}
		q.kinds = []privacypool.Kind{k}
	}
	next, err := s.privacyRows(ctx, q, func(v *privacyRowsView) (err error) {
		var settled bool
		out.Body.Items, settled, err = v.events(ctx)
		kernel.RequestOf(ctx).Vouch(settled)
		return err
	})
	out.Body.NextCursor = next
	return out, err
}

// events are the rows as answers tell them. They are settled when nothing is told of a
// token that it says of itself, and that may still become known.
func (v *privacyRowsView) events(ctx context.Context) (out []PrivacyEvent, settled bool, err error) {
	var tokens []felt.Felt
	for i := range v.rows {
		if t := v.rows[i].Fact.Token; t != nil {
			tokens = append(tokens, *t)
		}
	}
	names, err := privacyTokens(ctx, v.chain, v.r, tokens)
	if err != nil {
		return nil, false, err
	}
	settled = !slices.ContainsFunc(tokens, func(t felt.Felt) bool { _, known := v.chain.Registry.Token(t); return !known })
	fees, err := privacypool.Fees(ctx, v.r, v.pools, v.rows)
	if err != nil {
		return nil, false, err
	}
	out = make([]PrivacyEvent, len(v.rows))
	for i := range v.rows {
		row, e := &v.rows[i], v.evidence(i)
		out[i] = PrivacyEvent{
			BlockNumber: e.BlockNumber, TimestampISO: e.TimestampISO, TxIndex: e.TxIndex, LogIndex: e.LogIndex, TxHash: e.TxHash, ContractAddress: e.PoolContractAddress,
			ClassHash: row.Class, Topic0: nth(e.Keys, 0), EventName: e.EventName, EventGroup: some(string(row.Fact.Group)), DecodingStatus: e.DecodingStatus,
			Key1: nth(e.Keys, 1), Key2: nth(e.Keys, 2), Data0: nth(e.Data, 0), Data1: nth(e.Data, 1), Data2: nth(e.Data, 2), Keys: e.Keys, Data: e.Data,
			PublicFields: renderPrivacyFields(&row.Fact, names), HiddenFields: head(hiddenFields[row.Fact.Kind], 9), PrivacyFees: renderFees(fees[row.Position()]), RowTier: e.RowTier,
		}
	}
	return out, settled, nil
}

// nth is one of a list; nil when there are fewer.
func nth(list []felt.Felt, n int) *felt.Felt {
	if n >= len(list) {
		return nil
	}
	return &list[n]
}

func renderPrivacyFields(f *privacypool.Fact, names map[felt.Felt]PrivacyToken) PrivacyFields {
	out := PrivacyFields{Visibility: string(f.Visibility), ActorAddress: f.Actor, ToAddress: f.To, AmountRaw: amountText(f.Amount), NoteID: f.NoteID, Nullifier: f.Nullifier,
		AuditorPublicKey: f.AuditorKey, PublicViewingKey: f.ViewingKey, TargetAddress: f.Target, TargetSelector: f.Selector}
	if f.Token != nil {
		t := names[*f.Token]
		out.Token = &t
	}
	if f.Group == privacypool.Config || f.Group == privacypool.Governance {
		out.ConfigValue = f.Value
	}
	return out
}

func renderFees(paid privacypool.Paid) []PrivacyFee {
	if !paid.Known {
		return nil
	}
	out := make([]PrivacyFee, len(paid.Fees))
	for i, f := range paid.Fees {
		out[i] = PrivacyFee{TokenAddress: f.Token, AmountRaw: f.Amount.String(), CollectorAddress: f.Collector, TransferLogIndex: f.Log, TransferIndex: f.Index,
			FeeCollectorConfigBlockNumber: f.CollectorSet.Block, FeeCollectorConfigTxIndex: f.CollectorSet.Tx, FeeCollectorConfigLogIndex: f.CollectorSet.Log,
			FeeAmountConfigBlockNumber: f.AmountSet.Block, FeeAmountConfigTxIndex: f.AmountSet.Tx, FeeAmountConfigLogIndex: f.AmountSet.Log}
	}
	return out
}
