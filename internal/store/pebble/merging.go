package pebble

import (
	"sync"
	"sync/atomic"
	"time"

	lsm "github.com/cockroachdb/pebble/v2"
)

// While a chain is being caught up with, each merge of what commits leave into the level below writes as much of that
// level again, however little there is to merge. So merging waits then until twice as many tables lie above each other
// as at other times: what is merged in one go is written half as often. Scans look into more tables meanwhile. Some time
// after the last commit by tables merging goes on as at other times.

const (
	// CatchingUp is for how long after a commit by tables another one is expected.
	CatchingUp = 10 * time.Second
	// deepLevel is how many tables may lie above each other while commits come: at twice as many there are two merges at a
	// time, and so on.
	deepLevel = 12
	// mergesLookedAt is how often a merge that has to wait is looked at.
	mergesLookedAt = 100 * time.Millisecond
)

// merging lets Pebble merge: it says how many merges there may be at a time. It serves lsm.CompactionScheduler, and
// is the handle of each merge as well.
//
// Pebble has locks of its own when it asks, and takes them when it is asked. So it is asked without mu, except for
// how many merges it would have by itself, which takes none.
type merging struct {
	least int          // that Pebble would have at a time where there is anything to merge
	most  int          // at a time
	began time.Time    // of the times below
	bulk  atomic.Int64 // when a commit by tables was last, since began; 0 for never

	db   lsm.DBForCompaction // once there is one
	poke chan struct{}       // one more look, soon
	stop chan struct{}       // closed when there will be none any more
	done chan struct{}       // closed when none is under way

	mu      sync.Mutex
	over    bool // guarded by mu: there will be no merge any more
	running int  // guarded by mu
}

var (
	_ lsm.CompactionScheduler   = (*merging)(nil)
	_ lsm.CompactionGrantHandle = (*merging)(nil)
)

func newMerging() *merging {
	least, most := compactions()
	return &merging{least: least, most: most, began: time.Now(), poke: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
}

// hold is told of a commit by tables.
func (m *merging) hold() {
	m.bulk.Store(int64(max(time.Since(m.began), 1)))
	m.look() // there are more tables now: Pebble does not ask again for a merge that waits
}

// release has merging go on as at other times.
func (m *merging) release() {
	m.bulk.Store(0)
	m.look()
}

// held says that commits by tables are expected.
func (m *merging) held() bool {
	last := m.bulk.Load()
	return last > 0 && time.Since(m.began)-time.Duration(last) < CatchingUp
}

// allowed is how many merges there may be. Pebble would have the least where there is anything to merge at all, and one
// more for each deepLevel of tables above each other, or for much to merge below them.
func (m *merging) allowed() int {
	n := m.db.GetAllowedWithoutPermission()
	if m.held() {
		n -= m.least
	}
	return min(n, m.most)
}

// begins counts one more merge if there may be one.
func (m *merging) begins() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over || m.running >= m.allowed() {
		return false
	}
	m.running++
	return true
}

func (m *merging) ends() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running--
}

// Register is told of the database.
func (m *merging) Register(_ int, db lsm.DBForCompaction) {
	m.db = db
	go m.grant()
}

// Unregister returns when the database is not asked any more.
func (m *merging) Unregister() {
	m.mu.Lock()
	m.over = true
	m.mu.Unlock()
	close(m.stop)
	<-m.done
}

// TrySchedule says whether a merge may begin now. One that may not is asked for when it may.
func (m *merging) TrySchedule() (bool, lsm.CompactionGrantHandle) {
	if !m.begins() {
		return false, nil
	}
	return true, m
}

// UpdateGetAllowedWithoutPermission is told that there may be more to merge.
func (m *merging) UpdateGetAllowedWithoutPermission() { m.look() }

func (m *merging) look() {
	select {
	case m.poke <- struct{}{}:
	default: // somebody will
	}
}

// grant begins merges that wait, as soon as they may.
func (m *merging) grant() {
	defer close(m.done)
	ticker := time.NewTicker(mergesLookedAt)
	defer ticker.Stop()
	for {
		select {
		case <-m.stop:
			return
		case <-ticker.C:
		case <-m.poke:
		}
		for m.begins() {
			if waits, _ := m.db.GetWaitingCompaction(); !waits || !m.db.Schedule(m) {
				m.ends()
				break
			}
		}
	}
}

// Started is told of a merge that begins.
func (m *merging) Started() {}

// MeasureCPU is told where a merge is.
func (m *merging) MeasureCPU(lsm.CompactionGoroutineKind) {}

// CumulativeStats is told how much a merge has done.
func (m *merging) CumulativeStats(lsm.CompactionGrantHandleStats) {}

// Done is told of a merge that ended.
func (m *merging) Done() {
	m.ends()
	m.look()
}
