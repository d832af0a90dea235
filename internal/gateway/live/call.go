package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/gateway/wire"
	"chainexplorer/internal/starknet/jsonscan"
)

// handle answers a message. Its place among the calls at work is free again when the
// answer is on its way: a client that does not read its answers is not asked for more.
func (s *session) handle(body []byte) {
	ctx, done := s.working()
	defer done()
	text, release, begin := s.answer(ctx, body)
	free := func() {
		if release != nil {
			release()
		}
		<-s.calls
	}
	if len(text) == 0 {
		free()
		return
	}
	s.send(item{text: text, size: len(text), done: free})
	// Only now: the client knows a subscription's id before anything comes of it.
	for _, b := range begin {
		b.hub.start(b)
	}
}

// answer answers the calls of a message. Those that are about subscriptions are
// answered here and all others where ordinary calls are.
func (s *session) answer(ctx context.Context, body []byte) (text []byte, release func(), begin []*sub) {
	calls, batch, failed := wire.Parse(body)
	mine := 0
	for i := range calls {
		if stream(&calls[i]) != nil {
			mine++
		}
	}
	if failed != nil || mine == 0 {
		text, release = s.client.Answer(ctx, body)
		return text, release, nil
	}
	if !batch {
		text, b := s.one(ctx, &calls[0])
		if b != nil {
			begin = append(begin, b)
		}
		return text, nil, begin
	}
	var answers [][]byte
	if mine < len(calls) {
		var rest []byte
		rest, release = s.client.Answer(ctx, others(body, calls))
		// A batch of notifications has no answer, and one that failed as a whole has
		// one that is no array.
		if rest = bytes.TrimSpace(rest); len(rest) > 0 && rest[0] == '[' {
			rest = rest[1 : len(rest)-1]
		}
		answers = append(answers, rest)
	}
	for i := range calls {
		if stream(&calls[i]) == nil {
			continue
		}
		text, b := s.one(ctx, &calls[i])
		answers = append(answers, text)
		if b != nil {
			begin = append(begin, b)
		}
	}
	text = []byte{'['}
	for _, a := range answers {
		if len(a) > 0 && len(text) > 1 {
			text = append(text, ',')
		}
		text = append(text, a...)
	}
	if len(text) == 1 {
		return nil, release, begin
	}
	return append(text, ']'), release, begin
}

// stream is the method of a call that is about subscriptions; nil for all others.
func stream(c *wire.Call) *method.Method {
	if c.Invalid != nil {
		return nil
	}
	if m := method.Lookup(c.Method); m != nil && m.Stream() {
		return m
	}
	return nil
}

// others is a batch without the calls that are about subscriptions.
func others(body []byte, calls []wire.Call) []byte {
	out := append(make([]byte, 0, len(body)), '[')
	scan := jsonscan.New(body)
	i := 0
	for more := scan.OpenArray(); more; more = scan.NextElement() {
		text := scan.Raw()
		if stream(&calls[i]) == nil {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, text...)
		}
		i++
	}
	return append(out, ']')
}

// one answers a call about subscriptions. Without an id there is nothing to do: nobody
// would know what a notification belongs to.
func (s *session) one(ctx context.Context, c *wire.Call) ([]byte, *sub) {
	if c.Notification() {
		return nil, nil
	}
	m, start := stream(c), time.Now()
	result, b, err := s.stream(ctx, m, c.Params)
	if s.client.Answered != nil {
		s.client.Answered(m, time.Since(start), err != nil, known(err))
	}
	if err != nil {
		return wire.AppendError(nil, c.ID, s.object(err)), nil
	}
	return wire.AppendResult(nil, c.ID, result), b
}

// specError is an error of the specification.
type specError int

func (e specError) Error() string {
	known, _ := method.ErrorOf(int(e))
	return known.Message
}

func (s *session) object(err error) json.RawMessage {
	var spec specError
	if errors.As(err, &spec) {
		return json.RawMessage(`{"code":` + strconv.Itoa(int(spec)) + `,"message":"` + spec.Error() + `"}`)
	}
	why := known(err)
	if why == errUnread {
		s.srv.log.Debug("a subscription could not be made", "error", err)
	}
	id := ""
	if s.client.RequestID != nil {
		id = s.client.RequestID()
	}
	return why.Object(id)
}

// errUnread is what a client is told of an error that is not meant for it.
var errUnread = soon(refused(wire.UpstreamUnavailable, "The chain cannot be read at the moment."))

// known is the failure that an error is told as; nil when there is none, or when the
// specification has an error for it.
func known(err error) *wire.Error {
	var spec specError
	var failure *wire.Error
	switch {
	case err == nil, errors.As(err, &spec):
		return nil
	case errors.As(err, &failure):
		return failure
	}
	return errUnread
}

func invalidParams(text string) *wire.Error { return refused(wire.InvalidParams, text) }

func saturated(text string) *wire.Error { return soon(refused(wire.LocalSaturation, text)) }

// refused is a failure of the table that HTTP has as well, so that a failure has one
// code and one status wherever it is met.
func refused(name, text string) *wire.Error {
	all := method.Refusals()
	at := slices.IndexFunc(all, func(r method.Refusal) bool { return r.Name == name })
	return &wire.Error{Code: all[at].Code, Name: name, Status: all[at].Status, Message: text}
}

// soon says that the same may work a moment later.
func soon(e *wire.Error) *wire.Error {
	e.RetryAfter = 1
	return e
}

// stream makes or ends a subscription.
func (s *session) stream(ctx context.Context, m *method.Method, params json.RawMessage) (json.RawMessage, *sub, error) {
	v := s.client.Version
	if !m.In(v) {
		return nil, nil, refused(wire.MethodNotFound, m.Name+" is not a method of version "+v.String()+".")
	}
	if s.client.Charge != nil {
		if err := s.client.Charge(ctx, m); err != nil {
			return nil, nil, err
		}
	}
	args, err := m.Bind(params, v)
	if err != nil {
		return nil, nil, invalidParams(err.Error() + ".")
	}
	if m.Name == "starknet_unsubscribe" {
		return s.unsubscribe(args["subscription_id"])
	}
	w, from, err := parseWant(m.Name, args, v)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.srv.limits.Subscribe)
	defer cancel()
	b, err := s.subscribe(ctx, m, w, from)
	if err != nil {
		return nil, nil, err
	}
	return json.RawMessage(`"` + b.id + `"`), b, nil
}

// unsubscribe ends a subscription by its id, which older clients send as a number.
func (s *session) unsubscribe(text json.RawMessage) (json.RawMessage, *sub, error) {
	var id string
	if json.Unmarshal(text, &id) != nil {
		id = string(text)
	}
	b := s.release(id)
	if b == nil {
		return nil, nil, specError(codeInvalidSubscription)
	}
	b.leave()
	return json.RawMessage("true"), nil, nil
}

// subscribe makes a subscription that is yet to be started.
func (s *session) subscribe(ctx context.Context, m *method.Method, w *want, from origin) (_ *sub, err error) {
	h := s.srv.acquire(s.client.Version)
	b := s.reserve(h, w, m.Push)
	if b == nil {
		s.srv.releaseHub(h)
		return nil, saturated("A connection has at most " + strconv.Itoa(s.srv.limits.Subscriptions) + " subscriptions.")
	}
	defer func() {
		if err != nil {
			s.release(b.id)
			b.leave()
		}
	}()
	select {
	case <-h.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if !h.hold(b) {
		return nil, context.Canceled
	}
	if w.kind == transactionStatus {
		h.mu.Lock()
		defer h.mu.Unlock()
		if b.gone || !h.status.join(b, s.srv.limits.Watched) {
			return nil, saturated("Too many transactions are followed at the moment.")
		}
		return b, nil
	}
	if w.facts {
		// Some nodes of the version do not know the flag. Better no subscription than
		// one that leaves out what was asked for.
		_, code, err := h.fetch(ctx, "starknet_getBlockWithReceipts", `{"block_id":"latest","response_flags":["INCLUDE_PROOF_FACTS"]}`, nil)
		switch {
		case err != nil:
			return nil, err
		case code == codeInvalidParams:
			return nil, invalidParams("The nodes behind this endpoint do not know INCLUDE_PROOF_FACTS.")
		}
	}
	next, ahead, err := h.resolve(ctx, w, from)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	b.next, b.ahead = next, ahead
	h.mu.Unlock()
	return b, nil
}
