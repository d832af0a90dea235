// Package abi reads the ABIs of contract classes and decodes events with them,
// or with reviewed schemas of standard events. Nothing in it does I/O, and
// everything in it is safe for concurrent use.
//
// # What a result certifies
//
// Status is one of three:
//
//   - decoded: one schema consumed all keys and all data, every value was
//     inside the range of its type, and no other schema of the same authority
//     did the same. Only then are there Fields.
//   - name_only: the event has a name, its fields are not certified. Reason
//     says why.
//   - unknown: nothing attributes the event. Its reason is schema_unavailable.
//
// The sources of a name (NameSource) and of fields (FieldsSource):
//
//   - verified_abi: the ABI of the class in force, whose source the service
//     verified. The caller says so with Evidence.Verified.
//   - class_abi: the ABI of the class in force, as it was declared.
//   - curated_selector: the reviewed schemas of this package.
//   - selector_unique: the name is the only one known for the selector, from
//     Evidence.Name or from a reviewed schema that holds only for emitters
//     that this one is not known to be. It never brings fields.
//
// The reasons (UnavailableReason) why there are no fields:
//
//   - schema_unavailable: no schema of the event is at hand, or the ABI names
//     the event and does not define its members.
//   - selector_only_attribution: the name rests on the selector alone. Either
//     only a name is known, or several schemas carry that selector, consume
//     the payload and disagree.
//   - payload_shape_mismatch: there are schemas and none consumes the payload
//     exactly: something is missing, left over, or outside its type's range.
//   - schema_shape_unsupported: the schema uses a type that this package does
//     not certify (an undefined or zero-sized one, a pointer without length),
//     or the event needs more than MaxFields fields, nests deeper than MaxDepth
//     or has labels of more than a kilobyte.
//
// # Order of authority
//
// Attribute asks the ABI of the class first. If that ABI has the event's
// selector path, its word is final, also when it does not consume the payload.
// If not (no ABI, or a proxy whose implementation emitted the event), the
// reviewed schemas are asked, then the name that the caller knows.
//
// # Selector paths
//
// A Cairo 1 event starts with one selector for each level of its enum that is
// not flat; the event's name is that of the last. Cairo 0 events and events of
// the first Cairo 1 compilers have one selector.
//
// # How values become fields
//
// Fields are in the order of the schema. Each position of keys and data, the
// selector path aside, belongs to exactly one field, and RawValues[i] is what
// stands at OriginIndexes[i] of the array that Source names. Structure is
// flattened, and labels are paths:
//
//   - a struct has no field of its own: order.maker, order.amount;
//   - a tuple likewise: pair.0, pair.1, or the names that a Cairo 0 tuple gives;
//   - an enum is a field of kind text that holds the variant's name, and the
//     variant's payload follows below it: policy = "Some", policy.Some.limit.
//     Options and results are enums;
//   - an array or span is a field of kind felt that holds the number of items,
//     and the items follow: ids, ids[0], ids[1]. A fixed-size array has items
//     only;
//   - an array of bare field elements is one field of status raw with all its
//     felts, the length first: calldata arrays would drown everything else;
//   - the two members name_len and name of Cairo 0 are one array: name;
//   - an enum inside an event struct (a nested member) is a field of kind text
//     on its selector;
//   - what takes no felt has no field.
//
// Kinds and their typed values: address (contract address, or L1 address when
// the type is EthAddress; AddressValue), hash (class hash), bool (BoolValue),
// u256 (u256 and Uint256; NumericValue), text (byte arrays and enum variants;
// TextValue), felt (everything else; NumericValue if the type is an integer
// or a length, nothing for felt252 and bytes31, which may mean anything).
// The status of a field is decoded when the typed value of its kind says it
// all, partial for a byte array that is not UTF-8 (RawValues are complete,
// DisplayValue is hex), raw for a run of bare field elements. DisplayValue is
// always set: minimal hex for felts, decimal for numbers.
//
// # Cost
//
// Finding an event is a binary search over the selectors of its class. Decoding
// makes one pass over the payload: a token transfer takes about a microsecond
// and six allocations, two for the fields and the rest for their texts, and an
// event that the class does not have takes none. No claim of a payload is
// followed beyond the felts it has. Loading the stored form of a large class
// takes tens of microseconds, parsing its ABI about a millisecond.
package abi
