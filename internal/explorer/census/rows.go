// Package census keeps generations: complete, immutable lists of a token's
// holders as of a finalized block.
//
// Rows, with h holders of a generation:
//
//	census_generation  token | inverted id                          its record   1 row
//	census_holder      token id | inverted balance, address         last block   h rows
//	census_state       |                                            the next id  1 row
//
// Holders stand in the order of their ranks: by balance, most first, then by
// address. A rank is a holder's place in that order, which a page knows from
// where it began. Nothing here is changed after a generation was published, save
// that it may be certified, renewed or revoked, which is in its record alone.
// The rows are enrichment: a job makes them from the index and from calls to a
// node, and they are deleted after they expired.
//
// # Row digest
//
// The digest of a generation is the SHA-256 of its holders in the order of their
// ranks, each as one line of ASCII:
//
//	rank,address,balanceRaw,lastUpdatedBlock\n
//
// with the rank from 1, the address as 0x and lower-case hexadecimal digits
// without leading zeros, and the rest in decimal: what a page of holders shows.
//
// Costs: the newest generation of a token is one scan of a few rows, a given one
// is one Get, and a page of holders is one scan. A holder is not found by its rank,
// which is nowhere stored: who wants that reads from a place whose rank is known.
package census

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"strconv"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// The tables of this subject.
var (
	Generations = &store.Table{ID: 60, Name: "census_generation", PartitionLen: felt.Size}
	Holders     = &store.Table{ID: 61, Name: "census_holder", PartitionLen: felt.Size + 8}
	States      = &store.Table{ID: 62, Name: "census_state", PartitionLen: 0}
)

// Enrichment lists the tables.
func Enrichment() []*store.Table { return []*store.Table{Generations, Holders, States} }

const recordVersion = 1

// Status is where a generation is in its life.
type Status byte

// The statuses. Only those between are shown to anybody.
const (
	Building Status = iota + 1
	Published
	Revoked
	Deleting
)

// Verdict is what became of holding a generation against the chain.
type Verdict byte

// The verdicts.
const (
	NotRun      Verdict = iota // no node could be asked yet
	Certified                  // the chain agrees
	AuditFailed                // it does not
	Unavailable                // the contract does not answer such questions
)

// String names a verdict, for logs.
func (v Verdict) String() string {
	if names := [...]string{"not_run", "certified", "audit_failed", "unavailable"}; int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("verdict %d", byte(v))
}

// Generation is the record of a generation.
type Generation struct {
	Token felt.Felt
	ID    uint64

	Status  Status
	Verdict Verdict
	// Reason says in words why a generation was revoked or failed its audit.
	Reason string

	AsOf      uint64 // the block
	Hash      felt.Felt
	Timestamp uint64 // of the block

	// Times in seconds since 1970; zero when it did not happen.
	Published, Expires, Checked uint64

	Holders uint64
	Total   *big.Int // of all balances
	Digest  [32]byte
	// Wrong counts balances that cannot be: below zero, or more than a u256.
	Wrong uint64
	// Malformed counts events of the token that look like transfers and are none.
	Malformed uint64

	Supply  *big.Int // that the contract reports; nil when it was not asked
	Sampled uint64   // balances that were held against the contract's

	Metrics  *Metrics  // nil when there are no holders
	Previous *Previous // nil for a token's first generation
}

// Previous is what growth is measured by.
type Previous struct {
	ID, AsOf, Holders uint64
	Total             *big.Int
}

// Shown says whether readers may see the generation.
func (g *Generation) Shown() bool { return g.Status == Published || g.Status == Revoked }

// GenerationKey is where a generation's record is kept: newer ones come first.
func GenerationKey(token felt.Felt, id uint64) store.Key {
	return store.Key{Table: Generations, Partition: token[:], Sort: binary.BigEndian.AppendUint64(nil, ^id)}
}

// NextKey is where the next id is kept: ids are never used twice.
var NextKey = store.Key{Table: States, Sort: []byte("next")}

// EncodeNext is the row of the next id.
func EncodeNext(id uint64) []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	e.Uint(id)
	return e.Bytes()
}

// DecodeNext reads it; none is 1.
func DecodeNext(b []byte) (id uint64, err error) {
	if b == nil {
		return 1, nil
	}
	d := record.NewDecoder(b, recordVersion)
	id = d.Uint()
	return id, d.Finish()
}

// Encode is the row of census_generation.
func (g *Generation) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	e.Byte(byte(g.Status))
	e.Byte(byte(g.Verdict))
	e.Text(g.Reason)
	e.Raw(g.Hash[:])
	e.Raw(g.Digest[:])
	for _, n := range g.numbers() {
		e.Uint(*n)
	}
	encodeInt(&e, g.Total)
	encodeInt(&e, g.Supply)
	if g.Metrics == nil {
		e.Byte(0)
	} else {
		e.Byte(1)
		g.Metrics.encode(&e)
	}
	if p := g.Previous; p == nil {
		e.Byte(0)
	} else {
		e.Byte(1)
		for _, n := range []uint64{p.ID, p.AsOf, p.Holders} {
			e.Uint(n)
		}
		encodeInt(&e, p.Total)
	}
	return e.Bytes()
}

func (g *Generation) numbers() []*uint64 {
	return []*uint64{&g.AsOf, &g.Timestamp, &g.Published, &g.Expires, &g.Checked, &g.Holders, &g.Wrong, &g.Malformed, &g.Sampled}
}

// encodeInt writes a number that is not negative, or nil.
func encodeInt(e *record.Encoder, n *big.Int) {
	if n == nil {
		e.Byte(0)
		return
	}
	e.Byte(1)
	e.Blob(n.Bytes())
}

func decodeInt(d *record.Decoder) *big.Int {
	if d.Byte() == 0 {
		return nil
	}
	return new(big.Int).SetBytes(d.Blob())
}

// DecodeGeneration reads a row of census_generation.
func DecodeGeneration(token felt.Felt, sort, b []byte) (*Generation, error) {
	if len(sort) != 8 {
		return nil, fmt.Errorf("%w: generation with a key of %d bytes", record.ErrCorrupt, len(sort))
	}
	g := &Generation{Token: token, ID: ^binary.BigEndian.Uint64(sort)}
	d := record.NewDecoder(b, recordVersion)
	g.Status, g.Verdict, g.Reason = Status(d.Byte()), Verdict(d.Byte()), d.Text()
	d.Raw(g.Hash[:])
	d.Raw(g.Digest[:])
	for _, n := range g.numbers() {
		*n = d.Uint()
	}
	g.Total, g.Supply = decodeInt(d), decodeInt(d)
	if d.Byte() == 1 {
		g.Metrics = decodeMetrics(d)
	}
	if d.Byte() == 1 {
		p := &Previous{ID: d.Uint(), AsOf: d.Uint(), Holders: d.Uint()}
		p.Total = decodeInt(d)
		g.Previous = p
	}
	if err := d.Finish(); err != nil {
		return nil, fmt.Errorf("generation %d of %s: %w", g.ID, token, err)
	}
	if g.Status < Building || g.Status > Deleting || g.Verdict > Unavailable {
		return nil, fmt.Errorf("%w: generation %d of %s has status %d, %s", record.ErrCorrupt, g.ID, token, g.Status, g.Verdict)
	}
	return g, nil
}

// BalanceSize is the length of a balance: a u256.
const BalanceSize = 32

// PlaceSize is the length of a Place.
const PlaceSize = BalanceSize + felt.Size

// Place is where a holder stands in the order of ranks.
type Place [PlaceSize]byte

// PlaceOf is the place of a balance, big endian, and an address.
func PlaceOf(balance [BalanceSize]byte, address felt.Felt) (p Place) {
	for i, b := range balance {
		p[i] = ^b
	}
	copy(p[BalanceSize:], address[:])
	return p
}

// Balance and Address read a place.
func (p *Place) Balance() (b [BalanceSize]byte) {
	for i := range b {
		b[i] = ^p[i]
	}
	return b
}

// Address is the holder.
func (p *Place) Address() felt.Felt { return felt.Felt(p[BalanceSize:]) }

// HolderPartition holds the holders of a generation.
func HolderPartition(token felt.Felt, id uint64) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, felt.Size+8), token[:]...), id)
}

// AppendHolder is the value of a holder's row.
func AppendHolder(b []byte, lastBlock uint64) []byte {
	return binary.AppendUvarint(append(b, recordVersion), lastBlock)
}

// Holder is a row of a generation.
type Holder struct {
	Place
	LastBlock uint64
}

func parseHolder(row store.Row) (h Holder, err error) {
	if len(row.Sort) != PlaceSize || len(row.Value) < 2 || row.Value[0] != recordVersion {
		return h, fmt.Errorf("%w: holder with a key of %d and a value of %d bytes", record.ErrCorrupt, len(row.Sort), len(row.Value))
	}
	copy(h.Place[:], row.Sort)
	n, size := binary.Uvarint(row.Value[1:])
	if size != len(row.Value)-1 {
		return h, fmt.Errorf("%w: holder with a bad block", record.ErrCorrupt)
	}
	h.LastBlock = n
	return h, nil
}

// AppendLine appends a holder's line of the row digest. balance is scratch space.
func AppendLine(b []byte, rank uint64, h *Holder, balance *big.Int) []byte {
	b = append(decimal(b, rank), ',')
	address := h.Address()
	b = append(address.AppendHex(b), ',')
	raw := h.Balance()
	b = append(balance.SetBytes(raw[:]).Append(b, 10), ',')
	return append(decimal(b, h.LastBlock), '\n')
}

func decimal(b []byte, n uint64) []byte { return strconv.AppendUint(b, n, 10) }
