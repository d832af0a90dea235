// Package gateway serves JSON-RPC of the chain's nodes: one careful node to callers,
// made of several, and of the index.
//
// A request passes, in this order:
//
//	key out of the path → kernel (request id, lane, key) → chain and version → body,
//	watched while it arrives → envelopes → per call: list, scope, budget, parameters,
//	a place → index → kept or shared answer → a node
//
// What a caller and a node wrote is never written anew. What is refused changes
// nothing and asks nobody.
//
// Costs of a call beside its answer: the key from memory, one mutex for each budget,
// one for the place, one pass over the body, and one copy of the result into the
// answer. A read that is kept, or that the index answers, makes no round trip; any
// other makes one, which equal calls share.
//
// Bounds: the body in bytes and in calls, bodies and answers in memory of a key and of
// all, calls at work of a key, a workspace and of all, calls of a batch at once, and the
// time of every call. They stand in bounds.go.
package gateway
