// Package starknet holds the node's wire types for JSON-RPC spec versions 0.8
// to 0.10, their decoding, and the hashes that the protocol defines over them.
//
// Decoding is strict about what must be there and lenient towards what is new:
// a missing required field is an error that names it, an unknown field is
// skipped. Felts go from hex to 32 bytes in one step, and the felts of one
// block share a few large allocations.
package starknet
