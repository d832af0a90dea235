// Package explorer is the contract between the write path and the subjects of
// the read model. Each subject is one folder below this one, with rows.go (the
// tables and records), project.go (block to rows) and query.go (rows to
// answers); the write path knows subjects only through this package.
//
// A projection is a pure function: of the block alone (Subject), or of the
// block and of the earlier rows that it asked for (Follower). The write path
// runs Project and Plan on many blocks at once and in any order, and Follow in block
// order, with one GetMany for all followers of a block, or two where a plan has
// more to ask for. Rows of blocks that are not committed yet are answered from
// memory.
package explorer

import (
	"crypto/sha256"
	"encoding/binary"

	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// Block is what projections see of a block, and exactly what the index keeps
// of it: checks replay the projections from stored rows, so a projection must
// not use anything else.
type Block struct {
	starknet.Block
	// State is the block's state diff, sorted, without storage cells: those
	// are checked against the block's commitment and then dropped.
	State starknet.StateDiff
	// StateDiffLength counts all changes of the diff, storage cells included.
	StateDiffLength uint64
	// Stored, unless nil, are the values of the rows of its transactions, as the index has
	// them: those of a block that is read back to be undone need not be made again. The
	// digest says whether they are what the block wrote.
	Stored [][]byte
}

// NewBlock joins a block and its state update into what projections see. It
// takes both over.
func NewBlock(b *starknet.Block, su *starknet.StateUpdate) *Block {
	out := &Block{Block: *b, State: su.Diff, StateDiffLength: su.Diff.Length()}
	out.State.Storage = nil
	out.State.Sort()
	out.Commitments = nil
	return out
}

// Subject turns blocks into the rows of its own tables.
type Subject interface {
	Name() string
	Tables() []*store.Table
	// Project appends the rows that follow from the block alone.
	Project(b *Block, rows *Rows) error
}

// Follower is a Subject whose rows also depend on earlier ones.
type Follower interface {
	Subject
	// Recalled lists the tables whose rows plans may ask for. The write path need not
	// remember uncommitted rows of the others.
	Recalled() []*store.Table
	// Plan begins the work on a block: it says which earlier rows are needed, and has
	// done whatever can be done without them. It needs no other block: it runs where
	// Project does, on many blocks at once, which leaves less for the one place where
	// blocks come in order.
	Plan(b *Block) Plan
}

// Rows collects the changes that a block makes. It copies what it is given
// into memory of its own, so that projections can reuse their buffers.
type Rows struct {
	changes store.Changes
	ops     []store.Op // of changes, as many as were asked for
}

// NewRows makes room for about so many changes.
func NewRows(changes int) *Rows {
	r := &Rows{}
	r.Reserve(changes, 0)
	return r
}

// Reserve makes room for about so many changes and so many bytes of keys and values.
func (r *Rows) Reserve(changes, bytes int) { r.changes.Reserve(changes, bytes) }

// Reset empties it for the rows of another block, with the memory of these: nobody may
// look at them any more.
func (r *Rows) Reset() {
	r.changes.Reset(false)
	r.ops = r.ops[:0]
}

// Bytes is the size of all keys and values.
func (r *Rows) Bytes() int { return r.changes.Bytes() }

// Len is the number of changes.
func (r *Rows) Len() int { return r.changes.Len() }

// Put sets a row.
func (r *Rows) Put(t *store.Table, partition, sort, value []byte) {
	r.changes.Put(t, partition, sort, value)
}

// Delete removes a row.
func (r *Rows) Delete(t *store.Table, partition, sort []byte) { r.changes.Delete(t, partition, sort) }

// Changes returns the changes as they are kept.
func (r *Rows) Changes() *store.Changes { return &r.changes }

// Ops returns the changes in the order in which they were made, one by one.
func (r *Rows) Ops() []store.Op {
	if len(r.ops) != r.changes.Len() {
		if r.ops = r.ops[:0]; cap(r.ops) < r.changes.Len() {
			r.ops = make([]store.Op, 0, r.changes.Len())
		}
		r.ops = r.changes.AppendOps(r.ops)
	}
	return r.ops
}

// Sum is a digest of the changes in order. Subjects must emit the same changes
// in the same order for the same block: no ranging over maps.
func (r *Rows) Sum() [sha256.Size]byte {
	h := sha256.New()
	buf := make([]byte, 0, sumChunk)
	list := r.changes.List()
	for i := range list {
		c := &list[i]
		row := r.changes.Row(c)
		key := len(r.changes.Key(c))
		if len(buf)+changeHead+len(row) > sumChunk {
			h.Write(buf) //nolint:errcheck // a hash never fails
			buf = buf[:0]
		}
		buf = appendChange(buf, row[0], key-1-r.changes.Table(c).PartitionLen, len(row)-key, c.Delete)
		if len(row) > sumChunk-changeHead {
			h.Write(buf)     //nolint:errcheck // see above
			h.Write(row[1:]) //nolint:errcheck // see above
			buf = buf[:0]
			continue
		}
		buf = append(buf, row[1:]...)
	}
	h.Write(buf) //nolint:errcheck // see above
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return sum
}

// sumChunk is how much is hashed at a time: most changes are smaller than the
// price of a call.
const sumChunk = 4 << 10

// changeHead is the most that appendChange appends.
const changeHead = 2 + 2*binary.MaxVarintLen64

// appendChange appends what is hashed of a change before its key and value; lengths make the
// encoding unambiguous, and the partition needs none because the table fixes it.
func appendChange(b []byte, table byte, sort, value int, gone bool) []byte {
	b = append(b, table)
	b = binary.AppendUvarint(b, uint64(sort))
	if gone {
		return append(b, 1)
	}
	return binary.AppendUvarint(append(b, 0), uint64(value))
}
