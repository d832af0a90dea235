package decoded

import (
	"context"
	"fmt"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Call is what is to be read.
type Call struct {
	Block uint64
	Tx    uint32 // the transaction's place in its block
	To    felt.Felt
	// Class is the class that runs, where the transaction names it; nil asks for
	// the one that the contract had.
	Class    *felt.Felt
	Kind     abi.FunctionKind
	Selector felt.Felt
	Calldata []felt.Felt
}

// CallClassUnavailable says that a call has no name and that the class that ran
// cannot be told: the contract's class is not known at that place, or the block
// replaced it and the two classes disagree.
const CallClassUnavailable NameReason = "call_time_class_epoch_unavailable"

// BudgetExhausted says that the arguments of a call were not decoded because
// those in front of it filled the answer.
const BudgetExhausted abi.Reason = "decoding_budget_exhausted"

// CallResult is what is certified about a call. Fields are its arguments.
type CallResult struct {
	abi.Result
	// ClassHash is the class that ran; nil when it is not known or when the block
	// does not tell which of two it was.
	ClassHash *felt.Felt
	// NameUnavailableReason is empty when there is nothing to explain.
	NameUnavailableReason NameReason
	// Settled says that only another chain can change the result: the classes
	// are there, and what they say of the call, or the hash of a well-known name,
	// is final.
	Settled bool
}

// Options are how far calls are read.
type Options struct {
	// Arguments bounds the text of decoded arguments, in bytes as an answer has
	// them; 0 asks for names alone.
	Arguments int
	// NoHistory looks into no contract's history, so that any number of calls
	// takes the same round trips. Where the class was replaced since, or in the
	// same block, the class that ran is then not known, and what the contract was
	// first and is today names the selector alone.
	NoHistory bool
	// Verified says which classes had their source proven; nil says of none.
	Verified Verified
	// Room is memory for the results; nil takes some for them alone.
	Room *Room
}

// Calls reads a page of calls, in order. It is degraded when something could not
// be looked up: calls that needed it have the names of well-known selectors, and
// the rest of the page is as it would be. The error is that of the context alone.
func Calls(ctx context.Context, r store.Reader, cache *Cache, calls []Call, o Options) (results []CallResult, degraded bool, err error) {
	m := o.Room
	if m == nil {
		m = &Room{}
	}
	m.calls = zeroed(m.calls, len(calls))
	results = m.calls
	if len(calls) == 0 {
		return results, false, nil
	}
	candidates, err := m.classesOf(ctx, r, calls, o.NoHistory)
	if err != nil {
		if ctx.Err() != nil {
			return nil, true, ctx.Err()
		}
		candidates, degraded = make([]inForce, len(calls)), true
	}
	hashes := m.called[:0]
	for _, c := range candidates {
		hashes = append(hashes, c.classes...)
	}
	m.called = hashes
	budget := o.Arguments
	known := &m.doors
	failed := cache.loadDoors(ctx, r, hashes, known)
	proven, told := o.Verified.of(ctx, r, hashes)
	if err := ctx.Err(); err != nil {
		return nil, true, err
	}
	for i := range calls {
		results[i] = callResult(known, candidates[i], &calls[i], &budget, &m.fields)
	}
	named, err := nameCalls(ctx, r, calls, results)
	for i := range results {
		if all(proven, candidates[i].classes) {
			results[i].verify()
		}
	}
	return results, degraded || failed || !told || !named, err
}

// callResult reads a call with each class that may have run.
func callResult(known *byClass[*doors], in inForce, c *Call, budget *int, room *abi.Room) CallResult {
	candidates := in.classes
	if in.loose {
		return looseResult(known, candidates, c)
	}
	out := CallResult{Result: abi.Result{Status: abi.Unknown, UnavailableReason: abi.SchemaUnavailable}, Settled: len(candidates) > 0}
	if len(candidates) == 1 {
		out.ClassHash = &candidates[0]
	}
	for i := range candidates {
		d := known.of(&candidates[i])
		out.Settled = out.Settled && d.settled
		r := d.read(c, *budget, room)
		if i == 0 {
			out.Result = r
		} else {
			out.Result = agreeCalls(c.Selector, out.Result, r)
		}
	}
	// What does not decode is paid for, too: the calls of an old account may share
	// their calldata, so that there is more to read than was sent.
	cost := costOfFelt * len(c.Calldata)
	if out.Status == abi.Decoded {
		cost = max(cost, costOfFields(out.Fields))
	}
	if *budget -= cost; *budget < 0 {
		*budget = 0 // and nothing behind it: what is decoded is a beginning
		if out.Status == abi.Decoded {
			out.Result = nameOnly(out.Name, out.NameSource, BudgetExhausted)
		}
	}
	return out
}

// verify says that what a class tells of the call comes from one whose source was proven.
func (r *CallResult) verify() {
	if r.NameSource == abi.ClassABI {
		r.NameSource = abi.VerifiedABI
	}
	if r.FieldsSource == abi.ClassABI {
		r.FieldsSource = abi.VerifiedABI
	}
}

// looseResult names a call by classes that the contract has or had, and that need
// not be what ran.
func looseResult(known *byClass[*doors], classes []felt.Felt, c *Call) CallResult {
	for _, h := range classes {
		if name := known.of(&h).calls.Name(c.Kind, c.Selector); name != "" {
			return CallResult{Result: bySelector(c.Selector, name)}
		}
	}
	return CallResult{Result: abi.Result{Status: abi.Unknown, UnavailableReason: abi.SchemaUnavailable}}
}

// bySelector is a name that goes by the selector alone: a well-known one, or the only
// one that the index has seen.
func bySelector(selector felt.Felt, name string) abi.Result {
	if known, ok := methodNames[selector]; ok {
		return nameOnly(known, abi.CuratedSelector, abi.SelectorOnlyAttribution)
	}
	return nameOnly(name, abi.SelectorUnique, abi.SelectorOnlyAttribution)
}

func nameOnly(name string, source abi.Source, why abi.Reason) abi.Result {
	return abi.Result{Status: abi.NameOnly, Name: name, NameSource: source, UnavailableReason: why}
}

// agreeCalls is what two readings of one call have in common. A name that only
// one of two classes has is still that of the selector.
func agreeCalls(selector felt.Felt, a, b abi.Result) abi.Result {
	switch {
	case a.Name == b.Name:
		return agree(a, b)
	case a.Name == "":
		a = b
		fallthrough
	case b.Name == "":
		return bySelector(selector, a.Name)
	}
	return agree(a, b)
}

// costOfFelt is about how many bytes a felt and its index take in an answer.
const costOfFelt = 72

// costOfFields is about how many bytes fields take in an answer.
func costOfFields(fields []abi.Field) (n int) {
	const frame = 256 // names and quotes
	for i := range fields {
		f := &fields[i]
		n += frame + costOfFelt*len(f.RawValues) + len(f.Label) + len(f.Type) + f.DisplayValue.Len()
		if f.TextValue != nil {
			n += len(*f.TextValue)
		}
	}
	return n
}

// nameCalls names the calls that no class in force names: by the well-known
// selectors, then by the dictionary of the functions of all classes. It is false
// when the dictionary could not be read.
func nameCalls(ctx context.Context, r store.Reader, calls []Call, results []CallResult) (ok bool, err error) {
	wanted := nameless{}
	for i := range results {
		if results[i].Name != "" {
			results[i].Settled = results[i].Settled && results[i].NameSource == abi.ClassABI
			continue
		}
		selector := calls[i].Selector
		if name, known := methodNames[selector]; known {
			results[i].Result = nameOnly(name, abi.CuratedSelector, abi.SelectorOnlyAttribution)
			continue
		}
		results[i].Settled = false // the dictionary grows
		if results[i].ClassHash == nil {
			results[i].NameUnavailableReason = CallClassUnavailable
		}
		wanted.add(selector, i)
	}
	return wanted.look(ctx, r, class.FunctionNamesOf, func(i int, name string) {
		results[i].Result = nameOnly(name, abi.SelectorUnique, abi.SelectorOnlyAttribution)
		results[i].NameUnavailableReason = ""
	})
}

// doors is how the calls of a class are read.
type doors struct {
	calls   *abi.Calls // nil when nothing is known of the class
	settled bool       // what is known is final
}

// read reads a call, or names it where there is no room for arguments.
func (d *doors) read(c *Call, budget int, room *abi.Room) abi.Result {
	if budget > costOfFelt*len(c.Calldata) {
		return d.calls.DecodeIn(room, c.Kind, c.Selector, c.Calldata)
	}
	if name := d.calls.Name(c.Kind, c.Selector); name != "" {
		return nameOnly(name, abi.ClassABI, BudgetExhausted)
	}
	return abi.Result{Status: abi.Unknown, UnavailableReason: abi.SchemaUnavailable}
}

// loadDoors says how to read the calls of each class. Those that are not
// cached are read at once.
func (c *Cache) loadDoors(ctx context.Context, r store.Reader, hashes []felt.Felt, known *byClass[*doors]) (degraded bool) {
	wanted := c.calls.split(hashes, known)
	if len(wanted) == 0 {
		return false
	}
	abis, faces, err := class.InterfacesOf(ctx, r, wanted)
	for i, h := range wanted {
		d := &doors{}
		switch {
		case err != nil || faces[i].Err != nil:
			degraded = true
		case abis[i] != nil && !abis[i].Status.Wanted() && faces[i].Interface != nil:
			d = &doors{faces[i].Calls(abis[i].Kind), true}
			c.calls.put(h, d, costOf(faces[i].Bytes))
		}
		known.set(&h, d)
	}
	return degraded
}

// classesOf returns the classes of which one ran, for each call.
func (m *Room) classesOf(ctx context.Context, r store.Reader, calls []Call, noHistory bool) ([]inForce, error) {
	m.inForce = zeroed(m.inForce, len(calls))
	out := m.inForce
	spots, where := m.spots[:0], m.where[:0]
	for i := range calls {
		if c := &calls[i]; c.Class != nil {
			out[i].classes = []felt.Felt{*c.Class}
		} else {
			spots, where = append(spots, spot{c.To, c.Block, c.Tx}), append(where, i)
		}
	}
	m.spots, m.where = spots, where
	classes, err := m.classesAt(ctx, r, spots, noHistory)
	if err != nil {
		return nil, fmt.Errorf("classes of %d calls: %w", len(spots), err)
	}
	for k, i := range where {
		out[i] = classes[k]
	}
	return out, nil
}
