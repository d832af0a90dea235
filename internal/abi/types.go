package abi

// The type table: every type that an event mentions, resolved to what it looks
// like in a payload.

// kind is how a type is serialized and which values it has.
type kind uint8

// The numbers are part of the binary form: append only.
const (
	kindUnsupported kind = iota
	kindFelt
	kindBool
	kindU8
	kindU16
	kindU32
	kindU64
	kindU128
	kindU256
	kindU512
	kindI8
	kindI16
	kindI32
	kindI64
	kindI128
	kindAddress
	kindClassHash
	kindStorageAddress
	kindEthAddress
	kindBytes31
	kindByteArray
	kindArray  // length, then items of elem
	kindFixed  // count items of elem
	kindStruct // members in order
	kindTuple  // members in order
	kindEnum   // index, then the variant's payload if it has one
	kindUnit   // takes no felt: never in a finished table
	kinds      // how many there are
)

// typeID is a place in the type table; noType is a payload of no felts.
type typeID int32

const noType typeID = -1

// typeNode is one type. Its name is the full type string of the ABI.
type typeNode struct {
	kind    kind
	name    string
	elem    typeID   // array, fixed
	count   uint32   // fixed
	members []member // struct, tuple; of an enum the variants
}

type member struct {
	label string
	typ   typeID
}

// builtins are the types that mean the same in every Cairo 1 ABI, whether it
// defines them (as it does u256, bool and ByteArray) or not.
var builtins = map[string]kind{
	"core::felt252":               kindFelt,
	"core::bool":                  kindBool,
	"core::integer::u8":           kindU8,
	"core::integer::u16":          kindU16,
	"core::integer::u32":          kindU32,
	"core::integer::u64":          kindU64,
	"core::integer::u128":         kindU128,
	"core::integer::u256":         kindU256,
	"core::integer::u512":         kindU512,
	"core::integer::i8":           kindI8,
	"core::integer::i16":          kindI16,
	"core::integer::i32":          kindI32,
	"core::integer::i64":          kindI64,
	"core::integer::i128":         kindI128,
	"core::bytes_31::bytes31":     kindBytes31,
	"core::byte_array::ByteArray": kindByteArray,
	"core::starknet::contract_address::ContractAddress": kindAddress,
	"core::starknet::class_hash::ClassHash":             kindClassHash,
	"core::starknet::storage_access::StorageAddress":    kindStorageAddress,
	"core::starknet::eth_address::EthAddress":           kindEthAddress,
	"()": kindUnit,
}

// typeBits is the width of the kinds that are one felt below a power of two, or a
// signed integer of that width.
var typeBits = [kinds]int{
	kindBool: 1, kindU8: 8, kindU16: 16, kindU32: 32, kindU64: 64, kindU128: 128,
	kindI8: 8, kindI16: 16, kindI32: 32, kindI64: 64, kindI128: 128,
	kindAddress: 251, kindClassHash: 251, kindStorageAddress: 251, kindEthAddress: 160, kindBytes31: 248,
}

// isName says whether s is an identifier of Cairo. Names of an ABI end up in
// answers and pages, so that nothing else is let in.
func isName(s string) bool {
	if len(s) == 0 || len(s) > maxNameLen {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// isTypeName says whether s could be a type: printable ASCII without quotes,
// ampersands and backslashes.
func isTypeName(s string) bool {
	if len(s) == 0 || len(s) > maxTypeLen {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\'' || c == '&' || c == '\\' || c == '`' {
			return false
		}
	}
	return true
}
