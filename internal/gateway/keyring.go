package gateway

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
)

const (
	// keyEvery is how often the key of an open connection is looked at. A revoked one is
	// believed for half a second by the whole service; the rest of the promised second
	// is for this, and for closing.
	keyEvery = 150 * time.Millisecond
	// keyUnknown is for how long connections stay while keys cannot be checked: our
	// failure is not the client's, for a while.
	keyUnknown = 30 * time.Second
	// keysAtOnce bounds the keys that are looked at together.
	keysAtOnce = 16
)

var errKeyInvalid = errors.New("the key is not valid any more")

// keyring looks after the keys of open connections: once for each key, however many
// connections it has.
type keyring struct {
	check func(context.Context, http.Header) error

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu      sync.Mutex // guards what follows
	held    map[string]*heldKey
	running bool
}

// heldKey is a key with connections.
type heldKey struct {
	header  http.Header // with the key alone
	uses    int         // guarded by the ring
	invalid atomic.Bool
	known   time.Time // when it was last known to be valid; of the looking goroutine
}

func newKeyring(check func(context.Context, http.Header) error) *keyring {
	k := &keyring{check: check, held: map[string]*heldKey{}}
	k.ctx, k.stop = context.WithCancel(context.Background())
	return k
}

// hold looks after the key of a request that was let in, until release is called.
func (k *keyring) hold(h http.Header) (key *heldKey, release func()) {
	only := http.Header{}
	for _, name := range []string{kernel.HeaderKey, kernel.HeaderKeyShort} {
		if v := h[name]; len(v) > 0 {
			only[name] = v
		}
	}
	text := only.Get(kernel.HeaderKey) + only.Get(kernel.HeaderKeyShort)
	k.mu.Lock()
	defer k.mu.Unlock()
	key = k.held[text]
	if key == nil {
		key = &heldKey{header: only, known: time.Now()}
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

// valid says whether the key was, when it was looked at last.
func (h *heldKey) valid() error {
	if h.invalid.Load() {
		return errKeyInvalid
	}
	return nil
}

// watch looks at all keys, again and again, until there are none.
func (k *keyring) watch() {
	tick := time.NewTicker(keyEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-k.ctx.Done():
			return
		}
		k.mu.Lock()
		var keys []*heldKey
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

func (k *keyring) look(key *heldKey) {
	err := k.check(k.ctx, key.header)
	switch {
	case err == nil:
		key.known = time.Now()
	case errors.Is(err, account.ErrUnknown), errors.Is(err, account.ErrMalformed), time.Since(key.known) > keyUnknown:
		key.invalid.Store(true)
	}
}

// close ends the looking.
func (k *keyring) close() {
	k.stop()
	k.work.Wait()
}
