package token

import (
	"encoding/binary"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// The tables of this subject. What balances were is kept in transfer.Pairs, by its
// own package.
var (
	Balances  = &store.Table{ID: 52, Name: "token_balance", PartitionLen: felt.Size}
	TotalRows = &store.Table{ID: 54, Name: "token_total", PartitionLen: felt.Size}
	Firsts    = &store.Table{ID: 100, Name: "token_first", PartitionLen: 4, Listed: true}
)

const recordVersion = 1

// Balance is what transfers left with a holder.
type Balance struct {
	// Amount is the sum of the values received less those sent.
	Amount Amount
	// Units is the number of transfers received less those sent.
	Units int64
	// Sent and Received say whether there ever were any.
	Sent, Received bool
	// Block is that of the newest transfer.
	Block uint64
}

// Of is the balance under a standard: NFTs are counted, all else is summed up.
func (b *Balance) Of(kind transfer.Standard) Amount {
	if kind == transfer.ERC721 {
		return AmountOfInt(b.Units)
	}
	return b.Amount
}

// The flags of a balance.
const (
	flagSent = 1 << iota
	flagReceived
	flagNegative
	flagsEnd
)

func zigzag(n int64) uint64 { return uint64(n)<<1 ^ uint64(n>>63) }

func unzigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }

// appendBalance is the record of a present balance: what the history holds of
// one, which is past, between a version and the block.
func appendBalance(b []byte, v *Balance) (row, past []byte) {
	b = append(b, recordVersion)
	from := len(b)
	b = appendPast(b, v)
	to := len(b)
	b = binary.AppendUvarint(b, v.Block)
	return b, b[from:to:to]
}

// appendPast is a balance in its history: the row's key has the block.
func appendPast(b []byte, v *Balance) []byte {
	var flags byte
	if v.Sent {
		flags |= flagSent
	}
	if v.Received {
		flags |= flagReceived
	}
	if v.Amount.Sign() < 0 {
		flags |= flagNegative
	}
	var buf [40]byte
	m := v.Amount.magnitude(&buf)
	b = append(b, flags, byte(len(m)))
	b = append(b, m...)
	return binary.AppendUvarint(b, zigzag(v.Units))
}

func decodeBalance(b []byte) (v Balance, err error) {
	if len(b) == 0 || b[0] != recordVersion {
		return v, badBalance("a bad beginning")
	}
	v, rest, err := cutPast(b[1:])
	if err != nil {
		return v, err
	}
	var size int
	if v.Block, size = binary.Uvarint(rest); size <= 0 || size != len(rest) {
		return Balance{}, badBalance("a bad block")
	}
	return v, nil
}

// decodePast reads the balance that a row of a block's history holds.
func decodePast(b []byte, block uint64) (Balance, error) {
	v, rest, err := cutPast(b)
	if err == nil && len(rest) > 0 {
		err = badBalance("more behind it")
	}
	v.Block = block
	return v, err
}

func badBalance(what string) error {
	return fmt.Errorf("%w: balance with %s", record.ErrCorrupt, what)
}

// cutPast reads what appendPast wrote from the front of b.
func cutPast(b []byte) (v Balance, rest []byte, err error) {
	if len(b) < 3 || b[0] >= flagsEnd {
		return v, nil, badBalance("a bad beginning")
	}
	flags, n := b[0], int(b[1])
	if b = b[2:]; len(b) < n {
		return v, nil, badBalance("a short amount")
	}
	amount, ok := fromMagnitude(b[:n], flags&flagNegative != 0)
	if !ok {
		return v, nil, badBalance("a bad amount")
	}
	units, size := binary.Uvarint(b[n:])
	if size <= 0 {
		return v, nil, badBalance("bad units")
	}
	return Balance{
		Amount: amount, Units: unzigzag(units),
		Sent: flags&flagSent != 0, Received: flags&flagReceived != 0,
	}, b[n+size:], nil
}

// Pair is a holder of a token.
type Pair struct{ Token, Holder felt.Felt }

func balanceKey(p *Pair) store.Key {
	return store.Key{Table: Balances, Partition: p.Token[:], Sort: p.Holder[:]}
}

// Totals are what all transfers of a token add up to.
type Totals struct {
	Transfers uint64 // well-formed ones; each of a batch counts
	Malformed uint64 // events that look like transfers and are none
	// Senders and Receivers count distinct addresses, zero not among them.
	Senders, Receivers uint64
	// First and Latest are blocks of transfers, malformed ones not among them.
	First, Latest uint64
	// Supply is what was minted less what was burned.
	Supply Amount
	// SupplyUnits is the number of mints less that of burns.
	SupplyUnits int64
	// Holders count those with a balance that is not zero, and Negative those
	// below zero, by amounts and by units.
	Holders, Negative           uint64
	UnitHolders, NegativeUnits  uint64
	Mints, Burns, SelfTransfers uint64
	// Layouts has the bit 1<<layout set for each layout that was seen.
	Layouts uint64
}

// HoldersOf counts the balances that are not zero under a standard.
func (t *Totals) HoldersOf(kind transfer.Standard) uint64 {
	if kind == transfer.ERC721 {
		return t.UnitHolders
	}
	return t.Holders
}

// NegativeOf counts the balances below zero under a standard.
func (t *Totals) NegativeOf(kind transfer.Standard) uint64 {
	if kind == transfer.ERC721 {
		return t.NegativeUnits
	}
	return t.Negative
}

// SupplyOf is what was minted less what was burned under a standard.
func (t *Totals) SupplyOf(kind transfer.Standard) Amount {
	if kind == transfer.ERC721 {
		return AmountOfInt(t.SupplyUnits)
	}
	return t.Supply
}

// Saw reports whether a transfer of a layout was seen.
func (t *Totals) Saw(l transfer.Layout) bool { return t.Layouts&(1<<l) != 0 }

func (t *Totals) fields() [14]*uint64 {
	return [...]*uint64{
		&t.Transfers, &t.Malformed, &t.Senders, &t.Receivers, &t.First, &t.Latest, &t.Holders, &t.Negative,
		&t.UnitHolders, &t.NegativeUnits, &t.Mints, &t.Burns, &t.SelfTransfers, &t.Layouts,
	}
}

func encodeTotals(e *record.Encoder, t *Totals) []byte {
	e.Reset(recordVersion)
	for _, f := range t.fields() {
		e.Uint(*f)
	}
	e.Uint(zigzag(t.SupplyUnits))
	var buf [40]byte
	negative := byte(0)
	if t.Supply.Sign() < 0 {
		negative = 1
	}
	e.Byte(negative)
	e.Blob(t.Supply.magnitude(&buf))
	return e.Bytes()
}

func decodeTotals(b []byte) (t Totals, err error) {
	d := record.NewDecoder(b, recordVersion)
	for _, f := range t.fields() {
		*f = d.Uint()
	}
	t.SupplyUnits = unzigzag(d.Uint())
	negative := d.Byte()
	m := d.Blob()
	if err := d.Finish(); err != nil {
		return t, err
	}
	var ok bool
	if t.Supply, ok = fromMagnitude(m, negative == 1); !ok || negative > 1 {
		return t, fmt.Errorf("%w: totals with a bad supply", record.ErrCorrupt)
	}
	return t, nil
}

func totalKey(token *felt.Felt) store.Key { return store.Key{Table: TotalRows, Partition: token[:]} }

// firstSort is where a token stands among those first seen in a span.
func firstSort(block uint64, token *felt.Felt) []byte {
	return append(explorer.BlockKey(block), token[:]...)
}
