package job

import (
	"strings"
	"sync"
	"time"

	"chainexplorer/internal/arrange"
)

// Report is how a job fares in this process. What failed is in the log, and not here: it
// may name nodes.
type Report struct {
	Name string
	Held bool // this process does it now
	Runs uint64
	Done time.Time // of the last run that did all there was; zero: never
	// Failures counts those since this process began, Failed is when the last one was.
	Failures uint64
	Failed   time.Time
}

// reports are those of all jobs.
type reports struct {
	mu sync.Mutex
	by map[string]*Report // guarded by mu
}

func (r *reports) of(name string, change func(*Report)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[string]*Report{}
	}
	if r.by[name] == nil {
		r.by[name] = &Report{Name: name}
	}
	change(r.by[name])
}

// Reports tell how the jobs fare, by name. It may be called while they run.
func (r *Runner) Reports() (out []Report) {
	for _, s := range r.seats {
		r.told.of(s.job.Name(), func(x *Report) { out = append(out, *x) })
	}
	arrange.By(out, func(a, b Report) int { return strings.Compare(a.Name, b.Name) })
	return out
}
