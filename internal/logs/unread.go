package logs

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// mostUnread is how much waits in memory for who reads a log.
const mostUnread = 4 << 20

// Unread writes for a reader that may stop reading: nobody who logs waits for it. What has no room
// is left out, and the log says how much when there is room again.
type Unread struct {
	w    io.Writer
	most int
	now  func() time.Time

	mu      sync.Mutex // guards what follows
	waiting []byte
	lost    int // writes
	writing bool
	idle    chan struct{} // closed while nothing waits and nothing is written
}

// NewUnread writes to w.
func NewUnread(w io.Writer) *Unread {
	idle := make(chan struct{})
	close(idle)
	return &Unread{w: w, most: mostUnread, now: time.Now, idle: idle}
}

// Write takes whole records. It never fails: whoever logs could do nothing about it.
func (u *Unread) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.waiting)+len(p) > u.most {
		u.lost++
		return len(p), nil
	}
	u.waiting = append(u.waiting, p...)
	if !u.writing {
		u.writing, u.idle = true, make(chan struct{})
		go u.drain()
	}
	return len(p), nil
}

// drain writes until nothing waits.
func (u *Unread) drain() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for len(u.waiting) > 0 {
		batch := u.waiting
		u.waiting = nil
		u.mu.Unlock()
		_, err := u.w.Write(batch)
		u.mu.Lock()
		if err != nil { // nobody reads any more: the next record tries again
			u.waiting, u.lost = nil, 0
			break
		}
		if u.lost > 0 {
			u.waiting = fmt.Appendf(u.waiting, `{"time":%q,"level":"WARN","msg":"the log was not read in time, and records were left out","writes":%d}`+"\n", u.now().Format(time.RFC3339Nano), u.lost)
			u.lost = 0
		}
	}
	u.writing = false
	close(u.idle)
}

// Flush waits until everything is written, but no longer than that.
func (u *Unread) Flush(patience time.Duration) {
	u.mu.Lock()
	idle := u.idle
	u.mu.Unlock()
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-idle:
	case <-t.C:
	}
}
