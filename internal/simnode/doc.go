// Package simnode is a simulated Starknet chain and a node that serves it.
//
// A Chain is a pure function of its Config: the same configuration yields the
// same blocks byte for byte, however they were asked for. Its contracts are
// played in Go, so the chain knows every balance, owner, note and event that
// an indexer should find, at every block of the canonical branch, and forgets
// what a fork undid. A Node serves one chain as a real node would, in any of
// the spec versions, and misbehaves on demand.
package simnode
