package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// The limits of event search.
// EventPages are the pages of events.
var EventPages = kernel.Page{Usual: 25, Most: 100}

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

func (in *EventInput) topics() (out [event.Positions][]kernel.Given) {
	for i, texts := range [event.Positions][]string{in.Topic0, in.Topic1, in.Topic2, in.Topic3, in.Topic4, in.Topic5, in.Topic6, in.Topic7,
		in.Topic8, in.Topic9, in.Topic10, in.Topic11, in.Topic12, in.Topic13, in.Topic14, in.Topic15} {
		out[i] = kernel.Values("query.topic"+strconv.Itoa(i), texts)
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
		if q.Keys[i], err = kernel.FeltsOf("query.topic"+strconv.Itoa(i), values, MaxPerPosition); err != nil {
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

// scope names the search for its cursors: by value, so that another spelling of
// the same felts goes on with the same cursor.
func (q *eventSearch) scope(operation, chain string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\x00%s\x00%d\x00%d\x00%v", operation, chain, q.From, q.To, q.Order) //nolint:errcheck // a builder never fails
	write := func(list []felt.Felt) {
		b.WriteByte(1)
		for _, f := range slices.SortedFunc(slices.Values(list), felt.Felt.Cmp) {
			b.Write(f[:])
		}
	}
	write(q.Emitters)
	for i := range q.Keys {
		write(q.Keys[i])
	}
	return b.String()
}

// eventPage runs a search and renders a page of it.
func (s *Routes) eventPage(ctx context.Context, operation string, in *EventInput, q *eventSearch) (*body[EventPage], error) {
	out := &body[EventPage]{EventPage{Items: []EventRow{}}}
	scope := q.scope(operation, in.Chain)
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
		return err
	})
	return out, err
}
