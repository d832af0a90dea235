package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/feed"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/webhook"
)

// sub is a subscription in memory.
type sub struct {
	id string
	own

	// What follows belongs to the goroutine of the step, busy or not, but for again, which
	// says that somebody changed it, and err, which is of the goroutine that had it.
	busy, sends, queued, gone bool
	as                        standing // while it sends
	notYet                    time.Time
	again                     atomic.Bool
	err                       error
}

func newSub(id string, t trust) *sub { return &sub{id: id, own: own{stale: true, trust: t}} }

// own is what belongs to one goroutine while a subscription is busy, and otherwise to that of
// the step.
type own struct {
	webhook.Work
	filter feed.Filter
	body   string // of the message under way, while it is at hand

	// place is how far was looked, which may be further than the database says, and parts,
	// skip and first are as in webhook.Position.
	place              feed.Place
	skip, parts, first int64
	dirty              bool // the database does not know the place
	ready              []feed.Block
	readForks          uint64           // when ready was read
	checked            bool             // what was sent was held against the chain
	checkedForks       uint64           // with so many forks
	delivered          *webhook.Message // taken by the receiver, which the database does not know

	stale bool // has to be read from the database
	more  bool // there may be more to look at
	seen  *feed.State
	trust
}

// The bounds of one look.
const (
	span     = 2_000 // blocks
	most     = 200   // items
	readings = 8     // before others have their turn
	oneTurn  = 16    // messages
)

// longLedger is how many blocks are kept that may be taken back where L1 tells nothing.
const longLedger = 50_000

// load reads the subscription as it is in the database.
func (j *Job) load(ctx context.Context, s *sub) error {
	w, err := j.Webhooks.Load(ctx, s.id)
	if err != nil {
		return err
	}
	f, err := feed.Parse([]byte(w.Filter))
	if err != nil {
		return fmt.Errorf("the filter of webhook %s: %w", s.id, err)
	}
	var at feed.Place
	if err := json.Unmarshal([]byte(w.Position.Place), &at); err != nil {
		return fmt.Errorf("the place of webhook %s: %w", s.id, err)
	}
	p := w.Position
	s.own = own{Work: w, filter: f, place: at, skip: p.Skip, parts: p.Parts, first: p.First, trust: s.after(w, j)}
	return nil
}

// PositionOf is a place as it is stored.
func PositionOf(at feed.Place) (webhook.Position, error) {
	text, err := json.Marshal(at)
	if err != nil {
		return webhook.Position{}, fmt.Errorf("write a place: %w", err)
	}
	p := webhook.Position{Number: int64(at.Number), Hash: at.Hash.String(), Place: string(text)}
	if at.Ref == (block.Ref{}) {
		p.Number, p.Hash = -1, ""
	}
	return p, nil
}

// look finds the next message of a subscription that has none under way, and puts it into
// the database along with that the one before was delivered.
func (j *Job) look(ctx context.Context, s *sub) error {
	if s.stale {
		if err := j.noteDelivery(ctx, s); err != nil {
			return err
		}
		if err := j.load(ctx, s); err != nil {
			return err
		}
	}
	s.more = false
	if s.Message != nil {
		return nil
	}
	err := j.find(ctx, s)
	if errors.Is(err, webhook.ErrLost) {
		s.stale = true
		return nil
	}
	if err == nil && s.Message == nil && !s.stale {
		err = j.noteDelivery(ctx, s)
	}
	return err
}

// noteDelivery says that a message was taken, when nothing follows it yet.
func (j *Job) noteDelivery(ctx context.Context, s *sub) error {
	if s.delivered == nil {
		return nil
	}
	err := j.Webhooks.Delivered(ctx, s.id, s.delivered)
	if err != nil && !errors.Is(err, webhook.ErrLost) {
		return err
	}
	now := j.Webhooks.Now()
	s.delivered, s.DeadInRow, s.DeliveredAt = nil, 0, &now
	return nil
}

func (j *Job) find(ctx context.Context, s *sub) error {
	st := j.state.Load()
	if st == nil {
		return nil // there is no chain yet
	}
	s.seen = st
	tells := s.filter.Kind == feed.Finality || s.filter.Kind == feed.Forks // of what no fork takes back
	if !tells && (!s.checked || s.checkedForks != st.Forks) {
		if err := j.check(ctx, s, st); err != nil || s.Message != nil || s.stale {
			return err
		}
	}
	switch {
	case s.Tests > 0:
		m, err := j.message(s, "test", content{})
		if err != nil {
			return err
		}
		return j.put(ctx, s, webhook.Step{Next: m, Tested: true, FinalNumber: -1})
	case s.Wanted > 0:
		m, err := j.Webhooks.Letter(ctx, s.id, s.Wanted)
		if errors.Is(err, webhook.ErrNoLetter) {
			err = webhook.ErrLost // too old by now
		}
		if err != nil {
			return err
		}
		s.Wanted = 0
		return j.put(ctx, s, webhook.Step{Next: m, Redelivered: true, FinalNumber: -1})
	}
	for range readings {
		if len(s.ready) > 0 && (tells || s.readForks == st.Forks) {
			return j.tell(ctx, s, st, !tells)
		}
		found, to, err := j.Feed.Read(ctx, s.filter, s.place, span, most)
		if errors.Is(err, feed.ErrForked) { // since the state was read
			s.checked, s.more = false, true
			return nil
		} else if err != nil {
			return err
		}
		for len(found) > 0 && !tells && int64(found[0].Number) < s.FromNumber {
			found = found[1:]
		}
		if s.ready, s.readForks = found, st.Forks; len(found) > 0 {
			continue
		}
		done := to.Number >= st.Head.Number || to == s.place
		if to != s.place {
			s.place, s.skip, s.parts, s.first, s.dirty = to, 0, 0, 0, true
		}
		if done {
			return nil
		}
	}
	s.more = true
	return nil
}

// tell makes a message of the next part.
func (j *Job) tell(ctx context.Context, s *sub, st *feed.State, retractable bool) error {
	b := s.ready[0]
	skip := min(int(s.skip), len(b.Items))
	items := b.Items[skip:]
	n, size := 0, 0
	for n < len(items) && (n == 0 || size+len(items[n]) < j.PartBytes) {
		size += len(items[n]) + 1
		n++
	}
	whole := n == len(items)
	at := s.place
	next := webhook.Position{Skip: s.skip + int64(n), Parts: s.parts + 1, First: s.first}
	if next.First == 0 || s.parts == 0 {
		next.First = s.Sequence + 1
	}
	first := next.First
	if whole {
		at, next.Skip = b.Place, 0
		if b.Last {
			next.Parts, next.First = 0, 0
		}
	}
	p, err := PositionOf(at)
	if err != nil {
		return err
	}
	next.Number, next.Hash, next.Place = p.Number, p.Hash, p.Place
	c := content{Block: &about{Number: b.Number, Hash: b.Hash, Timestamp: iso(b.Timestamp)}, Items: items[:n], Part: s.parts + 1, Last: ptr(whole && b.Last)}
	m, err := j.message(s, string(s.filter.Kind), c)
	if err != nil {
		return err
	}
	step := webhook.Step{Next: m, Position: &next, FinalNumber: -1}
	if retractable {
		j.ledger(ctx, &step, s, st, &b, first)
	}
	if err := j.put(ctx, s, step); err != nil {
		return err
	}
	s.place, s.skip, s.parts, s.first, s.dirty = at, next.Skip, next.Parts, next.First, false
	if whole {
		s.ready = s.ready[1:]
	}
	return nil
}

// ledger says what is to be known of a block that may still be taken back. Of one that L1
// has accepted nothing is: from there on nothing below it is, either.
func (j *Job) ledger(ctx context.Context, step *webhook.Step, s *sub, st *feed.State, b *feed.Block, first int64) {
	final := st.L1
	if final == nil && st.Head.Number > longLedger {
		if ref, found, err := j.Feed.At(ctx, st.Head.Number-longLedger); err == nil && found {
			final = &ref
		}
	}
	if final != nil && b.Number <= final.Number {
		step.FinalNumber, step.FinalHash = int64(b.Number), b.Hash.String()
		return
	}
	step.Sent = &webhook.Entry{Number: int64(b.Number), Hash: b.Hash.String(), First: first, Last: step.Next.Sequence}
	if final != nil && int64(final.Number) > s.FinalNumber && int64(final.Number) >= s.FromNumber {
		step.FinalNumber, step.FinalHash = int64(final.Number), final.Hash.String()
	}
}

// put writes a message that is under way from then on.
func (j *Job) put(ctx context.Context, s *sub, step webhook.Step) error {
	step.Delivered = s.delivered
	if step.Position == nil {
		p, err := PositionOf(s.place)
		if err != nil {
			return err
		}
		p.Skip, p.Parts, p.First = s.skip, s.parts, s.first
		step.Position = &p
	}
	if err := j.Webhooks.Do(ctx, s.Subscription, step); err != nil {
		return err
	}
	s.delivered, s.Message, s.body, s.dirty = nil, step.Next, step.Next.Body, false
	s.Message.Body = ""
	if step.Redelivered {
		s.again.Store(true) // another may be wanted
	}
	return nil
}

// check holds what was sent against the chain. A block that is gone is taken back, the newest
// first, one message at a time; when all are, the place goes back to one that is still there.
func (j *Job) check(ctx context.Context, s *sub, st *feed.State) error {
	s.ready = nil
	last, err := j.Webhooks.Sent(ctx, s.id, 1)
	if err != nil {
		return err
	}
	if len(last) == 1 {
		holds, err := j.holds(ctx, last[0].Number, last[0].Hash)
		if err != nil {
			return err
		}
		if !holds {
			return j.retract(ctx, s, &last[0])
		}
	}
	holds := s.place.Ref == (block.Ref{})
	if !holds {
		if holds, err = j.Feed.Holds(ctx, s.place.Ref); err != nil {
			return err
		}
	}
	if !holds {
		at, err := j.back(ctx, s, st)
		if err != nil || s.stale {
			return err
		}
		s.place, s.skip, s.parts, s.first, s.dirty = at, 0, 0, 0, true
	}
	s.checked, s.checkedForks = true, st.Forks
	return nil
}

func (j *Job) holds(ctx context.Context, number int64, hash string) (bool, error) {
	h, err := felt.Parse(hash)
	if err != nil {
		return false, fmt.Errorf("the hash of block %d: %w", number, err)
	}
	return j.Feed.Holds(ctx, block.Ref{Number: uint64(number), Hash: h})
}

func (j *Job) retract(ctx context.Context, s *sub, e *webhook.Entry) error {
	h, err := felt.Parse(e.Hash)
	if err != nil {
		return fmt.Errorf("the hash of block %d: %w", e.Number, err)
	}
	c := content{Block: &about{Number: uint64(e.Number), Hash: h}}
	for n := e.First; n <= e.Last; n++ {
		c.Messages = append(c.Messages, webhook.MessageID(s.id, n))
	}
	m, err := j.message(s, "retracted", c)
	if err != nil {
		return err
	}
	if s.parts > 0 && s.first == e.First { // it was not told to its end: what takes its place begins anew
		s.skip, s.parts, s.first = 0, 0, 0
	}
	return j.put(ctx, s, webhook.Step{Next: m, Retracted: e, FinalNumber: -1})
}

// back is the newest place that is known to be of the chain, and behind which nothing was
// sent that still counts.
func (j *Job) back(ctx context.Context, s *sub, st *feed.State) (feed.Place, error) {
	e, found, err := j.Webhooks.Behind(ctx, s.Subscription, int64(s.place.Number))
	if err != nil {
		return feed.Place{}, err
	}
	if found {
		h, err := felt.Parse(e.Hash)
		return feed.Place{Ref: block.Ref{Number: uint64(e.Number), Hash: h}}, err
	}
	if s.FinalNumber >= 0 {
		holds, err := j.holds(ctx, s.FinalNumber, s.FinalHash)
		if err != nil {
			return feed.Place{}, err
		}
		if !holds { // what was sent of blocks below cannot be taken back: nobody knows of it any more
			s.stale = true
			j.Logger.Warn("a webhook is disabled: blocks that were final were rolled back", "webhook", s.id)
			return feed.Place{}, j.Webhooks.Disable(ctx, s.Subscription, nil, webhook.RolledBack)
		}
		h, err := felt.Parse(s.FinalHash)
		return feed.Place{Ref: block.Ref{Number: uint64(s.FinalNumber), Hash: h}}, err
	}
	if s.FromNumber == 0 {
		return feed.Place{}, nil
	}
	ref, found, err := j.Feed.At(ctx, min(uint64(s.FromNumber)-1, st.Head.Number))
	if err == nil && !found {
		err = feed.ErrForked // it is shorter by now: the next look sees that
	}
	return feed.Place{Ref: ref}, err
}

func same(a, b *feed.State) bool {
	ref := func(x, y *block.Ref) bool { return x == y || x != nil && y != nil && *x == *y }
	return a.Head == b.Head && a.Forks == b.Forks && ref(a.Finalized, b.Finalized) && ref(a.L1, b.L1)
}
