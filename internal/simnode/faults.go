package simnode

import (
	"sync"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// FaultKind is a way in which a node misbehaves.
type FaultKind uint8

// The first group acts on whole HTTP requests (and WebSocket messages), the
// second on single calls of a batch.
const (
	FaultLatency    FaultKind = iota + 1 // waits Delay before it answers
	FaultHTTPStatus                      // answers with Status, and Retry-After if RetryAfter is set
	FaultTruncate                        // sends half of the body
	FaultDrop                            // closes the connection without an answer
	FaultWrongID                         // answers under ids that nobody asked with

	FaultRPCError       // answers with the JSON-RPC error Code
	FaultWrongParent    // blocks name another parent
	FaultLostEvents     // a block lacks an event, and its counts agree with the lie
	FaultInventedEvents // a block has an event more
	FaultHeadLag        // the head is Blocks behind: later blocks do not exist
	FaultStale          // answers from the branch as it was when the fault was set

	faultKinds
)

// Fault is one way to misbehave, and when. With Probability it strikes by
// chance, with Next that many times and never again, with neither always.
type Fault struct {
	Kind        FaultKind
	Method      string // only this method; any when empty
	Probability float64
	Next        int

	Delay      time.Duration
	Status     int
	RetryAfter time.Duration
	Code       int
	Message    string
	Blocks     int
}

type armedFault struct {
	Fault
	view *view // of FaultStale
}

// Faults decides when a node misbehaves. The same seed and the same order of
// requests give the same faults.
type Faults struct {
	chain *Chain

	mu    sync.Mutex // guards what follows
	r     *random
	armed []*armedFault
	hits  [faultKinds]int
}

// Set replaces all faults.
func (f *Faults) Set(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = nil
	for _, fault := range faults {
		a := &armedFault{Fault: fault}
		if fault.Kind == FaultStale {
			a.view = f.chain.view.Load()
		}
		f.armed = append(f.armed, a)
	}
}

// Clear ends all faults.
func (f *Faults) Clear() { f.Set() }

// Hits is how often a kind of fault struck so far.
func (f *Faults) Hits(k FaultKind) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hits[k]
}

// strike returns the fault of a kind that hits a request for the methods.
func (f *Faults) strike(k FaultKind, methods ...string) *armedFault {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, a := range f.armed {
		if a.Kind != k || !a.concerns(methods) {
			continue
		}
		switch {
		case a.Probability > 0:
			if !f.r.chance(a.Probability) {
				continue
			}
		case a.Next > 0:
			if a.Next--; a.Next == 0 {
				f.armed = append(f.armed[:i:i], f.armed[i+1:]...)
			}
		}
		f.hits[k]++
		return a
	}
	return nil
}

func (a *armedFault) concerns(methods []string) bool {
	if a.Method == "" {
		return true
	}
	for _, m := range methods {
		if m == a.Method {
			return true
		}
	}
	return false
}

// view is the branch that a call sees.
func (f *Faults) view(method string) *view {
	v := f.chain.view.Load()
	if a := f.strike(FaultStale, method); a != nil {
		v = a.view
	}
	if a := f.strike(FaultHeadLag, method); a != nil {
		v = &view{v.blocks[:max(0, len(v.blocks)-a.Blocks)], v.reorgs}
	}
	return v
}

// spoil is the block as the node tells it. A lie is made on a copy.
func (f *Faults) spoil(method string, b *starknet.Block) *starknet.Block {
	if f.strike(FaultWrongParent, method) != nil {
		c := *b
		c.ParentHash = newDigest("wrong parent").add(b.ParentHash).sum()
		b = &c
	}
	if f.strike(FaultLostEvents, method) != nil {
		b = withoutEvent(b)
	}
	if f.strike(FaultInventedEvents, method) != nil {
		b = withEvent(b)
	}
	return b
}

// withReceipt is a copy of the block with one receipt's events changed and
// the count adjusted.
func withReceipt(b *starknet.Block, i int, events []starknet.Event) *starknet.Block {
	c := *b
	c.Receipts = append([]starknet.Receipt(nil), b.Receipts...)
	c.Receipts[i].Events = events
	if b.Commitments != nil {
		k := *b.Commitments
		k.EventCount = uint64(c.EventCount())
		c.Commitments = &k
	}
	return &c
}

func withoutEvent(b *starknet.Block) *starknet.Block {
	for i := range b.Receipts {
		if events := b.Receipts[i].Events; len(events) > 0 {
			k := int(b.Number) % len(events)
			return withReceipt(b, i, append(append([]starknet.Event(nil), events[:k]...), events[k+1:]...))
		}
	}
	return b
}

func withEvent(b *starknet.Block) *starknet.Block {
	if len(b.Receipts) == 0 {
		return b
	}
	i := int(b.Number) % len(b.Receipts)
	invented := starknet.Event{
		From: contracts.STRK, Keys: []felt.Felt{contracts.SelTransfer},
		Data: []felt.Felt{contracts.Sequencer, junkContract, felt.FromUint64(b.Number + 1), felt.Zero},
	}
	return withReceipt(b, i, append(append([]starknet.Event(nil), b.Receipts[i].Events...), invented))
}
