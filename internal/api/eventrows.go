package api

import (
	"context"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/starknet"
)

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
	DecodedFields                  []DecodedField `json:"decodedFields,omitempty" doc:"Only when decodingStatus is decoded."`
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
	DisplayValue  string      `json:"displayValue"`
	AddressValue  *felt.Felt  `json:"addressValue"`
	NumericValue  *string     `json:"numericValue" doc:"Decimal."`
	TextValue     *string     `json:"textValue"`
	BoolValue     *bool       `json:"boolValue"`
}

// renderEvents decodes and renders a page.
func (s *Routes) renderEvents(ctx context.Context, r explorer.Reader, c *Chain, state *chain.State, hits []event.Hit) (rows []EventRow, degraded bool, err error) {
	events := make([]decoded.Event, len(hits))
	for i := range hits {
		e := &hits[i].Event
		events[i] = decoded.Event{Block: hits[i].Block, Address: e.From, Keys: e.Keys, Data: e.Data}
	}
	results, degraded, err := decoded.Decode(ctx, r, s.schemas, events)
	if err != nil {
		return nil, false, err
	}
	rows = make([]EventRow, len(hits))
	for i := range hits {
		h := &hits[i]
		rows[i] = EventRow{h.Block, kernel.TimestampISO(h.Timestamp), h.TxHash, h.Tx, h.Log, tierOf(c, state, h.Block), renderEvent(c, &h.Event, &results[i])}
	}
	return rows, degraded, nil
}

// renderEvent renders an event and what is known of it.
func renderEvent(c *Chain, e *starknet.Event, d *decoded.Result) EventContent {
	out := EventContent{
		Address: e.From, Keys: head(e.Keys, len(e.Keys)), Data: head(e.Data, len(e.Data)), DecodingStatus: string(d.Status),
		EventName: some(d.Name), EventNameSource: some(string(d.NameSource)), EventNameUnavailableReason: some(string(d.NameUnavailableReason)),
		DecodedFieldsSource: some(string(d.FieldsSource)), DecodedFieldsUnavailableReason: some(string(d.UnavailableReason)),
		EventTimeClassHash: d.ClassHash, Aliases: c.aliases(e.From, d.ClassHash),
	}
	for j, topic := range []**felt.Felt{&out.Topic0, &out.Topic1, &out.Topic2, &out.Topic3} {
		if j < len(e.Keys) {
			*topic = &e.Keys[j]
		}
	}
	if d.Status == abi.Decoded {
		out.DecodedFields = make([]DecodedField, len(d.Fields))
		for i := range d.Fields {
			out.DecodedFields[i] = renderField(&d.Fields[i])
		}
	}
	return out
}

func renderField(f *abi.Field) DecodedField {
	return DecodedField{f.Label, some(f.Type), string(f.Source), string(f.Kind), string(f.Status), head(f.RawValues, len(f.RawValues)),
		head(f.OriginIndexes, len(f.OriginIndexes)), f.DisplayValue, f.AddressValue, f.NumericValue, f.TextValue, f.BoolValue}
}

// some is nil for an empty text: the contract says null.
func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// certain says that what is shown of the event can only change with the chain:
// a class that could not be had yet may still come.
func (e *EventContent) certain() bool { return e.DecodingStatus == string(abi.Decoded) }
