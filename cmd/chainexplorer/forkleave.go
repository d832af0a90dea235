package main

import (
	"fmt"
	"strconv"
	"strings"
)

// forkLeave is the operator's word that blocks may be undone though they had been
// accepted on L1: from a block on, of one chain. The zero value gives none.
type forkLeave struct {
	chain string // empty: the only one
	block *uint64
}

// UnmarshalText reads [CHAIN=]BLOCK.
func (l *forkLeave) UnmarshalText(text []byte) error {
	chain, number, named := strings.Cut(string(text), "=")
	if !named {
		chain, number = "", chain
	}
	block, err := strconv.ParseUint(number, 10, 64)
	if err != nil || named && chain == "" {
		return fmt.Errorf("%q is not the number of a block, such as 1234567 or SN_MAIN=1234567", text)
	}
	*l = forkLeave{chain, &block}
	return nil
}

// check refuses a word that does not say which of several chains it is about.
func (l *forkLeave) check(chains int) error {
	if l.block != nil && l.chain == "" && chains > 1 {
		return &usageError{"--allow-fork-below-l1: there are several chains: say which, such as SN_MAIN=1234567"}
	}
	return nil
}

// of is the oldest block of a chain that may be undone, or nil.
func (l *forkLeave) of(chain string) *uint64 {
	if l.chain != "" && l.chain != chain {
		return nil
	}
	return l.block
}
