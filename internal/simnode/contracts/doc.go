// Package contracts is the catalogue of the simulated chain: the classes that
// are declared on it, with interfaces true to the ones in the field, and the
// well-known addresses and selectors that its contracts live under.
//
// Every Sierra class is declared under the hash that its program, entry points
// and ABI text really have. There is no code behind a class: the simulated
// chain plays each contract in Go.
package contracts
