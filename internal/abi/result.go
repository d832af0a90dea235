package abi

import "chainexplorer/internal/felt"

// The closed value sets of an answer; the package comment says what each value
// means. The empty value stands for null.
type (
	Status      string
	Source      string
	Reason      string
	FieldSource string
	FieldKind   string
	FieldStatus string
)

// How far an event is decoded.
const (
	Unknown  Status = "unknown"
	NameOnly Status = "name_only"
	Decoded  Status = "decoded"
)

// Where a name or the fields come from.
const (
	VerifiedABI     Source = "verified_abi"
	ClassABI        Source = "class_abi"
	CuratedSelector Source = "curated_selector"
	SelectorUnique  Source = "selector_unique"
)

// Why there are no fields.
const (
	SchemaUnavailable       Reason = "schema_unavailable"
	SelectorOnlyAttribution Reason = "selector_only_attribution"
	PayloadShapeMismatch    Reason = "payload_shape_mismatch"
	SchemaShapeUnsupported  Reason = "schema_shape_unsupported"
)

// The array that a field stands in.
const (
	FromKey  FieldSource = "key"
	FromData FieldSource = "data"
)

// What a field is.
const (
	KindAddress FieldKind = "address"
	KindHash    FieldKind = "hash"
	KindBool    FieldKind = "bool"
	KindU256    FieldKind = "u256"
	KindFelt    FieldKind = "felt"
	KindText    FieldKind = "text"
)

// How much of a field its typed value says.
const (
	FieldDecoded FieldStatus = "decoded"
	FieldPartial FieldStatus = "partial"
	FieldRaw     FieldStatus = "raw"
)

// Result is what is certified about one event.
type Result struct {
	Status            Status
	Name              string // empty when unknown
	NameSource        Source // empty when unknown
	Fields            []Field
	FieldsSource      Source // empty unless decoded
	UnavailableReason Reason // empty when decoded
}

// Field is one value of a decoded event. RawValues, AddressValue and a felt that is
// shown alias the arrays that were decoded.
type Field struct {
	Label         string
	Type          string // the full type string of the ABI
	Source        FieldSource
	Kind          FieldKind
	Status        FieldStatus
	RawValues     []felt.Felt
	OriginIndexes []int
	DisplayValue  felt.Shown
	AddressValue  *felt.Felt
	NumericValue  *felt.Shown // decimal, with a minus sign if negative
	TextValue     *string
	BoolValue     *bool
}
