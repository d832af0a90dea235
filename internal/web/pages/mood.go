package pages

import (
	"context"
	"html/template"
	"sync"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/web"
)

// moodFor is how long the state of an index is believed: however many look, it is read
// once.
const moodFor = time.Second

// mood is what every page of a chain says of its index when that is not current. It ages
// without any block, and pages are kept for each mood apart.
type mood struct {
	routes *api.Routes
	chain  *api.Chain
	forks  forkLog

	mu    sync.Mutex // guards what follows
	until time.Time
	text  string // "" when the index is current
}

// now is the mood at this moment. Where the index cannot be read the page itself will
// fail, and say why.
func (m *mood) now(ctx context.Context) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.routes.Now()
	if now.Before(m.until) {
		return m.text
	}
	text := ""
	err := chain.View(ctx, m.chain.Store, func(r explorer.Reader, state *chain.State) error {
		var status api.Status
		if err := m.routes.FillStatus(ctx, r, m.chain, state, &status); err != nil {
			return err
		}
		text = moodOf(&status)
		return m.forks.note(ctx, r, state, now)
	})
	if err != nil {
		return m.text
	}
	m.text, m.until = text, now.Add(moodFor)
	return text
}

// notice is the ribbon on top of a page; empty when there is nothing to say.
func (m *mood) notice() template.HTML {
	m.mu.Lock()
	defer m.mu.Unlock()
	return template.HTML(template.HTMLEscapeString(m.text)) //nolint:gosec // escaped
}

// moodOf says in a sentence why an index is not current, and "" when it is.
func moodOf(s *api.Status) string {
	switch {
	case s.Indexing.Status == "degraded" && s.Indexing.ReasonCode != nil && *s.Indexing.ReasonCode == api.ReasonAudit:
		return "The auditor found what contradicts the index of this chain. The status page tells what."
	case s.Indexing.Status == "degraded":
		return "Indexing has stopped: what is shown is as of the last good block. The status page tells why."
	case s.Indexing.Status == "stalled" && s.Indexing.Reason != nil:
		return "What is shown may be old. " + *s.Indexing.Reason
	case s.Indexing.Status == "catching_up" && s.LagBlocks != nil:
		return "The index is catching up with the chain: it is " + behind(*s.LagBlocks) + " behind."
	}
	return ""
}

// behind is coarse, so that pages are not made anew for every block of a long way.
func behind(blocks uint64) string {
	for _, n := range []uint64{1_000_000, 100_000, 10_000, 1000, 100} {
		if blocks >= n {
			return "more than " + web.Group(n) + " blocks"
		}
	}
	return "some blocks"
}
