package kernel

import (
	"math"
	"net/http"
	"sort"
	"sync"
	"time"
)

// What this process knows of how long it took lately, for people to see. Prometheus has the
// whole story; this is the last minutes alone, at a bounded cost.

const (
	// timedMinutes is how far back timings go, the present minute included.
	timedMinutes = 5
	// enoughForP50 and enoughForP99 are how many requests it takes to say something.
	enoughForP50, enoughForP99 = 20, 200
	// timingSteps are four to a doubling, from timingLeast to more than a minute.
	timingSteps = 80
	timingLeast = 100 * time.Microsecond
)

// timingBounds are the upper ends of the steps.
var timingBounds = func() (out [timingSteps]time.Duration) {
	for i := range out {
		out[i] = time.Duration(float64(timingLeast) * math.Exp2(float64(i)/4)).Round(10 * time.Microsecond)
	}
	return out
}()

// timed is what timings tell apart.
type timed uint8

const (
	untimed timed = iota // streams, files and what is passed on last as long as others take
	timedLight
	timedHeavy
	timedBatch
	timedPages
	timedWaiting // pages that wait for a node
	timedKinds
)

func timedAs(c Class) timed {
	switch c {
	case Light:
		return timedLight
	case Heavy:
		return timedHeavy
	case Batch:
		return timedBatch
	}
	return untimed
}

// timings are the last minutes of alkind timeds.
type timings [timedKinds]struct {
	mu      sync.Mutex
	minutes [timedMinutes]timedMinute // guarded by mu
}

type timedMinute struct {
	minute int64
	took   [timingSteps]uint32
	failed uint32
}

func (t *timings) observe(kind timed, now time.Time, took time.Duration, status int) {
	if kind == untimed || status == http.StatusSwitchingProtocols {
		return
	}
	minute := now.Unix() / 60
	step := min(sort.Search(timingSteps, func(i int) bool { return took <= timingBounds[i] }), timingSteps-1)
	x := &t[kind]
	x.mu.Lock()
	defer x.mu.Unlock()
	m := &x.minutes[minute%timedMinutes]
	if m.minute != minute {
		*m = timedMinute{minute: minute}
	}
	m.took[step]++
	if status >= http.StatusInternalServerError {
		m.failed++
	}
}

// Timing is how long this process took lately for a kind of requests.
type Timing struct {
	Kind             string
	Requests, Failed uint64 // failed by our fault
	// P50 and P99 are times within which so many percent were answered, rounded up by less
	// than a fifth; nil where there were too few requests to tell.
	P50, P99 *time.Duration
}

// Timings are those of the last five minutes, by kind.
func (s *Server) Timings() (out []Timing) {
	now := s.Now().Unix() / 60
	for kind := timedLight; kind < timedKinds; kind++ {
		out = append(out, s.timings.of(kind, now))
	}
	return out
}

// timedNames are for people.
var timedNames = [timedKinds]string{timedLight: "light", timedHeavy: "heavy", timedBatch: "batch", timedPages: "pages", timedWaiting: "pages that ask a node"}

func (t *timings) of(kind timed, now int64) Timing {
	out := Timing{Kind: timedNames[kind]}
	var took [timingSteps]uint64
	x := &t[kind]
	x.mu.Lock()
	for i := range x.minutes {
		m := &x.minutes[i]
		if m.minute > now-timedMinutes && m.minute <= now {
			out.Failed += uint64(m.failed)
			for step, n := range m.took {
				took[step] += uint64(n)
				out.Requests += uint64(n)
			}
		}
	}
	x.mu.Unlock()
	within := func(percent, enough uint64) *time.Duration {
		if out.Requests < enough {
			return nil
		}
		var n uint64
		for step, more := range took {
			if n += more; n*100 >= out.Requests*percent {
				return &timingBounds[step]
			}
		}
		return nil
	}
	out.P50, out.P99 = within(50, enoughForP50), within(99, enoughForP99)
	return out
}
