package store

// Op is one change of a batch: a new value, or the end of a row.
type Op struct {
	Key
	Value  []byte
	Delete bool
}

// Cut is a part of a partition whose rows go, however many there are: From is
// included, To is not, and nil is the end of the partition.
type Cut struct {
	Table     *Table
	Partition []byte
	From, To  []byte
}

// Batch is a list of changes that take effect together. When it names a row
// more than once, the last change counts. Its cuts come before all of them.
type Batch struct {
	// Lease and Epoch are the name and the epoch of the lease under which the
	// batch is committed; the name of a new batch is the writer's.
	Lease string
	Epoch uint64

	ops   []Op
	cuts  []Cut
	bytes int
}

// Put sets a row. The batch keeps the slices.
func (b *Batch) Put(k Key, value []byte) {
	b.ops = append(b.ops, Op{Key: k, Value: value})
	b.bytes += len(k.Partition) + len(k.Sort) + len(value)
}

// Delete removes a row; removing one that is not there is no error.
func (b *Batch) Delete(k Key) {
	b.ops = append(b.ops, Op{Key: k, Delete: true})
	b.bytes += len(k.Partition) + len(k.Sort)
}

// Cut removes the rows of a part, for an engine that is a Cutter. The batch keeps the
// slices.
func (b *Batch) Cut(c Cut) {
	b.cuts = append(b.cuts, c)
	b.bytes += 2*len(c.Partition) + len(c.From) + len(c.To)
}

// Cuts returns the parts that go. The caller must not change them.
func (b *Batch) Cuts() []Cut { return b.cuts }

// Under says under which lease the batch is committed.
func (b *Batch) Under(l Lease) { b.Lease, b.Epoch = l.Name, l.Epoch }

// Ops returns the changes in order. The caller must not change them.
func (b *Batch) Ops() []Op { return b.ops }

// Len is the number of changes.
func (b *Batch) Len() int { return len(b.ops) }

// Bytes is the size of all keys and values.
func (b *Batch) Bytes() int { return b.bytes }

// Reset empties the batch and keeps its memory and lease.
func (b *Batch) Reset() {
	clear(b.ops)
	clear(b.cuts)
	b.ops, b.cuts = b.ops[:0], b.cuts[:0]
	b.bytes = 0
}
