package live

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// session is one client's connection and its subscriptions. Its goroutines are the one
// that reads, one for each call at work, and one that writes while there is something
// to write.
type session struct {
	srv    *Server
	conn   *websocket.Conn
	client Client

	// ctx ends the connection, at the latest a while after the session has ended.
	ctx    context.Context
	cancel context.CancelFunc
	queue  queue
	calls  chan struct{} // places for calls at work

	began   time.Time
	heard   atomic.Int64 // when the client last sent something
	pinged  atomic.Int64
	pinging atomic.Bool
	full    atomic.Bool // nothing is read for now: no pong either
	ended   atomic.Bool
	ending  sync.Once

	mu     sync.Mutex      // guards what follows; nothing else is locked under it
	subs   map[string]*sub // nil when the session has ended
	lastID uint64
	aborts map[*context.CancelFunc]struct{} // of calls at work
	over   bool                             // nothing is started any more
	work   sync.WaitGroup
}

// spawn starts a goroutine that the session waits for, unless it is over.
func (s *session) spawn(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.work.Go(f)
	}
}

// run reads messages until the session ends.
func (s *session) run() {
	defer s.finish()
	for {
		_, body, err := s.conn.Read(s.ctx)
		if err != nil {
			s.lost(err)
			return
		}
		if s.ended.Load() {
			continue // until the client has taken the close frame
		}
		s.heard.Store(time.Now().UnixNano())
		select {
		case s.calls <- struct{}{}:
		default:
			// A client that asks faster than it is answered is not read.
			s.full.Store(true)
			select {
			case s.calls <- struct{}{}:
			case <-s.ctx.Done():
			}
			s.full.Store(false)
		}
		if s.ctx.Err() == nil {
			s.spawn(func() { s.handle(body) })
		}
	}
}

// lost ends a session whose connection cannot be read any more.
func (s *session) lost(err error) {
	why := "gone"
	switch {
	case websocket.CloseStatus(err) != -1:
		why = "client"
	case errors.Is(err, websocket.ErrMessageTooBig):
		why = "message_too_big" // the library has closed it with 1009
	}
	s.end(websocket.StatusAbnormalClosure, "", why)
}

// end closes the session, once. It does not wait, as whoever finds a reason may hold
// a hub's lock.
func (s *session) end(code websocket.StatusCode, reason, why string) {
	s.ending.Do(func() {
		s.ended.Store(true)
		s.srv.metrics.close(why)
		s.queue.close()
		s.spawn(func() {
			s.drop()
			grace := time.AfterFunc(s.srv.limits.CloseGrace, s.cancel)
			defer grace.Stop()
			if code == websocket.StatusAbnormalClosure {
				s.conn.CloseNow() //nolint:errcheck // it is gone
			} else {
				s.conn.Close(code, reason) //nolint:errcheck // it may be gone already
			}
			s.cancel()
		})
	})
}

// drop ends the subscriptions and the calls at work.
func (s *session) drop() {
	s.mu.Lock()
	subs := s.subs
	s.subs = nil
	for abort := range s.aborts {
		(*abort)()
	}
	s.mu.Unlock()
	for _, b := range subs {
		b.leave()
	}
}

// finish waits for everything that the session started.
func (s *session) finish() {
	s.end(websocket.StatusAbnormalClosure, "", "gone")
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.work.Wait()
	s.cancel()
}

// working is a context for a call, which ends with the session.
func (s *session) working() (context.Context, func()) {
	ctx, cancel := context.WithCancel(s.ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.subs == nil {
		cancel()
		return ctx, cancel
	}
	if s.aborts == nil {
		s.aborts = map[*context.CancelFunc]struct{}{}
	}
	s.aborts[&cancel] = struct{}{}
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		if delete(s.aborts, &cancel); len(s.aborts) == 0 {
			s.aborts = nil
		}
	}
}

// check is asked every now and then whether the session may go on.
func (s *session) check(now time.Time) {
	if s.ended.Load() {
		return
	}
	l := &s.srv.limits
	if s.client.Admit != nil {
		if err := s.client.Admit(); err != nil {
			s.end(CloseUnauthorized, "the key is not valid any more", "unauthorized")
			return
		}
	}
	if now.Sub(s.began) >= l.Lifetime {
		s.end(CloseDone, "the session has reached its lifetime; connect again", "lifetime")
		return
	}
	quiet := now.Sub(time.Unix(0, s.heard.Load()))
	if quiet >= l.Idle && len(s.calls) == 0 && s.subscriptions() == 0 {
		s.end(CloseDone, "idle: no subscription and no message", "idle")
		return
	}
	last := max(s.pinged.Load(), s.began.UnixNano())
	if now.Sub(time.Unix(0, last)) >= l.Ping && !s.full.Load() && s.pinging.CompareAndSwap(false, true) {
		s.pinged.Store(now.UnixNano())
		s.spawn(s.ping)
	}
}

func (s *session) subscriptions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.subs)
}

// ping asks whether the client is still there.
func (s *session) ping() {
	defer s.pinging.Store(false)
	ctx, cancel := context.WithTimeout(s.ctx, s.srv.limits.Pong)
	defer cancel()
	if err := s.conn.Ping(ctx); err != nil && !s.full.Load() {
		s.end(CloseTooSlow, "a ping was not answered", "no_pong")
	}
}

// reserve makes a subscription that gets nothing yet; nil when there are too many.
func (s *session) reserve(h *hub, w *want, push string) *sub {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.subs == nil || len(s.subs) >= s.srv.limits.Subscriptions {
		return nil
	}
	s.lastID++
	b := &sub{session: s, hub: h, id: strconv.FormatUint(s.lastID, 10), want: w, push: push}
	s.subs[b.id] = b
	return b
}

// release takes a subscription out, if it is there.
func (s *session) release(id string) *sub {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.subs[id]
	delete(s.subs, id)
	return b
}
