package starknet

import (
	"encoding/json"

	"chainexplorer/internal/felt"
)

// Class is a contract class: exactly one of its fields is set.
type Class struct {
	Sierra *SierraClass
	Cairo0 *Cairo0Class
}

// SierraClass is a Cairo 1 class.
type SierraClass struct {
	Program              []felt.Felt
	ContractClassVersion string
	EntryPoints          EntryPoints
	// ABI is the text as declared: the class hash covers its exact bytes.
	ABI string
}

// Cairo0Class is a class of the first Cairo.
type Cairo0Class struct {
	Program     string // base64 of gzipped JSON
	EntryPoints EntryPoints
	ABI         json.RawMessage // an array, or nil
}

// EntryPoints are a class's doors by kind, in the order that is hashed.
type EntryPoints struct {
	Constructor []EntryPoint
	External    []EntryPoint
	L1Handler   []EntryPoint
}

// EntryPoint is one door. Index is the function index of a Sierra class and
// the bytecode offset of a Cairo 0 class.
type EntryPoint struct {
	Selector felt.Felt
	Index    uint64
}
