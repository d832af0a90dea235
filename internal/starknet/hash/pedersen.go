package hash

import (
	"fmt"
	"sync"

	curve "github.com/consensys/gnark-crypto/ecc/stark-curve"
	"github.com/consensys/gnark-crypto/ecc/stark-curve/fp"
)

// The points of the Pedersen hash, as the protocol fixes them: where the sum begins, and
// for either number the points of its lower 248 bits and of the rest.
var (
	shift  = [2]string{"0x49ee3eba8c1600700ee1b87eb599f16716b0b1022947733551fde4050ca6804", "0x3ca0cfe4b3bc6ddf346d49d06ea0ed34e621062c0e056c1d0405d266e10268a"}
	points = [2][2][2]string{
		{
			{"0x234287dcbaffe7f969c748655fca9e58fa8120b6d56eb0c1080d17957ebe47b", "0x3b056f100f96fb21e889527d41f4e39940135dd7a6c94cc6ed0268ee89e5615"},
			{"0x4fa56f376c83db33f9dab2656558f3399099ec1de5e3018b7a6932dba8aa378", "0x3fa0984c931c9e38113e0c0e47e4401562761f92a7a23b45168f4e80ff5b54d"},
		},
		{
			{"0x4ba4cc166be8dec764910f75b45f74b40c690c74709e90f3aa372f0bd2d6997", "0x40301cf5c1751f4b971e46c4ede85fcac5c59a5ce5ae7c48151f27b24b219c"},
			{"0x54302dcb0e6cc1c6e44cca8f61a63bb2ca65048d53fb325d36ff12c49a58202", "0x1b77b3e37d13504b348046268d8ae25ce98ad783c25561a879dcc77e99c2426"},
		},
	}
)

const (
	lowBytes = 31             // of the 32 of a number
	windows  = 2*lowBytes + 1 // of four bits; the last is of the upper point
)

// table has, for every four bits of a number, what their value adds to the sum. Zero adds
// the point at infinity.
type table [windows][16]curve.G1Affine

type pedersenTables struct {
	shift curve.G1Jac
	of    [2]table
}

// tables are made when the first hash is asked for: most processes ask for none.
var tables = sync.OnceValue(func() *pedersenTables {
	t := &pedersenTables{shift: point(shift)}
	for i := range points {
		var all []curve.G1Jac
		base := point(points[i][0])
		for w := range windows {
			if w == windows-1 {
				base = point(points[i][1])
			}
			var sum curve.G1Jac // at infinity
			for range 16 {
				all = append(all, sum)
				sum.AddAssign(&base)
			}
			base = sum // sixteen times
		}
		for j, p := range curve.BatchJacobianToAffineG1(all) {
			t.of[i][j/16][j%16] = p
		}
	}
	return t
})

func point(at [2]string) (p curve.G1Jac) {
	for i, c := range []*fp.Element{&p.X, &p.Y} {
		if _, err := c.SetString(at[i]); err != nil {
			panic(fmt.Sprintf("hash: a constant: %v", err))
		}
	}
	p.Z.SetOne()
	return p
}

// Pedersen is the Pedersen hash of a pair.
func Pedersen(a, b *fp.Element) fp.Element {
	t := tables()
	sum := t.shift
	for i, e := range []*fp.Element{a, b} {
		bytes, of := e.Bytes(), &t.of[i]
		for j := range lowBytes { // from the lowest
			n := bytes[lowBytes-j]
			sum.AddMixed(&of[2*j][n&15])
			sum.AddMixed(&of[2*j+1][n>>4])
		}
		sum.AddMixed(&of[windows-1][bytes[0]]) // below 16: numbers have 252 bits
	}
	var x fp.Element
	x.Inverse(&sum.Z).Square(&x)
	x.Mul(&sum.X, &x)
	return x
}
