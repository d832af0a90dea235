// Package transaction keeps transactions with their receipts and events.
//
// Rows, with n transactions:
//
//	tx       stretch | block index   transaction, receipt, events, block's hash and time   n rows
//	tx_hash  hash    |               position                                              n rows
//
// Costs: a transaction by position is one Get, by hash two; a page of a
// block's transactions is one scan; a page of the chain's is one scan, and where it
// reaches beyond a stretch the rows of the blocks that hold the rest (block.Newest) and
// one GetMany, however far apart these blocks are. The rows depend on the block alone. They repeat its hash and time,
// which lists of all kinds show: a page of 100 events of 100 blocks would look
// up as many rows again for them. Rows of one block are neighbours on disk, where
// the repetition packs to a few bytes.
package transaction

import (
	"cmp"
	"fmt"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// The tables of this subject.
var (
	Transactions = &store.Table{ID: 240, Name: "tx", PartitionLen: explorer.StretchBytes, Present: true, Ascending: true}
	Hashes       = &store.Table{ID: 25, Name: "tx_hash", PartitionLen: felt.Size}
)

const recordVersion = 2

// Record is a stored transaction.
type Record struct {
	explorer.Position
	Stamp
	starknet.Transaction
	// Receipt is the receipt; its Finality is not stored.
	Receipt starknet.Receipt
}

// Ends are who the transaction comes from and what it is addressed to, nil where it
// says nothing of it.
func (t *Record) Ends() (from, to *felt.Felt) {
	if f, ok := t.From(t.Receipt.ContractAddress); ok {
		from = &f
	}
	if f, ok := t.To(t.Receipt.ContractAddress); ok {
		to = &f
	}
	return from, to
}

// Stamp is what a row repeats of its block.
type Stamp struct {
	BlockHash felt.Felt
	BlockTime uint64 // seconds since 1970
}

// Emitted is an event with its block, and the hash and the type of its
// transaction.
type Emitted struct {
	Stamp
	TxHash felt.Felt
	TxType starknet.TxType
	Event  starknet.Event
}

// Key is the address of a transaction's row.
func Key(p explorer.Position) store.Key {
	return store.Key{Table: Transactions, Partition: explorer.Stretch(p.Block), Sort: p.Append(make([]byte, 0, explorer.PositionSize))}
}

// keysOf are the addresses of transactions. They share their memory.
func keysOf(ps []explorer.Position) []store.Key {
	keys, mem := make([]store.Key, len(ps)), make([]byte, 0, len(ps)*keySize)
	for i, p := range ps {
		keys[i], mem = appendKey(mem, p)
	}
	return keys
}

const keySize = explorer.StretchBytes + explorer.PositionSize

// appendKey is Key in memory that others share.
func appendKey(mem []byte, p explorer.Position) (store.Key, []byte) {
	start := len(mem)
	mem = p.Append(explorer.AppendStretch(mem, p.Block))
	sort := start + explorer.StretchBytes
	return store.Key{Table: Transactions, Partition: mem[start:sort:sort], Sort: mem[sort:len(mem):len(mem)]}, mem
}

// eventKeys are the addresses of the transactions that events are in, where those
// of one transaction are next to each other. They share their memory.
func eventKeys(ps []explorer.Place) []store.Key {
	keys, mem := make([]store.Key, 0, len(ps)), make([]byte, 0, len(ps)*keySize)
	var key store.Key
	for i := range ps {
		if i > 0 && ps[i].Position() == ps[i-1].Position() {
			continue
		}
		key, mem = appendKey(mem, ps[i].Position())
		keys = append(keys, key)
	}
	return keys
}

func hashKey(hash *felt.Felt) store.Key { return store.Key{Table: Hashes, Partition: hash[:]} }

// The flags of a record.
const (
	flagReverted = 1 << iota
	flagFri
	flagNonce
	flagBounds
	flagDataGas
	flagNonceL2
	flagFeeL2
)

func flags(t *starknet.Transaction, r *starknet.Receipt) (f byte) {
	set := func(on bool, bit byte) {
		if on {
			f |= bit
		}
	}
	set(r.Execution == starknet.Reverted, flagReverted)
	set(r.FeeUnit == starknet.Fri, flagFri)
	set(t.HasNonce, flagNonce)
	set(t.ResourceBounds != nil, flagBounds)
	set(t.ResourceBounds != nil && t.ResourceBounds.HasL1DataGas, flagDataGas)
	set(t.NonceDAMode == starknet.TxDAL2, flagNonceL2)
	set(t.FeeDAMode == starknet.TxDAL2, flagFeeL2)
	return f
}

// How many scalars, lists and bounds a record has.
const (
	scalarCount = 11
	listCount   = 6
	boundCount  = 3
)

// scalars lists the single felts of a record in their stored order; those that
// a transaction's type does not have are zero and take a byte each.
func scalars(t *starknet.Transaction, r *starknet.Receipt) [scalarCount]*felt.Felt {
	return [...]*felt.Felt{
		&t.Version, &t.Sender, &t.ContractAddress, &t.EntryPointSelector, &t.Nonce, &t.MaxFee,
		&t.ClassHash, &t.CompiledClassHash, &t.ContractAddressSalt, &r.ContractAddress, &r.ActualFee,
	}
}

// lists are the felt lists of a record in their stored order.
func lists(t *starknet.Transaction) [listCount]*[]felt.Felt {
	return [...]*[]felt.Felt{
		&t.Calldata, &t.Signature, &t.ConstructorCalldata, &t.PaymasterData, &t.AccountDeploymentData, &t.ProofFacts,
	}
}

func bounds(b *starknet.ResourceBounds) [boundCount]*starknet.ResourceBound {
	return [...]*starknet.ResourceBound{&b.L1Gas, &b.L2Gas, &b.L1DataGas}
}

func encode(e *record.Encoder, stamp *Stamp, t *starknet.Transaction, r *starknet.Receipt) []byte {
	e.Reset(recordVersion)
	e.Byte(byte(t.Type))
	e.Byte(flags(t, r))
	e.Raw(stamp.BlockHash[:])
	e.Uint(stamp.BlockTime)
	e.Raw(t.Hash[:])
	// Events come first: they are what most readers of a row are after, and a
	// felt may stand for one in front of it, so that nothing can be jumped over.
	e.Uint(uint64(len(r.Events)))
	for i := range r.Events {
		ev := &r.Events[i]
		e.Felt(&ev.From)
		e.Felts(ev.Keys)
		e.Felts(ev.Data)
	}
	for _, f := range scalars(t, r) {
		e.Felt(f)
	}
	if t.ResourceBounds != nil {
		for _, b := range bounds(t.ResourceBounds) {
			e.Uint(b.MaxAmount)
			e.Felt(&b.MaxPricePerUnit)
		}
		e.Uint(t.Tip)
	}
	e.Uint(r.Resources.L1Gas)
	e.Uint(r.Resources.L1DataGas)
	e.Uint(r.Resources.L2Gas)
	if t.Type == starknet.L1Handler {
		e.Raw(r.MessageHash[:])
	}
	e.Text(r.RevertReason)
	for _, l := range lists(t) {
		e.Felts(*l)
	}
	e.Uint(uint64(len(r.MessagesSent)))
	for i := range r.MessagesSent {
		m := &r.MessagesSent[i]
		e.Felt(&m.From)
		e.Felt(&m.To)
		e.Felts(m.Payload)
	}
	return e.Bytes()
}

// readHead reads what stands in front of the lists into an empty record, the events in the memory
// of events where that is enough.
func readHead(d *record.Decoder, rec *Record, events []starknet.Event) {
	f := readTop(d, rec)
	if n := d.Len(3); n > 0 {
		rec.Receipt.Events = slices.Grow(events[:0], n)[:n]
		for i := range rec.Receipt.Events {
			rec.Receipt.Events[i] = decodeEvent(d)
		}
	}
	readRest(d, rec, f, true)
}

// readTop reads what stands in front of the events, and returns the flags.
func readTop(d *record.Decoder, rec *Record) (flags byte) {
	rec.Type = starknet.TxType(d.Byte())
	flags = d.Byte()
	rec.Stamp = readStamp(d)
	d.Raw(rec.Hash[:])
	return flags
}

// readRest reads what stands between the events and the lists: all of it, or what Look shows.
func readRest(d *record.Decoder, rec *Record, f byte, all bool) {
	t, r := &rec.Transaction, &rec.Receipt
	for _, s := range scalars(t, r) {
		d.FeltTo(s)
	}
	t.HasNonce = f&flagNonce != 0
	switch {
	case f&flagBounds != 0 && !all:
		passBounds(d)
	case f&flagBounds != 0:
		t.ResourceBounds = &starknet.ResourceBounds{HasL1DataGas: f&flagDataGas != 0}
		for _, b := range bounds(t.ResourceBounds) {
			b.MaxAmount = d.Uint()
			b.MaxPricePerUnit = d.Felt()
		}
		t.Tip = d.Uint()
	}
	if f&flagNonceL2 != 0 {
		t.NonceDAMode = starknet.TxDAL2
	}
	if f&flagFeeL2 != 0 {
		t.FeeDAMode = starknet.TxDAL2
	}
	r.TransactionHash, r.Type = t.Hash, t.Type
	r.Execution, r.FeeUnit = executionOf(f), starknet.Wei
	if f&flagFri != 0 {
		r.FeeUnit = starknet.Fri
	}
	r.Resources = starknet.ExecutionResources{L1Gas: d.Uint(), L1DataGas: d.Uint(), L2Gas: d.Uint()}
	if t.Type == starknet.L1Handler {
		d.Raw(r.MessageHash[:])
	}
	if all {
		r.RevertReason = d.Text()
	} else {
		d.Skip(d.Len(1))
	}
}

// passBounds passes the bounds of resources and the tip.
func passBounds(d *record.Decoder) {
	for range boundCount {
		d.PassUints(1)
		d.SkipFelt()
	}
	d.PassUints(1)
}

func executionOf(flags byte) starknet.ExecutionStatus {
	if flags&flagReverted != 0 {
		return starknet.Reverted
	}
	return starknet.Succeeded
}

func readStamp(d *record.Decoder) (s Stamp) {
	d.Raw(s.BlockHash[:])
	s.BlockTime = d.Uint()
	return s
}

// decode reads a record. A page is read with one decoder.
func decode(d *record.Decoder, p explorer.Position, b []byte) (*Record, error) {
	rec := &Record{Position: p}
	if err := rec.read(d, b, nil); err != nil {
		return nil, err
	}
	return rec, nil
}

// read reads the record, which has nothing but its place, its events as readHead has it.
func (rec *Record) read(d *record.Decoder, b []byte, events []starknet.Event) error {
	d.Reset(b, recordVersion)
	readHead(d, rec, events)
	t, r := &rec.Transaction, &rec.Receipt
	for _, l := range lists(t) {
		*l = d.Felts()
	}
	if n := d.Len(3); n > 0 {
		r.MessagesSent = make([]starknet.MessageToL1, n)
		for i := range r.MessagesSent {
			r.MessagesSent[i] = starknet.MessageToL1{From: d.Felt(), To: d.Felt(), Payload: d.Felts()}
		}
	}
	if err := d.Finish(); err != nil {
		return fmt.Errorf("transaction %d of block %d: %w", rec.Index, rec.Block, err)
	}
	return nil
}

// decodeEmitted reads the named events of one record into out and does not look
// at what is behind the last of them, which makes it several times as fast as
// decode. A page is read with one decoder.
func decodeEmitted(d *record.Decoder, places []explorer.Place, b []byte, out []Emitted) error {
	d.Reset(b, recordVersion)
	kind := starknet.TxType(d.Byte())
	d.Byte() // flags
	stamp := readStamp(d)
	var hash felt.Felt
	d.Raw(hash[:])
	var few [8]int
	order := byLog(places, few[:0])
	for log := range d.Len(3) {
		if len(order) == 0 {
			break
		}
		if places[order[0]].Log != uint32(log) {
			skipEvent(d)
			continue
		}
		e := Emitted{stamp, hash, kind, decodeEvent(d)}
		for len(order) > 0 && places[order[0]].Log == uint32(log) {
			out[order[0]] = e
			order = order[1:]
		}
	}
	if err := d.Err(); err != nil {
		return fmt.Errorf("events of transaction %d of block %d: %w", places[0].Tx, places[0].Block, err)
	}
	if len(order) > 0 {
		return fmt.Errorf("event %d of transaction %d of block %d: %w", places[order[0]].Log, places[0].Tx, places[0].Block, ErrNotFound)
	}
	return nil
}

// byLog are the indexes of places in the order of their events, in the memory
// of order if they fit.
func byLog(places []explorer.Place, order []int) []int {
	for i := range places {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(places[a].Log, places[b].Log) })
	return order
}

func decodeEvent(d *record.Decoder) starknet.Event {
	return starknet.Event{From: d.Felt(), Keys: d.Felts(), Data: d.Felts()}
}

func skipEvent(d *record.Decoder) {
	d.SkipFelt()
	d.SkipFelts()
	d.SkipFelts()
}
