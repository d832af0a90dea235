package api

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/message"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

const (
	MaxMessages = 100
	MaxPayload  = 256
)

// The statuses of a message. What L1 does with one that L2 sent is not seen here.
const (
	statusConsumed = "consumed_on_l2"
	statusFailed   = "failed_on_l2"
	statusPending  = "sent_pending_l1_acceptance"
	statusUnknown  = "sent_l1_consumption_unknown"
)

// Message is a message between the layers.
type Message struct {
	ID                    string      `json:"id" doc:"block:tx:message"`
	BlockNumber           uint64      `json:"blockNumber"`
	TimestampISO          *string     `json:"timestampIso" format:"date-time"`
	TxIndex               uint32      `json:"txIndex"`
	LogIndex              uint32      `json:"logIndex" doc:"Place among the transaction's messages."`
	MessageHash           string      `json:"messageHash" doc:"0x and 64 hex digits."`
	Direction             string      `json:"direction" enum:"l1_to_l2,l2_to_l1"`
	FromAddress           *felt.Felt  `json:"fromAddress"`
	ToAddress             *felt.Felt  `json:"toAddress"`
	TxHash                felt.Felt   `json:"txHash" doc:"The transaction on this layer."`
	L1Hash                *string     `json:"l1Hash" doc:"Null: L1 is not indexed."`
	L2Hash                *felt.Felt  `json:"l2Hash" doc:"The same as txHash."`
	L1BlockNumber         *uint64     `json:"l1BlockNumber" doc:"Null: L1 is not indexed."`
	L1Fee                 *string     `json:"l1Fee" doc:"Null: it was paid on L1, which is not indexed."`
	L1ContractAddress     *felt.Felt  `json:"l1ContractAddress"`
	L2ContractAddress     *felt.Felt  `json:"l2ContractAddress"`
	BridgeContractAddress *felt.Felt  `json:"bridgeContractAddress" doc:"The contract on this layer, if it is a known bridge."`
	Status                string      `json:"status" enum:"consumed_on_l2,failed_on_l2,sent_pending_l1_acceptance,sent_l1_consumption_unknown" doc:"How far the chain tells: a handler took it in, or was reverted; L2 sent it, and its block is not accepted on L1 yet, or is and L1 may or may not have consumed it."`
	L1SentCount           *uint64     `json:"l1SentCount" doc:"How often L1 sent it. Null when this layer does not tell."`
	L2SentCount           *uint64     `json:"l2SentCount" doc:"How often L2 sent a message with this hash, as far as the chain is indexed."`
	L1ConsumedCount       *uint64     `json:"l1ConsumedCount" doc:"Null for a message to L1: L1 is not indexed."`
	PendingCount          *uint64     `json:"pendingCount" doc:"Null when this layer does not tell."`
	Nonce                 *felt.Felt  `json:"nonce"`
	Selector              *felt.Felt  `json:"selector"`
	Payload               []felt.Felt `json:"payload" doc:"At most 256 felts."`
	PayloadTruncated      bool        `json:"payloadTruncated"`
	RowTier
	Interpretation *MessageInterpretation `json:"interpretation" doc:"What a known bridge means by it; null for others."`
}

// MessageInterpretation is what a message of a known bridge means.
type MessageInterpretation struct {
	Protocol  string        `json:"protocol"`
	Kind      string        `json:"kind" enum:"token_transfer,cairo_fact"`
	Action    string        `json:"action" enum:"deposit,withdrawal,fact_delivery"`
	Summary   string        `json:"summary"`
	Source    string        `json:"source" enum:"reviewed_protocol_adapter"`
	MatchRule string        `json:"matchRule" doc:"Which layout of the bridge the message has."`
	Token     *MessageToken `json:"token"`
	AmountRaw *string       `json:"amountRaw" doc:"Decimal."`
	Amount    *string       `json:"amount" doc:"In units of the token; null when its decimals are not known."`
	Sender    *felt.Felt    `json:"sender"`
	Recipient *felt.Felt    `json:"recipient"`
	FactHash  *felt.Felt    `json:"factHash"`
	Mocked    *bool         `json:"mocked"`
}

// MessageToken is the token that a bridge moves.
type MessageToken struct {
	Symbol   *string `json:"symbol"`
	Name     *string `json:"name"`
	Decimals *int    `json:"decimals"`
}

// MessagesCoverage says how complete the messages are.
type MessagesCoverage struct {
	Status     string `json:"status" enum:"exact,partial,unavailable"`
	Source     string `json:"source" enum:"starknet_protocol_messages"`
	ReasonCode string `json:"reasonCode" enum:"indexed_protocol_message_facts,no_matching_message_rows,transaction_messages_truncated"`
	Message    string `json:"message"`
}

// MessagePage is a page of messages, newest first.
type MessagePage struct {
	ChainID         string           `json:"chainId"`
	ContractAddress *felt.Felt       `json:"contractAddress"`
	Items           []Message        `json:"items"`
	NextCursor      *string          `json:"nextCursor"`
	Coverage        MessagesCoverage `json:"coverage"`
}

// MessageInput is what lists of messages take.
type MessageInput struct {
	ChainInput
	Direction   string       `query:"direction" enum:"all,l1_to_l2,l2_to_l1" default:"all"`
	TxHash      string       `query:"txHash" format:"felt" maxLength:"70" doc:"Only messages of this transaction."`
	MessageHash string       `query:"messageHash" maxLength:"70" doc:"Only messages with this hash."`
	Limit       kernel.Limit `query:"limit"`
	Cursor      string       `query:"cursor" doc:"nextCursor of the page before."`
}

func (s *Routes) messageRoutes() {
	base := kernel.Route{Method: http.MethodGet, Family: "Messages", Class: kernel.Heavy, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta,
		Audience: kernel.External, Depends: kernel.OnChain, Page: kernel.Page{Usual: 25, Most: 100}, Statuses: []int{http.StatusNotFound}}
	all := base
	all.ID, all.Path, all.Summary = "listMessages", "/v1/{chain}/messages", "List messages between the layers"
	all.Description = "Messages that handlers took in from L1, and that transactions sent to L1, newest first. `limit` is {page}. " +
		"Over a long run of blocks without messages a page may be short, or empty, and still have a nextCursor."
	kernel.Register(s.Server, all, s.listMessages)
	contract := base
	contract.ID, contract.Path, contract.Summary = "listContractMessages", "/v1/{chain}/contract/{address}/messages", "List a contract's messages"
	contract.Description = "Messages that the contract sent or got. The address may be one of L1 too. `limit` is {page}."
	kernel.Register(s.Server, contract, s.listContractMessages)
	one := base
	one.ID, one.Path, one.Summary = "getMessage", "/v1/{chain}/message/{message_hash}", "Get the messages with a hash"
	one.Description = "A message of L1 is handled once; L2 can send the same message many times, and all of them are listed. `limit` is {page}."
	one.Page.Usual = one.Page.Most
	kernel.Register(s.Server, one, s.getMessage)
}

func (s *Routes) listMessages(ctx context.Context, in *MessageInput) (*body[MessagePage], error) {
	return s.messagePage(ctx, "listMessages", in, nil)
}

func (s *Routes) listContractMessages(ctx context.Context, in *struct {
	MessageInput
	Address string `path:"address" format:"felt" maxLength:"70" doc:"A contract of either layer."`
}) (*body[MessagePage], error) {
	address, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	return s.messagePage(ctx, "listContractMessages", &in.MessageInput, &address)
}

func (s *Routes) getMessage(ctx context.Context, in *struct {
	ChainInput
	Hash   string       `path:"message_hash" maxLength:"70" doc:"Message hash: 0x and up to 64 hex digits."`
	Limit  kernel.Limit `query:"limit"`
	Cursor string       `query:"cursor" doc:"nextCursor of the page before."`
}) (*body[MessagePage], error) {
	query := &MessageInput{ChainInput: in.ChainInput, MessageHash: in.Hash, Limit: in.Limit, Cursor: in.Cursor}
	out, err := s.messagePage(ctx, "getMessage", query, nil)
	if err == nil && len(out.Body.Items) == 0 && in.Cursor == "" {
		return nil, kernel.Fail(kernel.CodeNotFound, "No indexed message has the hash %s.", kernel.Clip(in.Hash, 70))
	}
	return out, err
}

// parseAddress reads the address of a path.
func parseAddress(text string) (felt.Felt, error) {
	return kernel.FeltOf("path.address", text)
}

// parseHash reads 256 bits in hex.
func parseHash(name, text string) (h message.Hash, err error) {
	digits, ok := strings.CutPrefix(strings.Replace(text, "0X", "0x", 1), "0x")
	if !ok || digits == "" || len(digits) > 2*len(h) {
		return h, kernel.Fail(kernel.CodeInvalidRequest, "%s: %q is not 0x and 1 to 64 hex digits.", name, kernel.Clip(text, 70))
	}
	if _, err := hex.Decode(h[:], []byte(strings.Repeat("0", 2*len(h)-len(digits))+digits)); err != nil {
		return h, kernel.Fail(kernel.CodeInvalidRequest, "%s: %q is not 0x and 1 to 64 hex digits.", name, kernel.Clip(text, 70))
	}
	return h, nil
}

func (in *MessageInput) parse(contract *felt.Felt) (q message.Query, err error) {
	q.Contract = contract
	if i := slices.Index([]string{"l1_to_l2", "l2_to_l1"}, in.Direction); i >= 0 {
		q.Direction = &message.Directions[i]
	}
	if in.TxHash != "" {
		f, err := kernel.FeltOf("query.txHash", in.TxHash)
		if err != nil {
			return q, err
		}
		q.Tx = &f
	}
	if in.MessageHash != "" {
		h, err := parseHash("query.messageHash", in.MessageHash)
		if err != nil {
			return q, err
		}
		q.Hash = &h
	}
	return q, nil
}

// messageScope names a list of messages for its cursors.
func messageScope(q *message.Query, operation, chain string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\x00%s\x00", operation, chain) //nolint:errcheck // a builder never fails
	if q.Direction != nil {
		fmt.Fprintf(&b, "d%d", *q.Direction) //nolint:errcheck // as above
	}
	if q.Contract != nil {
		fmt.Fprintf(&b, "c%s", *q.Contract) //nolint:errcheck // as above
	}
	if q.Tx != nil {
		fmt.Fprintf(&b, "t%s", *q.Tx) //nolint:errcheck // as above
	}
	if q.Hash != nil {
		fmt.Fprintf(&b, "h%x", *q.Hash) //nolint:errcheck // as above
	}
	return b.String()
}

// messagePage answers all lists of messages.
func (s *Routes) messagePage(ctx context.Context, operation string, in *MessageInput, contract *felt.Felt) (*body[MessagePage], error) {
	q, err := in.parse(contract)
	if err != nil {
		return nil, err
	}
	limit, scope := in.Limit.Size(), messageScope(&q, operation, in.Chain)
	out := &body[MessagePage]{MessagePage{ChainID: in.Chain, ContractAddress: contract}}
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		before := explorer.EndOf(state.Head.Number)
		if in.Cursor != "" {
			if before, err = s.openPlace(ctx, r, scope, in.Cursor); err != nil {
				return err
			}
		}
		list, next, err := q.Page(ctx, r, before, limit)
		if err != nil {
			return err
		}
		if out.Body.Items, err = s.renderMessages(ctx, r, c, state, list); err != nil {
			return err
		}
		if next != nil {
			if out.Body.NextCursor, err = s.sealPlace(ctx, r, scope, *next); err != nil {
				return err
			}
		}
		out.Body.Coverage = messagesCoverage(len(out.Body.Items), "Every message of the indexed chain that matches is listed.", "No indexed message matches.")
		return nil
	})
	return out, err
}

func messagesCoverage(n int, all, none string) MessagesCoverage {
	if n == 0 {
		return MessagesCoverage{"exact", "starknet_protocol_messages", "no_matching_message_rows", none}
	}
	return MessagesCoverage{"exact", "starknet_protocol_messages", "indexed_protocol_message_facts", all}
}

// renderMessages renders messages of any blocks.
func (s *Routes) renderMessages(ctx context.Context, r explorer.Reader, c *Chain, state *chain.State, list []message.Loaded) ([]Message, error) {
	numbers := make([]uint64, len(list))
	for i := range list {
		numbers[i] = list[i].Block
	}
	blocks, err := block.ByNumber(ctx, r, numbers)
	if err != nil {
		return nil, err
	}
	out := make([]Message, len(list))
	for i := range list {
		out[i] = renderMessage(c, state, blocks[list[i].Block], &list[i])
	}
	return out, nil
}

func renderMessage(c *Chain, state *chain.State, b *block.Summary, m *message.Loaded) Message {
	iso, zero, one := kernel.TimestampISO(b.Timestamp), uint64(0), uint64(1)
	out := Message{
		ID: fmt.Sprintf("%d:%d:%d", m.Block, m.Tx, m.Log), BlockNumber: m.Block, TimestampISO: &iso, TxIndex: m.Tx, LogIndex: m.Log,
		MessageHash: "0x" + hex.EncodeToString(m.Hash[:]), ToAddress: &m.To, TxHash: m.TxHash, L2Hash: &m.TxHash,
		Payload: head(m.Payload, MaxPayload), PayloadTruncated: len(m.Payload) > MaxPayload, RowTier: tierOf(c, state, m.Block),
	}
	if m.HasFrom {
		out.FromAddress = &m.From
	}
	out.Interpretation, out.BridgeContractAddress = interpret(c.Registry, &m.Message)
	if m.Direction == message.ToL1 {
		out.Direction, out.L1ContractAddress, out.L2ContractAddress = "l2_to_l1", out.ToAddress, out.FromAddress
		out.L1SentCount, out.L2SentCount, out.Status = &zero, &m.Times, statusPending
		if state.HasL1 && m.Block <= state.L1.Number {
			out.Status = statusUnknown
		}
		return out
	}
	out.Direction, out.L1ContractAddress, out.L2ContractAddress = "l1_to_l2", out.FromAddress, out.ToAddress
	out.L2SentCount, out.L1ConsumedCount, out.Selector, out.Status = &zero, &zero, &m.Selector, statusConsumed
	if m.Reverted {
		out.Status = statusFailed
	}
	if m.HasNonce {
		out.Nonce, out.L1SentCount = &m.Nonce, &one // L1 gives a nonce once
		if !m.Reverted {
			out.PendingCount = &zero
		}
	}
	return out
}

// openPlace reads the cursor of a list of places.
func (s *Routes) openPlace(ctx context.Context, r explorer.Reader, scope, cursor string) (p explorer.Place, err error) {
	p.Block, err = s.openSpot(ctx, r, scope, cursor, &p.Tx, &p.Log)
	return p, err
}

// sealPlace makes the cursor of a list of places.
func (s *Routes) sealPlace(ctx context.Context, r explorer.Reader, scope string, p explorer.Place) (*string, error) {
	hash, err := block.HashOf(ctx, r, p.Block)
	if err != nil {
		return nil, err
	}
	return s.sealSpot(scope, block.Ref{Number: p.Block, Hash: hash}, p.Tx, p.Log), nil
}
