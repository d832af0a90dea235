package sim

import (
	"encoding/binary"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Counters is a subject with rows that blocks overwrite and remove, so that
// undo and batches are tried on more than rows that are written once: per
// emitter the number of its events modulo a small number, without a row at zero.
type Counters struct{}

var _ explorer.Follower = Counters{}

var counters = &store.Table{ID: 200, Name: "sim_counter", PartitionLen: felt.Size}

const counterModulus = 5

// Subjects are those of the product and Counters.
func Subjects() []explorer.Subject { return append(catalog.Subjects(), Counters{}) }

// Tables are those of the product and of Counters.
func Tables() []*store.Table { return append(catalog.Tables(), counters) }

// Name is the subject's name.
func (Counters) Name() string { return "sim_counter" }

// Tables lists the subject's table.
func (Counters) Tables() []*store.Table { return []*store.Table{counters} }

// Project writes nothing.
func (Counters) Project(*explorer.Block, *explorer.Rows) error { return nil }

func emitters(b *explorer.Block) (out []felt.Felt) {
	for i := range b.Receipts {
		for j := range b.Receipts[i].Events {
			out = append(out, b.Receipts[i].Events[j].From)
		}
	}
	slices.SortFunc(out, felt.Felt.Cmp)
	return out
}

// Recalled lists the same table: its rows are asked for again.
func (c Counters) Recalled() []*store.Table { return c.Tables() }

// Plan asks for the counters of all emitters.
func (Counters) Plan(b *explorer.Block) (p explorer.Plan) {
	for _, f := range slices.Compact(emitters(b)) {
		p.Keys = append(p.Keys, store.Key{Table: counters, Partition: f[:], Sort: []byte("n")})
	}
	p.Follow = func(earlier [][]byte, rows *explorer.Rows) error { return count(b, earlier, rows) }
	return p
}

func count(b *explorer.Block, earlier [][]byte, rows *explorer.Rows) error {
	all := emitters(b)
	for i, f := range slices.Compact(slices.Clone(all)) {
		var n uint64
		if earlier[i] != nil {
			n = binary.BigEndian.Uint64(earlier[i])
		}
		for _, g := range all {
			if g == f {
				n++
			}
		}
		if n %= counterModulus; n == 0 {
			rows.Delete(counters, f[:], []byte("n"))
		} else {
			rows.Put(counters, f[:], []byte("n"), binary.BigEndian.AppendUint64(nil, n))
		}
	}
	return nil
}
