package export

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/message"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/starknet"
)

// Tokens is the family that is no list of what blocks did: one file with what is known of
// the tokens now, written anew by every run.
const Tokens = "tokens"

// feeder takes what a range of blocks holds, in the order of the chain, and writes the rows
// of one family. What it does not need is nil.
type feeder struct {
	header      func(*block.Summary) error
	state       func(*block.Summary, *starknet.StateDiff) error
	transaction func(*transaction.Record) error
	blockEnd    func() error // behind the last transaction of every block that has some
	end         func() error
}

// family makes feeders. The rows are a function of the blocks and the registry.
type family struct {
	name string
	feed func(f *file, meta map[string]string, known *registry.Chain) feeder
}

const transfers = "transfers"

// families are all that follow blocks, in the order in which they are written.
var families = []family{
	{"blocks", feedBlocks}, {"transactions", feedTransactions}, {"events", feedEvents}, {transfers, feedTransfers},
	{"balances", feedBalances}, {"messages", feedMessages}, {"contracts", feedContracts}, {"classes", feedClasses},
}

// Families names all of them.
func Families() (names []string) {
	for _, f := range families {
		names = append(names, f.name)
	}
	return append(names, Tokens)
}

// choose finds families by their names; none means all.
func choose(names []string) (list []family, tokens bool, err error) {
	for _, n := range names {
		if !slices.Contains(Families(), n) {
			return nil, false, &BadOptionError{fmt.Sprintf("there is no family %q: they are %s", n, strings.Join(Families(), ", "))}
		}
	}
	for _, f := range families {
		if len(names) == 0 || slices.Contains(names, f.name) {
			list = append(list, f)
		}
	}
	return list, len(names) == 0 || slices.Contains(names, Tokens), nil
}

// What a row takes besides its lists and texts, roughly: a group's size is counted by it.
const (
	rowBytes  = 200
	feltBytes = 2 + 2*felt.Size
)

func placeOf(number uint64, s transaction.Stamp) place {
	return place{BlockNumber: int64(number), BlockHash: s.BlockHash, Timestamp: int64(s.BlockTime) * 1000}
}

func placeOfBlock(b *block.Summary) place {
	return placeOf(b.Number, transaction.Stamp{BlockHash: b.Hash, BlockTime: b.Timestamp})
}

func txPlaceOf(t *transaction.Record) txPlace {
	return txPlace{TxIndex: int32(t.Index), TxHash: t.Hash}
}

// feltIf is nil where there is no such thing.
func feltIf(is bool, f *felt.Felt) *felt.Felt {
	if !is {
		return nil
	}
	return f
}

// priceOf is nil for a price of zero: nodes tell one of blocks from before there was the price.
func priceOf(p *felt.Felt) *string {
	if p.IsZero() {
		return nil
	}
	s := p.Decimal()
	return &s
}

func feedBlocks(f *file, meta map[string]string, _ *registry.Chain) feeder {
	t := newTable(f, meta, "blockRow", &blockRow{})
	return feeder{end: t.end, header: func(b *block.Summary) error {
		row := blockRow{
			BlockNumber: int64(b.Number), BlockHash: b.Hash, ParentHash: b.ParentHash, Timestamp: int64(b.Timestamp) * 1000,
			StateRoot: b.NewRoot, Sequencer: feltIf(!b.Sequencer.IsZero(), &b.Sequencer),
			TxCount: b.Transactions, EventCount: b.Events, MessageCount: b.Messages, RevertedCount: b.Reverted, StateDiffLength: b.StateDiffLength,
			L1GasPriceWei: priceOf(&b.L1GasPrice.InWei), L1GasPriceFri: priceOf(&b.L1GasPrice.InFri),
			L1DataGasPriceWei: priceOf(&b.L1DataGasPrice.InWei), L1DataGasPriceFri: priceOf(&b.L1DataGasPrice.InFri),
			L2GasPriceWei: priceOf(&b.L2GasPrice.InWei), L2GasPriceFri: priceOf(&b.L2GasPrice.InFri),
		}
		if b.StarknetVersion != "" {
			row.StarknetVersion = &b.StarknetVersion
		}
		if b.DAMode == starknet.DABlob || b.DAMode == starknet.DACalldata {
			mode := b.DAMode.String()
			row.L1DAMode = &mode
		}
		return t.add(&row, 3*rowBytes)
	}}
}

func feedEvents(f *file, meta map[string]string, _ *registry.Chain) feeder {
	t := newTable(f, meta, "eventRow", &eventRow{})
	return feeder{end: t.end, transaction: func(rec *transaction.Record) error {
		row := eventRow{place: placeOf(rec.Block, rec.Stamp), txPlace: txPlaceOf(rec), TxType: rec.Type.String()}
		for i := range rec.Receipt.Events {
			e := &rec.Receipt.Events[i]
			row.LogIndex, row.Address, row.Keys, row.Data = int32(i), e.From, e.Keys, e.Data
			if err := t.add(&row, rowBytes+feltBytes*(len(e.Keys)+len(e.Data))); err != nil {
				return err
			}
		}
		return nil
	}}
}

func feedTransfers(f *file, meta map[string]string, known *registry.Chain) feeder {
	t := newTable(f, meta, "transferRow", &transferRow{})
	digits := func(n *big.Int) *string {
		if n == nil {
			return nil
		}
		s := n.String()
		return &s
	}
	return feeder{end: t.end, transaction: func(rec *transaction.Record) error {
		list := transfer.Of(rec.Receipt.Events)
		if len(list) == 0 {
			return nil
		}
		at, tx := placeOf(rec.Block, rec.Stamp), txPlaceOf(rec)
		for i := range list {
			n := &list[i]
			v := n.Transfer
			if _, listed := known.Token(v.Token); listed {
				v = v.As(transfer.ERC20)
			}
			row := transferRow{
				place: at, txPlace: tx, LogIndex: int32(n.Log), TransferIndex: int32(n.Index),
				Token: v.Token, From: v.From, To: v.To, Standard: v.Standard.String(),
				RawValue: digits(v.Number()), TokenID: digits(v.TokenID()),
			}
			if moved := v.Amount(); moved != nil {
				a, err := amountOf(moved)
				if err != nil {
					return err
				}
				row.Amount = &a
			}
			if err := t.add(&row, 2*rowBytes); err != nil {
				return err
			}
		}
		return nil
	}}
}

func feedBalances(f *file, meta map[string]string, _ *registry.Chain) feeder {
	t := newTable(f, meta, "balanceRow", &balanceRow{})
	var at place
	var receipts []starknet.Receipt
	return feeder{
		end: t.end,
		transaction: func(rec *transaction.Record) error {
			if len(receipts) == 0 {
				at = placeOf(rec.Block, rec.Stamp)
			}
			receipts = append(receipts, rec.Receipt)
			return nil
		},
		blockEnd: func() error {
			for _, c := range token.Changes(receipts) {
				a, err := amountOfChange(c.Amount)
				if err != nil {
					return err
				}
				row := balanceRow{place: at, Token: c.Token, Holder: c.Holder, Amount: a, Units: c.Units}
				if err := t.add(&row, rowBytes+feltBytes); err != nil {
					return err
				}
			}
			clear(receipts)
			receipts = receipts[:0]
			return nil
		},
	}
}

var directions = map[message.Direction]string{message.ToL2: "l1_to_l2", message.ToL1: "l2_to_l1"}

func feedMessages(f *file, meta map[string]string, _ *registry.Chain) feeder {
	t := newTable(f, meta, "messageRow", &messageRow{})
	return feeder{end: t.end, transaction: func(rec *transaction.Record) error {
		for i := range message.Count(&rec.Transaction, &rec.Receipt) {
			m := message.Of(&rec.Transaction, &rec.Receipt, i)
			row := messageRow{
				place: placeOf(rec.Block, rec.Stamp), txPlace: txPlaceOf(rec), MessageIndex: int32(i), Direction: directions[m.Direction],
				Hash: "0x" + hex.EncodeToString(m.Hash[:]), From: feltIf(m.HasFrom, &m.From), To: m.To,
				Selector: feltIf(m.Direction == message.ToL2, &m.Selector), Nonce: feltIf(m.HasNonce, &m.Nonce),
				Reverted: m.Reverted, Payload: m.Payload,
			}
			if err := t.add(&row, 2*rowBytes+feltBytes*len(m.Payload)); err != nil {
				return err
			}
		}
		return nil
	}}
}

func feedContracts(f *file, meta map[string]string, _ *registry.Chain) feeder {
	t := newTable(f, meta, "contractRow", &contractRow{})
	return feeder{end: t.end, state: func(b *block.Summary, d *starknet.StateDiff) error {
		at := placeOfBlock(b)
		for _, c := range d.Deployed {
			if err := t.add(&contractRow{at, c.Address, c.ClassHash, "deployed"}, rowBytes); err != nil {
				return err
			}
		}
		for _, c := range d.Replaced {
			if err := t.add(&contractRow{at, c.Address, c.ClassHash, "replaced"}, rowBytes); err != nil {
				return err
			}
		}
		return nil
	}}
}

func feedClasses(f *file, meta map[string]string, _ *registry.Chain) feeder {
	t := newTable(f, meta, "classRow", &classRow{})
	return feeder{end: t.end, state: func(b *block.Summary, d *starknet.StateDiff) error {
		at := placeOfBlock(b)
		rows := make([]classRow, 0, len(d.Declared)+len(d.DeprecatedDeclared)+len(d.Migrated))
		for _, c := range d.Declared {
			rows = append(rows, classRow{at, c.ClassHash, &c.CompiledClassHash, "declared"})
		}
		for _, c := range d.DeprecatedDeclared {
			rows = append(rows, classRow{at, c, nil, "declared_cairo0"})
		}
		for _, c := range d.Migrated {
			rows = append(rows, classRow{at, c.ClassHash, &c.CompiledClassHash, "migrated"})
		}
		for i := range rows {
			if err := t.add(&rows[i], rowBytes); err != nil {
				return err
			}
		}
		return nil
	}}
}
