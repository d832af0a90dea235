package record

import (
	"encoding/binary"

	"chainexplorer/internal/felt"
)

// Glance is a look at the list of felts that a decoder stands in front of, which stays there. It goes
// forward, for readers that look at few of them: it does not learn what later felts may refer to, and so tells
// felts and large numbers only of what the record has in front of the list. What is not as it should be is
// no number, and no felt: whoever wants to know why reads the list.
type Glance struct {
	d        *Decoder
	pos      int
	at, size int
}

// Glance looks at a list.
func (d *Decoder) Glance() (g Glance) {
	from := d.pos
	g.d, g.size = d, d.Len(1)
	g.pos, d.pos = d.pos, from
	return g
}

// Size is how many felts the list has.
func (g *Glance) Size() int { return g.size }

// At is the place of the felt in front of which the glance stands.
func (g *Glance) At() int { return g.at }

// Pass passes so many felts.
func (g *Glance) Pass(n int) {
	buf, pos := g.d.buf, g.pos
	for i := n; i > 0 && pos < len(buf); i-- {
		tag := int(buf[pos])
		if tag >= firstRef {
			tag = 0
		}
		pos += 1 + tag
	}
	g.pos, g.at = pos, g.at+n
}

// Number passes a felt, and tells it if it is a number below 2^40: one that nothing refers to.
func (g *Glance) Number() (n uint64, small bool) {
	buf, at := g.d.buf, g.pos
	g.Pass(1)
	if g.at > g.size || g.pos > len(buf) || g.pos == at || buf[at] >= minShared {
		return 0, false
	}
	for _, c := range buf[at+1 : g.pos] {
		n = n<<8 | uint64(c)
	}
	return n, true
}

// FeltTo passes a felt and reads it; false where that cannot be done.
func (g *Glance) FeltTo(f *felt.Felt) bool {
	d, at := g.d, g.pos
	g.Pass(1)
	if g.at > g.size || g.pos > len(d.buf) || g.pos == at {
		return false
	}
	if tag := int(d.buf[at]); tag >= firstRef {
		if tag-firstRef >= len(d.dict) {
			return false
		}
		at = int(d.dict[tag-firstRef])
	}
	d.literalTo(at, f)
	return d.err == nil
}

// PassUints passes so many numbers.
func (d *Decoder) PassUints(n int) {
	for buf := d.buf; n > 0; n-- {
		p := d.pos
		for ; p < len(buf) && p-d.pos < binary.MaxVarintLen64 && buf[p] >= 0x80; p++ {
		}
		if p >= len(buf) || p-d.pos == binary.MaxVarintLen64 {
			d.fail("bad number")
			return
		}
		d.pos = p + 1
	}
}
