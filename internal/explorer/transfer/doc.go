// Package transfer tells which events are token transfers, and lists them.
//
// Rows, with n transfer events:
//
//	transfer_address  address | block         places of the block's transfers   at most 2n rows
//	transfer_pair     address | token block   the same, of one token, and the   at most 2n rows
//	                                          balance that they left
//
// An event is a transfer when its first key is one of three selectors and the
// rest has one of the layouts that Decode knows; whatever else stands under
// those selectors is malformed: nobody's transfer, and counted with its token.
// The all-in-data layout is the same for an amount and for the number of an NFT:
// such a transfer is Ambiguous, and Transfer.As settles it when the kind of its
// token is known. The kind comes from calls and class ABIs, so it is asked for
// when transfers are read and never when they are written.
//
// Every party of a transfer has a row for each block in which it is one,
// holding the places (transaction, log) and on which side it stood. All
// transfers of one event have the same parties, so that a batch takes one
// place. The zero address is a party like any other here: its list is that of
// all mints and burns. The transfers of a token, and those of all tokens, are in
// the lists of package event already. The rows depend on the block alone, save
// for the balances in transfer_pair: both are wanted for every address, token and
// block, and one row is cheaper than two. Package token, which knows the balances,
// hands them to PairRow.
//
// Costs of a page in either order. A page is read in rounds: each takes as many
// events as the page still has room for, and one GetMany of their transactions, in
// whose rows the blocks' hashes and times stand; a round that ends between events
// reads one block more. The lists come to
//
//	an address, or an address and a token   1 scan for each 16 to 256 of its blocks
//	k of them                               k scans to begin with
//	tokens, or nothing                      what event.Search says, in every round
//
// Where every event counts one round does. What lists do not hold, such as a
// standard, is checked on the transfers that were read, and each round that leaves
// room is followed by another; Kinds is asked in at most one call a round. A page ends early at the query's Budget, and tells where to go on.
//
// Besides lists of transfers:
//
//	tokens of an address         1 scan of one row for each token, and one at the end
//	transactions of an address   1 scan, see WalkTransactions
//	the balance at a block       1 scan of one row, see LastBalance
package transfer
