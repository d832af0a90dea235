package chain

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// Verifications says of every block whether it was recomputed when it was
// indexed. Neighbours with the same finding share a row: its sort key is the
// first of them. No digest covers the rows, because they tell of the run that
// wrote them and not of the chain; a fork cuts them off.
//
// A block without a row was indexed by a program that kept none.
var Verifications = &store.Table{ID: 4, Name: "verification", PartitionLen: 0}

// VerificationKey is the row of meta that adds the findings up.
var VerificationKey = metaKey("verification")

// Outcome is what came of holding a block against its hash.
type Outcome byte

// The outcomes. Their values are stored.
const (
	Unknown    Outcome = 0 // nothing is recorded
	NotChecked Outcome = 1 // it was not recomputed
	Verified   Outcome = 2 // its hash follows from its data
	Unverified Outcome = 3 // it can neither be shown to follow nor not to
)

func (o Outcome) String() string {
	switch o {
	case NotChecked:
		return "not_checked"
	case Verified:
		return "verified"
	case Unverified:
		return "unverified"
	}
	return "unknown"
}

// Finding is what is known of a block's verification.
type Finding struct {
	Outcome Outcome
	Rules   starknet.Rules // by which it was recomputed, where it was
	Reason  string         // why it is unverified
}

// FindingSpan is a run of blocks with one finding.
type FindingSpan struct {
	First, Last uint64
	Finding
}

// Summary adds findings up.
type Summary struct {
	Verified   uint64
	NotChecked uint64
	Unverified uint64
	// FirstUnverified is the oldest unverified block, where there is one.
	FirstUnverified uint64
}

func (s *Summary) count(o Outcome) *uint64 {
	switch o {
	case Verified:
		return &s.Verified
	case Unverified:
		return &s.Unverified
	default:
		return &s.NotChecked
	}
}

func findingKey(first uint64) store.Key {
	return store.Key{Table: Verifications, Sort: binary.BigEndian.AppendUint64(nil, first)}
}

// Encode returns the row.
func (f *FindingSpan) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	e.Uint(f.Last)
	e.Byte(byte(f.Outcome))
	e.Byte(byte(f.Rules))
	e.Text(f.Reason)
	return e.Bytes()
}

// DecodeFindings reads a row of Verifications.
func DecodeFindings(sort, value []byte) (f FindingSpan, err error) {
	if len(sort) != 8 {
		return f, fmt.Errorf("verification row: %w: key of %d bytes", record.ErrCorrupt, len(sort))
	}
	d := record.NewDecoder(value, recordVersion)
	f.First = binary.BigEndian.Uint64(sort)
	f.Last, f.Outcome, f.Rules, f.Reason = d.Uint(), Outcome(d.Byte()), starknet.Rules(d.Byte()), d.Text()
	err = d.Finish()
	if err == nil && (f.Last < f.First || f.Outcome < NotChecked || f.Outcome > Unverified) {
		err = fmt.Errorf("%w: blocks %d to %d, outcome %d", record.ErrCorrupt, f.First, f.Last, f.Outcome)
	}
	return f, wrap("verification", err)
}

// Encode returns the row.
func (s Summary) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	for _, n := range []uint64{s.Verified, s.NotChecked, s.Unverified, s.FirstUnverified} {
		e.Uint(n)
	}
	return e.Bytes()
}

// DecodeSummary reads the verification row of meta.
func DecodeSummary(b []byte) (s Summary, err error) {
	d := record.NewDecoder(b, recordVersion)
	s.Verified, s.NotChecked, s.Unverified, s.FirstUnverified = d.Uint(), d.Uint(), d.Uint(), d.Uint()
	return s, wrap("verification summary", d.Finish())
}

// findingKept is what the span that was asked for last is remembered under.
type findingKept struct{}

// FindingAt returns what is known of a block's verification. One seek, or none: one span is
// mostly that of many blocks, and views of one state share the last.
func FindingAt(ctx context.Context, r store.Reader, number uint64) (Finding, error) {
	if f, ok := store.Recalled[findingKept, *FindingSpan](r, findingKept{}); ok && f.First <= number && number <= f.Last {
		return f.Finding, nil
	}
	return findingAt(ctx, r, number)
}

// findingAt is apart so that what is remembered costs no allocation.
func findingAt(ctx context.Context, r store.Reader, number uint64) (Finding, error) {
	for f, err := range findings(ctx, r, number, 1) {
		if err != nil {
			return Finding{}, err
		}
		if number <= f.Last {
			store.Remember(r, findingKept{}, &f)
			return f.Finding, nil
		}
	}
	return Finding{}, nil
}

// findings yields spans backwards, from the one that starts at or before a block.
func findings(ctx context.Context, r store.Reader, from uint64, limit int) func(func(FindingSpan, error) bool) {
	return func(yield func(FindingSpan, error) bool) {
		rg := store.Range{Table: Verifications, Reverse: true, Limit: limit}
		if from < math.MaxUint64 {
			rg.To = binary.BigEndian.AppendUint64(nil, from+1)
		}
		for row, err := range r.Scan(ctx, rg) {
			var f FindingSpan
			if err == nil {
				f, err = DecodeFindings(row.Sort, row.Value)
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// FindingLog adds the findings of blocks as they are indexed. The zero value is
// that of an index without any.
type FindingLog struct {
	sum    Summary
	last   FindingSpan // the newest span; its Outcome is Unknown when there is none
	closed []FindingSpan
	dirty  bool
}

// ReadFindingLog reads where the findings end.
func ReadFindingLog(ctx context.Context, r store.Reader) (l FindingLog, err error) {
	if l.sum, _, err = get(ctx, r, VerificationKey, DecodeSummary); err != nil {
		return l, err
	}
	for f, err := range findings(ctx, r, math.MaxUint64, 1) {
		if err != nil {
			return l, err
		}
		l.last = f
	}
	return l, nil
}

// Summary adds up all findings so far.
func (l *FindingLog) Summary() Summary { return l.sum }

// Next is the log as it is after a commit of what it has.
func (l *FindingLog) Next() FindingLog { return FindingLog{sum: l.sum, last: l.last} }

// Add notes the finding of the block that was indexed next.
func (l *FindingLog) Add(number uint64, f Finding) {
	if f.Outcome == Unverified && l.sum.Unverified == 0 {
		l.sum.FirstUnverified = number
	}
	*l.sum.count(f.Outcome)++
	l.dirty = true
	if l.last.Finding == f && l.last.Last+1 == number {
		l.last.Last = number
		return
	}
	if l.last.Outcome != Unknown {
		l.closed = append(l.closed, l.last)
	}
	l.last = FindingSpan{First: number, Last: number, Finding: f}
}

// Put adds the changes of the store.
func (l *FindingLog) Put(b *store.Batch) {
	if !l.dirty {
		return
	}
	for _, f := range append(l.closed, l.last) {
		b.Put(findingKey(f.First), f.Encode())
	}
	b.Put(VerificationKey, l.sum.Encode())
}

// cutRows is how many spans are read at a time while they are cut.
const cutRows = 1000

// CutFindings adds the changes that forget the findings of all blocks above one.
func CutFindings(ctx context.Context, r store.Reader, above uint64, b *store.Batch) error {
	sum, some, err := get(ctx, r, VerificationKey, DecodeSummary)
	if err != nil || !some {
		return err
	}
	for from, done := uint64(math.MaxUint64), false; !done; {
		done = true
		for f, err := range findings(ctx, r, from, cutRows) {
			if err != nil {
				return err
			}
			if f.Last <= above {
				done = true
				break
			}
			if n := sum.count(f.Outcome); f.First > above {
				*n -= min(*n, f.Last-f.First+1)
				b.Delete(findingKey(f.First))
				if f.First == 0 {
					done = true
					break
				}
				from, done = f.First-1, false
			} else {
				*n -= min(*n, f.Last-above)
				f.Last = above
				b.Put(findingKey(f.First), f.Encode())
				done = true
				break
			}
		}
	}
	if sum.Unverified == 0 {
		sum.FirstUnverified = 0
	}
	b.Put(VerificationKey, sum.Encode())
	return nil
}

// AmendFindings adds the changes that put other findings in the place of those of
// the blocks from first on, one for each.
func AmendFindings(ctx context.Context, r store.Reader, first uint64, list []Finding, b *store.Batch) error {
	if len(list) == 0 {
		return nil
	}
	last := first + uint64(len(list)) - 1
	sum, _, err := get(ctx, r, VerificationKey, DecodeSummary)
	if err != nil {
		return err
	}
	var keep []FindingSpan // what is left of spans that reach beyond
	for f, err := range findings(ctx, r, last, len(list)+1) {
		if err != nil {
			return err
		}
		if f.Last < first {
			break
		}
		lo, hi := max(f.First, first), min(f.Last, last)
		n := sum.count(f.Outcome)
		*n -= min(*n, hi-lo+1)
		b.Delete(findingKey(f.First))
		if f.First < first {
			keep = append(keep, FindingSpan{First: f.First, Last: first - 1, Finding: f.Finding})
		}
		if f.Last > last {
			keep = append(keep, FindingSpan{First: last + 1, Last: f.Last, Finding: f.Finding})
		}
	}
	for i := 0; i < len(list); {
		span := FindingSpan{First: first + uint64(i), Finding: list[i]}
		for i < len(list) && list[i] == span.Finding {
			i++
		}
		span.Last = first + uint64(i) - 1
		if span.Outcome == Unknown {
			continue
		}
		*sum.count(span.Outcome) += span.Last - span.First + 1
		keep = append(keep, span)
	}
	for _, f := range keep {
		b.Put(findingKey(f.First), f.Encode())
	}
	if sum.FirstUnverified, err = firstUnverified(ctx, r, first, last, keep); err != nil {
		return err
	}
	b.Put(VerificationKey, sum.Encode())
	return nil
}

// firstUnverified is the oldest unverified block when the spans between two blocks
// are replaced by others; 0 when there is none.
func firstUnverified(ctx context.Context, r store.Reader, first, last uint64, instead []FindingSpan) (uint64, error) {
	oldest, some := uint64(0), false
	note := func(f FindingSpan) {
		if f.Outcome == Unverified && (!some || f.First < oldest) {
			oldest, some = f.First, true
		}
	}
	for _, f := range instead {
		note(f)
	}
	for e, err := range r.Walk(ctx, Verifications, nil) {
		if err != nil {
			return 0, err
		}
		f, err := DecodeFindings(e.Sort, e.Value)
		if err != nil {
			return 0, err
		}
		if some && f.First > oldest {
			break
		}
		if f.Last < first || f.First > last {
			note(f)
		}
	}
	return oldest, nil
}
