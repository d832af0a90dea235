// Package token keeps what transfers add up to: balances at any block, and the
// totals of tokens.
//
// Rows, with n changes of a balance by a block, h holders and t tokens:
//
//	token_balance   token | holder         balance now, flags, last block   h rows
//	transfer_pair   holder | token block   balance after the block          n rows
//	token_total     token |                counters                         t rows
//	token_first     span | block token     where a token was first seen     t rows
//
// and, from calls to a node, outside digest and undo:
//
//	token_metadata  token |                name, symbol, decimals, supply   t rows
//	token_name      kind | text token       who calls itself so, or looks so  4t rows at most
//	token_symbol    symbol | token         who calls itself so              t rows
//	token_job       – | due token          the queue of those calls         t rows
//
// besides at most 64 rows of each for a class whose contracts are tokens by its ABI
// and have not moved any: see package metadata.
//
// A balance is kept twice: as an amount, the sum of values received less those
// sent, and in units, the number of transfers received less those sent. The
// first is the balance of an ERC-20 (and of an ERC-1155 over all ids), the second
// that of an ERC-721, whose all-in-data transfers cannot be told from those of an
// ERC-20 when they are written. Balance.Of picks one when the kind is known.
//
// Both are what the events say. A token that moves balances without events, or
// whose events are wrong, has other balances than these, possibly with a
// negative one here, which the totals count: whoever publishes a balance as a
// fact holds it against a contract call. The zero address is the other side of
// mints and burns, and no holder.
//
// Costs: a balance now is one Get, a balance at a block is one scan of one row,
// however many changes there were; totals are one Get. A block costs one GetMany
// of its (token, holder) pairs and its tokens, and writes two rows for each pair
// and one for each token. The row of a holder, a token and a block also holds the
// places of the transfers: package transfer lists them.
package token
