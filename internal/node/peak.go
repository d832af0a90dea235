package node

import "time"

// peakKept is how long a peak is remembered that is not reached again.
const peakKept = time.Hour

// peak is the highest head that a node told of, and when it last did. Behind one
// address may be several nodes, of which one lags: a lower head after a higher one
// does not yet mean that the higher one is gone.
type peak struct {
	number uint64
	at     time.Time // zero until a head was told
}

func (p *peak) told(number uint64, at time.Time) {
	if number >= p.number || at.Sub(p.at) > peakKept {
		p.number, p.at = number, at
	}
}
