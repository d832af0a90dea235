// Package decoded attributes events and calls to the classes that emitted and ran
// them, and reads them with the ABIs that the index keeps.
//
// # Events
//
// An event is read with the class that was in force in its block, never with a
// later one. A block that replaced a contract's class does not tell which of
// its events came before that: such an event is decoded only if both classes
// read it the same way, has a name only if both name it the same, and is
// unknown otherwise.
//
// Costs for a page of n events: one scan per contract (see
// contract.ClassesAtMany), one GetMany for the classes that are not in the cache,
// and one for the names of events that no schema knows, if there are such. No node
// is asked. Which classes were verified is asked once for the page (see Verified).
//
// # Calls
//
// A call is read with the class that its contract had where the transaction
// stands. A constructor is that of the class that the transaction names. In a block
// that deployed the contract, a transaction in front of the deployment calls
// nothing, where it is known which transaction deployed. In one that replaced the
// class, the chain does not tell which transaction did: arguments are decoded if
// both classes read them the same way. A function's name needs no agreement,
// because the selector is its hash: a name that only one of the two classes has
// counts as that of the selector. What stands behind a proxy is its storage's
// business: such calls have the names of selectors, and no arguments.
//
// Costs for a page of n calls: one GetMany for what the contracts are today, one
// scan for each contract that changed its class since (or none, see
// Options.NoHistory), one GetMany for the classes that are not in the cache, and one for selectors that no class in force names, if
// there are such. A class that is not cached is resolved in about the time that its
// row takes to decode, under a millisecond for a large one. Decoded arguments are
// bounded by the caller's budget, and so is the calldata that is looked at.
package decoded

import (
	"context"
	"reflect"
	"slices"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// Event is what is to be read.
type Event struct {
	Block      uint64
	Address    felt.Felt // of the emitter
	Keys, Data []felt.Felt
}

// EventOf is an event of a block.
func EventOf(block uint64, e *starknet.Event) Event {
	return Event{Block: block, Address: e.From, Keys: e.Keys, Data: e.Data}
}

// NameReason says why an event has no name.
type NameReason string

// ClassEpochUnavailable says that the event has no name and that the class that
// emitted it cannot be told: the contract's class is not known at that block,
// or the block replaced it and the two classes disagree.
const ClassEpochUnavailable NameReason = "event_time_class_epoch_unavailable"

// Result is what is certified about an event.
type Result struct {
	abi.Result
	// ClassHash is the class that emitted the event; nil when it is not known
	// or when the block does not tell which of two it was.
	ClassHash *felt.Felt
	// NameUnavailableReason is empty when there is nothing to explain.
	NameUnavailableReason NameReason
}

// Verified says which of the classes of a page had their source proven; nil says of
// none. It is asked at most once for a page, and what it costs is its own business: see
// proof.View, whose Has it is. Where two classes may have been in force, both must be.
type Verified func(ctx context.Context, r store.Reader, classes []felt.Felt) (map[felt.Felt]bool, error)

// of asks; when that fails the classes count as what was declared.
func (v Verified) of(ctx context.Context, r store.Reader, classes []felt.Felt) (proven map[felt.Felt]bool, ok bool) {
	if v == nil || len(classes) == 0 {
		return nil, true
	}
	proven, err := v(ctx, r, classes)
	if err != nil {
		return nil, false
	}
	return proven, true
}

// all says that every one of some classes was proven, and that there are any.
func all(proven map[felt.Felt]bool, classes []felt.Felt) bool {
	return len(classes) > 0 && !slices.ContainsFunc(classes, func(c felt.Felt) bool { return !proven[c] })
}

// Decode reads a page of events, in order. It is degraded when classes could
// not be looked up: events that needed them are then unknown, and the rest of
// the page is as it would be. The error is that of the context alone.
func Decode(ctx context.Context, r store.Reader, cache *Cache, verified Verified, events []Event) (results []Result, degraded bool, err error) {
	return (&Room{}).Decode(ctx, r, cache, verified, events)
}

// Decode is Decode in memory that is used again.
func (m *Room) Decode(ctx context.Context, r store.Reader, cache *Cache, verified Verified, events []Event) (results []Result, degraded bool, err error) {
	m.results = zeroed(m.results, len(events))
	m.pairs = zeroed(m.pairs, len(events))
	results, pairs := m.results, m.pairs
	for i := range events {
		pairs[i] = contract.At{Address: events[i].Address, Block: events[i].Block}
	}
	classes, err := m.classes.AtMany(ctx, r, pairs)
	if err != nil {
		for i := range results {
			results[i] = unknown(nil)
		}
		return results, true, ctx.Err()
	}
	m.candidates = zeroed(m.candidates, len(events))
	candidates := m.candidates
	const lookBack = 12    // events, for one of the same contract
	hashes := m.hashes[:0] // of all, one behind the other
	for i, c := range classes {
		if c == nil {
			continue
		}
		if before := slices.Index(classes[max(0, i-lookBack):i], c); before >= 0 { // many events have those of one contract
			candidates[i] = candidates[max(0, i-lookBack)+before]
			continue
		}
		from := len(hashes)
		hashes = c.AppendCandidates(hashes)
		candidates[i] = hashes[from:len(hashes):len(hashes)] // also where it grows again
	}
	m.hashes = hashes
	known := &m.readings
	degraded = cache.load(ctx, r, hashes, known)
	proven, asked := verified.of(ctx, r, hashes)
	if err := ctx.Err(); err != nil {
		return nil, degraded, err
	}
	for i := range events {
		results[i] = attribute(known, proven, candidates[i], &events[i], &m.fields)
	}
	named, err := nameUnknown(ctx, r, known, candidates, events, results)
	return results, degraded || !asked || !named, err
}

// nameUnknown names the events that no schema knows by the dictionary of names,
// where it is certain that no schema does. It is false when the dictionary could
// not be read.
func nameUnknown(ctx context.Context, r store.Reader, known *byClass[*reading], candidates [][]felt.Felt, events []Event, results []Result) (ok bool, err error) {
	wanted := nameless{}
	for i := range results {
		if results[i].Status != abi.Unknown || len(events[i].Keys) == 0 || len(candidates[i]) > 1 ||
			len(candidates[i]) == 1 && known.of(&candidates[i][0]).failed {
			continue
		}
		wanted.add(events[i].Keys[0], i)
	}
	return wanted.look(ctx, r, class.NamesOf, func(i int, name string) {
		results[i].Result = abi.Attribute(&abi.Evidence{Name: name}, events[i].Keys, events[i].Data)
		results[i].NameUnavailableReason = ""
	})
}

func unknown(hash *felt.Felt) Result {
	r := Result{Result: abi.Result{Status: abi.Unknown, UnavailableReason: abi.SchemaUnavailable}, ClassHash: hash}
	if hash == nil {
		r.NameUnavailableReason = ClassEpochUnavailable
	}
	return r
}

// attribute reads an event with each class that may have emitted it.
func attribute(known *byClass[*reading], proven map[felt.Felt]bool, candidates []felt.Felt, e *Event, room *abi.Room) Result {
	if len(candidates) == 0 {
		r := Result{Result: abi.Standard(abi.EmitterUnknown, e.Keys, e.Data)}
		if r.Status == abi.Unknown {
			r.NameUnavailableReason = ClassEpochUnavailable
		}
		return r
	}
	var out abi.Result
	verified := all(proven, candidates)
	for i := range candidates {
		k := known.of(&candidates[i])
		if k.failed {
			// What the class says of the event is not known, and it would have
			// the last word: nothing can be certified.
			if len(candidates) == 1 {
				return unknown(&candidates[0])
			}
			return unknown(nil)
		}
		r := abi.Attribute(&abi.Evidence{Schema: k.schema, Verified: verified, Emitter: k.token, Room: room}, e.Keys, e.Data)
		if i == 0 {
			out = r
		} else {
			out = agree(out, r)
		}
	}
	r := Result{Result: out}
	if len(candidates) == 1 {
		r.ClassHash = &candidates[0]
	} else if out.Status == abi.Unknown {
		r.NameUnavailableReason = ClassEpochUnavailable
	}
	return r
}

// authority orders the sources of a name, the weakest first.
var authority = map[abi.Source]int{abi.SelectorUnique: 1, abi.CuratedSelector: 2, abi.ClassABI: 3, abi.VerifiedABI: 4}

// agree is what two readings of one event have in common.
func agree(a, b abi.Result) abi.Result {
	if reflect.DeepEqual(a, b) {
		return a
	}
	if a.Name == "" || a.Name != b.Name {
		return abi.Result{Status: abi.Unknown, UnavailableReason: abi.SchemaUnavailable}
	}
	out := abi.Result{Status: abi.NameOnly, Name: a.Name, NameSource: a.NameSource, UnavailableReason: abi.SelectorOnlyAttribution}
	if authority[b.NameSource] < authority[a.NameSource] {
		out.NameSource = b.NameSource
	}
	if a.UnavailableReason == b.UnavailableReason && a.UnavailableReason != "" {
		out.UnavailableReason = a.UnavailableReason
	}
	return out
}

// reading is how the events of a class are read.
type reading struct {
	schema *abi.Schema // nil when there is no ABI
	token  abi.Emitter
	failed bool // the look-up failed
}

func newReading(a *class.ABI) (*reading, error) {
	k := &reading{token: a.Token}
	if a.Status != class.Ready {
		return k, nil
	}
	var err error
	k.schema, err = abi.Load(a.Schema)
	return k, err
}
