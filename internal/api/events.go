package api

import (
	"context"
	"encoding/binary"
	"net/http"
	"slices"
	"strconv"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/starknet"
)

// EventPages are the pages of events.
var EventPages = kernel.Page{Usual: 25, Most: 100}

// The limits of event search.
const (
	MaxRangeBlocks = 10_000 // inclusive, for searches by later keys
	MaxPerPosition = 128    // distinct values
	MaxPerRequest  = 256    // values of all positions together
	MaxEmitters    = 128
	MaxCompatKeys  = 15
	MaxFanOut      = 256 // emitter times topic0, for searches by later keys
)

// EventInput is what both routes take; Huma reads the repeated parameters.
type EventInput struct {
	ChainInput
	Selector  []string     `query:"selector,explode" format:"felt" doc:"Alias of topic0."`
	Topic0    []string     `query:"topic0,explode" format:"felt" doc:"Values of key 0: the event's selector, a felt and not a name. Repeat for OR, at most 128."`
	Topic1    []string     `query:"topic1,explode" format:"felt" doc:"Values of key 1. Repeat for OR. Needs topic0 and both bounds, at most 10,000 blocks with both ends."`
	Topic2    []string     `query:"topic2,explode" format:"felt" doc:"Values of key 2, as topic1."`
	Topic3    []string     `query:"topic3,explode" format:"felt" doc:"Values of key 3, as topic1."`
	Topic4    []string     `query:"topic4,explode" format:"felt" doc:"Values of key 4, as topic1."`
	Topic5    []string     `query:"topic5,explode" format:"felt" doc:"Values of key 5, as topic1."`
	Topic6    []string     `query:"topic6,explode" format:"felt" doc:"Values of key 6, as topic1."`
	Topic7    []string     `query:"topic7,explode" format:"felt" doc:"Values of key 7, as topic1."`
	Topic8    []string     `query:"topic8,explode" format:"felt" doc:"Values of key 8, as topic1."`
	Topic9    []string     `query:"topic9,explode" format:"felt" doc:"Values of key 9, as topic1."`
	Topic10   []string     `query:"topic10,explode" format:"felt" doc:"Values of key 10, as topic1."`
	Topic11   []string     `query:"topic11,explode" format:"felt" doc:"Values of key 11, as topic1."`
	Topic12   []string     `query:"topic12,explode" format:"felt" doc:"Values of key 12, as topic1."`
	Topic13   []string     `query:"topic13,explode" format:"felt" doc:"Values of key 13, as topic1."`
	Topic14   []string     `query:"topic14,explode" format:"felt" doc:"Values of key 14, as topic1."`
	Topic15   []string     `query:"topic15,explode" format:"felt" doc:"Values of key 15, as topic1."`
	FromBlock string       `query:"from_block" maxLength:"20" doc:"First block, a number."`
	ToBlock   string       `query:"to_block" maxLength:"20" doc:"Last block, a number; included."`
	Order     string       `query:"order" enum:"desc,asc" default:"desc" doc:"Newest first unless asc."`
	Limit     kernel.Limit `query:"limit"`
	Cursor    string       `query:"cursor" doc:"nextCursor of the page before."`
}

// topicNames are the names of the positions in messages.
var topicNames = func() (names [event.Positions]string) {
	for i := range names {
		names[i] = "query.topic" + strconv.Itoa(i)
	}
	return names
}()

func (in *EventInput) topics() (out [event.Positions][]kernel.Given) {
	for i, texts := range [event.Positions][]string{in.Topic0, in.Topic1, in.Topic2, in.Topic3, in.Topic4, in.Topic5, in.Topic6, in.Topic7,
		in.Topic8, in.Topic9, in.Topic10, in.Topic11, in.Topic12, in.Topic13, in.Topic14, in.Topic15} {
		out[i] = kernel.Values(topicNames[i], texts)
	}
	out[0] = append(kernel.SelectorValues("query.topic0", in.Topic0), kernel.SelectorValues("query.selector", in.Selector)...)
	return out
}

// EventPage is a page of events.
type EventPage struct {
	Items                 []EventRow     `json:"items"`
	NextCursor            *string        `json:"nextCursor"`
	EventDecodingDegraded bool           `json:"eventDecodingDegraded"`
	RangeCoverage         *RangeCoverage `json:"rangeCoverage,omitempty" doc:"Only on searches over more than 10,000 blocks."`
}

// EventRow is an event of the chain.
type EventRow struct {
	BlockNumber  uint64    `json:"blockNumber"`
	TimestampISO string    `json:"timestampIso" format:"date-time"`
	TxHash       felt.Felt `json:"txHash"`
	TxIndex      uint32    `json:"txIndex"`
	LogIndex     uint32    `json:"logIndex" doc:"The event's index in its transaction."`
	RowTier
	EventContent
}

// EventContent is what an event says and how far it was understood.
type EventContent struct {
	Address felt.Felt   `json:"address"`
	Keys    []felt.Felt `json:"keys" doc:"All keys."`
	Topic0  *felt.Felt  `json:"topic0"`
	Topic1  *felt.Felt  `json:"topic1"`
	Topic2  *felt.Felt  `json:"topic2"`
	Topic3  *felt.Felt  `json:"topic3"`
	Data    []felt.Felt `json:"data" doc:"Authoritative, whatever was decoded."`

	DecodingStatus                 string         `json:"decodingStatus" enum:"decoded,name_only,unknown"`
	EventName                      *string        `json:"eventName"`
	EventNameSource                *string        `json:"eventNameSource" enum:"verified_abi,class_abi,curated_selector,selector_unique"`
	EventNameUnavailableReason     *string        `json:"eventNameUnavailableReason" enum:"event_time_class_epoch_unavailable"`
	DecodedFields                  []DecodedField `json:"decodedFields,omitzero" doc:"There whenever decodingStatus is decoded, empty for an event without members, and only then."`
	DecodedFieldsSource            *string        `json:"decodedFieldsSource" enum:"verified_abi,class_abi,curated_selector"`
	DecodedFieldsUnavailableReason *string        `json:"decodedFieldsUnavailableReason" enum:"schema_unavailable,selector_only_attribution,payload_shape_mismatch,schema_shape_unsupported"`
	EventTimeClassHash             *felt.Felt     `json:"eventTimeClassHash" doc:"Class of the contract when it emitted the event; null when the block does not tell."`
	Aliases
}

// DecodedField is one value of a decoded event, or one argument of a call.
type DecodedField struct {
	Label         string      `json:"label"`
	Type          *string     `json:"type"`
	Source        string      `json:"source" enum:"key,data"`
	Kind          string      `json:"kind" enum:"address,hash,bool,u256,felt,text"`
	Status        string      `json:"status" enum:"decoded,partial,raw"`
	RawValues     []felt.Felt `json:"rawValues"`
	OriginIndexes []int       `json:"originIndexes" doc:"Places in keys or data."`
	DisplayValue  felt.Shown  `json:"displayValue"`
	AddressValue  *felt.Felt  `json:"addressValue"`
	NumericValue  *felt.Shown `json:"numericValue" doc:"Decimal."`
	TextValue     *string     `json:"textValue"`
	BoolValue     *bool       `json:"boolValue"`
}

func (s *Routes) eventRoutes() {
	base := kernel.Route{Method: http.MethodGet, Family: "Events", Class: kernel.Heavy, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment | kernel.OnCaller,
		Page: EventPages, Statuses: []int{http.StatusNotFound, http.StatusUnprocessableEntity}}
	global := base
	global.ID, global.Path, global.Summary = "searchEvents", "/v1/{chain}/events", "Search events"
	global.Description = "Events by emitter and by the values of their keys. Values of one position are alternatives, positions must all match. " +
		"`topic1` and later need `topic0` and both bounds, and cover at most 10,000 blocks, both ends included. " +
		"A position takes at most 128 values, a search 256, and 128 emitters. `limit` is {page}. " +
		"A page may end early and be empty; go on while nextCursor is not null."
	global.Example = "topic0=" + felt.Selector("Transfer").String()
	kernel.Register(s.Server, global, s.searchEvents)
	contract := base
	contract.ID, contract.Path, contract.Summary = "listContractEvents", "/v1/{chain}/contract/{address}/events", "List a contract's events"
	contract.Description = "As the search over the chain, for one emitter. `key` and `keys` are accepted for older clients: their values are the keys from position 0 on, one each."
	kernel.Register(s.Server, contract, s.listContractEvents)
}

func (s *Routes) searchEvents(ctx context.Context, in *struct {
	EventInput
	Address         []string `query:"address,explode" format:"felt" doc:"Emitting contract; repeat for alternatives, at most 128."`
	Contract        []string `query:"contract,explode" format:"felt" doc:"Alias of address."`
	ContractAddress []string `query:"contractAddress,explode" format:"felt" doc:"Alias of address."`
}) (*body[EventPage], error) {
	emitters := slices.Concat(kernel.Values("query.address", in.Address), kernel.Values("query.contract", in.Contract), kernel.Values("query.contractAddress", in.ContractAddress))
	search, err := parseEventSearch(&in.EventInput, emitters, in.topics())
	if err != nil {
		return nil, err
	}
	return s.eventPage(ctx, "searchEvents", &in.EventInput, search)
}

func (s *Routes) listContractEvents(ctx context.Context, in *struct {
	EventInput
	Address string   `path:"address" format:"felt" maxLength:"70" doc:"Emitting contract."`
	Key     []string `query:"key,explode" format:"felt" doc:"For older clients: the keys from position 0 on, one value each. At most 15 of key, keys and keys[]."`
	Keys    []string `query:"keys,explode" format:"felt" doc:"For older clients: the keys from position 0 on, one value each. At most 15 of key, keys and keys[]."`
	KeyList []string `query:"keys[],explode" format:"felt" doc:"For older clients: the keys from position 0 on, one value each. At most 15 of key, keys and keys[]."`
}) (*body[EventPage], error) {
	topics := in.topics()
	compat := slices.Concat(kernel.SelectorValues("query.key", in.Key), kernel.SelectorValues("query.keys", in.Keys), kernel.SelectorValues("query.keys[]", in.KeyList))
	if len(compat) > MaxCompatKeys {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "query.key: at most %d values.", MaxCompatKeys)
	}
	for i, k := range compat {
		if len(topics[i]) > 0 {
			return nil, kernel.Fail(kernel.CodeInvalidRequest, "%s: position %d is also given by %s; use one of the two.", k.Name, i, topics[i][0].Name)
		}
		topics[i] = []kernel.Given{k}
	}
	search, err := parseEventSearch(&in.EventInput, kernel.Values("path.address", []string{in.Address}), topics)
	if err != nil {
		return nil, err
	}
	return s.eventPage(ctx, "listContractEvents", &in.EventInput, search)
}

// eventSearch is a checked request.
type eventSearch struct {
	event.Query
	bounded bool // both bounds were given
	later   bool // keys behind position 0 are asked for
}

func parseEventSearch(in *EventInput, emitters []kernel.Given, topics [event.Positions][]kernel.Given) (*eventSearch, error) {
	q := &eventSearch{Query: event.Query{Order: event.Desc, Limit: in.Limit.Size()}}
	if in.Order == "asc" {
		q.Order = event.Asc
	}
	var err error
	if q.Emitters, err = kernel.FeltsOf("query.address", emitters, MaxEmitters); err != nil {
		return nil, err
	}
	total := 0
	for i, values := range topics {
		if q.Keys[i], err = kernel.FeltsOf(topicNames[i], values, MaxPerPosition); err != nil {
			return nil, err
		}
		total += len(q.Keys[i])
		q.later = q.later || i > 0 && len(values) > 0
	}
	if total > MaxPerRequest {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "query: a search takes at most %d values of all topics together, this one has %d.", MaxPerRequest, total)
	}
	if q.From, q.To, err = kernel.BlockRange(in.FromBlock, in.ToBlock); err != nil {
		return nil, err
	}
	q.bounded = in.FromBlock != "" && in.ToBlock != ""
	return q, q.rules()
}

// rules are those of the contract that need no look at the chain.
func (q *eventSearch) rules() error {
	switch {
	case len(q.Emitters) == 0 && !q.later && len(q.Keys[0]) == 0:
		return kernel.Fail(kernel.CodeInvalidRequest, "query: a search over the whole chain needs a filter: address, or topic0.")
	case q.later && len(q.Keys[0]) == 0:
		return kernel.Fail(kernel.CodeInvalidRequest, "query.topic0: it is missing; topic1 to topic15 need topic0, an address alone is not enough.")
	case q.later && !q.bounded:
		return kernel.Fail(kernel.CodeInvalidRequest, "query.from_block: topic1 to topic15 need from_block and to_block.")
	case q.later && len(q.Emitters)*len(q.Keys[0]) > MaxFanOut:
		return kernel.Fail(kernel.CodeInvalidRequest, "query: a search by later topics takes at most %d pairs of address and topic0, this one has %d.", MaxFanOut, len(q.Emitters)*len(q.Keys[0]))
	}
	return nil
}

// wide says that the range is more than an ordinary key may ask for.
func (q *eventSearch) wide() bool { return q.later && q.To-q.From >= MaxRangeBlocks }

// eventPage runs a search and renders a page of it.
func (s *Routes) eventPage(ctx context.Context, operation string, in *EventInput, q *eventSearch) (*body[EventPage], error) {
	out := &body[EventPage]{EventPage{Items: []EventRow{}}}
	scope := operation + "\x00" + in.Chain + "\x00" + q.Identity()
	err := s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		var wide *wideSearch
		var err error
		if q.wide() {
			if wide, err = s.wideRange(ctx, c, r, state, q); err != nil {
				return err
			}
		}
		if in.Cursor != "" {
			if q.After, err = s.openEvents(ctx, r, scope, in.Cursor, q.Order, wide); err != nil {
				return err
			}
		}
		if wide != nil {
			q.To = wide.Top
		}
		page, err := event.Search(ctx, r, q.Query)
		if err != nil {
			return err
		}
		if page.Done {
			page.Next = nil
		}
		if page.Next != nil {
			out.Body.NextCursor = s.sealEvents(scope, *page.Next, page.NextHash, wide)
		}
		if wide != nil {
			out.Body.RangeCoverage = wide.covers(q.Order, page.Next)
		}
		out.Body.Items, out.Body.EventDecodingDegraded, err = s.renderEvents(ctx, r, c, state, page.Events)
		// Whose key asks for a wide range matters. A class may still come, and with it a name.
		kernel.RequestOf(ctx).Vouch(wide == nil && !slices.ContainsFunc(out.Body.Items, func(e EventRow) bool { return !e.certain() }))
		kernel.RequestOf(ctx).VouchIndex(wide == nil && !out.Body.EventDecodingDegraded)
		return err
	})
	return out, err
}

// wideSize is that of the rest of a wide search's cursor: a place in a block, and
// the block where the search began.
const wideSize = 8 + 8 + felt.Size

// sealEvents makes the cursor of a search; w is nil when it is not wide.
func (s *Routes) sealEvents(scope string, p explorer.Place, hash felt.Felt, w *wideSearch) *string {
	rest := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, p.Tx), p.Log)
	if w != nil {
		rest = append(binary.BigEndian.AppendUint64(rest, w.Top), w.TopHash[:]...)
	}
	return s.sealAt(scope, block.Ref{Number: p.Block, Hash: hash}, rest)
}

// openEvents reads a cursor of sealEvents, and sets where a wide search began.
func (s *Routes) openEvents(ctx context.Context, r explorer.Reader, scope, cursor string, order event.Order, w *wideSearch) (*explorer.Place, error) {
	size := 8
	if w != nil {
		size = wideSize
	}
	at, rest, err := s.openAt(ctx, r, scope, cursor, size)
	if err != nil {
		return nil, err
	}
	p := &explorer.Place{Block: at.Number, Tx: binary.BigEndian.Uint32(rest), Log: binary.BigEndian.Uint32(rest[4:])}
	if w == nil || order == event.Asc {
		return p, nil
	}
	began := block.Ref{Number: binary.BigEndian.Uint64(rest[8:]), Hash: felt.Felt(rest[16:])}
	return p, w.Resume(ctx, r, began, at)
}

// renderEvents decodes and renders a page.
func (s *Routes) renderEvents(ctx context.Context, r explorer.Reader, c *Chain, state *chain.State, hits []event.Hit) (rows []EventRow, degraded bool, err error) {
	events := make([]decoded.Event, len(hits))
	for i := range hits {
		events[i] = decoded.EventOf(hits[i].Block, &hits[i].Event)
	}
	results, degraded, err := decoded.Decode(ctx, r, s.schemas, c.verified(state), events)
	if err != nil {
		return nil, false, err
	}
	rows = make([]EventRow, len(hits))
	text, room := &texts{}, roomFor(results)
	for i := range hits {
		h := &hits[i]
		rows[i] = EventRow{h.Block, text.iso(h.Timestamp), h.TxHash, h.Tx, h.Log, tierOf(c, state, h.Block), renderEvent(c, &h.Event, &results[i], &room)}
	}
	return rows, degraded, nil
}

// roomFor is memory for the fields of all events of a page.
func roomFor(results []decoded.Result) []DecodedField {
	n := 0
	for i := range results {
		n += len(results[i].Fields)
	}
	return make([]DecodedField, n)
}

// renderEvent renders an event and what is known of it. It takes the memory for its fields
// from the front of room, which has enough.
func renderEvent(c *Chain, e *starknet.Event, d *decoded.Result, room *[]DecodedField) EventContent {
	out := EventContent{
		Address: e.From, Keys: head(e.Keys, len(e.Keys)), Data: head(e.Data, len(e.Data)), DecodingStatus: string(d.Status),
		EventName: someOf(&d.Name), EventNameSource: someOf((*string)(&d.NameSource)), EventNameUnavailableReason: someOf((*string)(&d.NameUnavailableReason)),
		DecodedFieldsSource: someOf((*string)(&d.FieldsSource)), DecodedFieldsUnavailableReason: someOf((*string)(&d.UnavailableReason)),
		EventTimeClassHash: d.ClassHash, Aliases: c.aliases(e.From, d.ClassHash),
	}
	for j, topic := range []**felt.Felt{&out.Topic0, &out.Topic1, &out.Topic2, &out.Topic3} {
		if j < len(e.Keys) {
			*topic = &e.Keys[j]
		}
	}
	if d.Status == abi.Decoded {
		n := len(d.Fields)
		out.DecodedFields, *room = (*room)[:n:n], (*room)[n:]
		for i := range d.Fields {
			out.DecodedFields[i] = renderField(&d.Fields[i])
		}
	}
	return out
}

func renderField(f *abi.Field) DecodedField {
	return DecodedField{f.Label, someOf(&f.Type), string(f.Source), string(f.Kind), string(f.Status), head(f.RawValues, len(f.RawValues)),
		head(f.OriginIndexes, len(f.OriginIndexes)), f.DisplayValue, f.AddressValue, f.NumericValue, f.TextValue, f.BoolValue}
}

// certain says that what is shown of the event can only change with the chain:
// a class that could not be had yet may still come.
func (e *EventContent) certain() bool { return e.DecodingStatus == string(abi.Decoded) }
