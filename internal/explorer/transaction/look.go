package transaction

import (
	"context"
	"fmt"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// Look shows transactions by their places to lookers, in one round trip and in any order: i is
// the place in ps. Each looker is for one goroutine, and there may be several at a time. A
// record has what a preview shows, the calldata, and the events whose first key is one of topics,
// the others being empty, and is the looker's until it returns. One that is not there is an error.
func Look(ctx context.Context, r store.Reader, ps []explorer.Position, topics []felt.Felt, looker func() func(i int, t *Record)) error {
	if len(ps) == 0 {
		return nil
	}
	seen := make([]bool, len(ps))
	err := r.Each(ctx, keysOf(ps), func() store.Visitor {
		look, use := newLooker(topics), looker()
		return func(i int, value []byte) error {
			t, err := look(ps[i], value)
			if err != nil {
				return err
			}
			use(i, t)
			seen[i] = true
			return nil
		}
	})
	if err != nil {
		return fmt.Errorf("look at %d transactions: %w", len(ps), err)
	}
	if i := slices.Index(seen, false); i >= 0 {
		return notThere(ps[i])
	}
	return nil
}

// newLooker reads rows one after the other into one record, as Look has it.
func newLooker(topics []felt.Felt) reader[Record] { return (&lookout{topics: topics}).read }

// lookout is the memory of a looker.
type lookout struct {
	topics []felt.Felt
	d      record.Decoder
	rec    Record
	events []starknet.Event
}

func (l *lookout) read(p explorer.Position, b []byte) (*Record, error) {
	d, rec := &l.d, &l.rec
	d.Recycle()
	d.Reset(b, recordVersion)
	*rec = Record{Position: p}
	l.events = readLook(d, rec, l.topics, l.events[:0])
	rec.Calldata = d.Felts()
	if err := d.Err(); err != nil {
		return nil, fmt.Errorf("transaction %d of block %d: %w", p.Index, p.Block, err)
	}
	return rec, nil
}

// readLook reads what stands in front of the lists into an empty record as far as Look shows it,
// the events in the memory of events, which it returns.
func readLook(d *record.Decoder, rec *Record, topics []felt.Felt, events []starknet.Event) []starknet.Event {
	f := readTop(d, rec)
	for range d.Len(3) {
		if len(topics) == 0 {
			skipEvent(d)
			continue
		}
		e := starknet.Event{From: d.Felt(), Keys: d.Felts()}
		if len(e.Keys) > 0 && slices.Contains(topics, e.Keys[0]) {
			e.Data = d.Felts()
		} else {
			d.SkipFelts()
			e = starknet.Event{}
		}
		events = append(events, e)
	}
	if len(events) > 0 {
		rec.Receipt.Events = events
	}
	readRest(d, rec, f, false)
	return events
}

// Preview is what lists show of a transaction.
type Preview struct {
	explorer.Position
	Stamp
	Hash      felt.Felt
	Type      starknet.TxType
	Execution starknet.ExecutionStatus
	From, To  *felt.Felt // nil when the transaction has none
}

// Ends are where a transaction comes from and what it is addressed to, for previews that point there.
type Ends struct{ from, to felt.Felt }

// Preview is what lists show of the record. It keeps nothing of it, and has its ends where
// it is told to.
func (t *Record) Preview(ends *Ends) Preview {
	out := Preview{Position: t.Position, Stamp: t.Stamp, Hash: t.Hash, Type: t.Type, Execution: t.Receipt.Execution}
	var some bool
	if ends.from, some = t.From(t.Receipt.ContractAddress); some {
		out.From = &ends.from
	}
	if ends.to, some = t.To(t.Receipt.ContractAddress); some {
		out.To = &ends.to
	}
	return out
}
