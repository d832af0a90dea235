package stream

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/feed"
	"chainexplorer/internal/kernel"
)

// session is one stream.
type session struct {
	srv    *Server
	chain  *watched
	filter feed.Filter
	once   bool
	w      http.ResponseWriter
	rc     *http.ResponseController

	mark feed.Mark // where it is
	said block.Ref // the block of the id that the client has
	// told are the blocks of which this stream told something, oldest first.
	told []block.Ref
	// began is the block behind which it began, if it has not come from an id: as long as that is of
	// the chain, nothing goes back behind it.
	began block.Ref
}

// begin finds where the stream starts.
func (t *session) begin(ctx context.Context, in *wish) *kernel.Error {
	err := t.srv.read(ctx, func(ctx context.Context) error {
		switch {
		case in.id != "":
			return t.resume(ctx, in)
		case in.from != nil:
			return t.past(ctx, *in.from)
		}
		at, err := t.chain.reader.Now(ctx)
		if err != nil {
			return err
		}
		return t.start(ctx, at)
	})
	var e *kernel.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, feed.ErrEmpty):
		return kernel.RetryLater(5, nil, "The index of %s has no block yet; it is being built.", t.chain.reader.Chain)
	case errors.Is(err, feed.ErrForked):
		return kernel.RetryLater(1, err, "The chain is forking; try again.")
	}
	return kernel.RetryLater(2, err, "The index cannot be read right now; try again.")
}

// past starts at a block.
func (t *session) past(ctx context.Context, number uint64) error {
	at, err := t.chain.reader.Before(ctx, number)
	if errors.Is(err, feed.ErrAhead) {
		return kernel.Because(kernel.ReasonBlockNotFound, "query.from_block: block %d is not indexed yet, and not the next either.", number)
	}
	if err != nil {
		return err
	}
	now, err := t.chain.reader.Now(ctx)
	if err != nil {
		return err
	}
	if number+MaxBack < now.Number {
		return kernel.Fail(kernel.CodeInvalidRequest, "query.from_block: a stream begins at most %d blocks below the newest, which is %d. Read what is older from the list of the same rows.", MaxBack, now.Number)
	}
	return t.start(ctx, at)
}

// start begins behind a place. Its client may have read everything up to there from a list,
// so that a fork below takes back something, though the stream itself told nothing of it.
func (t *session) start(ctx context.Context, at feed.Place) (err error) {
	if t.mark, err = t.chain.mark(ctx, at); err == nil && !at.Start() {
		t.mark.Sent, t.began = at.Number+1, at.Ref
	}
	return err
}

// resume starts behind a message that was heard.
func (t *session) resume(ctx context.Context, in *wish) error {
	if err := t.mark.UnmarshalText([]byte(in.id)); err != nil {
		return kernel.Fail(kernel.CodeInvalidCursor, "%s: it is not the id of a message of a stream.", in.by)
	}
	now, err := t.chain.reader.Now(ctx)
	if err != nil {
		return err
	}
	if t.filter.Kind == feed.Finality || t.filter.Kind == feed.Forks {
		now.Finalized, now.L1, now.ForkCount = t.mark.Finalized, t.mark.L1, t.mark.ForkCount
		t.mark, err = t.chain.mark(ctx, now)
		return err
	}
	at, err := t.chain.reader.Ancestor(ctx, t.mark)
	if errors.Is(err, feed.ErrForked) {
		return kernel.Because(kernel.ReasonStreamPlace, "%s: no block that it knows is of %s any more. Open the stream without it, and read what was missed from the list of the same rows.", in.by, t.chain.reader.Chain)
	}
	if err == nil && at.Number+MaxBack < now.Number {
		return kernel.Because(kernel.ReasonStreamPlace, "%s: it is more than %d blocks below the newest, which is %d. Read the list of the same rows from block %d on, and open the stream with from_block.", in.by, MaxBack, now.Number, at.Number+1)
	}
	return err
}

// end is why a stream was ended by the service.
type end struct{ code, message string }

var (
	endShutdown = &end{"shutdown", "The service stops or is replaced. Come back with the last id."}
	endLifetime = &end{"lifetime", "The stream has been open for as long as a stream may be. Come back with the last id."}
	endKey      = &end{"key_invalid", "The key is not valid any more."}
	endGone     = &end{"stream_place_gone", "A fork is deeper than this stream can tell. Open a new one without an id, and read what was missed from the list of the same rows."}
	endIndex    = &end{"service_unavailable", "The index cannot be read. Come back with the last id."}
	endDone     = &end{"done", "There is nothing more, and the request did not want to wait."}
)

// errSent says that the client does not take what is sent.
var errSent = errors.New("the client is gone")

// run tells until somebody goes.
func (t *session) run(ctx context.Context, key *kernel.HeldKey) {
	leave := t.chain.live.Join()
	defer leave()
	// With an id from the beginning whoever is cut off before the first message misses nothing.
	if t.send("retry: 3000\nid: "+t.mark.String()+"\n\n") != nil {
		return
	}
	t.said = t.mark.Ref
	beat := time.NewTicker(t.srv.o.Heartbeat)
	defer beat.Stop()
	over := time.NewTimer(t.srv.o.Lifetime)
	defer over.Stop()
	failed := 0
	for {
		state, changed := t.chain.live.Now() // before the read, which may see more
		var head uint64
		if state != nil {
			head = state.Newest().Number
		}
		at := t.mark.Place
		err := t.step(ctx)
		var wait <-chan time.Time
		switch {
		case errors.Is(err, errSent), ctx.Err() != nil:
			return
		case errors.Is(err, errDeep):
			t.bye(endGone)
			return
		case err != nil:
			if failed++; failed == 1 {
				t.srv.Log.Warn("a stream cannot read the index", "chain", t.chain.reader.Chain, "err", err)
			}
			if failed > tries {
				t.bye(endIndex)
				return
			}
			wait, changed = time.After(retryAfter), nil
		default:
			failed = 0
			moved := at.Ref != t.mark.Ref || at.Part != t.mark.Part
			if moved && (t.once || state == nil || t.mark.Part > 0 || t.mark.Number < head) {
				wait = now
			} else if t.once {
				t.bye(endDone)
				return
			}
		}
		if why, gone := t.wait(ctx, key, changed, wait, beat.C, over.C); gone {
			if why != nil {
				t.bye(why)
			}
			return
		}
	}
}

// now is a time that has come.
var now = func() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}()

// wait returns when there may be something to tell, or with why the stream ends, nil where
// the client has gone.
func (t *session) wait(ctx context.Context, key *kernel.HeldKey, changed <-chan struct{}, due, beat, over <-chan time.Time) (*end, bool) {
	for {
		select { // an end comes first, also for a stream that always has something to tell
		case <-ctx.Done():
			return nil, true
		case <-t.srv.hub.Done():
			return endShutdown, true
		case <-key.Ended():
			return endKey, true
		case <-over:
			return endLifetime, true
		default:
		}
		select {
		case <-changed:
			return nil, false
		case <-due:
			return nil, false
		case <-beat:
			if t.beat() != nil {
				return nil, true
			}
			continue
		case <-ctx.Done():
		case <-t.srv.hub.Done():
		case <-key.Ended():
		case <-over:
			return endLifetime, true
		}
	}
}

// errDeep says that the stream cannot find back to the chain.
var errDeep = errors.New("the fork is too deep for this stream")

// step reads once and tells what it found.
func (t *session) step(ctx context.Context) error {
	var parts []feed.Block
	var to feed.Place
	err := t.srv.read(ctx, func(ctx context.Context) (err error) {
		parts, to, err = t.chain.reader.Read(ctx, t.filter, t.mark.Place, span, most)
		return err
	})
	if err == nil {
		err = t.tell(ctx, parts, to)
	}
	switch {
	case !errors.Is(err, feed.ErrForked):
		return err
	case t.filter.Kind == feed.Finality || t.filter.Kind == feed.Forks:
		return nil // they are of no block: the next read tells what holds then
	}
	return t.back(ctx)
}

// tell sends what a read found, and moves on. What was not sent when a fork comes between
// never was.
func (t *session) tell(ctx context.Context, parts []feed.Block, to feed.Place) error {
	for i := range parts {
		b := &parts[i]
		m, err := t.chain.mark(ctx, b.Place)
		if err != nil {
			return err
		}
		m.Sent = b.Number + 1
		if err := t.send(partMessage(t.chain.reader.Chain, string(t.filter.Kind), m.String(), b)); err != nil {
			return err
		}
		t.mark, t.said = m, m.Ref
		if n := len(t.told); n == 0 || t.told[n-1] != b.Ref() {
			t.told = append(t.told, b.Ref())
		}
		if len(t.told) > 2*remembered {
			t.told = slices.Clone(t.told[len(t.told)-remembered:])
		}
	}
	m, err := t.chain.mark(ctx, to)
	if err != nil {
		return err
	}
	m.Sent = t.mark.Sent
	t.mark = m
	return nil
}

// back goes back to a block that is of the chain, and takes back what was told of later ones.
func (t *session) back(ctx context.Context) error {
	var m feed.Mark
	err := t.srv.read(ctx, func(ctx context.Context) error {
		at, err := t.chain.reader.Ancestor(ctx, t.mark, append(t.told[:len(t.told):len(t.told)], t.began)...)
		if errors.Is(err, feed.ErrForked) {
			return errDeep
		}
		if err == nil {
			m, err = t.chain.mark(ctx, at)
		}
		return err
	})
	if errors.Is(err, feed.ErrForked) {
		return nil // again, while the blocks were looked at: the next read finds out
	}
	if err != nil {
		return err
	}
	keep := slices.IndexFunc(t.told, func(b block.Ref) bool { return b.Number > m.Number })
	var gone []block.Ref
	if keep >= 0 {
		gone, t.told = slices.Clone(t.told[keep:]), t.told[:keep]
	}
	slices.Reverse(gone)
	m.Sent = min(t.mark.Sent, m.Number+1)
	if t.mark.Sent > m.Sent {
		if err := t.send(retractedMessage(t.chain.reader.Chain, m.String(), m.Ref, gone)); err != nil {
			return err
		}
		t.said = m.Ref
	}
	t.mark = m
	return nil
}

// beat says that the stream lives, and from where to go on if it has come further without
// anything to tell.
func (t *session) beat() error {
	text := ":\n\n"
	if t.said != t.mark.Ref && t.mark.Part == 0 {
		text, t.said = ":\nid: "+t.mark.String()+"\n\n", t.mark.Ref
	}
	return t.send(text)
}

// bye tells why the stream ends.
func (t *session) bye(why *end) {
	t.send(endMessage(t.chain.reader.Chain, t.mark.String(), why)) //nolint:errcheck // it ends anyway
}

// pause is how long a client waits before it comes back, in milliseconds. Those who are sent
// away together must not come back together.
func pause() string { return strconv.Itoa(1000 + rand.IntN(4000)) }

func (t *session) send(text string) error {
	t.rc.SetWriteDeadline(time.Now().Add(t.srv.o.SendTime)) //nolint:errcheck // the connection has a bound of its own
	if _, err := t.w.Write([]byte(text)); err != nil {
		return errSent
	}
	if t.rc.Flush() != nil {
		return errSent
	}
	return nil
}
