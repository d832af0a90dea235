// Package export writes what an index holds to Parquet files, by which other programs
// analyze it.
//
// An export is a folder:
//
//	export.json                                   what it holds, with a digest of every file
//	events/blocks-0000000000-0000009999.parquet   a family, and a range of blocks
//	tokens/tokens.parquet                         what is known of the tokens now
//
// The rows of a range are a function of its blocks (and, for the standard of a transfer that
// could be two, of the registry): the same blocks give the same bytes, whenever they are
// written and however often that was interrupted. What is learned later, such as
// the names of tokens, stands in the file of the tokens alone.
//
// A file has its name when it is whole and on the disk, and stands in export.json when all
// families of its range have theirs. Whoever runs again begins with the first range that does
// not stand there. A range whose last block is not part of the chain any more, by the
// index's digest at it, is taken away and written again. Every view that a range is read from is held
// against that digest first: a file never has rows of two forks, however long it takes.
//
// Costs: a range is read once for all families together, one scan per 4,096 blocks of their
// headers and one per 16 of their transactions, in views of at most viewRows rows; state diffs are one
// GetMany for each headerRows blocks. No row is looked up for the sake of another, but for
// the tokens, which are one GetMany for each tokenRows. Memory is that of the open row groups:
// one of at most groupBytes, counted as text, in each family and range at work, with what was
// read of the index in one view. export.json is written once for each range.
package export
