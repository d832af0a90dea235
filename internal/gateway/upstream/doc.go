// Package upstream answers calls of the gateway by asking nodes, as seldom as it can
// and never more than the call allows.
//
// A read costs no request at all when its answer is kept; none of its own when the
// same read is under way for somebody else; otherwise one request to a node, and at
// most a second one. Kept are answers that cannot change any more, as far as the
// index knows: about blocks, transactions and classes that are settled. They are
// found under the number of forks that the index went through, so that a fork leaves
// none behind, and for ten minutes, so that a lie does not last. What a node says of
// another block than the settled one that it was asked for is no answer. A write costs one request to one node, whatever happens.
//
// What a kept answer costs: one digest of the parameters, one look at the index that
// opens no view while nothing was written, and no copy. What one from a node costs
// beside the request: a goroutine, and for answers about a block hash, a transaction
// or a class a look at the index before it, so that no node is asked that does not
// have the block yet; for those that may be kept one more look after it.
package upstream
