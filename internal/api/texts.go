package api

import (
	"strconv"
	"strings"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
)

// texts makes the texts of a page, which go to few pieces of memory rather than one for each row.
// The zero value is ready, and is for one goroutine.
type texts struct {
	bytes strings.Builder // of one text behind the other
	used  int             // bytes in front of those
	usual int             // how many those before had that were made in this memory
	lent  []string        // that are pointed to
	last  struct {        // the moment that was told last: rows of one block follow each other
		seconds uint64
		text    string
	}
}

// For how many bytes, and for how many pointers, memory is taken at first, and at most.
const (
	fewBytes, manyBytes = 128, 2048
	fewLent, manyLent   = 8, 128
)

// keep is the text of bytes that are used again.
func (t *texts) keep(b []byte) string {
	if t.bytes.Cap()-t.bytes.Len() < len(b) {
		size := max(len(b), min(max(2*t.bytes.Cap(), fewBytes, t.usual-t.used), manyBytes))
		t.used += t.bytes.Len()
		t.bytes = strings.Builder{} // the one before belongs to its texts
		t.bytes.Grow(size)
	}
	from := t.bytes.Len()
	t.bytes.Write(b) //nolint:errcheck // it never fails
	return t.bytes.String()[from:]
}

// recycle lets go of all texts, and keeps what they were pointed to by.
func (t *texts) recycle() {
	clear(t.lent)
	*t = texts{usual: max(t.used+t.bytes.Len(), t.usual-t.usual/8), lent: t.lent[:0]}
}

// at points to a text; nil for an empty one, of which the contract says null.
func (t *texts) at(s string) *string {
	if s == "" {
		return nil
	}
	if len(t.lent) == cap(t.lent) {
		t.lent = make([]string, 0, min(max(2*cap(t.lent), fewLent), manyLent))
	}
	t.lent = append(t.lent, s)
	return &t.lent[len(t.lent)-1]
}

// iso is a block's time as kernel.TimestampISO has it.
func (t *texts) iso(seconds uint64) string {
	if t.last.text == "" || t.last.seconds != seconds {
		var room [32]byte
		t.last.seconds, t.last.text = seconds, t.keep(time.Unix(int64(seconds), 0).UTC().AppendFormat(room[:0], time.RFC3339))
	}
	return t.last.text
}

// cursor names a transaction by its place.
func (t *texts) cursor(p explorer.Position) string {
	var room [32]byte
	return t.keep(appendCursor(room[:0], p))
}

func appendCursor(b []byte, p explorer.Position) []byte {
	return strconv.AppendUint(append(strconv.AppendUint(b, p.Block, 10), ':'), uint64(p.Index), 10)
}

// number is one in decimal digits.
func (t *texts) number(n uint64) *string {
	var room [20]byte
	return t.at(t.keep(strconv.AppendUint(room[:0], n, 10)))
}

// digits are the decimal ones of a number that may not be known.
func (t *texts) digits(n *[32]byte) *string {
	if n == nil {
		return nil
	}
	var room [80]byte
	return t.at(t.keep(felt.AppendDecimal(room[:0], n)))
}

// price is a price of gas. None is 0: that is what nodes tell of a block without it.
func (t *texts) price(p *felt.Felt) *string {
	if p.IsZero() {
		return nil
	}
	return t.digits((*[felt.Size]byte)(p))
}

// values are the numbers of a transfer as far as they are known.
func (t *texts) values(x *transfer.Transfer) (amount, raw, id *string) {
	amount, id = t.digits(x.AmountBytes()), t.digits(x.TokenIDBytes())
	raw = amount // where there are both they are the same number
	if n := x.NumberBytes(); n == nil || amount == nil {
		raw = t.digits(n)
	}
	return amount, raw, id
}
