package usage

import "chainexplorer/internal/control"

const hourMicros = 3600 * 1_000_000

// gathered is what was recorded and is to be written together.
type gathered struct {
	seq      int64 // of the batch, among those of the recorder
	keys     map[string]*tally
	spaces   map[string]*recent
	counts   int   // in all tallies
	details  int   // in all rings
	requests int64 // that are in the counts
	// What had no room: requests that were not counted, and ones that were and of
	// which nothing else is known.
	uncounted, undetailed int64
}

// tally is what one key asked for.
type tally struct {
	workspace string
	counts    []count // the newest last: few, mostly one for each class
	recent    *recent
	// budget is what the key was told last, of which class and when.
	budget      Budget
	budgetClass string
	budgetAt    int64
}

// count is of one class in one hour.
type count struct {
	class              string
	hour               int64
	requests, failures int64
	last, lastFailure  int64 // 0: none
}

// recent are the newest requests of a workspace.
type recent struct{ requests, failures ring }

// ring holds the newest events, with the numbers that order those of one moment.
type ring struct {
	list []numbered
	next int // where the oldest is, once it is full
}

type numbered struct {
	Event
	seq int64
}

func newGathered() *gathered {
	return &gathered{keys: map[string]*tally{}, spaces: map[string]*recent{}}
}

// add records an event within the bounds.
func (g *gathered) add(e *Event, seq int64, b *bounds) {
	t := g.keys[e.KeyID]
	at := control.Micros(e.At)
	c := g.countOf(t, e, at-at%hourMicros, b)
	if c == nil {
		g.uncounted++
		return
	}
	t = g.keys[e.KeyID]
	c.requests++
	c.last = max(c.last, at)
	if e.Failed {
		c.failures++
		c.lastFailure = max(c.lastFailure, at)
	}
	g.requests++
	if e.Budget.told() && at >= t.budgetAt {
		t.budget, t.budgetClass, t.budgetAt = e.Budget, e.Class, at
	}
	g.detail(&t.recent.requests, e, seq, b)
	if e.Failed {
		g.detail(&t.recent.failures, e, seq, b)
	}
}

// countOf finds the count of an event, or makes it; nil when there is no room.
func (g *gathered) countOf(t *tally, e *Event, hour int64, b *bounds) *count {
	if t != nil {
		for i := len(t.counts) - 1; i >= 0; i-- {
			if c := &t.counts[i]; c.hour == hour && c.class == e.Class {
				return c
			}
		}
	}
	if g.counts >= b.counts {
		return nil
	}
	if t == nil {
		r := g.spaces[e.WorkspaceID]
		if r == nil {
			r = &recent{}
			g.spaces[e.WorkspaceID] = r
		}
		t = &tally{workspace: e.WorkspaceID, recent: r}
		g.keys[e.KeyID] = t
	}
	g.counts++
	t.counts = append(t.counts, count{class: e.Class, hour: hour})
	return &t.counts[len(t.counts)-1]
}

// detail keeps the event itself, in place of the workspace's oldest when there are
// as many as are kept of a workspace anyhow.
func (g *gathered) detail(r *ring, e *Event, seq int64, b *bounds) {
	switch {
	case len(r.list) < b.recent && g.details < b.details:
		r.list = append(r.list, numbered{*e, seq})
		g.details++
		return
	case len(r.list) == 0:
		g.undetailed++
		return
	case len(r.list) < b.recent:
		g.undetailed++
	}
	r.list[r.next] = numbered{*e, seq}
	r.next = (r.next + 1) % len(r.list)
}
