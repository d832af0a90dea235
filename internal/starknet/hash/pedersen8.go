package hash

import (
	"sync"

	curve "github.com/consensys/gnark-crypto/ecc/stark-curve"
	"github.com/consensys/gnark-crypto/ecc/stark-curve/fp"
)

// steps is how many points are added for a pair: one for every byte.
const steps = 2 * fp.Bytes

// wideTables have, for every byte of a pair, what its value adds to the sum, and the point of
// that byte once more: so no entry is the point at infinity. Where the sum begins has them all
// subtracted. An entry is x and y in words of 52 bits. They take 1.3 MB, and are made when
// eight hashes are first asked for at once.
type wideTables struct {
	entries []uint64
	begins  [steps]uint64 // a byte's first entry, in bytes
	start   [2]fp.Element // as lanes have it
}

const entrySize = 2 * words * 8

var wide = sync.OnceValue(func() *wideTables {
	t := &wideTables{}
	start := point(shift)
	var all []curve.G1Jac
	for i := range points {
		base := point(points[i][0])
		for j := range fp.Bytes {
			values := 256
			if j == fp.Bytes-1 {
				base, values = point(points[i][1]), 16 // numbers have 252 bits
			}
			t.begins[i*fp.Bytes+j] = uint64(len(all)) * entrySize
			start.SubAssign(&base)
			sum := base
			for range values {
				all = append(all, sum)
				sum.AddAssign(&base)
			}
			base = all[len(all)-1] // so many times as there are values
		}
	}
	for _, p := range curve.BatchJacobianToAffineG1(all) {
		for _, c := range []*fp.Element{&p.X, &p.Y} {
			w := weak(sixteen(c))
			t.entries = append(t.entries, w.words()...)
		}
	}
	var at curve.G1Affine
	at.FromJacobian(&start)
	t.start = [2]fp.Element{sixteen(&at.X), sixteen(&at.Y)}
	return t
})

// pedersen8 is the Pedersen hash of up to eight pairs. Pairs beyond n are not looked at.
func pedersen8(pairs *[width][2]fp.Element, n int) (out [width]fp.Element) {
	t := wide()
	var p lanes
	var offsets [steps][width]uint64
	one := fp.NewElement(1)
	for lane := range width {
		for at, e := range []fp.Element{t.start[0], t.start[1], sixteen(&one)} {
			w := weak(e)
			for i, word := range w.words() {
				p[at][i][lane] = word
			}
		}
		for i := range 2 {
			bytes := pairs[lane][i].Bytes()
			for j := range bytes { // from the lowest
				at := i*fp.Bytes + j
				offsets[at][lane] = t.begins[at] + uint64(bytes[fp.Bytes-1-j])*entrySize
			}
		}
	}
	addPoints8(&p, &t.entries[0], &offsets[0][0], steps)
	var z [width]fp.Element
	for lane := range n {
		z[lane] = p.get(2, lane)
	}
	for lane, inverse := range fp.BatchInvert(z[:n]) {
		if z[lane].IsZero() { // a point met itself: nobody knows how to make that happen
			out[lane] = Pedersen(&pairs[lane][0], &pairs[lane][1])
			continue
		}
		x := p.get(0, lane)
		out[lane].Mul(&x, inverse.Square(&inverse))
	}
	return out
}
