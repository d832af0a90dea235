package privacypool

import (
	"context"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
)

// Reading is what an event of a pool says, and the class that it was read by.
type Reading struct {
	Fact   Fact
	Status Status
	// Class was in force where the event stands; nil when the block replaced it and
	// does not tell where, or when the contract has no class that is indexed.
	Class *felt.Felt
	// Known says that the registry knows every class that may have emitted the event.
	Known bool
}

// Read decodes events of pools, each by the class in force at its place.
//
// A state diff tells the class that a pool ends a block with. Inside a block that
// replaced it the pool's own ImplementationReplaced tells where, as long as a known
// class says it and the last one names what the block ends with. Behind one that an
// unknown class says nothing is read. Otherwise any of the classes that the diff and
// the events name may have emitted the event, and it is read if all of them agree.
//
// A diff tells nothing of a class that a block replaced and put back. If the pool
// announced it the same holds; if it did not, nobody can tell without a trace, and what
// it emitted meanwhile is read by the class that the block begins and ends with.
//
// One scan for each pool, one search for announcements, and one for each block that
// replaced a class.
func Read(ctx context.Context, r store.Reader, pools []registry.PrivacyPool, hits []event.Hit) ([]Reading, error) {
	at := make([]contract.At, len(hits))
	for i := range hits {
		at[i] = contract.At{Address: hits[i].Event.From, Block: hits[i].Block}
	}
	classes, err := contract.ClassesAtMany(ctx, r, at)
	if err != nil {
		return nil, fmt.Errorf("read events of privacy pools: %w", err)
	}
	announced, err := announcements(ctx, r, pools, hits)
	if err != nil {
		return nil, err
	}
	out := make([]Reading, len(hits))
	changed := map[contract.At]upgrades{}
	for i := range hits {
		e, c := &hits[i].Event, classes[i]
		pool := poolAt(pools, e.From)
		if pool == nil || c == nil {
			out[i].Fact, out[i].Status = Decode(UnknownClass, e.Keys, e.Data)
			continue
		}
		candidates := c.Candidates()
		if len(candidates) > 1 || announced(at[i]) {
			u, done := changed[at[i]]
			if !done {
				if u, err = upgradesIn(ctx, r, pool, c, hits[i].Block); err != nil {
					return nil, err
				}
				changed[at[i]] = u
			}
			candidates = u.classesAt(hits[i].Place)
		}
		out[i] = readBy(pool, candidates, e.Keys, e.Data)
	}
	return out, nil
}

func poolAt(pools []registry.PrivacyPool, address felt.Felt) *registry.PrivacyPool {
	for i := range pools {
		if pools[i].Address == address {
			return &pools[i]
		}
	}
	return nil
}

// readBy decodes an event that one of some classes emitted.
func readBy(pool *registry.PrivacyPool, classes, keys, data []felt.Felt) (out Reading) {
	if len(classes) == 1 {
		out.Class = &classes[0]
	}
	out.Known = len(classes) > 0
	by := make([]Generation, len(classes))
	for i, class := range classes {
		word, known := pool.Generation(class)
		by[i], out.Known = GenerationOf(word), out.Known && known
	}
	out.Fact, out.Status = decodeByAny(by, keys, data)
	return out
}

// decodeByAny decodes an event that a class of one of some generations emitted: as
// long as all of them have it, for a layout never changed.
func decodeByAny(by []Generation, keys, data []felt.Felt) (Fact, Status) {
	g := UnknownClass
	if len(by) > 0 && len(keys) > 0 {
		if l, ok := bySelector[keys[0]]; ok {
			g = by[0]
			for _, other := range by {
				if other < l.since || other > l.until {
					g = UnknownClass
				}
			}
		}
	}
	return Decode(g, keys, data)
}

// upgrades are the classes that a pool had inside a block.
type upgrades struct {
	// any are all of them when where each was in force cannot be told, otherwise the one
	// that the block began with.
	any   []felt.Felt
	steps []step // in order
}

// step is a place behind which a class is in force, or one that cannot be told.
type step struct {
	behind explorer.Place
	class  []felt.Felt
}

// maxSteps bounds the replacements in a block that are followed.
const maxSteps = 64

// announcements says in which blocks pools may have announced a replacement, among those
// of hits. One search; behind more replacements than it shows, any block may have.
func announcements(ctx context.Context, r store.Reader, pools []registry.PrivacyPool, hits []event.Hit) (func(contract.At) bool, error) {
	if len(hits) == 0 || len(pools) == 0 {
		return func(contract.At) bool { return false }, nil
	}
	q := event.Query{From: hits[0].Block, To: hits[0].Block, Order: event.Asc, Limit: maxSteps}
	for i := range pools {
		q.Emitters = append(q.Emitters, pools[i].Address)
	}
	for i := range hits { // they need not be in order
		q.From, q.To = min(q.From, hits[i].Block), max(q.To, hits[i].Block)
	}
	q.Keys[0] = []felt.Felt{ImplementationReplaced.Selector()}
	page, err := event.Search(ctx, r, q)
	if err != nil {
		return nil, fmt.Errorf("upgrades of privacy pools: %w", err)
	}
	in := make(map[contract.At]bool, len(page.Events))
	for i := range page.Events {
		in[contract.At{Address: page.Events[i].Event.From, Block: page.Events[i].Block}] = true
	}
	return func(at contract.At) bool {
		return in[at] || !page.Done && (page.Next == nil || at.Block >= page.Next.Block)
	}, nil
}

// upgradesIn finds the replacements inside a block. One search.
func upgradesIn(ctx context.Context, r store.Reader, pool *registry.PrivacyPool, c *contract.Classes, block uint64) (u upgrades, err error) {
	q := event.Query{Emitters: []felt.Felt{pool.Address}, From: block, To: block, Order: event.Asc, Limit: maxSteps}
	q.Keys[0] = []felt.Felt{ImplementationReplaced.Selector()}
	page, err := event.Search(ctx, r, q)
	if err != nil || !page.Done { // of so many nothing is said
		return u, err
	}
	all := c.Candidates()
	now := all[:1]
	for i := range page.Events {
		e := &page.Events[i].Event
		read := readBy(pool, now, e.Keys, e.Data)
		if read.Status != Decoded { // nobody knows what the event means to this class
			return upgrades{all[:1], append(u.steps, step{behind: page.Events[i].Place})}, nil
		}
		now = []felt.Felt{*read.Fact.Value}
		all = append(all, *read.Fact.Value)
		u.steps = append(u.steps, step{page.Events[i].Place, now})
	}
	if now[0] != c.After { // the events do not lead to what the state diff says
		return upgrades{any: all}, nil
	}
	u.any = all[:1]
	return u, nil
}

// classesAt are the classes of which one was in force at a place; none when that
// cannot be told. What replaces a class still speaks with the old one.
func (u *upgrades) classesAt(p explorer.Place) []felt.Felt {
	classes := u.any
	for i := range u.steps {
		if u.steps[i].behind.Before(p) {
			classes = u.steps[i].class
		}
	}
	return classes
}
