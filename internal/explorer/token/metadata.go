package token

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"

	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// The tables that calls to a node fill.
var (
	MetadataRows = &store.Table{ID: 55, Name: "token_metadata", PartitionLen: felt.Size}
	Symbols      = &store.Table{ID: 101, Name: "token_symbol", PartitionLen: sha256.Size}
	// Jobs holds the queue of calls and how far tokens were looked for.
	Jobs = &store.Table{ID: 102, Name: "token_job", PartitionLen: 0}
)

// Enrichment lists the tables that are filled from calls to a node.
func Enrichment() []*store.Table { return []*store.Table{MetadataRows, Symbols, NameRows, Jobs} }

// Evidence says what told the standard of a token.
type Evidence uint8

// The kinds of evidence.
const (
	NoEvidence Evidence = iota
	FromABI             // the entry points of its class
	FromCalls           // what it answered
)

// Metadata is what a token says of itself. Nothing of it is proven: a contract
// may call itself whatever it likes.
type Metadata struct {
	// Known says that the token was asked and answered, if only that it has none
	// of this. Before that only Due and Failures are set.
	Known bool
	// Name, Symbol and Decimals are nil where the token has none that can be read.
	Name, Symbol *string
	Decimals     *uint8
	Standard     transfer.Standard
	Evidence     Evidence
	// Supply is the total supply that the token reports, nil if it reports none.
	Supply *[32]byte
	// Block and BlockHash are the block at which all of this was read, and
	// Time the seconds since 1970 at which.
	Block     uint64
	BlockHash felt.Felt
	Time      uint64
	// Orphaned says that the block was seen to be replaced by a fork.
	Orphaned bool

	// Due is when the token is asked next, in seconds since 1970, and Failures
	// how often in a row no answer was to be had.
	Due, Failures uint64
}

const (
	metaKnown = 1 << iota
	metaName
	metaSymbol
	metaDecimals
	metaSupply
	metaOrphaned
	metaEnd
)

// MetadataKey is the address of a token's row.
func MetadataKey(token felt.Felt) store.Key {
	return store.Key{Table: MetadataRows, Partition: token[:]}
}

// Encode is the row.
func (m *Metadata) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	var flags byte
	for bit, set := range map[byte]bool{metaKnown: m.Known, metaName: m.Name != nil, metaSymbol: m.Symbol != nil,
		metaDecimals: m.Decimals != nil, metaSupply: m.Supply != nil, metaOrphaned: m.Orphaned} {
		if set {
			flags |= bit
		}
	}
	e.Byte(flags)
	e.Uint(m.Due)
	e.Uint(m.Failures)
	e.Byte(byte(m.Standard))
	e.Byte(byte(m.Evidence))
	e.Uint(m.Block)
	e.Felt(&m.BlockHash)
	e.Uint(m.Time)
	if m.Name != nil {
		e.Text(*m.Name)
	}
	if m.Symbol != nil {
		e.Text(*m.Symbol)
	}
	if m.Decimals != nil {
		e.Byte(*m.Decimals)
	}
	if m.Supply != nil {
		e.Blob(bytes.TrimLeft(m.Supply[:], "\x00"))
	}
	return e.Bytes()
}

// DecodeMetadata reads a row.
func DecodeMetadata(b []byte) (*Metadata, error) {
	d := record.NewDecoder(b, recordVersion)
	flags := d.Byte()
	m := &Metadata{Known: flags&metaKnown != 0, Orphaned: flags&metaOrphaned != 0, Due: d.Uint(), Failures: d.Uint()}
	m.Standard, m.Evidence = transfer.Standard(d.Byte()), Evidence(d.Byte())
	m.Block, m.BlockHash, m.Time = d.Uint(), d.Felt(), d.Uint()
	text := func(bit byte) *string {
		if flags&bit == 0 {
			return nil
		}
		s := d.Text()
		return &s
	}
	m.Name, m.Symbol = text(metaName), text(metaSymbol)
	if flags&metaDecimals != 0 {
		n := d.Byte()
		m.Decimals = &n
	}
	var supply []byte
	if flags&metaSupply != 0 {
		supply = d.Blob()
		m.Supply = new([32]byte)
	}
	if err := d.Finish(); err != nil {
		return nil, err
	}
	if flags >= metaEnd || m.Standard > transfer.ERC1155 || m.Evidence > FromCalls || len(supply) > 32 {
		return nil, fmt.Errorf("%w: metadata with flags %d, standard %d, evidence %d", record.ErrCorrupt, flags, m.Standard, m.Evidence)
	}
	if m.Supply != nil {
		copy(m.Supply[32-len(supply):], supply)
	}
	return m, nil
}

// symbolPartition is the same for symbols that differ in case alone.
func symbolPartition(symbol string) []byte {
	sum := sha256.Sum256([]byte(strings.ToLower(symbol)))
	return sum[:]
}

// SymbolKey is the place of a token among those with a symbol.
func SymbolKey(symbol string, token felt.Felt) store.Key {
	return store.Key{Table: Symbols, Partition: symbolPartition(symbol), Sort: token[:]}
}

// The rows of Jobs: tokens by the block at which they were read, the queue by the
// time at which tokens are due, and the progress of the search for new ones and for
// those whose classes were replaced.
const (
	jobRead     = 'b'
	jobUpgrades = 'c'
	jobQueue    = 'q'
	jobProgress = 'r'
)

// ReadKey is the place of a token among those that were read at a block.
func ReadKey(block uint64, token felt.Felt) store.Key {
	sort := binary.BigEndian.AppendUint64([]byte{jobRead}, block)
	return store.Key{Table: Jobs, Sort: append(sort, token[:]...)}
}

// QueueKey is the place of a token in the queue.
func QueueKey(due uint64, token felt.Felt) store.Key {
	sort := binary.BigEndian.AppendUint64([]byte{jobQueue}, due)
	return store.Key{Table: Jobs, Sort: append(sort, token[:]...)}
}

// Progress is how far tokens were looked for.
type Progress struct {
	Next  First  // the first place that was not looked at
	Forks uint64 // how many forks the chain had gone through
}

// ProgressKey is the address of the progress.
var ProgressKey = store.Key{Table: Jobs, Sort: []byte{jobProgress}}

// Encode is the row.
func (p *Progress) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	e.Uint(p.Next.Block)
	e.Raw(p.Next.Token[:])
	e.Uint(p.Forks)
	return e.Bytes()
}

// DecodeProgress reads the row.
func DecodeProgress(b []byte) (p Progress, err error) {
	d := record.NewDecoder(b, recordVersion)
	p.Next.Block = d.Uint()
	d.Raw(p.Next.Token[:])
	p.Forks = d.Uint()
	return p, d.Finish()
}

// Upgrades is how far blocks were looked at for tokens whose classes they replace.
type Upgrades struct {
	Next  uint64 // the first block that was not looked at
	Forks uint64 // how many forks the chain had gone through
}

// UpgradesKey is the address of the upgrades.
var UpgradesKey = store.Key{Table: Jobs, Sort: []byte{jobUpgrades}}

// Encode is the row.
func (u *Upgrades) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	e.Uint(u.Next)
	e.Uint(u.Forks)
	return e.Bytes()
}

// DecodeUpgrades reads the row.
func DecodeUpgrades(b []byte) (u Upgrades, err error) {
	d := record.NewDecoder(b, recordVersion)
	u.Next, u.Forks = d.Uint(), d.Uint()
	return u, d.Finish()
}
