// Package parquet writes Parquet files: flat columns, optional ones, and lists, as much of
// the format as an export has.
//
// A file is rows in row groups. A row group has a chunk of pages for each column:
//
//	PAR1
//	row group: column: [dictionary page] data page...   column: ...
//	row group: ...
//	for each row group and column: index of the bounds of its pages
//	for each row group and column: index of the places of its pages
//	footer: schema, row groups, metadata; its length; PAR1
//
// Data pages are of version 1, which every reader has: repetition levels (lists alone),
// definition levels (lists and what is optional), values, packed together with Zstandard and with
// a checksum. Levels and numbers in a dictionary are runs and packed bits, values plain. A
// list is a group of three levels, of which only the middle one repeats: it can be empty, and is never
// missing. The names of its nodes are those of the format.
//
// A column with a dictionary keeps it until the row group ends, or until it has
// dictionaryBytes: pages from then on are plain. A page ends with the first row by which it has
// pageBytes, so that it always begins with a row. Bounds are those of the type's order, of every
// page (texts cut to indexedBytes, the upper one rounded up) and of every chunk (whole).
//
// The bytes of a file depend on its rows, where row groups end, and the metadata: not on how
// fast it was written, or what else was meanwhile.
//
// Costs: a value is copied once, into its page, and compared with two bounds; one with a dictionary
// is compared with the value before it, then looked up by a hash, and is copied and compared with bounds only
// when it is new to the dictionary or the page. Nothing is allocated for a value or a row: buffers grow
// to what a row group takes and are used again. Memory is, for each column, a page that is being filled, the packed
// pages of the row group, and a dictionary of dictionaryBytes with about 30 bytes for each of its values; then one
// page unpacked and packed for the file, and the packer's for the process. A single list can be
// larger than a page: it, too, is held twice.
package parquet
