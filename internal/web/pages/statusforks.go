package pages

import (
	"context"
	"fmt"
	"html/template"
	"sync"
	"time"

	"chainexplorer/internal/chart"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// keptForks is how many forks of a chain are remembered.
const keptForks = 16

// forkLog remembers the forks of a chain. The index keeps how many there were and the last
// one alone: of those before it this process knows what it saw itself.
type forkLog struct {
	mu    sync.Mutex // guards what follows
	began time.Time  // the first look
	seen  []seenFork // oldest first
}

// seenFork is a fork, with the moment of the newest block that stayed: when the blocks were
// that it undid.
type seenFork struct {
	chain.Fork
	at uint64
	// noticed is when this process saw it; zero where that was before its first look.
	noticed time.Time
	// missed is how many there were since the one before it, of which nothing is known.
	missed uint64
}

// note takes a fork down that was not seen yet. One Get then, and nothing else.
func (f *forkLog) note(ctx context.Context, r explorer.Reader, state *chain.State, now time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	first, before := f.began.IsZero(), uint64(0)
	if n := len(f.seen); n > 0 {
		before = f.seen[n-1].Count
	}
	if state.Fork.Count > before {
		stayed, err := block.Get(ctx, r, state.Fork.Ancestor)
		if err != nil {
			return err
		}
		s := seenFork{Fork: state.Fork, at: stayed.Timestamp, noticed: now, missed: state.Fork.Count - before - 1}
		if first {
			s.noticed = time.Time{}
		}
		if f.seen = append(f.seen, s); len(f.seen) > keptForks {
			f.seen = f.seen[1:]
		}
	}
	if first {
		f.began = now
	}
	return nil
}

// timeline draws the forks, newest first, up to the head.
func (f *forkLog) timeline(l *look, id string) (template.HTML, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seen) == 0 {
		return "", nil
	}
	head := l.state.Head
	c := chart.Timeline{ID: id, Title: "Forks", To: float64(head.Timestamp), ToLabel: "block " + web.Group(head.Number)}
	for i := len(f.seen) - 1; i >= 0; i-- {
		s := &f.seen[i]
		e := chart.Event{At: float64(s.at), When: moment(kernel.TimestampISO(s.at)), Name: plural(s.Depth, "block") + " undone above block " + web.Group(s.Ancestor), Href: l.Href("block", s.Ancestor), Class: "warn"}
		e.Note = "seen " + moment(s.noticed.UTC().Format(time.RFC3339))
		if s.noticed.IsZero() {
			e.Note = "before this process began to look"
		}
		if s.missed > 0 {
			e.Note += fmt.Sprintf("; %s before it, of which only the number is known", plural(s.missed, "more fork"))
		}
		if s.BelowL1 {
			e.Class, e.Name = "bad", e.Name+", some of which L1 had accepted"
		}
		c.Events = append(c.Events, e)
	}
	if oldest := c.Events[len(c.Events)-1]; oldest.At < c.To {
		c.From, c.FromLabel = oldest.At, "block "+web.Group(f.seen[0].Ancestor)
	} else {
		c.To, c.ToLabel = 0, ""
	}
	return c.HTML()
}

// moment is a time as pages write it.
func moment(iso string) string {
	t, err := time.Parse(time.RFC3339, iso)
	if err != nil {
		return iso
	}
	return t.UTC().Format("2006-01-02 15:04:05") + " UTC"
}
