package kernel

import (
	"crypto/sha256"
	"net/http"
	"sync"
	"time"
)

// Sessions that were good a while ago do not pay for their address: a neighbour who
// fails there must not lock them out. They have a pace of their own. Only digests are
// kept, and a session that ended costs like any other failure once it was found out.
const (
	knownFor         = 10 * time.Minute
	maxKnownSessions = 1 << 14
)

type knownSessions struct {
	mu sync.Mutex
	by map[[sha256.Size]byte]time.Time // when it was good, guarded by mu
}

func (k *knownSessions) note(token string, good bool, now time.Time) {
	d := sha256.Sum256([]byte(token))
	k.mu.Lock()
	defer k.mu.Unlock()
	if !good {
		delete(k.by, d)
		return
	}
	if _, there := k.by[d]; !there && len(k.by) >= maxKnownSessions {
		k.by = nil // they pay once more
	}
	if k.by == nil {
		k.by = map[[sha256.Size]byte]time.Time{}
	}
	k.by[d] = now
}

func (k *knownSessions) has(token string, now time.Time) bool {
	if token == "" {
		return false
	}
	d := sha256.Sum256([]byte(token))
	k.mu.Lock()
	defer k.mu.Unlock()
	at, there := k.by[d]
	return there && now.Sub(at) >= 0 && now.Sub(at) < knownFor
}

// SessionSeen says that the token of a cookie was found to be a session's, or not to be.
func (s *Server) SessionSeen(token string, good bool) { s.known.note(token, good, s.Now()) }

// RefusePages says how a person is told of a failure in the lane of private pages. It is
// called before the first request.
func (s *Server) RefusePages(tell func(http.ResponseWriter, *http.Request, *Error)) { s.tell = tell }
