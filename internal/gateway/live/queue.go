package live

import (
	"context"
	"sync"

	"github.com/coder/websocket"
)

// item is something that a session's client has yet to be sent: a message, or what a
// subscription has of one block. Results are shared with all who get the same; only
// when they are written is the subscription's id put to them.
type item struct {
	text    []byte // a whole message; nil for notifications
	method  string
	id      string
	results [][]byte
	size    int
	done    func() // after it was sent or dropped; may be nil
}

// perNotification is what a notification has beside its result.
const perNotification = 120

// queue is what one client has not been sent yet, in order. It is bounded in items
// and bytes for notifications, which nobody waits for. Answers are bounded by how many
// calls a session may have at work: each keeps its place until its answer is sent.
type queue struct {
	mu      sync.Mutex
	items   []item
	sent    int // items at the front that are gone
	size    int
	pumping bool
	closed  bool
	room    chan struct{} // closed when a replay may go on; nil while nobody waits
}

// put adds an item and says whether somebody has to start sending. A notification that
// has no room is refused.
func (q *queue) put(it item, l *Limits) (pump, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		if it.done != nil {
			it.done()
		}
		return false, true // nobody is left to be slow
	}
	// What comes first always fits: a single block may be larger than the bound.
	if it.text == nil && q.waiting() > 0 && (q.waiting() >= l.QueueItems || q.size+it.size > l.QueueBytes) {
		return false, false
	}
	q.items = append(q.items, it)
	q.size += it.size
	pump = !q.pumping
	q.pumping = true
	return pump, true
}

// take gives the next item; none ends the pump. What is being sent does not count any
// more, so that one large block never makes a client slow that reads it.
func (q *queue) take() (it item, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.sent == len(q.items) {
		q.items, q.sent, q.pumping = nil, 0, false
		return item{}, false
	}
	it = q.items[q.sent]
	q.items[q.sent] = item{} // results are large, and the next may take long
	q.sent++
	q.size -= it.size
	if q.sent == len(q.items) {
		q.items, q.sent = nil, 0
		q.free()
	} else if q.sent > len(q.items)/2 && q.sent > 64 {
		q.items, q.sent = append([]item(nil), q.items[q.sent:]...), 0
	}
	return it, true
}

// waiting is how many items there are. The lock must be held.
func (q *queue) waiting() int { return len(q.items) - q.sent }

// close drops what waits and takes nothing more.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, it := range q.items[q.sent:] {
		if it.done != nil {
			it.done()
		}
	}
	q.items, q.sent, q.size = nil, 0, 0
	q.free()
}

func (q *queue) free() {
	if q.room != nil {
		close(q.room)
		q.room = nil
	}
}

// wait returns when nothing is queued: a replay goes at the pace of its client.
func (q *queue) wait(ctx context.Context) error {
	for {
		q.mu.Lock()
		if q.waiting() == 0 || q.closed {
			q.mu.Unlock()
			return ctx.Err()
		}
		if q.room == nil {
			q.room = make(chan struct{})
		}
		room := q.room
		q.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxKept is the largest buffer that is kept for the next message.
const maxKept = 64 << 10

// send puts an item for the client. One that does not keep up is cut off.
func (s *session) send(it item) {
	pump, ok := s.queue.put(it, &s.srv.limits)
	switch {
	case !ok:
		s.end(CloseTooSlow, "too slow: notifications pile up", "too_slow")
	case pump:
		// A writer lives only as long as there is something to write: an idle client
		// costs no second goroutine.
		s.spawn(s.pump)
	}
}

// pump writes until nothing is left.
func (s *session) pump() {
	for {
		it, ok := s.queue.take()
		if !ok {
			return
		}
		if !s.ended.Load() {
			s.write(&it)
		}
		if it.done != nil {
			it.done()
		}
	}
}

func (s *session) write(it *item) {
	if it.text != nil {
		s.frame(it.text)
		return
	}
	buffer := buffers.Get().(*[]byte)
	defer func() {
		if cap(*buffer) <= maxKept {
			buffers.Put(buffer)
		}
	}()
	for _, result := range it.results {
		b := append((*buffer)[:0], `{"jsonrpc":"2.0","method":"`...)
		b = append(b, it.method...)
		b = append(b, `","params":{"subscription_id":"`...)
		b = append(b, it.id...)
		b = append(b, `","result":`...)
		b = append(b, result...)
		b = append(b, '}', '}')
		*buffer = b
		if s.ended.Load() || !s.frame(b) {
			return
		}
		s.srv.metrics.notified(it.method)
	}
}

// frame writes one message; a client that does not take it in time is cut off.
func (s *session) frame(text []byte) bool {
	ctx, cancel := context.WithTimeout(s.ctx, s.srv.limits.WriteTimeout)
	defer cancel()
	err := s.conn.Write(ctx, websocket.MessageText, text)
	if err == nil {
		return true
	}
	if ctx.Err() != nil && s.ctx.Err() == nil {
		s.end(CloseTooSlow, "too slow: a message was not taken in time", "too_slow")
	} else {
		s.end(websocket.StatusAbnormalClosure, "", "gone")
	}
	return false
}
