package live

import (
	"encoding/json"
	"sync"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// statuses follows transactions for those who want to know how far they get. One
// transaction is asked for once, however many want to know.
type statuses struct {
	wake    chan struct{}
	heads   int // how many blocks there were
	reorgs  int
	watched map[felt.Felt]*watch
}

// watch is a transaction that is followed.
type watch struct {
	hash   felt.Felt
	subs   map[*sub]struct{}
	since  time.Time
	status status
	text   []byte // the notification's result; nil until it is known
	reorgs int    // when it was told
	due    bool   // it is to be asked for in any case
}

// status is what getTransactionStatus says. Nodes write it in different ways, so that
// its bytes say nothing of whether it changed.
type status struct {
	Finality  string `json:"finality_status"`
	Execution string `json:"execution_status"`
	Failure   string `json:"failure_reason"`
}

// ranks are how far a transaction is. It goes back only when the chain forks; else a
// node that lags told of it.
var ranks = map[string]int{"RECEIVED": 1, "CANDIDATE": 2, preConfirmed: 3, "ACCEPTED_ON_L2": 4, "ACCEPTED_ON_L1": 5, "REJECTED": 5}

const (
	inBlock = 4 // and nothing comes after 5

	// statusReads is how many transactions are asked for at once.
	statusReads = 8
	// statusPatience is for how long a transaction that is in no block is asked for
	// between blocks, too.
	statusPatience = 5 * time.Minute
)

// join makes a subscription one of those who follow its transaction. It is false when
// too many are followed. The hub's lock must be held.
func (t *statuses) join(s *sub, most int) bool {
	w := t.watched[s.want.tx]
	if w == nil {
		if len(t.watched) >= most {
			return false
		}
		if t.watched == nil {
			t.watched = map[felt.Felt]*watch{}
		}
		w = &watch{hash: s.want.tx, subs: map[*sub]struct{}{}, since: time.Now(), due: true}
		t.watched[s.want.tx] = w
	}
	w.subs[s] = struct{}{}
	return true
}

// begin gives a subscription what is known. The hub's lock must be held.
func (t *statuses) begin(s *sub) {
	if w := t.watched[s.want.tx]; w != nil && w.text != nil {
		s.notify(s.push, [][]byte{w.text})
	}
	poke(t.wake)
}

// forget takes a subscription out. The hub's lock must be held.
func (t *statuses) forget(s *sub) {
	if w := t.watched[s.want.tx]; w != nil && s.want.kind == transactionStatus {
		if delete(w.subs, s); len(w.subs) == 0 {
			delete(t.watched, w.hash)
		}
	}
}

// lookStatuses asks for transactions at every block, and now and then for those that
// are in none.
func (h *hub) lookStatuses() {
	round := statusRound{}
	again := time.NewTimer(time.Hour)
	again.Stop()
	defer again.Stop()
	for {
		select {
		case <-h.status.wake:
		case <-again.C:
		case <-h.ctx.Done():
			return
		}
		h.askStatuses(&round)
		again.Stop()
		if h.impatient() {
			again.Reset(h.srv.limits.StatusPoll)
		}
	}
}

// statusRound is what the last round knew.
type statusRound struct {
	heads, reorgs int
	l1            uint64 // the newest block that is accepted on L1
}

// impatient says whether a transaction has to be asked for before the next block.
func (h *hub) impatient() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.status.watched {
		if w.due || ranks[w.status.Finality] < inBlock && time.Since(w.since) < statusPatience {
			return true
		}
	}
	return false
}

func (h *hub) askStatuses(r *statusRound) {
	h.mu.Lock()
	heads, reorgs := h.status.heads, h.status.reorgs
	accepted := false
	for _, w := range h.status.watched {
		accepted = accepted || ranks[w.status.Finality] == inBlock
	}
	h.mu.Unlock()
	forked := reorgs != r.reorgs
	// A transaction in a block changes only when the chain forks or L1 gets further,
	// and one question tells that for all of them.
	moved := forked || accepted && heads != r.heads && h.l1Moved(&r.l1)
	r.heads, r.reorgs = heads, reorgs
	h.mu.Lock()
	var ask []*watch
	for _, w := range h.status.watched {
		rank := ranks[w.status.Finality]
		if w.due || rank < inBlock || rank == inBlock && moved {
			w.due = true // until it was answered
			ask = append(ask, w)
		}
	}
	h.mu.Unlock()
	var wait sync.WaitGroup
	slots := make(chan struct{}, statusReads)
	for _, w := range ask {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			text, code, err := h.fetch(h.ctx, "starknet_getTransactionStatus", `{"transaction_hash":"`+w.hash.String()+`"}`, nil)
			if err == nil {
				h.heardStatus(w, text, code, reorgs)
			}
		})
	}
	wait.Wait()
}

// l1Moved says whether more blocks are accepted on L1 than were. 0.8 has no name for
// the newest of them.
func (h *hub) l1Moved(last *uint64) bool {
	if h.version == starknet.V08 {
		return true
	}
	b, err := h.readBy(h.ctx, `"l1_accepted"`, nil, headerOnly)
	if err != nil || !b.known.number {
		return true
	}
	moved := b.number != *last
	*last = b.number
	return moved
}

// heardStatus tells of a status that changed. reorgs is how many forks there had been when
// it was asked for: one that came meanwhile may take the answer back.
func (h *hub) heardStatus(w *watch, text json.RawMessage, code, reorgs int) {
	var now status
	if code == 0 && json.Unmarshal(text, &now) != nil || code != 0 && code != codeTxNotFound {
		return // asked again
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	w.due = false
	forked := w.reorgs != reorgs
	back := ranks[now.Finality] < ranks[w.status.Finality]
	if code != 0 || now == w.status || back && !forked {
		// Where it is not known there is nothing to tell; after a fork it may come
		// again as what it was.
		if code != 0 && forked && w.text != nil {
			w.status, w.text, w.reorgs, w.since = status{}, nil, reorgs, time.Now()
		}
		return
	}
	w.status, w.reorgs = now, reorgs
	out := append(w.hash.AppendHex([]byte(`{"transaction_hash":"`)), `","status":`...)
	w.text = append(append(out, text...), '}')
	for s := range w.subs {
		if s.begun {
			s.notify(s.push, [][]byte{w.text})
		}
	}
}
