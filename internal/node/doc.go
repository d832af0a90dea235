// Package node is the one door to the Starknet nodes that the service reads
// from: a pool of JSON-RPC endpoints that behaves like a single careful node.
//
// It guarantees:
//   - A read is retried with jittered, growing waits and moves on to another
//     node when one fails; its total time is bounded by its context.
//   - The node with the highest head is asked first. A "not found" counts only
//     when the best informed node says it; otherwise the read is unsettled,
//     which is an error of its own kind.
//   - A write, and any method that is not a known read, is sent to exactly one
//     node, once. If nobody can tell whether it arrived, the error says so.
//   - A call of somebody else is passed on as it was written, and so is what a node
//     says to it: see Pool.Forward. It has places and memory of its own, is put to
//     two nodes at most, and fails at once while none answers.
//   - A node's Retry-After is kept, up to a limit. Requests in flight, batch
//     sizes, response bytes and waits are all bounded.
//   - All nodes serve the same chain and a known version of the specification.
//   - An address may hold secrets: nodes appear in logs, errors and metrics by
//     scheme and host alone.
package node
