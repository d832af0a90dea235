package kernel

// Depends says what the answers of a route follow from, besides the request itself.
// What may be kept and sent to others follows from it. A route must say it: one that
// says nothing is not registered.
type Depends uint8

// What an answer can depend on.
const (
	// OnChain: rows that blocks wrote. They hold until the next block.
	OnChain Depends = 1 << iota
	// OnEnrichment: rows that come beside the blocks, such as names and classes that
	// may still come.
	OnEnrichment
	// OnCaller: whose key asks.
	OnCaller
	// OnClock: when it is asked.
	OnClock
	// OnNode: what a node answers.
	OnNode
	// OnSetup: how this process was set up.
	OnSetup
)

// Vouch says of one answer whether it follows from the chain alone, on a route whose
// answers may depend on more. Where nobody vouches for an answer, or somebody does
// not, it is not kept.
func (r *Request) Vouch(chainAlone bool) {
	r.vouched = true
	r.doubted = r.doubted || !chainAlone
}

// VouchIndex says of one answer that it follows from the index alone: from the chain, and from
// what comes beside the blocks and is counted when it is written. It is kept until then, where it
// is not kept for longer. The last word counts.
func (r *Request) VouchIndex(indexAlone bool) { r.indexed = indexAlone }

// Settle says how lasting the answer is: a settled one, which hardly changes, gets a
// validator; an immutable one is also kept for good, if answers may be kept at all.
func (r *Request) Settle(settled, immutable bool) { r.settled, r.immutable = settled, immutable }

// ofIndex says that the answers of the route change with what is written to the index, with
// the clock and with the service's own set-up, and with nothing else: whoever asks again
// within a moment, when nothing was written, is answered the same.
func (r *Route) ofIndex() bool {
	return r.Depends&OnChain != 0 && r.Depends&^(OnChain|OnEnrichment|OnClock|OnSetup) == 0
}

// keepable says that others may be sent this answer until the next block.
func (r *Request) keepable() bool {
	if r.doubted || r.Route == nil || r.Route.Depends&OnChain == 0 {
		return false
	}
	return r.Route.Depends == OnChain || r.vouched
}

// passable says that others may be sent this answer until the index is written to.
func (r *Request) passable() bool { return r.indexed && r.Route != nil && r.Route.Depends&OnChain != 0 }
