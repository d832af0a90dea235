package api

import (
	"context"
	"net/http"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/message"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/registry"
)

// BridgeIntent is what a transaction wants of a known bridge.
type BridgeIntent struct {
	Kind       string   `json:"kind" enum:"deposit,withdraw,bridge_unknown"`
	Protocol   *string  `json:"protocol"`
	Confidence string   `json:"confidence" enum:"high,medium"`
	Reasons    []string `json:"reasons"`
}

// BridgeSignal is a movement over a bridge, as this layer sees it.
type BridgeSignal struct {
	ID                string     `json:"id" doc:"block:tx:message"`
	BlockNumber       uint64     `json:"blockNumber"`
	TimestampISO      *string    `json:"timestampIso" format:"date-time"`
	TxIndex           uint32     `json:"txIndex"`
	LogIndex          uint32     `json:"logIndex" doc:"Place among the transaction's messages."`
	TransferIndex     uint32     `json:"transferIndex" doc:"0: a message moves one amount."`
	TxHash            felt.Felt  `json:"txHash"`
	Status            string     `json:"status" enum:"consumed_on_l2,failed_on_l2,sent_pending_l1_acceptance,sent_l1_consumption_unknown"`
	Direction         *string    `json:"direction" enum:"inbound,outbound"`
	MessageHash       *string    `json:"messageHash"`
	L1Hash            *string    `json:"l1Hash" doc:"Null: L1 is not indexed."`
	L2Hash            *felt.Felt `json:"l2Hash"`
	L1ContractAddress *felt.Felt `json:"l1ContractAddress"`
	L2ContractAddress *felt.Felt `json:"l2ContractAddress"`
	TokenAddress      *felt.Felt `json:"tokenAddress" doc:"The token on this layer, where the bridge moves only one."`
	TokenSymbol       *string    `json:"tokenSymbol"`
	TokenDecimals     *int       `json:"tokenDecimals"`
	AmountRaw         *string    `json:"amountRaw" doc:"Decimal; null when the message has no layout that is known."`
	FromAddress       *felt.Felt `json:"fromAddress"`
	ToAddress         *felt.Felt `json:"toAddress"`
	PairingConfidence string     `json:"pairingConfidence" enum:"message_pairing_fact,adapter_pairing_fact,unpaired_l2_only"`
	RowTier
}

// BridgeCoverage says how complete bridge signals are.
type BridgeCoverage struct {
	Status                   string `json:"status" enum:"exact,partial,unavailable"`
	Source                   string `json:"source" enum:"trace_facts,l2_bridge_signals,bridge_adapter_events,bridge_message_facts"`
	ReasonCode               string `json:"reasonCode" enum:"l1_pairing_not_indexed,not_a_known_bridge"`
	Message                  string `json:"message"`
	LatestIndexedBlockNumber uint64 `json:"latestIndexedBlockNumber"`
}

// BridgeSignalPage is a page of bridge signals, newest first.
type BridgeSignalPage struct {
	ChainID         string         `json:"chainId"`
	ContractAddress felt.Felt      `json:"contractAddress"`
	Items           []BridgeSignal `json:"items"`
	NextCursor      *string        `json:"nextCursor"`
	Coverage        BridgeCoverage `json:"coverage"`
}

func (s *Routes) bridgeRoutes() {
	r := kernel.Route{Method: http.MethodGet, Family: "Contracts", Class: kernel.Heavy, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnChain,
		Page: kernel.Page{Usual: 25, Most: 100}, Statuses: []int{http.StatusNotFound}, ID: "listBridgeSignals", Path: "/v1/{chain}/contract/{address}/bridge-signals", Summary: "List a bridge's movements"}
	r.Description = "What the messages of a known bridge move, newest first, as this layer sees it: coverage stays partial because L1 is not indexed. " +
		"A contract that is not a known bridge has none. `limit` is {page}."
	kernel.Register(s.Server, r, s.listBridgeSignals)
}

func (s *Routes) listBridgeSignals(ctx context.Context, in *struct {
	ChainInput
	Address string       `path:"address" format:"felt" maxLength:"70" doc:"Contract of a bridge on this layer."`
	Limit   kernel.Limit `query:"limit"`
	Cursor  string       `query:"cursor" doc:"nextCursor of the page before."`
}) (*body[BridgeSignalPage], error) {
	address, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	limit := in.Limit.Size()
	scope := "listBridgeSignals\x00" + in.Chain + "\x00" + address.String()
	out := &body[BridgeSignalPage]{BridgeSignalPage{ChainID: in.Chain, ContractAddress: address, Items: []BridgeSignal{}}}
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		out.Body.Coverage = BridgeCoverage{"partial", "bridge_message_facts", "l1_pairing_not_indexed",
			"Every message of the bridge on this layer is listed; what L1 did is not indexed.", state.Head.Number}
		if len(c.Registry.BridgesAt(address)) == 0 {
			out.Body.Coverage.Status, out.Body.Coverage.ReasonCode = "unavailable", "not_a_known_bridge"
			out.Body.Coverage.Message = "The contract is not in the registry of bridges."
			return nil
		}
		before := explorer.EndOf(state.Head.Number)
		if in.Cursor != "" {
			if before, err = s.openPlace(ctx, r, scope, in.Cursor); err != nil {
				return err
			}
		}
		q := message.Query{Filter: message.Filter{Contract: &address}}
		loaded, next, err := q.Page(ctx, r, before, limit)
		if err != nil {
			return err
		}
		messages, err := s.renderMessages(ctx, r, c, state, loaded)
		if err != nil {
			return err
		}
		for i := range loaded {
			out.Body.Items = append(out.Body.Items, renderSignal(c, &loaded[i], &messages[i]))
		}
		if next != nil {
			out.Body.NextCursor, err = s.sealPlace(ctx, r, scope, *next)
		}
		return err
	})
	return out, err
}

// interpret says what a message of a known bridge means, and which contract the bridge
// has on this layer.
func interpret(c *registry.Chain, m *message.Message) (*MessageInterpretation, *felt.Felt) {
	moved, ok := message.MovementOf(c, m)
	if !ok {
		return nil, nil
	}
	t := moved.Transfer
	if t == nil {
		return nil, &moved.Bridge.L2
	}
	raw := t.Raw().String()
	out := &MessageInterpretation{Protocol: moved.Bridge.Protocol, Kind: "token_transfer", Action: "deposit", Summary: moved.Summary(),
		Source: "reviewed_protocol_adapter", MatchRule: t.Rule, AmountRaw: &raw, Sender: t.Sender, Recipient: &t.Recipient}
	if t.Withdrawal {
		out.Action = "withdrawal"
	}
	if amount, known := moved.Amount(); known {
		decimals := int(moved.Token.Decimals)
		out.Token, out.Amount = &MessageToken{some(moved.Token.Symbol), some(moved.Token.Name), &decimals}, &amount
	}
	return out, &moved.Bridge.L2
}

func renderSignal(c *Chain, m *message.Loaded, shown *Message) BridgeSignal {
	direction := "inbound"
	if m.Direction == message.ToL1 {
		direction = "outbound"
	}
	out := BridgeSignal{ID: shown.ID, BlockNumber: shown.BlockNumber, TimestampISO: shown.TimestampISO, TxIndex: shown.TxIndex, LogIndex: shown.LogIndex,
		TxHash: shown.TxHash, Status: shown.Status, Direction: &direction, MessageHash: &shown.MessageHash, L2Hash: shown.L2Hash,
		L1ContractAddress: shown.L1ContractAddress, L2ContractAddress: shown.L2ContractAddress, PairingConfidence: "unpaired_l2_only", RowTier: shown.RowTier}
	moved, ok := message.MovementOf(c.Registry, &m.Message)
	if !ok {
		return out
	}
	out.TokenAddress = moved.Bridge.Token
	if t := moved.Token; t != nil {
		decimals := int(t.Decimals)
		out.TokenSymbol, out.TokenDecimals = some(t.Symbol), &decimals
	}
	if i := shown.Interpretation; i != nil {
		out.AmountRaw, out.FromAddress, out.ToAddress = i.AmountRaw, i.Sender, i.Recipient
	}
	return out
}

// bridgeIntent says what a transaction wants of a known bridge; nil when it
// has no message of one.
func bridgeIntent(c *registry.Chain, list []message.Message) *BridgeIntent {
	moved, ok := message.FirstMovement(c, list)
	if !ok {
		return nil
	}
	protocol := moved.Bridge.Protocol
	out := &BridgeIntent{Kind: "bridge_unknown", Protocol: &protocol, Confidence: "medium", Reasons: []string{"message_of_known_bridge"}}
	if t := moved.Transfer; t != nil {
		out.Kind, out.Confidence, out.Reasons = "deposit", "high", append(out.Reasons, t.Rule)
		if t.Withdrawal {
			out.Kind = "withdraw"
		}
	}
	return out
}
