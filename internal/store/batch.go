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
	// Settled is the number below which rows of series stay as they are once the batch is
	// committed; 0 promises nothing. An engine that has made use of it refuses to change
	// such a row with ErrInvalid.
	Settled uint64

	changes Changes
	cuts    []Cut
	cut     int // bytes
	stream  Stream
}

// Put sets a row. The batch copies what it is given.
func (b *Batch) Put(k Key, value []byte) { b.changes.Put(k.Table, k.Partition, k.Sort, value) }

// Delete removes a row; removing one that is not there is no error.
func (b *Batch) Delete(k Key) { b.changes.Delete(k.Table, k.Partition, k.Sort) }

// Cut removes the rows of a part, for an engine that is a Cutter. The batch keeps the
// slices.
func (b *Batch) Cut(c Cut) {
	b.cuts = append(b.cuts, c)
	b.cut += 2*len(c.Partition) + len(c.From) + len(c.To)
}

// Cuts returns the parts that go. The caller must not change them.
func (b *Batch) Cuts() []Cut { return b.cuts }

// Attach makes the rows of a stream part of the batch, for the engine that the stream is
// of. Beside it the batch has no cuts and changes no rows of ascending tables or of series. Commit ends
// the stream, whatever comes of it, and Reset gives it up.
func (b *Batch) Attach(s Stream) { b.stream = s }

// Stream returns what was attached, nil if nothing was.
func (b *Batch) Stream() Stream { return b.stream }

// Under says under which lease the batch is committed.
func (b *Batch) Under(l Lease) { b.Lease, b.Epoch = l.Name, l.Epoch }

// Changes returns the changes as the batch has them.
func (b *Batch) Changes() *Changes { return &b.changes }

// Ops returns the changes in order, one by one.
func (b *Batch) Ops() []Op { return b.changes.AppendOps(make([]Op, 0, b.changes.Len())) }

// Len is the number of changes.
func (b *Batch) Len() int { return b.changes.Len() }

// Bytes is the size of all keys and values, those of the stream among them.
func (b *Batch) Bytes() int {
	bytes := b.changes.Bytes() + b.cut
	if b.stream != nil {
		bytes += b.stream.Bytes()
	}
	return bytes
}

// Held is what of them is held in memory, of the stream as it has packed them.
func (b *Batch) Held() int {
	bytes := b.changes.Bytes() + b.cut
	if b.stream != nil {
		bytes += b.stream.Held()
	}
	return bytes
}

// Reset empties the batch and keeps its memory and lease.
func (b *Batch) Reset() {
	b.Settled = 0
	if b.stream != nil {
		b.stream.Drop()
		b.stream = nil
	}
	b.changes.Reset(true)
	clear(b.cuts)
	b.cuts, b.cut = b.cuts[:0], 0
}
