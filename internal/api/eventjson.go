package api

import (
	"chainexplorer/internal/abi"
	"chainexplorer/internal/jsonrow"
)

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
	b = appendSorts(b, f.Source, f.Kind, f.Status)
	b = jsonrow.Felts(b, `,"rawValues":`, f.RawValues)
	b = jsonrow.Ints(b, `,"originIndexes":`, f.OriginIndexes)
	from := len(b) + len(`,"displayValue":`)
	b = jsonrow.Shown(b, `,"displayValue":`, &f.DisplayValue)
	display := b[from:]
	b = jsonrow.Felt(b, `,"addressValue":`, f.AddressValue)
	if f.NumericValue != nil && *f.NumericValue == f.DisplayValue { // as that of nearly all numbers is, whose digits are made once
		b = append(append(b, `,"numericValue":`...), display...)
	} else {
		b = jsonrow.ShownAt(b, `,"numericValue":`, f.NumericValue)
	}
	b = jsonrow.TextAt(b, `,"textValue":`, f.TextValue)
	return jsonrow.BoolAt(b, `,"boolValue":`, f.BoolValue)
}

// sorts is what a field is, as it is written: there are a few dozen of them, and a page has thousands.
type sorts struct{ source, kind, status, written string }

// knownSorts are those of fields that were decoded, by letters that tell them apart.
var knownSorts = func() (known [64]sorts) {
	for _, source := range []abi.FieldSource{abi.FromKey, abi.FromData} {
		for _, kind := range []abi.FieldKind{abi.KindAddress, abi.KindHash, abi.KindBool, abi.KindU256, abi.KindFelt, abi.KindText} {
			for _, status := range []abi.FieldStatus{abi.FieldDecoded, abi.FieldPartial, abi.FieldRaw} {
				s := sorts{source: string(source), kind: string(kind), status: string(status)}
				s.written = string(s.append(nil))
				known[s.place()] = s
			}
		}
	}
	return known
}()

// place is where the sorts are among the known ones, if they are.
func (s *sorts) place() int {
	if s.source == "" || s.kind == "" || s.status == "" {
		return 0
	}
	return int(s.source[0]&1)<<5 | int(s.status[0]>>1&3)<<3 | int(s.kind[0]&7)
}

func (s *sorts) append(b []byte) []byte {
	b = jsonrow.Text(b, `,"source":`, s.source)
	b = jsonrow.Text(b, `,"kind":`, s.kind)
	return jsonrow.Text(b, `,"status":`, s.status)
}

func appendSorts(b []byte, source, kind, status string) []byte {
	s := sorts{source: source, kind: kind, status: status}
	if k := &knownSorts[s.place()]; k.source == source && k.kind == kind && k.status == status {
		return append(b, k.written...)
	}
	return s.append(b)
}
