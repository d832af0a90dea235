package kernel

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"chainexplorer/internal/account"
)

const (
	// KeyEvery is how often the key of an open connection is looked at. A revoked one is
	// believed for half a second by the whole service; the rest of the promised second
	// is for this, and for closing.
	KeyEvery = 150 * time.Millisecond
	// keyUnknown is for how long connections stay while keys cannot be checked: our
	// failure is not the client's, for a while.
	keyUnknown = 30 * time.Second
	// keysAtOnce bounds the keys that are looked at together.
	keysAtOnce = 16
)

var errKeyInvalid = errors.New("the key is not valid any more")

// Keyring looks after the keys of open connections: once for each key, however many
// connections it has.
type Keyring struct {
	check func(context.Context, http.Header) error

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu      sync.Mutex // guards what follows
	held    map[string]*HeldKey
	running bool
}

// HeldKey is a key with connections.
type HeldKey struct {
	header  http.Header   // with the key alone
	uses    int           // guarded by the ring
	invalid chan struct{} // closed when it is
	known   time.Time     // when it was last known to be valid; of the looking goroutine
}

// Keyring makes one for routes whose requests last. It must be closed.
func (s *Server) Keyring() *Keyring {
	k := &Keyring{check: s.Reauthenticate, held: map[string]*HeldKey{}}
	k.ctx, k.stop = context.WithCancel(context.Background())
	return k
}

// Hold looks after the key of a request that was let in, until release is called.
func (k *Keyring) Hold(h http.Header) (key *HeldKey, release func()) {
	only := http.Header{}
	for _, name := range []string{HeaderKey, HeaderKeyShort} {
		if v := h[name]; len(v) > 0 {
			only[name] = v
		}
	}
	text := only.Get(HeaderKey) + only.Get(HeaderKeyShort)
	k.mu.Lock()
	defer k.mu.Unlock()
	key = k.held[text]
	if key == nil {
		key = &HeldKey{header: only, invalid: make(chan struct{}), known: time.Now()}
		k.held[text] = key
	}
	key.uses++
	if !k.running && k.ctx.Err() == nil {
		k.running = true
		k.work.Go(k.watch)
	}
	return key, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if key.uses--; key.uses == 0 {
			delete(k.held, text)
		}
	}
}

// Valid says whether the key was, when it was looked at last.
func (h *HeldKey) Valid() error {
	select {
	case <-h.invalid:
		return errKeyInvalid
	default:
		return nil
	}
}

// Ended is closed when the key is not valid any more.
func (h *HeldKey) Ended() <-chan struct{} { return h.invalid }

// watch looks at all keys, again and again, until there are none.
func (k *Keyring) watch() {
	tick := time.NewTicker(KeyEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-k.ctx.Done():
			return
		}
		k.mu.Lock()
		var keys []*HeldKey
		for _, key := range k.held {
			keys = append(keys, key)
		}
		if len(keys) == 0 {
			k.running = false
			k.mu.Unlock()
			return
		}
		k.mu.Unlock()
		slots := make(chan struct{}, keysAtOnce)
		var looks sync.WaitGroup
		for _, key := range keys {
			slots <- struct{}{}
			looks.Go(func() {
				defer func() { <-slots }()
				k.look(key)
			})
		}
		looks.Wait()
	}
}

func (k *Keyring) look(key *HeldKey) {
	err := k.check(k.ctx, key.header)
	switch {
	case err == nil:
		key.known = time.Now()
	case errors.Is(err, account.ErrUnknown), errors.Is(err, account.ErrMalformed), time.Since(key.known) > keyUnknown:
		if key.Valid() == nil { // only this goroutine looks at it
			close(key.invalid)
		}
	}
}

// Close ends the looking.
func (k *Keyring) Close() {
	k.stop()
	k.work.Wait()
}
