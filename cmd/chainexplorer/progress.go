package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"chainexplorer/internal/index"
)

// amount is how far a piece of work has come.
type amount struct {
	done, total uint64 // total is 0 while nobody knows it
	detail      string // what it is at, when there is more to say
}

// meter shows a piece of work: on a terminal as a line with a bar that is redrawn,
// otherwise as a log record now and then. It is for one goroutine.
type meter struct {
	what, unit string
	screen     *screen
	log        *slog.Logger
	now        func() time.Time

	line    line
	last    amount
	shown   time.Time
	samples []sample // oldest first
}

type sample struct {
	at   time.Time
	done uint64
}

const (
	drawEvery = 200 * time.Millisecond
	logEvery  = 10 * time.Second
	// rateOver is the time that a rate is measured over, so that it follows the work.
	rateOver = 20 * time.Second
)

// meter begins to show a piece of work, such as "copying" "rows".
func (c *console) meter(what, unit string) *meter {
	now := c.now
	if now == nil {
		now = time.Now
	}
	return &meter{what: what, unit: unit, screen: c.terminal, log: c.log, now: now, shown: now()}
}

// at is called as often as the work likes.
func (m *meter) at(a amount) {
	now := m.now()
	if len(m.samples) > 0 && a.done < m.samples[len(m.samples)-1].done {
		m.samples = nil // another round
	}
	if n := len(m.samples); n < 2 || now.Sub(m.samples[n-1].at) >= rateOver/100 {
		m.samples = append(m.samples, sample{now, a.done})
	} else {
		m.samples[n-1] = sample{m.samples[n-1].at, a.done}
	}
	for len(m.samples) > 2 && now.Sub(m.samples[0].at) > rateOver {
		m.samples = m.samples[1:]
	}
	m.last = a
	every := logEvery
	if m.screen != nil {
		every = drawEvery
	}
	if now.Sub(m.shown) >= every {
		m.show()
	}
}

// end shows where the work ended.
func (m *meter) end() {
	if m.screen == nil || len(m.samples) == 0 {
		return // who did the work says what came of it
	}
	m.show()
	m.screen.end(&m.line)
}

func (m *meter) show() {
	m.shown = m.now()
	if m.screen != nil {
		m.screen.set(&m.line, m.String())
		return
	}
	attrs := []any{m.unit, m.last.done}
	if m.last.total > 0 {
		attrs = append(attrs, "of", m.last.total, "left", m.left())
	}
	attrs = append(attrs, m.unit+"_per_second", int(m.rate()))
	if m.last.detail != "" {
		attrs = append(attrs, "at", m.last.detail)
	}
	m.log.Info(m.what, attrs...)
}

// rate is in units a second.
func (m *meter) rate() float64 {
	if len(m.samples) < 2 {
		return 0
	}
	first := m.samples[0]
	if secs := m.now().Sub(first.at).Seconds(); secs > 0 {
		return float64(m.last.done-first.done) / secs
	}
	return 0
}

// left is the time that the rest takes at this rate.
func (m *meter) left() string { return timeLeft(m.last.done, m.last.total, m.rate()) }

// timeLeft is unknown only while nothing moves.
func timeLeft(done, total uint64, rate float64) string {
	if done >= total {
		return "0s"
	}
	if rate <= 0 {
		return "unknown"
	}
	secs := float64(total-done) / rate
	if secs > 1e9 {
		return "unknown"
	}
	return max(time.Duration(secs*float64(time.Second)).Round(time.Second), time.Second).String()
}

// String is the line on a terminal.
func (m *meter) String() string {
	parts := []string{m.screen.paint(cyan, m.what)}
	if m.last.total > 0 {
		part := float64(m.last.done) / float64(m.last.total)
		parts = append(parts, m.screen.bar(part, 24), fmt.Sprintf("%.1f%%", 100*part))
		if m.last.total > m.last.done { // what is wanted most comes first: a narrow terminal cuts the rest off
			parts = append(parts, m.left()+" left")
		}
		parts = append(parts, fmt.Sprintf("%d of %d %s", m.last.done, m.last.total, m.unit))
	} else {
		parts = append(parts, fmt.Sprintf("%d %s", m.last.done, m.unit))
	}
	if rate := m.rate(); rate > 0 && (m.last.total == 0 || m.last.done < m.last.total) {
		parts = append(parts, fmt.Sprintf("%.0f/s", rate))
	}
	if m.last.detail != "" {
		parts = append(parts, m.screen.paint(faint, m.last.detail))
	}
	return strings.Join(parts, "  ")
}

// shown runs an indexer and shows how far it has come meanwhile.
func (c *console) shown(ctx context.Context, chain string, x *index.Indexer, run func(context.Context) error) error {
	show, stop := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		c.showIndexing(show, chain, x)
	}()
	defer func() {
		stop()
		<-stopped
	}()
	return run(ctx)
}

// showIndexing shows how far an indexer has come until ctx ends. At the head there
// is nothing to log but that it got there, once.
func (c *console) showIndexing(ctx context.Context, chain string, x *index.Indexer) {
	every := logEvery
	if c.terminal != nil {
		every = drawEvery
	}
	t := time.NewTicker(every)
	defer t.Stop()
	var l line
	current := false
	for {
		select {
		case <-ctx.Done():
			if p := x.Progress(); c.terminal != nil && p.Blocks > 0 {
				c.terminal.set(&l, c.terminal.indexing(chain, p))
				c.terminal.end(&l)
			}
			return
		case <-t.C:
		}
		p := x.Progress()
		if p.Blocks == 0 {
			continue
		}
		was := current
		current = p.Head >= p.Target
		switch {
		case c.terminal != nil:
			c.terminal.set(&l, c.terminal.indexing(chain, p))
		case !current:
			c.log.Info("indexing", "chain", chain, "block", p.Head, "of", p.Target, "blocks_per_second", int(p.BlocksPerSec),
				"events_per_second", int(p.EventsPerSec), "left", timeLeft(p.Head, p.Target, p.BlocksPerSec))
		case !was:
			c.log.Info("indexing: up to date", "chain", chain, "block", p.Head)
		}
	}
}

// indexing is the line of an indexer on a terminal.
func (s *screen) indexing(chain string, p index.Progress) string {
	if p.Head >= p.Target {
		return s.paint(cyan, "indexing "+chain) + fmt.Sprintf("  block %d, ", p.Head) + s.paint(green, "up to date")
	}
	part := float64(p.Head) / float64(max(p.Target, 1))
	return fmt.Sprintf("%s  %s  %.1f%%  %s left  block %d of %d  %.0f blocks/s  %.0f events/s", s.paint(cyan, "indexing "+chain), s.bar(part, 24), 100*part,
		timeLeft(p.Head, p.Target, p.BlocksPerSec), p.Head, p.Target, p.BlocksPerSec, p.EventsPerSec)
}
