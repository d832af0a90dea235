package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/transfer"
)

// The bounds of a Read.
const (
	// MaxMost is how many items it returns at most, and MaxItems the fewest that can be asked for.
	MaxMost = 900
	// MaxSpan is how many blocks it looks at.
	MaxSpan = 10_000
	// maxPages is how many pages of a list it reads, of which some may find nothing.
	maxPages = 4
)

// Read looks at the blocks behind a place, at most span of them, until it has about most
// items, all on one view. It returns the parts that match, in chain order, and the place that
// it has come to: the same as before where there is nothing behind it. ErrForked when the
// block of the place is none of the chain any more; kinds finality and fork do not care.
func (r *Reader) Read(ctx context.Context, f Filter, after Place, span uint64, most int) (found []Block, to Place, err error) {
	err = r.view(ctx, func(v *view) error {
		switch f.Kind {
		case Finality, Forks:
			found, to, err = v.moved(f.Kind, after)
		default:
			found, to, err = v.read(&f, after, min(max(span, 1), MaxSpan), min(max(most, r.partSize()), MaxMost))
		}
		return err
	})
	if err != nil {
		return nil, after, err
	}
	return found, to, nil
}

// moved tells of tiers and forks, once for however often they moved.
func (v *view) moved(kind Kind, after Place) ([]Block, Place, error) {
	head := v.state.Head
	at := v.marked(Place{Ref: block.Ref{Number: head.Number, Hash: head.Hash}})
	var item any
	switch {
	case kind == Finality && (at.Finalized != after.Finalized || at.L1 != after.L1):
		finalized, l1, err := v.tiers()
		if err != nil {
			return nil, after, err
		}
		item = v.Rows.Finality(finalized, l1)
	case kind == Forks && at.ForkCount != after.ForkCount:
		item = v.Rows.Fork(v.state)
	default:
		return nil, at, nil
	}
	items, err := encoded([]any{item})
	return []Block{{block.Stamp{Number: head.Number, Hash: head.Hash, Timestamp: head.Timestamp}, 1, true, items, at}}, at, err
}

// match is where something matched.
type match struct {
	transfer.Place
	in block.Stamp
}

// lister finds what matches in chain order.
type lister interface {
	// list finds up to limit matches of some blocks behind a place, nil for all, and where to
	// go on, nil when nothing is left.
	list(v *view, from, to uint64, after *transfer.Place, limit int) ([]match, *transfer.Place, error)
	// rows are those of the first n matches that were found.
	rows(v *view, n int) ([]any, error)
}

func (f *Filter) lister() lister {
	switch f.Kind {
	case Blocks:
		return &blockList{}
	case Events:
		return &eventList{filter: f}
	case Transfers:
		return &transferList{filter: f}
	}
	return &transactionList{of: f.Address[0]}
}

func (v *view) read(f *Filter, after Place, span uint64, most int) ([]Block, Place, error) {
	if err := v.behind(&after); err != nil {
		return nil, after, err
	}
	from, behind := after.first()
	if from > v.state.Head.Number {
		return nil, v.marked(after), nil
	}
	last := min(v.state.Head.Number, from+span-1)
	l := f.lister()
	matches, through, err := v.collect(l, from, last, behind, most)
	if err != nil {
		return nil, after, fmt.Errorf("read the feed of %s: %w", v.Chain, err)
	}
	n, to, err := v.cut(matches, after, through, most)
	if err != nil {
		return nil, after, err
	}
	if n == 0 {
		return nil, to, nil
	}
	rows, err := l.rows(v, n)
	if err != nil {
		return nil, after, err
	}
	items, err := encoded(rows)
	if err != nil {
		return nil, after, err
	}
	return v.parts(matches[:n], items, after, to), to, nil
}

// collect finds up to most+1 matches: one more tells whether the block of the last goes on.
// It ends between blocks, or with that one more; through is the last block that it saw all of.
func (v *view) collect(l lister, from, last uint64, behind *transfer.Place, most int) (found []match, through uint64, err error) {
	for pages := 1; ; pages++ {
		part, next, err := l.list(v, from, last, behind, most+1-len(found))
		if err != nil {
			return nil, 0, err
		}
		found = append(found, part...)
		switch {
		case len(found) > most, next == nil:
			return found, last, nil
		case pages >= maxPages && next.Tx == explorer.BehindAll:
			return found, next.Block, nil
		case pages >= maxPages:
			last = next.Block // a block is told as a whole
		}
		behind = next
	}
}

// cut says how many matches are given, and which place is behind them.
func (v *view) cut(matches []match, after Place, through uint64, most int) (n int, to Place, err error) {
	n = len(matches)
	if n <= most {
		hash, err := block.HashOf(v.ctx, v.r, through)
		return n, v.marked(Place{Ref: block.Ref{Number: through, Hash: hash}}), err
	}
	more := matches[most].Block
	n = most
	first := n // of the block that goes on
	for first > 0 && matches[first-1].Block == more {
		first--
	}
	n = first + (n-first)/v.partSize()*v.partSize()
	at := &matches[n-1] // there is one: most is not below the size of a part
	to = v.marked(Place{Ref: block.Ref{Number: at.Block, Hash: at.in.Hash}})
	if n > first {
		to.Tx, to.Log, to.Index = at.Tx, at.Log, at.Index
		to.Part = uint32((n - first) / v.partSize())
		if after.Part > 0 && after.Number == at.Block {
			to.Part += after.Part
		}
	}
	return n, to, nil
}

// parts puts items together by their blocks.
func (v *view) parts(matches []match, items []json.RawMessage, after, to Place) (out []Block) {
	for i := 0; i < len(matches); {
		j := i + 1
		for j < len(matches) && j-i < v.partSize() && matches[j].Block == matches[i].Block {
			j++
		}
		at := &matches[j-1]
		b := Block{Stamp: at.in, Part: 1, Items: items[i:j]}
		switch n := len(out); {
		case n > 0 && out[n-1].Number == b.Number:
			b.Part = out[n-1].Part + 1
		case n == 0 && after.Part > 0 && after.Number == b.Number:
			b.Part = after.Part + 1
		}
		b.Last = j < len(matches) && matches[j].Block != at.Block || j == len(matches) && (to.Part == 0 || to.Number != at.Block)
		b.Place = v.marked(Place{Ref: b.Ref()})
		if !b.Last {
			b.Place.Part, b.Place.Tx, b.Place.Log, b.Place.Index = b.Part, at.Tx, at.Log, at.Index
		}
		out, i = append(out, b), j
	}
	return out
}

// encoded writes rows as the API does.
func encoded(rows []any) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(rows))
	for i, row := range rows {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(row); err != nil {
			return nil, fmt.Errorf("write a row: %w", err)
		}
		out[i] = bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	}
	return out, nil
}
