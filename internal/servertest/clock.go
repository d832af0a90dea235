package servertest

import (
	"bytes"
	"strings"
	"sync"
	"time"
)

// Logs collects records as JSON.
type Logs struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (l *Logs) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *Logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Clock is the time that the service sees.
type Clock struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
}

// Now is the time now.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance lets time pass.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// checkLogs runs at the end of every test: no key may have been logged.
func (w *World) checkLogs() {
	text := w.Logs.String()
	for _, secret := range w.Secrets {
		// The public part is the prefix, so it is the rest that must not show.
		if strings.Contains(text, secret[len("svc_live_"):]) {
			w.T.Error("a key was logged")
		}
	}
}
