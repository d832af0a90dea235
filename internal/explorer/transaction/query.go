package transaction

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// ErrNotFound says that no such transaction is indexed.
var ErrNotFound = errors.New("transaction is not indexed")

// Get returns a transaction by its place. One Get.
func Get(ctx context.Context, r store.Reader, p explorer.Position) (*Record, error) {
	return (&Room{}).Get(ctx, r, p)
}

// Room is the memory of a transaction, for those who read one after the other. The zero value is
// ready, and is for one goroutine.
type Room struct {
	d      record.Decoder
	rec    Record
	events []starknet.Event
}

// Get is Get in memory that is used again: the record is there until the room is recycled, or until
// the next one is read.
func (m *Room) Get(ctx context.Context, r store.Reader, p explorer.Position) (*Record, error) {
	b, err := r.Get(ctx, Key(p))
	if errors.Is(err, store.ErrNotFound) {
		return nil, notThere(p)
	}
	if err != nil {
		return nil, fmt.Errorf("read transaction %d of block %d: %w", p.Index, p.Block, err)
	}
	m.Recycle()
	m.rec = Record{Position: p}
	if err := m.rec.read(&m.d, b, m.events); err != nil {
		return nil, err
	}
	m.events = m.rec.Receipt.Events
	return &m.rec, nil
}

// roomyFelts and roomyEvents are how much a room keeps for the next transaction: few have more.
const roomyFelts, roomyEvents = 1024, 64

// Recycle lets go of the record.
func (m *Room) Recycle() {
	m.d.RecycleUpTo(roomyFelts)
	m.rec = Record{}
	if cap(m.events) > roomyEvents {
		m.events = nil
	}
	clear(m.events)
}

// GetMany returns transactions by their places, in order, in one round trip. One
// that is not there is an error: callers got the places from the same view.
func GetMany(ctx context.Context, r store.Reader, ps []explorer.Position) ([]*Record, error) {
	return getMany(ctx, r, ps, newReader)
}

// PreviewsOf is GetMany for lists.
func PreviewsOf(ctx context.Context, r store.Reader, ps []explorer.Position) ([]*Preview, error) {
	return getMany(ctx, r, ps, newPreviewer)
}

// reader reads rows one after the other, in the memory that it has.
type reader[T any] func(explorer.Position, []byte) (*T, error)

func newReader() reader[Record] {
	d := &record.Decoder{}
	return func(p explorer.Position, b []byte) (*Record, error) { return decode(d, p, b) }
}

// row reads a row of the table.
func (read reader[T]) row(row store.Row) (*T, error) {
	p, ok := explorer.ParsePosition(row.Sort)
	if !ok {
		return nil, fmt.Errorf("transaction row with a key of %d bytes", len(row.Sort))
	}
	return read(p, row.Value)
}

func getMany[T any](ctx context.Context, r store.Reader, ps []explorer.Position, newReader func() reader[T]) ([]*T, error) {
	if len(ps) == 0 {
		return nil, nil
	}
	out := make([]*T, len(ps))
	err := r.Each(ctx, keysOf(ps), func() store.Visitor {
		read := newReader()
		return func(i int, value []byte) (err error) {
			out[i], err = read(ps[i], value)
			return err
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read %d transactions: %w", len(ps), err)
	}
	if i := slices.Index(out, nil); i >= 0 {
		return nil, notThere(ps[i])
	}
	return out, nil
}

func notThere(p explorer.Position) error {
	return fmt.Errorf("transaction %d of block %d: %w", p.Index, p.Block, ErrNotFound)
}

// ByHash returns transactions by hash, in order, nil for one that is not indexed: the
// same record for a hash that is named twice. Two round trips.
func ByHash(ctx context.Context, r store.Reader, hashes []felt.Felt) ([]*Record, error) {
	found, err := PositionsOf(ctx, r, hashes)
	if err != nil {
		return nil, err
	}
	var positions []explorer.Position
	at := map[explorer.Position]int{}
	for _, p := range found {
		if p == nil {
			continue
		}
		if _, twice := at[*p]; !twice {
			at[*p] = len(positions)
			positions = append(positions, *p)
		}
	}
	records, err := GetMany(ctx, r, positions)
	if err != nil {
		return nil, err
	}
	out := make([]*Record, len(hashes))
	for i, p := range found {
		if p != nil {
			out[i] = records[at[*p]]
		}
	}
	return out, nil
}

// PositionsOf returns the places of transactions by hash, in one round trip:
// nil for one that is not indexed.
func PositionsOf(ctx context.Context, r store.Reader, hashes []felt.Felt) ([]*explorer.Position, error) {
	keys := make([]store.Key, len(hashes))
	for i := range hashes {
		keys[i] = hashKey(&hashes[i])
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read places of %d transactions: %w", len(hashes), err)
	}
	out := make([]*explorer.Position, len(hashes))
	for i, b := range values {
		if b == nil {
			continue
		}
		p, ok := explorer.ParsePosition(b)
		if !ok {
			return nil, fmt.Errorf("place of transaction %s has %d bytes", hashes[i], len(b))
		}
		out[i] = &p
	}
	return out, nil
}

// Events returns events by their places, in the order of ps, where those of one
// transaction must be next to each other. It reads each transaction once, all in
// one round trip, and tells how many. An event that is not there is an error:
// places come from other rows of the same view.
func Events(ctx context.Context, r store.Reader, ps []explorer.Place) (out []Emitted, transactions int, err error) {
	keys := eventKeys(ps)
	first := make([]int, 0, len(keys)+1) // place in ps of each transaction's first event
	for i := range ps {
		if i == 0 || ps[i].Position() != ps[i-1].Position() {
			first = append(first, i)
		}
	}
	first = append(first, len(ps))
	out = make([]Emitted, len(ps))
	seen := make([]bool, len(keys))
	err = r.Each(ctx, keys, func() store.Visitor {
		d := &record.Decoder{}
		return func(i int, value []byte) error {
			seen[i] = true
			return decodeEmitted(d, ps[first[i]:first[i+1]], value, out[first[i]:first[i+1]])
		}
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read %d transactions: %w", len(keys), err)
	}
	if i := slices.Index(seen, false); i >= 0 {
		p := ps[first[i]]
		return nil, 0, fmt.Errorf("transaction %d of block %d: %w", p.Tx, p.Block, ErrNotFound)
	}
	return out, len(keys), nil
}

// PositionOf returns the place of the transaction with a hash. One Get.
func PositionOf(ctx context.Context, r store.Reader, hash felt.Felt) (explorer.Position, error) {
	b, err := r.Get(ctx, hashKey(&hash))
	if errors.Is(err, store.ErrNotFound) {
		return explorer.Position{}, fmt.Errorf("transaction %s: %w", hash, ErrNotFound)
	}
	if err != nil {
		return explorer.Position{}, fmt.Errorf("read place of transaction %s: %w", hash, err)
	}
	p, ok := explorer.ParsePosition(b)
	if !ok {
		return p, fmt.Errorf("place of transaction %s has %d bytes", hash, len(b))
	}
	return p, nil
}

// OfBlock returns up to limit transactions of a block from index upwards. One scan.
func OfBlock(ctx context.Context, r store.Reader, number uint64, index uint32, limit int) ([]*Record, error) {
	var out []*Record
	read := newReader()
	for row, err := range r.Scan(ctx, blockRange(number, index, limit)) {
		if err != nil {
			return nil, fmt.Errorf("list transactions of block %d: %w", number, err)
		}
		rec, err := read.row(row)
		if err != nil {
			return nil, err
		}
		out = append(out, rec)
	}
	return out, nil
}

func blockRange(number uint64, index uint32, limit int) store.Range {
	to := explorer.BlockKey(number + 1)
	if number == ^uint64(0) {
		to = nil
	}
	return store.Range{
		Table: Transactions, Partition: explorer.Stretch(number), Limit: limit,
		From: explorer.Position{Block: number, Index: index}.Append(nil), To: to,
	}
}

// The bounds of a search for a declaration. A block beyond them tells nothing.
const (
	maxDeclaring = 5000 // transactions of a block
	maxDeclared  = 100  // declarations among them
)

// DeclareOf returns the transaction of a block that declared a class; nil when there is none,
// or the block has too many to look at. One scan and one GetMany.
func DeclareOf(ctx context.Context, r store.Reader, number uint64, class felt.Felt) (*Record, error) {
	list, err := Previews(ctx, r, number, 0, maxDeclaring)
	if err != nil {
		return nil, err
	}
	var places []explorer.Position
	for _, p := range list {
		if p.Type == starknet.Declare && p.Execution != starknet.Reverted && len(places) < maxDeclared {
			places = append(places, p.Position)
		}
	}
	if len(places) == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	records, err := GetMany(ctx, r, places)
	if err != nil {
		return nil, err
	}
	for _, rec := range records {
		if rec != nil && rec.ClassHash == class {
			return rec, nil
		}
	}
	return nil, nil //nolint:nilnil // there is none
}

// PreviewsBefore is Before for lists.
func PreviewsBefore(ctx context.Context, r store.Reader, p explorer.Position, limit int) (out []*Preview, next explorer.Position, done bool, err error) {
	w := previewers.Get().(*previewer)
	defer putPreviewer(w)
	return before(ctx, r, p, limit, w.preview, newPreviewer, func(v *Preview) explorer.Position { return v.Position })
}

// Before returns up to limit transactions in front of a place, which is no further than
// right behind the head, newest first. next is where to go on, and done says that the
// start of the chain was reached. One scan, and for what it does not find the reads of
// block.Newest and one GetMany.
func Before(ctx context.Context, r store.Reader, p explorer.Position, limit int) (out []*Record, next explorer.Position, done bool, err error) {
	return before(ctx, r, p, limit, newReader(), newReader, func(rec *Record) explorer.Position { return rec.Position })
}

func before[T any](ctx context.Context, r store.Reader, p explorer.Position, limit int,
	read reader[T], newReader func() reader[T], place func(*T) explorer.Position,
) (out []*T, next explorer.Position, done bool, err error) {
	last := p.Block // that may have some
	if p.Index == 0 && last > 0 {
		last--
	}
	rng := store.Range{Table: Transactions, Partition: explorer.Stretch(last), To: p.Append(nil), Reverse: true, Limit: limit}
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return nil, p, false, fmt.Errorf("list transactions before block %d: %w", p.Block, err)
		}
		rec, err := read.row(row)
		if err != nil {
			return nil, p, false, err
		}
		out = append(out, rec)
	}
	if first := explorer.FirstOfStretch(last); first > 0 && len(out) < limit {
		blocks, err := block.Newest(ctx, r, first-1, limit-len(out))
		if err != nil {
			return nil, p, false, fmt.Errorf("list transactions before block %d: %w", first, err)
		}
		further, err := getMany(ctx, r, newestOf(blocks, limit-len(out)), newReader)
		if err != nil {
			return nil, p, false, err
		}
		out = append(out, further...)
	}
	if len(out) < limit {
		return out, explorer.Position{}, true, nil
	}
	return out, place(out[limit-1]), false, nil
}

// newestOf are the places of the last transactions of blocks in order, the last one first.
func newestOf(blocks []*block.Summary, limit int) (out []explorer.Position) {
	for _, b := range slices.Backward(blocks) {
		for i := b.Transactions; i > 0 && len(out) < limit; i-- {
			out = append(out, explorer.Position{Block: b.Number, Index: uint32(i - 1)})
		}
	}
	return out
}
