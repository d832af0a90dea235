package method

import (
	"slices"
	"strings"

	"chainexplorer/internal/starknet"
)

// component is a type of the specification, as a version has it; nil when it has none.
type component func(v starknet.SpecVersion) *Schema

// components are all types by name.
var components = map[string]component{}

func define(some map[string]component) {
	for name, c := range some {
		if components[name] != nil {
			panic("method: component " + name + " is defined twice")
		}
		components[name] = c
	}
}

// same is a component that all versions have alike.
func same(s *Schema) component { return func(starknet.SpecVersion) *Schema { return s } }

// Component is a type as a version has it; nil when there is none of that name.
func Component(name string, v starknet.SpecVersion) *Schema {
	if c := components[name]; c != nil {
		return c(v)
	}
	return nil
}

// RefName is the name of the component that a schema refers to; empty when it refers
// to none.
func (s *Schema) RefName() string { return strings.TrimPrefix(s.Ref, refPrefix) }

// each calls do for a schema and all in it.
func (s *Schema) each(do func(*Schema)) {
	if s == nil {
		return
	}
	do(s)
	s.Items.each(do)
	for _, p := range s.Properties {
		p.each(do)
	}
	for _, some := range slices.Concat(s.AnyOf, s.OneOf) {
		some.each(do)
	}
}

// reach adds to seen all components that a schema leads to.
func reach(s *Schema, v starknet.SpecVersion, seen map[string]*Schema) {
	s.each(func(s *Schema) {
		name := s.RefName()
		if name == "" || seen[name] != nil {
			return
		}
		c := Component(name, v)
		if c == nil {
			panic("method: no component " + name + " in version " + v.String())
		}
		seen[name] = c
		reach(c, v, seen)
	})
}

const (
	feltSpelling = "^0x(0|[1-9a-fA-F][0-9a-fA-F]{0,62})$"
	hexSpelling  = "^0x[0-9a-fA-F]+$"
)

// blockIDs is how a block is named, with some tags.
func blockIDs(v starknet.SpecVersion, description string, tags ...string) *Schema {
	return oneOf(description,
		object(v, "By its hash.", must("block_hash", of("FELT"))),
		object(v, "By its number.", must("block_number", of("BLOCK_NUMBER"))),
		words("By a tag.", tags...))
}

func init() {
	define(map[string]component{
		"FELT":         same(hexText("A field element: 0x and hex digits without zeros in front.", feltSpelling)),
		"U64":          same(hexText("A number of up to 64 bits in hex.", "^0x(0|[1-9a-fA-F][0-9a-fA-F]{0,15})$")),
		"U128":         same(hexText("A number of up to 128 bits in hex.", "^0x(0|[1-9a-fA-F][0-9a-fA-F]{0,31})$")),
		"HEX":          same(hexText("A number of any size in hex.", hexSpelling)),
		"CHAIN_ID":     same(hexText("The letters of the chain's name as a number in hex.", hexSpelling)),
		"L1_ADDRESS":   same(hexText("An address of L1: 40 hex digits.", "^0x[0-9a-fA-F]{40}$")),
		"L1_TXN_HASH":  same(hexText("Hash of a transaction of L1.", "^0x[0-9a-fA-F]{1,64}$")),
		"BLOCK_NUMBER": same(whole("How many blocks came before.")),
		"FELTS":        same(listOf(of("FELT"))),

		"BLOCK_ID": func(v starknet.SpecVersion) *Schema {
			if v < starknet.V09 {
				return blockIDs(v, "Names a block. pending is the block that is being made.", "latest", "pending")
			}
			return blockIDs(v, "Names a block. pre_confirmed is the block that is being made, l1_accepted the newest that L1 has settled.",
				"latest", "pre_confirmed", "l1_accepted")
		},
		"PROVEN_BLOCK_ID": func(v starknet.SpecVersion) *Schema {
			if v < starknet.V09 {
				return blockIDs(v, "Names a block that is finished.", "latest")
			}
			return blockIDs(v, "Names a block that is finished.", "latest", "l1_accepted")
		},
		"TRACED_BLOCK_ID": func(v starknet.SpecVersion) *Schema {
			if v < starknet.V09 {
				return Component("BLOCK_ID", v)
			}
			return blockIDs(v, "Names a block that is finished.", "latest", "l1_accepted")
		},
		"START_BLOCK_ID": func(v starknet.SpecVersion) *Schema {
			return blockIDs(v, "From where on; at most 1,024 blocks back.", "latest")
		},

		"TXN_TYPE":         same(words("Kind of a transaction.", "INVOKE", "DECLARE", "DEPLOY", "DEPLOY_ACCOUNT", "L1_HANDLER")),
		"EXECUTION_STATUS": same(words("Whether it had its effect.", "SUCCEEDED", "REVERTED")),
		"DA_MODE":          same(words("Where data is kept.", "L1", "L2")),
		"PRICE_UNIT":       same(words("What a fee is counted in: WEI of ETH, or FRI of STRK.", "WEI", "FRI")),
		"BLOCK_STATUS": func(v starknet.SpecVersion) *Schema {
			if v < starknet.V09 {
				return words("How settled a block is.", "PENDING", "ACCEPTED_ON_L2", "ACCEPTED_ON_L1", "REJECTED")
			}
			return words("How settled a block is.", "PRE_CONFIRMED", "ACCEPTED_ON_L2", "ACCEPTED_ON_L1")
		},
		"TXN_FINALITY": func(v starknet.SpecVersion) *Schema {
			if v < starknet.V09 {
				return words("How settled a transaction in a block is.", "ACCEPTED_ON_L2", "ACCEPTED_ON_L1")
			}
			return words("How settled a transaction in a block is.", "PRE_CONFIRMED", "ACCEPTED_ON_L2", "ACCEPTED_ON_L1")
		},
		"TXN_STATUS": func(v starknet.SpecVersion) *Schema {
			if v < starknet.V09 {
				return words("How far a transaction has got.", "RECEIVED", "REJECTED", "ACCEPTED_ON_L2", "ACCEPTED_ON_L1")
			}
			return words("How far a transaction has got.", "RECEIVED", "CANDIDATE", "PRE_CONFIRMED", "ACCEPTED_ON_L2", "ACCEPTED_ON_L1")
		},

		"HASH_AND_NUMBER": func(v starknet.SpecVersion) *Schema {
			return object(v, "A block.", must("block_hash", of("FELT")), must("block_number", of("BLOCK_NUMBER")))
		},
		"SYNCING": func(v starknet.SpecVersion) *Schema {
			return anyOf("How far a node is.", flag("false: it has caught up."),
				object(v, "Where it began, is, and wants to get.",
					must("starting_block_hash", of("FELT")), must("starting_block_num", of("BLOCK_NUMBER")),
					must("current_block_hash", of("FELT")), must("current_block_num", of("BLOCK_NUMBER")),
					must("highest_block_hash", of("FELT")), must("highest_block_num", of("BLOCK_NUMBER"))))
		},
		"OPENRPC": same(&Schema{Description: "An OpenRPC document.", Type: "object"}),

		"TXN_FLAGS":     same(listOf(words("What to add to transactions.", "INCLUDE_PROOF_FACTS"))),
		"STORAGE_FLAGS": same(listOf(words("What to add to the value.", "INCLUDE_LAST_UPDATE_BLOCK"))),
		"TRACE_FLAGS":   same(listOf(words("What to add to the traces.", "RETURN_INITIAL_READS"))),
		"SIMULATION_FLAGS": func(v starknet.SpecVersion) *Schema {
			flags := []string{"SKIP_VALIDATE", "SKIP_FEE_CHARGE"}
			if v >= starknet.V010 {
				flags = append(flags, "RETURN_INITIAL_READS")
			}
			return listOf(words("What to leave out, or to add.", flags...))
		},
		"ESTIMATE_FLAGS": same(listOf(words("What to leave out.", "SKIP_VALIDATE"))),

		// Since 0.10 more than one emitter can be asked for.
		"EMITTERS": func(v starknet.SpecVersion) *Schema {
			if v < starknet.V010 {
				return of("FELT")
			}
			return anyOf("A contract, or several.", of("FELT"), of("FELTS"))
		},
		"KEY_FILTER": same(listOf(of("FELTS"))),
	})
}
