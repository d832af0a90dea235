// Package proof tells which classes had their source proven: somebody rebuilt it to the
// very class that a block declared. What was proven comes from outside of the index and is
// handed in; this package says what of it holds on the chain as a view of the index has
// it. A proof whose declaration was forked away, or is not indexed yet, does not.
//
// It has no rows of its own.
//
// Costs: asking for n classes is n look-ups in a map, and no round trip where none of them
// was proven. The declarations of those that were are one GetMany of their blocks, for a
// whole page, and none once they were seen there: what a view holds of them stays true until
// the next fork: some 7 µs for a page of 100 classes of which none was proven, and 0.25 ms
// for one where all were. A proof takes about 300 bytes, and 50 more once it was seen.
package proof

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Proof is an exact verification of a class.
type Proof struct {
	Declared block.Ref // the block that declared the class
	Digest   string    // names the evidence
	Issued   time.Time
}

// Known is what was proven of a chain's classes, at one moment: for each its proofs, the
// one that counts first in front. It never changes.
type Known struct {
	// Version is raised whenever something else is known.
	Version uint64
	Classes map[felt.Felt][]Proof
	// Withdrawn is of which classes evidence was taken back.
	Withdrawn map[felt.Felt]Withdrawal
}

// Withdrawal is what was taken back of a class: how many pieces of evidence, and of the last
// one its name and when.
type Withdrawal struct {
	Digest string
	At     time.Time
	Count  int
}

// With is w and one more.
func (w Withdrawal) With(digest string, at time.Time) Withdrawal {
	if w.Count > 0 && at.Before(w.At) {
		digest, at = w.Digest, w.At
	}
	return Withdrawal{digest, at, w.Count + 1}
}

// Standing is what a class goes by: the first of its proofs that holds, and how many do.
type Standing struct {
	Proof
	Count int
}

// Book tells of the proofs of one chain. A nil Book has none. It is safe for concurrent
// use.
type Book struct {
	known func() *Known

	mu    sync.Mutex // guards what follows
	forks uint64
	seen  map[block.Ref]struct{} // declarations that the chain has, after so many forks
}

// New makes a Book of what is known at any moment; it must answer at once.
func New(known func() *Known) *Book { return &Book{known: known} }

// Version changes whenever something else is proven.
func (b *Book) Version() uint64 {
	if b == nil {
		return 0
	}
	return b.known().Version
}

// Withdrawn is what was taken back of a class, of whichever declaration; false: nothing.
func (b *Book) Withdrawn(class felt.Felt) (w Withdrawal, ok bool) {
	if b == nil {
		return w, false
	}
	w, ok = b.known().Withdrawn[class]
	return w, ok
}

// View is what was proven when it was made, as far as it holds on one view of the chain.
type View struct {
	book  *Book
	known *Known
	state *chain.State
}

// At is the Book for a view of the chain with a state.
func (b *Book) At(state *chain.State) *View {
	if b == nil {
		return nil
	}
	return &View{b, b.known(), state}
}

// Of returns what the classes that were proven go by. At most one GetMany.
func (v *View) Of(ctx context.Context, r store.Reader, classes []felt.Felt) (map[felt.Felt]Standing, error) {
	if v == nil || len(v.known.Classes) == 0 {
		return nil, nil
	}
	var wanted []block.Ref
	proven := map[felt.Felt][]Proof{}
	for _, c := range classes {
		if _, twice := proven[c]; twice || len(v.known.Classes[c]) == 0 {
			continue
		}
		proven[c] = v.known.Classes[c]
		for _, p := range proven[c] {
			wanted = append(wanted, p.Declared)
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	there, err := v.declared(ctx, r, wanted)
	if err != nil {
		return nil, err
	}
	out := make(map[felt.Felt]Standing, len(proven))
	for c, list := range proven {
		var s Standing
		for _, p := range list {
			if !there[p.Declared] {
				continue
			}
			if s.Count++; s.Count == 1 {
				s.Proof = p
			}
		}
		if s.Count > 0 {
			out[c] = s
		}
	}
	return out, nil
}

// Has says which of the classes were proven, as Of does.
func (v *View) Has(ctx context.Context, r store.Reader, classes []felt.Felt) (map[felt.Felt]bool, error) {
	found, err := v.Of(ctx, r, classes)
	if len(found) == 0 {
		return nil, err
	}
	out := make(map[felt.Felt]bool, len(found))
	for c := range found {
		out[c] = true
	}
	return out, err
}

// declared says which of the blocks the chain has.
func (v *View) declared(ctx context.Context, r store.Reader, wanted []block.Ref) (map[block.Ref]bool, error) {
	there := make(map[block.Ref]bool, len(wanted))
	var numbers []uint64
	for _, d := range wanted {
		// While a fork is undone its blocks go before it is counted: what is above the
		// head is gone, whatever was seen.
		if v.state.HasHead && d.Number <= v.state.Head.Number {
			there[d] = v.book.wasSeen(v.state.Fork.Count, d)
			if !there[d] {
				numbers = append(numbers, d.Number)
			}
		}
	}
	if len(numbers) == 0 {
		return there, nil
	}
	slices.Sort(numbers)
	stamps, err := block.Stamps(ctx, r, slices.Compact(numbers))
	if err != nil {
		return nil, fmt.Errorf("blocks that declared proven classes: %w", err)
	}
	for _, s := range stamps {
		d := block.Ref{Number: s.Number, Hash: s.Hash}
		if _, asked := there[d]; asked {
			there[d] = true
			v.book.saw(v.state.Fork.Count, d)
		}
	}
	return there, nil
}

func (b *Book) wasSeen(forks uint64, d block.Ref) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.seen[d]
	return ok && b.forks == forks
}

// saw remembers a declaration, unless it is of a view from before the last fork.
func (b *Book) saw(forks uint64, d block.Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case forks < b.forks:
		return
	case forks > b.forks || b.seen == nil:
		b.forks, b.seen = forks, map[block.Ref]struct{}{}
	}
	b.seen[d] = struct{}{}
}
