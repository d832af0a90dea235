package ledger

import (
	"fmt"
	"math/big"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store/record"
)

// Asset is what pools hold of a token: a row of privacy_token, and an entry of a
// snapshot.
type Asset struct {
	Token felt.Felt

	Deposits, OpenDeposits, Withdrawals uint64 // events, those without an amount included
	// Deposited and Withdrawn are sums of the amounts that could be read.
	Deposited, Withdrawn *big.Int
	MissingAmounts       uint64
	Unreconciled         uint64 // movements without their Transfer
	// NegativeSince is where more had come out than went in, for the first time.
	NegativeSince *explorer.Place
	// First and Latest are the first and the last movement.
	First, Latest explorer.Place
	// Pools are the contracts that hold it or did, by address.
	Pools []felt.Felt

	// FeeTransfers and Fees are of those paid in this token: they are no movements.
	FeeTransfers uint64
	Fees         *big.Int

	// Reason is FinalizedPublicFlow when all of its amounts could be read, otherwise
	// AmountDecodeIncomplete or NegativeProtectedAmount.
	Reason Reason
}

// Protected is what went in and did not come out; negative only with the reason for it.
func (a *Asset) Protected() *big.Int { return new(big.Int).Sub(a.Deposited, a.Withdrawn) }

// Complete says that nothing is missing.
func (a *Asset) Complete() bool { return a.Reason == FinalizedPublicFlow }

// Moved says that there was a movement, and not only a fee.
func (a *Asset) Moved() bool { return a.Deposits+a.OpenDeposits+a.Withdrawals > 0 }

func newAsset(token felt.Felt) *Asset {
	return &Asset{Token: token, Deposited: zero(), Withdrawn: zero(), Fees: zero()}
}

// judge sets the reason. An event that may have moved any token makes all incomplete.
func (a *Asset) judge(unscoped bool) {
	switch {
	case a.NegativeSince != nil:
		a.Reason = NegativeProtectedAmount
	case a.MissingAmounts > 0 || unscoped:
		a.Reason = AmountDecodeIncomplete
	default:
		a.Reason = FinalizedPublicFlow
	}
}

// shown says whether a snapshot has an entry: known zeros are left out.
func (a *Asset) shown() bool {
	return a.Moved() && (!a.Complete() || a.Deposited.Cmp(a.Withdrawn) != 0)
}

func putAsset(e *record.Encoder, a *Asset) {
	for _, n := range []uint64{a.Deposits, a.OpenDeposits, a.Withdrawals, a.MissingAmounts, a.Unreconciled, a.FeeTransfers} {
		e.Uint(n)
	}
	putInt(e, a.Deposited)
	putInt(e, a.Withdrawn)
	putInt(e, a.Fees)
	putOptional(e, a.NegativeSince, putPlace)
	putPlace(e, a.First)
	putPlace(e, a.Latest)
	e.Felts(a.Pools)
}

func getAsset(d *record.Decoder, token felt.Felt) *Asset {
	a := &Asset{Token: token}
	for _, n := range []*uint64{&a.Deposits, &a.OpenDeposits, &a.Withdrawals, &a.MissingAmounts, &a.Unreconciled, &a.FeeTransfers} {
		*n = d.Uint()
	}
	a.Deposited, a.Withdrawn, a.Fees = getInt(d), getInt(d), getInt(d)
	a.NegativeSince = getOptional(d, getPlace)
	a.First, a.Latest = getPlace(d), getPlace(d)
	a.Pools = d.Felts()
	return a
}

// encode is the row of privacy_token.
func (a *Asset) encode() []byte {
	e := encoding()
	putAsset(e, a)
	return e.Bytes()
}

func decodeToken(sort, b []byte) (*Asset, error) {
	if len(sort) != felt.Size {
		return nil, fmt.Errorf("%w: token of a privacy pool with a key of %d bytes", record.ErrCorrupt, len(sort))
	}
	d := decoding(b)
	a := getAsset(d, felt.Felt(sort))
	if err := d.Finish(); err != nil {
		return nil, fmt.Errorf("token %s of privacy pools: %w", a.Token, err)
	}
	return a, nil
}

// encodeSnapshot is the row of privacy_snapshot: assets with their reasons.
func encodeSnapshot(assets []*Asset) []byte {
	e := encoding()
	e.Uint(uint64(len(assets)))
	for _, a := range assets {
		putFelt(e, a.Token)
		e.Text(string(a.Reason))
		putAsset(e, a)
	}
	return e.Bytes()
}

func decodeSnapshot(hour uint64, b []byte) ([]Asset, error) {
	d := decoding(b)
	n := d.Len(20)
	out := make([]Asset, 0, n)
	for range n {
		token, reason := d.Felt(), Reason(d.Text())
		a := getAsset(d, token)
		a.Reason = reason
		out = append(out, *a)
	}
	if err := d.Finish(); err != nil {
		return nil, fmt.Errorf("snapshot of privacy pools of hour %d: %w", hour, err)
	}
	return out, nil
}

// Point is what pools held at the end of an hour. It never changes.
type Point struct {
	Hour uint64 // when it began

	// The last block of the hour, or before it.
	AsOf      uint64
	Hash      felt.Felt
	Timestamp uint64

	// Reason is FinalizedPublicFlow, or IncompleteFinalizedFlow with the first Gap.
	Reason Reason
	Gap    Reason // why, when incomplete; otherwise ""

	LatestFlow     *explorer.Place // the last movement up to there
	MaterializedAt uint64          // in milliseconds since 1970
	PoolCount      uint64          // that had an event up to there
	TokenCount     uint64          // with a movement up to there
	MissingAmounts uint64          // up to there

	// Assets are those that are not known to be zero, by address.
	Assets []Asset

	snapshot uint64 // the hour whose snapshot has them; 0 for none
}

// Complete says that nothing is missing.
func (p *Point) Complete() bool { return p.Reason == FinalizedPublicFlow }

func (p *Point) numbers() []*uint64 {
	return []*uint64{&p.AsOf, &p.Timestamp, &p.MaterializedAt, &p.PoolCount, &p.TokenCount, &p.MissingAmounts, &p.snapshot}
}

// encode is the row of privacy_hour.
func (p *Point) encode() []byte {
	e := encoding()
	putFelt(e, p.Hash)
	e.Text(string(p.Gap))
	for _, n := range p.numbers() {
		e.Uint(*n)
	}
	putOptional(e, p.LatestFlow, putPlace)
	return e.Bytes()
}

func decodePoint(sort, b []byte) (p Point, err error) {
	if p.Hour, err = startOf(sort); err != nil {
		return p, err
	}
	d := decoding(b)
	p.Hash, p.Gap = getFelt(d), Reason(d.Text())
	for _, n := range p.numbers() {
		*n = d.Uint()
	}
	p.LatestFlow = getOptional(d, getPlace)
	if err := d.Finish(); err != nil {
		return p, fmt.Errorf("point of hour %d of privacy pools: %w", p.Hour, err)
	}
	if p.Reason = FinalizedPublicFlow; p.Gap != "" {
		p.Reason = IncompleteFinalizedFlow
	}
	return p, nil
}

// Bucket is what happened in an hour, a day or a week.
type Bucket struct {
	Start  uint64
	Closed bool // the ledger reaches beyond it
	// Degraded says that the ledger had a gap before the end of the bucket.
	Degraded bool

	Events, Transactions                uint64
	NewWallets, Wallets                 uint64 // in the bucket, and up to its end
	Deposits, OpenDeposits, Withdrawals uint64
	EncNotes, OpenNotes, NotesUsed      uint64
	Invocations                         uint64
	MissingAmounts                      uint64
	// LatestBlock is the last block with an event in the bucket; 0 when there is none.
	LatestBlock uint64
}

func (b *Bucket) sums() []*uint64 {
	return []*uint64{&b.Events, &b.Transactions, &b.NewWallets, &b.Deposits, &b.OpenDeposits, &b.Withdrawals, &b.EncNotes, &b.OpenNotes, &b.NotesUsed, &b.Invocations, &b.MissingAmounts}
}

func (b *Bucket) encode() []byte {
	e := encoding()
	for _, n := range append(b.sums(), &b.Wallets, &b.LatestBlock) {
		e.Uint(*n)
	}
	return e.Bytes()
}

func decodeBucket(start uint64, v []byte) (b Bucket, err error) {
	b.Start = start
	d := decoding(v)
	for _, n := range append(b.sums(), &b.Wallets, &b.LatestBlock) {
		*n = d.Uint()
	}
	return b, d.Finish()
}

// add joins a later bucket to one that it is a part of.
func (b *Bucket) add(c *Bucket) {
	to, from := b.sums(), c.sums()
	for i := range to {
		*to[i] += *from[i]
	}
	b.Wallets, b.LatestBlock = c.Wallets, max(b.LatestBlock, c.LatestBlock)
	b.Closed, b.Degraded = c.Closed, c.Degraded
}

// Flow is what a token did in an hour, a day or a week. Of fees, In is what was paid,
// and nothing comes out.
type Flow struct {
	Start            uint64
	Closed, Degraded bool // as of a Bucket

	In, Out           *big.Int // in the bucket
	InCount, OutCount uint64   // events; of fees transfers
	TotalIn, TotalOut *big.Int // up to its end
	LatestBlock       uint64   // the last block with a movement in the bucket; 0 when there is none
}

// Net is what is left at the end of the bucket.
func (f *Flow) Net() *big.Int { return new(big.Int).Sub(f.TotalIn, f.TotalOut) }

func newFlow(start uint64) *Flow {
	return &Flow{Start: start, In: zero(), Out: zero(), TotalIn: zero(), TotalOut: zero()}
}

func (f *Flow) ints() []**big.Int { return []**big.Int{&f.In, &f.Out, &f.TotalIn, &f.TotalOut} }

func (f *Flow) encode() []byte {
	e := encoding()
	for _, n := range f.ints() {
		putInt(e, *n)
	}
	for _, n := range []uint64{f.InCount, f.OutCount, f.LatestBlock} {
		e.Uint(n)
	}
	return e.Bytes()
}

func decodeFlow(start uint64, v []byte) (*Flow, error) {
	f := &Flow{Start: start}
	d := decoding(v)
	for _, n := range f.ints() {
		*n = getInt(d)
	}
	for _, n := range []*uint64{&f.InCount, &f.OutCount, &f.LatestBlock} {
		*n = d.Uint()
	}
	return f, d.Finish()
}

func (f *Flow) add(c *Flow) {
	f.In.Add(f.In, c.In)
	f.Out.Add(f.Out, c.Out)
	f.InCount, f.OutCount = f.InCount+c.InCount, f.OutCount+c.OutCount
	f.TotalIn, f.TotalOut = c.TotalIn, c.TotalOut
	f.LatestBlock = max(f.LatestBlock, c.LatestBlock)
	f.Closed, f.Degraded = c.Closed, c.Degraded
}
