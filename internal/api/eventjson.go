package api

import "chainexplorer/internal/jsonrow"

// A page of events is mostly these two, hundreds of them, and so is a transaction. They are written
// field by field. TestEncodingFollowsTheTypes finds a field that is forgotten here.
var _, _ = jsonrow.Register(appendEventContent), jsonrow.Register(appendDecodedField)

func appendEventContent(b []byte, e *EventContent) []byte {
	b = jsonrow.Felt(b, `,"address":`, &e.Address)
	b = jsonrow.Felts(b, `,"keys":`, e.Keys)
	b = jsonrow.Felt(b, `,"topic0":`, e.Topic0)
	b = jsonrow.Felt(b, `,"topic1":`, e.Topic1)
	b = jsonrow.Felt(b, `,"topic2":`, e.Topic2)
	b = jsonrow.Felt(b, `,"topic3":`, e.Topic3)
	b = jsonrow.Felts(b, `,"data":`, e.Data)
	b = jsonrow.Text(b, `,"decodingStatus":`, e.DecodingStatus)
	b = jsonrow.TextAt(b, `,"eventName":`, e.EventName)
	b = jsonrow.TextAt(b, `,"eventNameSource":`, e.EventNameSource)
	b = jsonrow.TextAt(b, `,"eventNameUnavailableReason":`, e.EventNameUnavailableReason)
	if e.DecodedFields != nil {
		b = jsonrow.List(b, `,"decodedFields":`, e.DecodedFields, appendDecodedField)
	}
	b = jsonrow.TextAt(b, `,"decodedFieldsSource":`, e.DecodedFieldsSource)
	b = jsonrow.TextAt(b, `,"decodedFieldsUnavailableReason":`, e.DecodedFieldsUnavailableReason)
	b = jsonrow.Felt(b, `,"eventTimeClassHash":`, e.EventTimeClassHash)
	return appendAliases(b, &e.Aliases)
}

func appendAliases(b []byte, a *Aliases) []byte {
	b = jsonrow.TextAt(b, `,"contractAlias":`, a.ContractAlias)
	return jsonrow.TextAt(b, `,"classAlias":`, a.ClassAlias)
}

func appendDecodedField(b []byte, f *DecodedField) []byte {
	b = jsonrow.Text(b, `,"label":`, f.Label)
	b = jsonrow.TextAt(b, `,"type":`, f.Type)
	b = jsonrow.Text(b, `,"source":`, f.Source)
	b = jsonrow.Text(b, `,"kind":`, f.Kind)
	b = jsonrow.Text(b, `,"status":`, f.Status)
	b = jsonrow.Felts(b, `,"rawValues":`, f.RawValues)
	b = jsonrow.Ints(b, `,"originIndexes":`, f.OriginIndexes)
	b = jsonrow.Text(b, `,"displayValue":`, f.DisplayValue)
	b = jsonrow.Felt(b, `,"addressValue":`, f.AddressValue)
	b = jsonrow.TextAt(b, `,"numericValue":`, f.NumericValue)
	b = jsonrow.TextAt(b, `,"textValue":`, f.TextValue)
	return jsonrow.BoolAt(b, `,"boolValue":`, f.BoolValue)
}
