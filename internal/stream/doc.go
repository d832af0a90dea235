// Package stream serves what happens on a chain as server-sent events: one request, which
// lasts, for the blocks, transactions, events, transfers, tiers or forks that a filter of
// package feed wants.
//
// A stream holds no state that outlives it, and none that grows. Every message has an id from
// which any process can go on, also when the block of the last message was taken back in the
// meantime: a mark of package feed. A stream reads the index at its client's pace and holds
// one batch of rows; who does not read is cut off.
//
// Costs: one watcher looks at each index for all streams. With every new block a stream that
// nothing matches costs one Read of package feed, and as many of them read at once as readers
// says. The rungs of the marks of a block are read once for all streams that are there.
package stream
