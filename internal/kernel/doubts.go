package kernel

import (
	"context"
	"net/netip"
	"sync"
	"time"
)

const (
	// doubtQueue is how many requests of an address wait for their turn, and allDoubts
	// those of all addresses together.
	doubtQueue, allDoubts = 16, 512
	// doubtTime is how long one waits at most.
	doubtTime = 3 * time.Second
	// doubtPause passes after a look in vain before the next of the address.
	doubtPause = 100 * time.Millisecond
)

// doubts is where credentials are looked at that nobody knows yet, from addresses that
// have failed too often to be looked at otherwise. A neighbour who guesses must not lock
// out who has a good one: an address has one look at a time, in the order in which they
// came, and after one in vain none for a while. That is ten a second, of at most one at
// once, whatever an address sends; who waits behind a full queue is refused.
type doubts struct {
	mu sync.Mutex // guards what follows
	by map[netip.Prefix]*doubt
	in int // of all addresses
}

type doubt struct {
	turn chan struct{}
	in   int // waiting, or looked at
}

func newDoubts() *doubts { return &doubts{by: map[netip.Prefix]*doubt{}} }

// enter waits for an address's turn. Unless it is refused, leave is told how the look
// ended; after one in vain it takes a while.
func (d *doubts) enter(ctx context.Context, of netip.Prefix) (leave func(good bool), ok bool) {
	d.mu.Lock()
	own := d.by[of]
	if d.in >= allDoubts || own != nil && own.in > doubtQueue {
		d.mu.Unlock()
		return nil, false
	}
	if own == nil {
		own = &doubt{turn: make(chan struct{}, 1)}
		d.by[of] = own
	}
	own.in++
	d.in++
	d.mu.Unlock()
	late := time.NewTimer(doubtTime)
	defer late.Stop()
	select {
	case own.turn <- struct{}{}:
	case <-late.C:
		d.forget(of, own)
		return nil, false
	case <-ctx.Done():
		d.forget(of, own)
		return nil, false
	}
	return func(good bool) {
		if !good {
			time.Sleep(doubtPause) // whoever guessed waits as well
		}
		<-own.turn
		d.forget(of, own)
	}, true
}

func (d *doubts) forget(of netip.Prefix, own *doubt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.in--
	if own.in--; own.in == 0 {
		delete(d.by, of)
	}
}
