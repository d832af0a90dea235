package starknet

// Protocol versions, and up to which of them the hash rules are known.

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrUnknownRules says that this program does not know the rules by which a
// hash was made: the data is unverified.
var ErrUnknownRules = errors.New("hash rules are not known")

// protocolVersion is a Starknet version; components that are not written are zero.
type protocolVersion [4]uint32

// The versions at which the rules changed.
var (
	v0_10_0 = protocolVersion{0, 10}       // transaction hashes have one form from here on
	v0_11_1 = protocolVersion{0, 11, 1}    // every signature is committed to, not only those of invokes
	v0_13_2 = protocolVersion{0, 13, 2}    // Poseidon block hash
	v0_13_4 = protocolVersion{0, 13, 4}    // gas prices hashed apart, empty signatures are empty
	v0_14_1 = protocolVersion{0, 14, 1}    // migrated classes
	v0_14_2 = protocolVersion{0, 14, 2}    // proof facts
	vBeyond = protocolVersion{0, 15, 0, 0} // first version whose rules are not known

	newestRules = v0_14_2
)

// parseVersion reads up to four dotted numbers. Blocks of 2021 and 2022 carry
// no version: that is older than any.
func parseVersion(s string) (v protocolVersion, err error) {
	if s == "" {
		return v, nil
	}
	parts := strings.Split(s, ".")
	if len(parts) > len(v) || len(s) > 31 {
		return v, fmt.Errorf("starknet version %.40q: %w", s, ErrUnknownRules)
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return v, fmt.Errorf("starknet version %.40q: %w", s, ErrUnknownRules)
		}
		v[i] = uint32(n)
	}
	return v, nil
}

// rulesOf is the version by whose rules a block is recomputed. A version that is
// not known gets the newest rules, and known is false: where a hash that covers
// the version's name follows from them all the same, they are the right ones.
func rulesOf(s string) (v protocolVersion, known bool) {
	v, err := knownVersion(s)
	if err != nil {
		return newestRules, false
	}
	return v, true
}

// knownVersion is parseVersion for versions whose rules are known.
func knownVersion(s string) (protocolVersion, error) {
	v, err := parseVersion(s)
	if err != nil {
		return v, err
	}
	if !v.before(vBeyond) {
		return v, fmt.Errorf("starknet version %q: %w", s, ErrUnknownRules)
	}
	return v, nil
}

func (v protocolVersion) before(w protocolVersion) bool {
	for i := range v {
		if v[i] != w[i] {
			return v[i] < w[i]
		}
	}
	return false
}
