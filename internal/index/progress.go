package index

import (
	"fmt"
	"sync"
	"time"
)

// Progress is how far a run has come.
type Progress struct {
	Head, Target uint64
	Blocks       uint64  // committed by this run
	Events       uint64  // committed by this run
	BlocksPerSec float64 // lately
	EventsPerSec float64
}

// progress measures over a sliding window of several commits, so that the rate follows the chain:
// old blocks are small and quick, new ones are not.
type progress struct {
	mu      sync.Mutex
	cur     Progress
	samples []sample // oldest first, at most progressWindow old
}

type sample struct {
	at             time.Time
	blocks, events uint64
}

const (
	progressWindow  = time.Minute
	progressSamples = 256
)

// begin starts the clock, so that the first commit has a rate already.
func (p *progress) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.samples = []sample{{time.Now(), p.cur.Blocks, p.cur.Events}}
}

func (p *progress) add(b *batch, target uint64) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cur.Head, p.cur.Target = b.head.Number, max(target, b.head.Number)
	p.cur.Blocks += uint64(b.blocks)
	p.cur.Events += uint64(b.events)
	last := len(p.samples) - 1
	s := sample{now, p.cur.Blocks, p.cur.Events}
	if last > 0 && now.Sub(p.samples[last].at) < progressWindow/progressSamples {
		p.samples[last] = s
	} else {
		p.samples = append(p.samples, s)
	}
	for len(p.samples) > 2 && now.Sub(p.samples[0].at) > progressWindow {
		p.samples = p.samples[1:]
	}
}

func (p *progress) snapshot() Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.cur
	if len(p.samples) < 2 {
		return out
	}
	first, last := p.samples[0], p.samples[len(p.samples)-1]
	// Up to now, and not to the last commit: a run that stands still gets slower.
	if secs := time.Since(first.at).Seconds(); secs > 0 {
		out.BlocksPerSec = float64(last.blocks-first.blocks) / secs
		out.EventsPerSec = float64(last.events-first.events) / secs
	}
	return out
}

// Progress returns how far the run has come. It may be called at any time.
func (x *Indexer) Progress() Progress { return x.progress.snapshot() }

// String renders the progress for a person.
func (p Progress) String() string {
	if p.Blocks == 0 {
		return "starting"
	}
	if p.Head >= p.Target {
		return fmt.Sprintf("block %d, up to date", p.Head)
	}
	return fmt.Sprintf("block %d of %d (%.1f%%), %.0f blocks/s, %.0f events/s",
		p.Head, p.Target, 100*float64(p.Head)/float64(max(p.Target, 1)), p.BlocksPerSec, p.EventsPerSec)
}
