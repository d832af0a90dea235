package simnode

import (
	"encoding/binary"
	"math/bits"

	"chainexplorer/internal/felt"
)

// random is a small generator (splitmix64). Each block has its own, seeded by
// the chain's seed, the branch and the height, so that a block never depends
// on how many numbers were drawn before it.
type random struct{ state uint64 }

func newRandom(parts ...uint64) *random {
	r := &random{}
	for _, p := range parts {
		r.state ^= p
		r.state = r.next()
	}
	return r
}

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// intn is uniform in [0, n).
func (r *random) intn(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// skewed is in [0, n) and prefers small numbers, as popularity does.
func (r *random) skewed(n int) int {
	a, b := r.intn(n), r.intn(n)
	return min(a, b) * (r.intn(4) + 1) / 4
}

func (r *random) float() float64 { return float64(r.next()>>11) / (1 << 53) }

func (r *random) chance(p float64) bool { return r.float() < p }

// felt is any felt below 2^250.
func (r *random) felt() (f felt.Felt) {
	for i := 0; i < felt.Size; i += 8 {
		binary.BigEndian.PutUint64(f[i:], r.next())
	}
	f[0] &= 0x03
	return f
}

// ethAddress is a felt below 2^160.
func (r *random) ethAddress() felt.Felt {
	f := r.felt()
	clear(f[:12])
	return f
}
