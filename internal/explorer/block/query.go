package block

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// ErrNotFound says that no such block is indexed.
var ErrNotFound = errors.New("block is not indexed")

// Get returns a block by number. One Get.
func Get(ctx context.Context, r store.Reader, number uint64) (*Summary, error) {
	return (&Room{}).Get(ctx, r, number)
}

// Room is the memory of a block, for those who read one after the other. The zero value is ready, and is for one
// goroutine.
type Room struct {
	d       record.Decoder
	summary Summary
}

// keptKey is under what a block is remembered: whoever reads one of its transactions reads the block.
type keptKey uint64

// Get is Get in memory that is used again: the block is there until the next one is read.
func (m *Room) Get(ctx context.Context, r store.Reader, number uint64) (*Summary, error) {
	if kept, ok := store.Recalled[keptKey, *Summary](r, keptKey(number)); ok {
		m.summary = *kept
		return &m.summary, nil
	}
	b, err := r.Get(ctx, Key(number))
	if errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("block %d: %w", number, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read block %d: %w", number, err)
	}
	m.d.Reset(b, blockVersion)
	err = m.summary.read(&m.d, number)
	m.d.Recycle()
	if err != nil {
		return nil, err
	}
	kept := m.summary
	store.Remember(r, keptKey(number), &kept)
	return &m.summary, nil
}

// GetMany returns blocks by number, in order, in one round trip. A block that
// is not there is an error: callers got the numbers from the same view.
func GetMany(ctx context.Context, r store.Reader, numbers []uint64) ([]*Summary, error) {
	keys := make([]store.Key, len(numbers))
	for i, n := range numbers {
		keys[i] = Key(n)
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read %d blocks: %w", len(numbers), err)
	}
	out := make([]*Summary, len(numbers))
	for i, v := range values {
		if v == nil {
			return nil, fmt.Errorf("block %d: %w", numbers[i], ErrNotFound)
		}
		if out[i], err = decodeSummary(numbers[i], v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ByNumber reads the blocks that a list touches, each once, in one round trip.
func ByNumber(ctx context.Context, r store.Reader, numbers []uint64) (map[uint64]*Summary, error) {
	numbers = slices.Clone(numbers)
	slices.Sort(numbers)
	blocks, err := GetMany(ctx, r, slices.Compact(numbers))
	if err != nil {
		return nil, err
	}
	out := make(map[uint64]*Summary, len(blocks))
	for _, b := range blocks {
		out[b.Number] = b
	}
	return out, nil
}

// HashOf returns the hash of an indexed block. One Get.
func HashOf(ctx context.Context, r store.Reader, number uint64) (felt.Felt, error) {
	b, err := Get(ctx, r, number)
	if err != nil {
		return felt.Felt{}, err
	}
	return b.Hash, nil
}

// Stamp is what lists show of the block of a row.
type Stamp struct {
	Number    uint64
	Hash      felt.Felt
	Timestamp uint64
}

// Stamps is GetMany for lists: it reads no more of a block's row than its hash
// and its time, which stand in front.
func Stamps(ctx context.Context, r store.Reader, numbers []uint64) ([]Stamp, error) {
	keys := make([]store.Key, len(numbers))
	for i, n := range numbers {
		keys[i] = Key(n)
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read %d blocks: %w", len(numbers), err)
	}
	out := make([]Stamp, len(numbers))
	for i, v := range values {
		if v == nil {
			return nil, fmt.Errorf("block %d: %w", numbers[i], ErrNotFound)
		}
		if out[i], err = decodeStamp(numbers[i], v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// NumberOf returns the number of the block with a hash. One Get.
func NumberOf(ctx context.Context, r store.Reader, hash felt.Felt) (uint64, error) {
	b, err := r.Get(ctx, hashKey(&hash))
	if errors.Is(err, store.ErrNotFound) {
		return 0, fmt.Errorf("block %s: %w", hash, ErrNotFound)
	}
	if err != nil {
		return 0, fmt.Errorf("read number of block %s: %w", hash, err)
	}
	if len(b) != 8 {
		return 0, fmt.Errorf("number of block %s has %d bytes", hash, len(b))
	}
	return binary.BigEndian.Uint64(b), nil
}

// List returns up to limit blocks from number downwards. One scan per span, and
// no more spans than limit blocks can lie in: a number far above the head finds
// nothing.
func List(ctx context.Context, r store.Reader, number uint64, limit int) ([]*Summary, error) {
	var out []*Summary
	var rows summaries
	for spans := limit/explorer.SpanSize + 2; spans > 0 && len(out) < limit; spans-- {
		var to []byte
		if number < ^uint64(0) {
			to = explorer.BlockKey(number + 1)
		}
		rng := store.Range{
			Table: Blocks, Partition: explorer.Span(number), To: to,
			Reverse: true, Limit: limit - len(out),
		}
		for row, err := range r.Scan(ctx, rng) {
			if err != nil {
				return nil, fmt.Errorf("list blocks below %d: %w", number, err)
			}
			s, err := rows.read(binary.BigEndian.Uint64(row.Sort), row.Value)
			if err != nil {
				return nil, err
			}
			out = append(out, s)
		}
		first := explorer.FirstOfSpan(number)
		if first == 0 {
			break
		}
		number = first - 1
	}
	return out, nil
}

// Reaching returns the first block of a range whose running total is more than a number; the
// last block's must be. It looks near the end of the range first, where most questions are
// about. One Get for each doubling of the distance, and for each halving.
func Reaching(ctx context.Context, r store.Reader, first, last, number uint64, total func(*Summary) uint64) (*Summary, error) {
	found, err := Get(ctx, r, last)
	for step := uint64(1); err == nil && first < found.Number; step *= 2 {
		var b *Summary
		if b, err = Get(ctx, r, found.Number-min(step, found.Number-first)); err != nil {
			break
		}
		if total(b) <= number {
			first = b.Number + 1
			break
		}
		found = b
	}
	for err == nil && first < found.Number {
		var b *Summary
		if b, err = Get(ctx, r, first+(found.Number-first)/2); err != nil {
			break
		}
		if total(b) > number {
			found = b
		} else {
			first = b.Number + 1
		}
	}
	if err == nil && total(found) <= number {
		err = fmt.Errorf("block %d does not reach %d", last, number)
	}
	return found, err
}

// AtOrBefore returns the newest block whose timestamp is at most t. One seek
// and one Get.
func AtOrBefore(ctx context.Context, r store.Reader, t uint64) (*Summary, error) {
	rng := store.Range{Table: Times, Reverse: true, Limit: 1}
	if t < ^uint64(0) {
		rng.To = timeSort(t+1, 0)
	}
	return byTime(ctx, r, rng, t)
}

// LatestIn returns the block of a range of numbers that has the latest time up to t. One
// seek and one Get, and a row more for each block outside of the range that has a time
// between.
func LatestIn(ctx context.Context, r store.Reader, t, first, last uint64) (*Summary, error) {
	const page = 1024
	rng := store.Range{Table: Times, Reverse: true, To: timeSort(t+1, 0), Limit: page}
	for rows := page; rows == page; {
		rows = 0
		for row, err := range r.Scan(ctx, rng) {
			if err != nil {
				return nil, fmt.Errorf("block near time %d: %w", t, err)
			}
			n, err := numberOf(row)
			if err != nil {
				return nil, err
			}
			if first <= n && n <= last {
				return Get(ctx, r, n)
			}
			rows, rng.To = rows+1, slices.Clone(row.Sort)
		}
	}
	return nil, fmt.Errorf("no block from %d to %d near time %d: %w", first, last, t, ErrNotFound)
}

// AtOrAfter returns the oldest block whose timestamp is at least t.
func AtOrAfter(ctx context.Context, r store.Reader, t uint64) (*Summary, error) {
	return byTime(ctx, r, store.Range{Table: Times, From: timeSort(t, 0), Limit: 1}, t)
}

func byTime(ctx context.Context, r store.Reader, rng store.Range, t uint64) (*Summary, error) {
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return nil, fmt.Errorf("block near time %d: %w", t, err)
		}
		n, err := numberOf(row)
		if err != nil {
			return nil, err
		}
		return Get(ctx, r, n)
	}
	return nil, fmt.Errorf("no block near time %d: %w", t, ErrNotFound)
}

// numberOf is the block of a row of times.
func numberOf(row store.Row) (uint64, error) {
	if len(row.Sort) != 16 {
		return 0, fmt.Errorf("time row of %d bytes", len(row.Sort))
	}
	return binary.BigEndian.Uint64(row.Sort[8:]), nil
}

// StateOf returns the state diff of a block without its storage cells.
func StateOf(ctx context.Context, r store.Reader, number uint64) (starknet.StateDiff, error) {
	b, err := r.Get(ctx, stateKey(number))
	if errors.Is(err, store.ErrNotFound) {
		return starknet.StateDiff{}, nil
	}
	if err != nil {
		return starknet.StateDiff{}, fmt.Errorf("read state of block %d: %w", number, err)
	}
	return decodeState(number, b)
}

// StatesOf is StateOf for many blocks, in order, in one round trip.
func StatesOf(ctx context.Context, r store.Reader, numbers []uint64) ([]starknet.StateDiff, error) {
	keys := make([]store.Key, len(numbers))
	for i, n := range numbers {
		keys[i] = stateKey(n)
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read the states of %d blocks: %w", len(numbers), err)
	}
	out := make([]starknet.StateDiff, len(numbers))
	for i, v := range values {
		if v == nil {
			continue
		}
		if out[i], err = decodeState(numbers[i], v); err != nil {
			return nil, err
		}
	}
	return out, nil
}
