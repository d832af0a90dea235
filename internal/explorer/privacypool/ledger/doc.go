// Package ledger keeps what privacy pools hold in public: per token what went in and
// what came out, up to a finalized block, with hourly points and daily counts.
//
// Rows, all of a generation g, with t tokens, n notes, nullifiers and wallets, h hours:
//
//	privacy_state     |                        which generations there are, and all   1 row
//	                                           that is known of each as a whole
//	privacy_token     g | token                counts and sums of a token             t rows
//	privacy_seen      g | kind pool id         where a note, a nullifier or a wallet  n rows
//	                                           was first seen
//	privacy_hour      g | hour                 the point of an hour                   h rows
//	privacy_snapshot  g | hour                 the assets at the end of that hour     hours that changed any
//	privacy_bucket    g | length start         counts of an hour or a day             hours and days with events
//	privacy_flow      g | kind length token    sums of an hour or a day: what went    hours and days with events
//	                      start                in and out of a token, or fees         of the token
//	privacy_request   |                        how often an operator asked for a      1 row
//	                                           new generation
//
// The rows are enrichment, because pools and their classes are those of the registry,
// which an operator can change, and no digest may depend on that. Advance makes them
// of whole blocks up to the finalized one, in the order of the chain; the same blocks
// give the same rows, however they are shared out among steps. A generation keeps the
// pools and classes that it was made by, and the hash of the block that it reaches: when
// a fork took that block away nothing of it is served any more. Another generation is
// made beside the one that is served, and takes its place when it has caught up.
//
// # What is counted
//
// A token's deposits are those of Deposit and OpenNoteDeposited, its withdrawals those
// of Withdrawal; what is protected is the difference. Nothing is guessed. From the
// first event on that could not be read, or that the protocol rules out, a generation
// has a Gap, with a reason, and is degraded: it can only heal by being made anew. An
// amount that is not there is counted with its token where the event tells the token,
// and otherwise against all of them.
//
// A Transfer event of the token, of the same amount between the same parties, stands
// in front of every movement. One that does not is counted with the token and shown; it
// is no gap, because a token can be written to break this rule and anybody can make one.
//
// A fee is a transfer of the pool's fee token, of the amount in force to the collector
// in force, in front of the first action of the pool in a transaction, at most one for
// each pool and transaction. Calls of the pool without any event pay one too, and are
// not told from other transfers: they are not counted.
//
// # Costs
//
//	Read             2 Gets: the state, and the block that it reaches
//	Ledger.Assets    1 scan of at most MaxAssets + 1 rows
//	Ledger.Hours     1 scan of at most 25 rows, 1 GetMany of at most 24 snapshots
//	Ledger.Buckets   2 scans: of at most MaxBuckets rows, and of 1
//	Ledger.Flows     2 scans: of at most MaxBuckets rows, and of 1
//
// Weeks are sums of days, so that a week counts as seven of MaxBuckets. Nothing here
// grows with the number of events or of blocks, and what a block costs does not grow with
// the time that a node tells of it: at most MaxQuiet points.
package ledger
