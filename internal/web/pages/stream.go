package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web/live"
)

const (
	// mostStreams bounds who listens at once, and streamsEach those of one address: a
	// browser has one for each chain of a page that is seen.
	mostStreams, streamsEach = 2048, 24
	// heartbeat is how often a stream says that it lives, so that nobody between takes it
	// for dead.
	heartbeat = 20 * time.Second
	// streamTime is how long a stream lasts. Browsers come back by themselves, and say what
	// they heard last.
	streamTime = 30 * time.Minute
	// sendTime is how long a listener may take to read what is sent.
	sendTime = 10 * time.Second
)

// headEvent tells of a new block. Its id is the block's number.
type headEvent struct {
	Number       uint64    `json:"number"`
	Hash         felt.Felt `json:"hash"`
	Time         string    `json:"time"`
	Transactions uint64    `json:"transactions"`
	Finalized    *uint64   `json:"finalized"`
	L1           *uint64   `json:"l1"`
}

// forkEvent tells that a block is no longer at its number. Now is null while there is none.
type forkEvent struct {
	Number uint64     `json:"number"`
	Was    felt.Felt  `json:"was"`
	Now    *felt.Felt `json:"now"`
}

// handleLive serves what is new on a chain, as server-sent events.
func (p *Pages) handleLive() {
	seats := kernel.NewSeats(mostStreams, streamsEach, streamsEach)
	p.Open("GET /live/{chain}", func(w http.ResponseWriter, r *http.Request) {
		fail := func(e *kernel.Error) { kernel.SendError(w, r, e, kernel.RecordOf(w).ID, nil) }
		feed := p.hub.Feed(r.PathValue("chain"))
		if feed == nil {
			fail(kernel.Fail(kernel.CodeNotFound, "path.chain: %q is not served here.", kernel.Clip(r.PathValue("chain"), 40)))
			return
		}
		watched, err := watchedOf(r)
		if err != nil {
			fail(err)
			return
		}
		who := kernel.Neighbour(w)
		if e := seats.Enter(r.Context(), who, "listening"); e != nil {
			fail(e)
			return
		}
		defer seats.Leave(who)
		h := w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no") // a proxy must not collect what is news
		h.Set("Connection", "close")     // the deadlines of a stream are its own
		w.WriteHeader(http.StatusOK)
		if r.Method == http.MethodHead {
			return
		}
		s := &stream{w: w, rc: http.NewResponseController(w), feed: feed, watched: watched}
		s.rc.SetReadDeadline(time.Time{}) //nolint:errcheck // that of the request is over; a recorder has none
		s.last, s.resumed = lastHeard(r)
		s.run(r, p.hub.Done())
	})
}

// watchedOf is the block whose end the listener wants to hear of; nil for none.
func watchedOf(r *http.Request) (*block.Ref, *kernel.Error) {
	query, _, err := queryOf(r)
	if err != nil {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "query: it is not well-formed.")
	}
	number, hash := query.Get("number"), query.Get("hash")
	if number == "" && hash == "" {
		return nil, nil
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "query.number: %q is no block number.", kernel.Clip(number, 40))
	}
	f, err := felt.Parse(hash)
	if err != nil {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "query.hash: %q is no block hash.", kernel.Clip(hash, 80))
	}
	return &block.Ref{Number: n, Hash: f}, nil
}

// lastHeard is the newest block that a listener who comes back has heard of.
func lastHeard(r *http.Request) (uint64, bool) {
	n, err := strconv.ParseUint(r.Header.Get("Last-Event-ID"), 10, 64)
	return n, err == nil
}

// stream is what one listener hears.
type stream struct {
	w       http.ResponseWriter
	rc      *http.ResponseController
	feed    *live.Feed
	watched *block.Ref
	last    uint64 // the newest block that was told
	resumed bool   // there was one
	hash    felt.Felt

	judged bool // the watched block was looked at
	forks  uint64
	gone   bool       // another block, or none, has its number
	told   *felt.Felt // which
}

// run writes events until somebody goes.
func (s *stream) run(r *http.Request, closed <-chan struct{}) {
	leave := s.feed.Join()
	defer leave()
	if s.send("retry: 3000\n\n") != nil {
		return
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	end := time.NewTimer(streamTime)
	defer end.Stop()
	for {
		state, changed := s.feed.Now()
		if state != nil {
			if s.heads(state) != nil || s.fork(r, state) != nil {
				return
			}
		}
		select {
		case <-changed:
		case <-beat.C:
			if s.send(": \n\n") != nil {
				return
			}
		case <-end.C:
			return
		case <-r.Context().Done():
			return
		case <-closed:
			return
		}
	}
}

// heads tells of the blocks that are new since the last one that was told, or of the newest
// alone where a fork came between.
func (s *stream) heads(state *live.State) error {
	newest := state.Newest()
	from := len(state.Heads) - 1
	if s.resumed && newest.Number > s.last {
		from = max(len(state.Heads)-int(min(newest.Number-s.last, live.Recent)), 0)
	} else if s.resumed && newest.Hash == s.hash {
		return nil
	}
	for _, h := range state.Heads[from:] {
		if err := s.event("head", strconv.FormatUint(h.Number, 10), headEvent{h.Number, h.Hash, kernel.TimestampISO(h.Timestamp), h.Transactions, state.Finalized, state.L1}); err != nil {
			return err
		}
	}
	s.last, s.hash, s.resumed = newest.Number, newest.Hash, true
	return nil
}

// fork tells once that the watched block is gone, and once what came in its place.
func (s *stream) fork(r *http.Request, state *live.State) error {
	if s.watched == nil || s.judged && s.forks == state.Forks && !(s.gone && s.told == nil) {
		return nil
	}
	now, err := s.feed.HashAt(r.Context(), s.watched.Number)
	if err != nil {
		return nil // the next state is another chance
	}
	s.judged, s.forks = true, state.Forks
	switch same := now != nil && *now == s.watched.Hash; {
	case same:
		s.gone, s.told = false, nil // or back again
		return nil
	case s.gone && (now == nil) == (s.told == nil) && (now == nil || *now == *s.told):
		return nil
	}
	s.gone, s.told = true, now
	return s.event("fork", "", forkEvent{s.watched.Number, s.watched.Hash, now})
}

func (s *stream) event(name, id string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	var b strings.Builder
	b.WriteString("event: " + name + "\n")
	if id != "" {
		b.WriteString("id: " + id + "\n")
	}
	b.WriteString("data: " + string(text) + "\n\n")
	return s.send(b.String())
}

func (s *stream) send(text string) error {
	s.rc.SetWriteDeadline(time.Now().Add(sendTime)) //nolint:errcheck // the connection has a bound of its own
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.rc.Flush()
}
