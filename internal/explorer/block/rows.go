// Package block keeps block headers.
//
// Rows, with n blocks:
//
//	block        span | number           header, counts, running totals   n rows
//	block_hash   hash |                  number                           n rows
//	block_time   -    | timestamp number (empty)                          n rows
//	block_state  span | number           state diff without storage       at most n rows
//
// Costs: a block by number is one Get, by hash two; a page of k neighbours is
// one scan per span it touches (at most two for k up to 4,096); the block at a
// time is one seek; the blocks that hold some transactions are found by the totals,
// in one round trip near by and in a few however far away. A block's rows depend on its parent's row alone.
package block

import (
	"encoding/binary"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// The tables of this subject.
var (
	Blocks = &store.Table{ID: 16, Name: "block", PartitionLen: explorer.SpanBytes, Present: true}
	Hashes = &store.Table{ID: 17, Name: "block_hash", PartitionLen: felt.Size}
	Times  = &store.Table{ID: 18, Name: "block_time", PartitionLen: 0, Listed: true}
	States = &store.Table{ID: 19, Name: "block_state", PartitionLen: explorer.SpanBytes}
)

const (
	blockVersion = 1
	stateVersion = 1
)

// Summary is a stored block without its transactions.
type Summary struct {
	starknet.Header // Status and Commitments are not stored

	Transactions    uint64 // in this block
	Events          uint64
	Messages        uint64 // sent to L1
	Reverted        uint64 // transactions
	StateDiffLength uint64 // of the whole diff, storage included

	// Running totals, this block included.
	TotalTransactions uint64
	TotalEvents       uint64
}

// Key is the address of a block's row.
func Key(number uint64) store.Key { return spanKey(Blocks, number) }

func stateKey(number uint64) store.Key { return spanKey(States, number) }

func spanKey(t *store.Table, number uint64) store.Key {
	return store.Key{Table: t, Partition: explorer.Span(number), Sort: explorer.BlockKey(number)}
}

func hashKey(hash *felt.Felt) store.Key { return store.Key{Table: Hashes, Partition: hash[:]} }

// timeSort orders blocks by time and, where a second holds several, by number.
func timeSort(timestamp, number uint64) []byte {
	b := make([]byte, 0, 16)
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, timestamp), number)
}

func encodeSummary(e *record.Encoder, s *Summary) []byte {
	e.Reset(blockVersion)
	e.Raw(s.Hash[:])
	e.Raw(s.ParentHash[:])
	e.Raw(s.NewRoot[:])
	e.Uint(s.Timestamp)
	e.Felt(&s.Sequencer)
	for _, p := range []*starknet.GasPrice{&s.L1GasPrice, &s.L1DataGasPrice, &s.L2GasPrice} {
		e.Felt(&p.InFri)
		e.Felt(&p.InWei)
	}
	e.Byte(byte(s.DAMode))
	e.Text(s.StarknetVersion)
	for _, n := range s.counts() {
		e.Uint(*n)
	}
	return e.Bytes()
}

// countsOfRow is how many numbers a row has.
const countsOfRow = 7

// counts lists the numbers of a row in their stored order.
func (s *Summary) counts() [countsOfRow]*uint64 {
	return [...]*uint64{
		&s.Transactions, &s.Events, &s.Messages, &s.Reverted, &s.StateDiffLength,
		&s.TotalTransactions, &s.TotalEvents,
	}
}

func decodeSummary(number uint64, b []byte) (*Summary, error) {
	var d record.Decoder
	d.Reset(b, blockVersion)
	s := &Summary{}
	if err := s.read(&d, number); err != nil {
		return nil, err
	}
	return s, nil
}

// summaries reads rows one after the other, which share memory and the name of their version.
type summaries struct {
	d    record.Decoder
	left []Summary
	last string // version
}

// summariesAtOnce is for how many blocks memory is taken at a time.
const summariesAtOnce = 16

func (r *summaries) read(number uint64, b []byte) (*Summary, error) {
	if len(r.left) == 0 {
		r.left = make([]Summary, summariesAtOnce)
	}
	s := &r.left[0]
	r.left = r.left[1:]
	s.StarknetVersion = r.last // if it is the same
	r.d.Reset(b, blockVersion)
	if err := s.read(&r.d, number); err != nil {
		return nil, err
	}
	r.last = s.StarknetVersion
	return s, nil
}

// read reads a row. A version that is there already and is the same stays.
func (s *Summary) read(d *record.Decoder, number uint64) error {
	s.Number = number
	d.Raw(s.Hash[:])
	d.Raw(s.ParentHash[:])
	d.Raw(s.NewRoot[:])
	s.Timestamp = d.Uint()
	d.FeltTo(&s.Sequencer)
	for _, p := range [...]*starknet.GasPrice{&s.L1GasPrice, &s.L1DataGasPrice, &s.L2GasPrice} {
		d.FeltTo(&p.InFri)
		d.FeltTo(&p.InWei)
	}
	s.DAMode = starknet.DAMode(d.Byte())
	var room [32]byte
	if version := d.AppendBlob(room[:0]); string(version) != s.StarknetVersion {
		s.StarknetVersion = string(version)
	}
	for _, n := range s.counts() {
		*n = d.Uint()
	}
	if err := d.Finish(); err != nil {
		return fmt.Errorf("block %d: %w", number, err)
	}
	return nil
}

// decodeStamp reads the beginning of a block's row.
func decodeStamp(number uint64, b []byte) (Stamp, error) {
	var d record.Decoder
	d.Reset(b, blockVersion)
	s := Stamp{Number: number}
	d.Raw(s.Hash[:])
	d.Skip(2 * felt.Size) // parent hash and root
	s.Timestamp = d.Uint()
	if err := d.Err(); err != nil {
		return s, fmt.Errorf("block %d: %w", number, err)
	}
	return s, nil
}

// encodeState returns nil for a diff without anything to keep: most blocks
// change nonces, but an empty block has no row.
func encodeState(e *record.Encoder, d *starknet.StateDiff) []byte {
	if len(d.Deployed)+len(d.Replaced)+len(d.Declared)+len(d.DeprecatedDeclared)+len(d.Nonces)+len(d.Migrated) == 0 {
		return nil
	}
	e.Reset(stateVersion)
	e.Uint(uint64(len(d.Deployed)))
	for i := range d.Deployed {
		e.Felt(&d.Deployed[i].Address)
		e.Felt(&d.Deployed[i].ClassHash)
	}
	e.Uint(uint64(len(d.Replaced)))
	for i := range d.Replaced {
		e.Felt(&d.Replaced[i].Address)
		e.Felt(&d.Replaced[i].ClassHash)
	}
	encodeClasses(e, d.Declared)
	e.Felts(d.DeprecatedDeclared)
	encodeClasses(e, d.Migrated)
	e.Uint(uint64(len(d.Nonces)))
	for i := range d.Nonces {
		e.Felt(&d.Nonces[i].Address)
		e.Felt(&d.Nonces[i].Nonce)
	}
	return e.Bytes()
}

func encodeClasses(e *record.Encoder, list []starknet.DeclaredClass) {
	e.Uint(uint64(len(list)))
	for i := range list {
		e.Felt(&list[i].ClassHash)
		e.Felt(&list[i].CompiledClassHash)
	}
}

func decodeState(number uint64, b []byte) (s starknet.StateDiff, err error) {
	d := record.NewDecoder(b, stateVersion)
	s.Deployed = decodePairs(d, func(a, b felt.Felt) starknet.DeployedContract {
		return starknet.DeployedContract{Address: a, ClassHash: b}
	})
	s.Replaced = decodePairs(d, func(a, b felt.Felt) starknet.ReplacedClass {
		return starknet.ReplacedClass{Address: a, ClassHash: b}
	})
	declared := func(a, b felt.Felt) starknet.DeclaredClass {
		return starknet.DeclaredClass{ClassHash: a, CompiledClassHash: b}
	}
	s.Declared = decodePairs(d, declared)
	s.DeprecatedDeclared = d.Felts()
	s.Migrated = decodePairs(d, declared)
	s.Nonces = decodePairs(d, func(a, b felt.Felt) starknet.NonceUpdate {
		return starknet.NonceUpdate{Address: a, Nonce: b}
	})
	if err := d.Finish(); err != nil {
		return s, fmt.Errorf("state of block %d: %w", number, err)
	}
	return s, nil
}

// decodePairs reads a list of two felts each; an empty one is nil.
func decodePairs[T any](d *record.Decoder, pair func(a, b felt.Felt) T) []T {
	n := d.Len(2)
	if n == 0 {
		return nil
	}
	out := make([]T, n)
	for i := range out {
		a := d.Felt()
		out[i] = pair(a, d.Felt())
	}
	return out
}
