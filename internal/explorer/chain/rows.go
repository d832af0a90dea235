// Package chain keeps what is known of the chain as a whole: which chain and
// layout the index holds, its head, how far L1 has accepted it, the digest of
// every block, and the last fork.
//
// Rows and costs: every row is read by one Get. `meta` has a fixed handful of
// rows in one partition; `digest` has one row per block (41 bytes with its key).
package chain

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// Layout is the version of all tables together. Any change to a key or record
// that an older program would misread raises it.
const Layout = 6

// The tables of this subject.
var (
	Meta    = &store.Table{ID: 1, Name: "meta", PartitionLen: 0}
	Digests = &store.Table{ID: 2, Name: "digest", PartitionLen: explorer.SpanBytes}
)

func metaKey(name string) store.Key { return store.Key{Table: Meta, Sort: []byte(name)} }

// The rows of meta.
var (
	FormatKey = metaKey("format")
	HeadKey   = metaKey("head")
	L1Key     = metaKey("l1")
	ForkKey   = metaKey("fork")
	// UndoKey, FaultKey and RewindKey are rows of the write path.
	UndoKey   = metaKey("undo")
	FaultKey  = metaKey("fault")
	RewindKey = metaKey("rewind")
)

const recordVersion = 1

// Format says what an index holds.
type Format struct {
	Layout  uint64
	ChainID felt.Felt
}

// Head is the newest block of the index.
type Head struct {
	Number    uint64
	Hash      felt.Felt
	Timestamp uint64
	Digest    Digest
}

// Digest is chained over the rows of all blocks up to one.
type Digest [32]byte

// L1 is the newest block that the chain's base layer has accepted.
type L1 struct {
	Number uint64
	Hash   felt.Felt
}

// Fork is what is known of the forks that the index went through.
type Fork struct {
	Count    uint64    // how many, ever
	Ancestor uint64    // of the last one: the newest block that stayed
	Depth    uint64    // of the last one: how many blocks were undone
	OldHead  felt.Felt // of the last one: the hash of the head that was left
	// BelowL1 says that the last one undid blocks that had been reported as accepted on L1.
	BelowL1 bool
}

// Encode returns the row.
func (f Format) Encode() []byte {
	var e record.Encoder
	// The version byte of this row never changes: every program must be able
	// to read the layout number of every other.
	e.Reset(recordVersion)
	e.Uint(f.Layout)
	e.Raw(f.ChainID[:])
	return e.Bytes()
}

// DecodeFormat reads a Format row.
func DecodeFormat(b []byte) (f Format, err error) {
	d := record.NewDecoder(b, recordVersion)
	f.Layout = d.Uint()
	d.Raw(f.ChainID[:])
	return f, wrap("format", d.Finish())
}

// Encode returns the row.
func (h Head) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	e.Uint(h.Number)
	e.Raw(h.Hash[:])
	e.Uint(h.Timestamp)
	e.Raw(h.Digest[:])
	return e.Bytes()
}

// DecodeHead reads a Head row.
func DecodeHead(b []byte) (h Head, err error) {
	d := record.NewDecoder(b, recordVersion)
	h.Number = d.Uint()
	d.Raw(h.Hash[:])
	h.Timestamp = d.Uint()
	d.Raw(h.Digest[:])
	return h, wrap("head", d.Finish())
}

// Encode returns the row.
func (l L1) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	e.Uint(l.Number)
	e.Raw(l.Hash[:])
	return e.Bytes()
}

// DecodeL1 reads an L1 row.
func DecodeL1(b []byte) (l L1, err error) {
	d := record.NewDecoder(b, recordVersion)
	l.Number = d.Uint()
	d.Raw(l.Hash[:])
	return l, wrap("l1", d.Finish())
}

// Encode returns the row.
func (f Fork) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	e.Uint(f.Count)
	e.Uint(f.Ancestor)
	e.Uint(f.Depth)
	e.Raw(f.OldHead[:])
	if f.BelowL1 {
		e.Byte(1)
	} else {
		e.Byte(0)
	}
	return e.Bytes()
}

// DecodeFork reads a Fork row.
func DecodeFork(b []byte) (f Fork, err error) {
	d := record.NewDecoder(b, recordVersion)
	f.Count, f.Ancestor, f.Depth = d.Uint(), d.Uint(), d.Uint()
	d.Raw(f.OldHead[:])
	f.BelowL1 = d.Byte() == 1
	return f, wrap("fork", d.Finish())
}

// Rewind is a fork that is being undone in several commits. It is there from the
// first to the last but one.
type Rewind struct {
	Ancestor uint64    // the newest block that stays
	From     uint64    // the head before the first step
	OldHead  felt.Felt // and its hash
	// At and AtHash are the head that the last step left. A row that names another
	// head is left over and means nothing.
	At      uint64
	AtHash  felt.Felt
	BelowL1 bool // blocks go that had been reported as accepted on L1
}

// Encode returns the row.
func (w Rewind) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	e.Uint(w.Ancestor)
	e.Uint(w.From)
	e.Raw(w.OldHead[:])
	e.Uint(w.At)
	e.Raw(w.AtHash[:])
	if w.BelowL1 {
		e.Byte(1)
	} else {
		e.Byte(0)
	}
	return e.Bytes()
}

// DecodeRewind reads a Rewind row.
func DecodeRewind(b []byte) (w Rewind, err error) {
	d := record.NewDecoder(b, recordVersion)
	w.Ancestor, w.From = d.Uint(), d.Uint()
	d.Raw(w.OldHead[:])
	w.At = d.Uint()
	d.Raw(w.AtHash[:])
	w.BelowL1 = d.Byte() == 1
	return w, wrap("rewind", d.Finish())
}

// of says whether the row is about an index with this head.
func (w *Rewind) of(h Head) bool {
	return w.At == h.Number && w.AtHash == h.Hash && w.Ancestor < h.Number
}

// Fault is why the write path stopped. It is there until the next block is indexed.
type Fault struct {
	Block uint64
	// Reason is shown to callers: it holds no address and no advice.
	Reason string
}

// Encode returns the row.
func (f Fault) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	e.Uint(f.Block)
	e.Text(f.Reason)
	return e.Bytes()
}

// DecodeFault reads a Fault row.
func DecodeFault(b []byte) (f Fault, err error) {
	d := record.NewDecoder(b, recordVersion)
	f.Block, f.Reason = d.Uint(), d.Text()
	return f, wrap("fault", d.Finish())
}

// DigestKey is the address of a block's digest.
func DigestKey(number uint64) store.Key {
	return store.Key{Table: Digests, Partition: explorer.Span(number), Sort: explorer.BlockKey(number)}
}

// EncodeDigest returns a digest row.
func EncodeDigest(d Digest) []byte { return append([]byte{recordVersion}, d[:]...) }

// DecodeDigest reads a digest row.
func DecodeDigest(b []byte) (out Digest, err error) {
	d := record.NewDecoder(b, recordVersion)
	d.Raw(out[:])
	return out, wrap("digest", d.Finish())
}

func wrap(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s row: %w", what, err)
	}
	return nil
}

// get reads and decodes one row; found is false when it does not exist.
func get[T any](ctx context.Context, r store.Reader, k store.Key, decode func([]byte) (T, error)) (v T, found bool, err error) {
	b, err := r.Get(ctx, k)
	if errors.Is(err, store.ErrNotFound) {
		return v, false, nil
	}
	if err != nil {
		return v, false, fmt.Errorf("read %s row %q: %w", k.Table.Name, k.Sort, err)
	}
	v, err = decode(b)
	return v, err == nil, err
}

// getAll reads rows in one round trip.
func getAll(ctx context.Context, r store.Reader, keys ...store.Key) ([][]byte, error) {
	rows, err := r.GetMany(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read %s rows: %w", Meta.Name, err)
	}
	return rows, nil
}

// decoded is a row that may be missing.
func decoded[T any](row []byte, decode func([]byte) (T, error)) (v T, found bool, err error) {
	if row == nil {
		return v, false, nil
	}
	v, err = decode(row)
	return v, err == nil, err
}
