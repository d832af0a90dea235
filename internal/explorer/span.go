package explorer

import "encoding/binary"

// Tables that are kept by block number have as partition what a block's number falls
// into, so that they can be spread over machines:
//
//   - A span where there is at most a small row for a block, and where pages look through
//     many blocks, most of which may have none: a page stays in one or two partitions.
//   - A stretch where a block writes much: its transactions, half of all bytes, and its undo
//     record. What is written next lies together, and were it one partition, a commit of a
//     hundred blocks would be above all the work of one machine; so it falls into several
//     for each. Whoever looks further than a stretch asks the running totals of blocks where
//     (block.Newest, block.Oldest).
//
// Commits of 120 blocks on four machines are shared out 1.35 times as well as on two when
// transactions are kept by spans, 1.57 times with stretches of 64 blocks, 1.71 with 32, 1.79
// with 16 and 1.89 with 8; to keep the other rows of blocks by stretches as well changes
// nothing.

const (
	spanBits    = 12
	stretchBits = 4
)

const (
	// SpanSize is the number of blocks in a span.
	SpanSize = 1 << spanBits
	// StretchSize is the number of blocks in a stretch.
	StretchSize = 1 << stretchBits
)

const (
	// SpanBytes is the length of a span's partition.
	SpanBytes = 4
	// StretchBytes is the length of a stretch's partition.
	StretchBytes = 4
)

// Span is the partition of a block's rows in a table that is kept by spans.
func Span(number uint64) []byte {
	return binary.BigEndian.AppendUint32(make([]byte, 0, SpanBytes), uint32(number>>spanBits))
}

// FirstOfSpan is the first block number in the span that holds number.
func FirstOfSpan(number uint64) uint64 { return number >> spanBits << spanBits }

// Stretch is the partition of a block's rows in a table that is kept by stretches.
func Stretch(number uint64) []byte { return AppendStretch(make([]byte, 0, StretchBytes), number) }

// AppendStretch appends that partition.
func AppendStretch(b []byte, number uint64) []byte {
	return binary.BigEndian.AppendUint32(b, uint32(number>>stretchBits))
}

// FirstOfStretch is the first block number in the stretch that holds number.
func FirstOfStretch(number uint64) uint64 { return number >> stretchBits << stretchBits }

// BlockKey is the sort key of a block.
func BlockKey(number uint64) []byte { return binary.BigEndian.AppendUint64(nil, number) }
