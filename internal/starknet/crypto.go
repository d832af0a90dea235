package starknet

// Hash functions over felts: Poseidon and Pedersen, of pairs and of lists.

import (
	"sync"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet/hash"

	"github.com/consensys/gnark-crypto/ecc/stark-curve/fp"
)

// element is a felt in the form that field arithmetic wants. It stays inside
// this package: everything that leaves is a felt.Felt.
type element = fp.Element

// toElement converts f. A felt is below the prime by contract; an array that
// breaks it is reduced, so that a caller's mistake gives a wrong hash and not
// a panic.
func toElement(f *felt.Felt) (e element) {
	if e.SetBytesCanonical(f[:]) != nil {
		e.SetBytes(f[:])
	}
	return e
}

func fromElement(e *element) felt.Felt { return e.Bytes() }

func elementFromUint64(n uint64) (e element) {
	e.SetUint64(n)
	return e
}

// poseidon hashes lists of felts. The zero value is ready, and keeps its memory: one
// serves a whole block. A list ends with sum, or with end where others follow that do not
// depend on it: together they are hashed much sooner.
type poseidon struct{ lists hash.Lists }

func (p *poseidon) addElement(e *element) { p.lists.Add(e) }

func (p *poseidon) add(f *felt.Felt) {
	e := toElement(f)
	p.lists.Add(&e)
}

func (p *poseidon) addUint64(n uint64) {
	e := elementFromUint64(n)
	p.lists.Add(&e)
}

func (p *poseidon) addAll(fs []felt.Felt) {
	for i := range fs {
		p.add(&fs[i])
	}
}

// end closes a list whose hash is one of those that sums returns.
func (p *poseidon) end() { p.lists.End() }

// sums are the hashes of the lists that were ended. They hold until it is called again.
func (p *poseidon) sums() []element { return p.lists.Sums() }

// sum is the hash of the only list.
func (p *poseidon) sum() element {
	p.end()
	return p.sums()[0]
}

func (p *poseidon) sumFelt() felt.Felt {
	e := p.sum()
	return fromElement(&e)
}

// array hashes fs as a list of its own.
func (p *poseidon) array(fs []felt.Felt) element {
	p.addAll(fs)
	return p.sum()
}

// pedersen hashes lists of felts, in the same way as poseidon does.
type pedersen struct{ chains hash.Chains }

func (p *pedersen) addElement(e *element) { p.chains.Add(e) }

func (p *pedersen) add(f *felt.Felt) {
	e := toElement(f)
	p.chains.Add(&e)
}

func (p *pedersen) addAll(fs []felt.Felt) {
	for i := range fs {
		p.add(&fs[i])
	}
}

// end closes a list whose hash is one of those that sums returns.
func (p *pedersen) end() { p.chains.End() }

// sums are the hashes of the lists that were ended. They hold until it is called again.
func (p *pedersen) sums() []element { return p.chains.Sums() }

// sum is the hash of the only list.
func (p *pedersen) sum() element {
	p.end()
	return p.sums()[0]
}

// workspace is memory for the lists of a block. It is used again, since a block has thousands
// of elements, when all lists that were begun in it were hashed.
type workspace struct {
	p, q poseidon
	a, b pedersen
}

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

func pedersenElements(es ...element) element {
	var p pedersen
	for i := range es {
		p.addElement(&es[i])
	}
	return p.sum()
}

func pedersenFelts(fs []felt.Felt) element {
	var p pedersen
	p.addAll(fs)
	return p.sum()
}

// PoseidonArray is the Poseidon hash of a list.
func PoseidonArray(fs ...felt.Felt) felt.Felt {
	var p poseidon
	p.addAll(fs)
	return p.sumFelt()
}

// Poseidon is the Poseidon hash of a pair, which is not that of a list of two.
func Poseidon(a, b felt.Felt) felt.Felt {
	x, y := toElement(&a), toElement(&b)
	e := hash.Poseidon(&x, &y)
	return fromElement(&e)
}

// PedersenArray is the Pedersen hash of a list.
func PedersenArray(fs ...felt.Felt) felt.Felt {
	e := pedersenFelts(fs)
	return fromElement(&e)
}

// Pedersen is the Pedersen hash of a pair.
func Pedersen(a, b felt.Felt) felt.Felt {
	x, y := toElement(&a), toElement(&b)
	e := hash.Pedersen(&x, &y)
	return fromElement(&e)
}
