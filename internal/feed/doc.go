// Package feed tells what happened on a chain, block by block, to whoever wants to be told:
// streams of server-sent events and webhooks. It has the one language in which they say what
// they want (Filter), the places at which they are (Place, and Mark, which survives forks),
// and the reader of an index that answers what comes behind a place (Reader).
//
//	f, err := feed.Parse([]byte(`{"kind":"transfer","token":["0x53c…"],"to":["0x7b…"]}`))
//	at, err := reader.Now(ctx)
//	for {
//		parts, next, err := reader.Read(ctx, f, at, span, most)
//		…             // errors.Is(err, feed.ErrForked): Ancestor of the last Mark is where to go on
//		at = next     // equal to the place before: nothing new
//	}
//
// Items are the rows of the API's own lists, made by the same code. A row says what held
// when it was read: the tier of its block, names and standards of tokens, and ABIs may be
// known better later, and nothing is sent again for that.
//
// A block with many matches comes in parts of MaxItems. Part k of a block has the same
// matches whoever reads it and wherever the reading began: (block hash, part) names a
// message, so that one that is sent twice can be told.
//
// Costs of a Read, all on one view: the state (one GetMany), one Get for the block behind
// which it reads and one for the block that it comes to, and of the lists
//
//	block        one scan of the blocks that are returned
//	event        one scan for each list of the filter: emitters times topic0, or each value
//	transfer     one scan for each pair of address and token, or each address; of a token
//	             alone, and of all, what an event search for its transfers takes
//	transaction  two scans
//	finality     two Gets, only when a tier has moved
//	fork         nothing else
//
// whatever the number of blocks, when nothing matches. What matches costs what a page of the
// API's list costs. A node is never asked.
package feed
