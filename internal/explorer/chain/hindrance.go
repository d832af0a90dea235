package chain

import (
	"strings"
	"time"

	"chainexplorer/internal/store/record"
)

// HinderedKey is the row in which an indexer leaves what keeps it from going on,
// while it keeps trying. It is there until the next block, or until nothing is
// in the way any more.
var HinderedKey = metaKey("hindered")

// Hindrance is what an indexer cannot get past. A fault, after which it stops, is
// another matter.
type Hindrance struct {
	Since time.Time // zero when there is none
	Block uint64    // that cannot be had
	// Reason is shown to callers: it holds no address and no advice.
	Reason string
}

// notStored ends the reason when it is the store that is in the way.
const notStored = " could not be stored: the store is full or fails."

// NotStored is the reason for what the store does not take.
func NotStored(what string) string { return what + notStored }

// InStore says that the store is in the way, and no node.
func (h Hindrance) InStore() bool { return strings.HasSuffix(h.Reason, notStored) }

// Encode returns the row.
func (h Hindrance) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	e.Uint(millis(h.Since))
	e.Uint(h.Block)
	e.Text(h.Reason)
	return e.Bytes()
}

// DecodeHindrance reads a Hindrance row.
func DecodeHindrance(b []byte) (h Hindrance, err error) {
	d := record.NewDecoder(b, recordVersion)
	h.Since, h.Block, h.Reason = instant(d.Uint()), d.Uint(), d.Text()
	return h, wrap("hindered", d.Finish())
}
