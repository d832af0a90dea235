package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/gateway/wire"
	"chainexplorer/internal/kernel"
)

const (
	// zipFrom is the size from which an answer is compressed for who takes it so: below,
	// what it costs is more than what it saves.
	zipFrom = 16 << 10
	// splitFrom is the size from which a result is written by itself, and not copied
	// together with what stands around it: below, the further write costs more.
	splitFrom = 32 << 10
)

// serveHTTP answers a request or a batch. What the body is said to be does not matter:
// nodes do not look, curl says it is a form, and no credentials of a browser count here
// that another page could make use of.
func (g *Gateway) serveHTTP(w http.ResponseWriter, r *http.Request) {
	v, e := g.visit(r)
	if e != nil {
		w.Header().Set("Connection", "close") // the body was not read
		g.sendSpent(w, r, e)
		return
	}
	give, ok := g.room.take(v.caller.KeyID, bodySize(r))
	if !ok {
		w.Header().Set("Connection", "close")
		g.sendSpent(w, r, saturated("Too many large requests are being read."))
		return
	}
	defer give()
	body, refused := g.ReadBody(w, r, maxBody, &watcher{})
	if refused != nil {
		e := translate(refused)
		if errors.Is(refused, errTooManyCalls) {
			e = wire.TooManyItems()
		}
		g.sendSpent(w, r, e)
		return
	}
	calls, batch, e := wire.Parse(body)
	switch {
	case e != nil:
		g.sendSpent(w, r, e)
	case batch:
		g.serveBatch(w, r, v, calls)
	default:
		g.serveOne(w, r, v, &calls[0])
	}
}

// visit finds the chain and the version that a request is about.
func (g *Gateway) visit(r *http.Request) (*visit, *wire.Error) {
	req := kernel.RequestOf(r.Context())
	id := r.PathValue("chain")
	c := g.chains[id]
	if c == nil {
		return nil, fail(wire.UnsupportedChain, "The chain %q is not served here; %s.", kernel.Clip(id, 40), servedText(g.order))
	}
	pinned, ok := versionOf(r.PathValue("version"))
	if !ok {
		e := fail(wire.UnsupportedSpecVersion, "There is no version %q of the specification here.", kernel.Clip(r.PathValue("version"), 20))
		e.Versions = names(method.Versions())
		return nil, e
	}
	version, e := c.speak(pinned)
	if e != nil {
		return nil, e
	}
	return &visit{request: req, caller: req.Caller, requestID: req.ID, chain: c, version: version}, nil
}

// bodySize is how much memory a body may take.
func bodySize(r *http.Request) int64 {
	if r.ContentLength < 0 || r.Header.Get("Content-Encoding") != "" {
		return maxBody
	}
	return min(r.ContentLength, maxBody)
}

// watcher refuses a batch with too many calls while it arrives.
type watcher struct{ wire.Counter }

var errTooManyCalls = errors.New("too many calls")

func (w *watcher) Write(b []byte) (int, error) {
	n, _ := w.Counter.Write(b) // it never fails
	if w.Exceeded() {
		return n, &kernel.Error{Code: kernel.CodeInvalidRequest, Cause: errTooManyCalls}
	}
	return n, nil
}

// serveOne answers a single call.
func (g *Gateway) serveOne(w http.ResponseWriter, r *http.Request, v *visit, c *wire.Call) {
	v.request.Itemize()
	out := g.one(r.Context(), v, c)
	defer out.free()
	h := w.Header()
	if out.class != "" {
		h.Set(kernel.HeaderRPCClass, string(out.class))
	}
	kernel.TellBudget(h, *out.budget, kernel.Class(budgetOf(out.class)))
	status := http.StatusOK
	if f := out.fault; f != nil {
		g.logFault(v, c, f)
		status = statusOf(f)
		setRetry(h, f)
		if f.Scope != "" {
			h.Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="service", error="insufficient_scope", scope="%s"`, f.Scope))
		}
	}
	if c.Notification() {
		g.tell(v, c, &out)
		h["Cache-Control"] = notShared
		w.WriteHeader(http.StatusNoContent)
		return
	}
	give, ok := g.hold(v, &out, c)
	defer give()
	g.tell(v, c, &out)
	if !ok {
		status = http.StatusServiceUnavailable
		setRetry(h, out.fault)
	}
	if value := max(len(out.result), len(out.failure)); value >= splitFrom && out.fault == nil && !kernel.AcceptsGzip(r.Header) {
		sendParts(w, status, c.ID, &out)
		return
	}
	send(w, r, status, out.appendTo(make([]byte, 0, out.size(c.ID)+256), c.ID, v.requestID))
}

// sendParts writes a long answer without putting it together first.
func sendParts(w http.ResponseWriter, status int, id json.RawMessage, out *outcome) {
	value, failed := out.result, out.failure != nil
	if failed {
		value = out.failure
	}
	before, after := wire.Frame(id, failed)
	h := w.Header()
	h["Content-Type"], h["Cache-Control"] = typeJSON, notShared
	h["Content-Length"] = []string{strconv.Itoa(len(before) + len(value) + len(after))}
	w.WriteHeader(status)
	w.Write(before)          //nolint:errcheck // the client went away
	w.Write(value)           //nolint:errcheck // as above
	io.WriteString(w, after) //nolint:errcheck // as above
}

// Values of headers, which nobody changes.
var (
	typeJSON  = []string{kernel.JSONType}
	notShared = []string{"private, no-store"}
)

// maxSingle is no bound besides the method's own.
const maxSingle = 1 << 62

func budgetOf(c method.Class) string {
	if c == "" {
		c = method.ReadLight
	}
	return c.Budget()
}

// hold moves an answer from the nodes' memory to the caller's own, which it has until
// it is sent: a caller that reads slowly is in nobody's way but its own.
func (g *Gateway) hold(v *visit, out *outcome, c *wire.Call) (give func(), ok bool) {
	give, ok = g.room.take(v.caller.KeyID, int64(out.size(c.ID)))
	if !ok {
		out.refuse(noRoom())
		return func() {}, false
	}
	out.free()
	return give, true
}

func noRoom() *wire.Error {
	return saturated("The key has as many large answers in memory as it may have at once.")
}

func (g *Gateway) logFault(v *visit, c *wire.Call, e *wire.Error) {
	if e.Cause != nil {
		g.Log.Warn("rpc call failed", "request_id", v.requestID, "method", kernel.Clip(c.Method, 60), "code", e.Name, "err", e.Cause)
	}
}

// serveBatch answers a batch: each call on its own, in the order of the batch.
func (g *Gateway) serveBatch(w http.ResponseWriter, r *http.Request, v *visit, calls []wire.Call) {
	give, ok := g.room.take(v.caller.KeyID, batchSize(calls))
	if !ok {
		g.sendSpent(w, r, noRoom())
		return
	}
	defer give()
	v.request.Itemize()
	body, classes, tightest := g.runBatch(r.Context(), v, calls)
	kernel.TellBudget(w.Header(), *tightest.budget, kernel.Class(budgetOf(tightest.class)))
	if len(classes) > 0 {
		w.Header().Set(kernel.HeaderRPCClass, strings.Join(classes, ", "))
	}
	setRetry(w.Header(), &wire.Error{RetryAfter: tightest.retry})
	if body == nil { // nothing but notifications
		w.Header()["Cache-Control"] = notShared
		w.WriteHeader(http.StatusNoContent)
		return
	}
	send(w, r, http.StatusOK, body)
}

// batchSize is how much memory the answers of a batch may take: what its methods can
// answer with, and no more than those of a batch may take together.
func batchSize(calls []wire.Call) (size int64) {
	for i := range calls {
		size += int64(len(calls[i].ID)) + smallAnswer
		if m := method.Lookup(calls[i].Method); m != nil {
			size += m.MaxAnswer
		}
		if size > maxBatchAnswer {
			return maxBatchAnswer
		}
	}
	return size
}

// smallAnswer is more than an answer has beside its result, and than one without any.
const smallAnswer = 1 << 10

// tightest is what the answer to a batch tells of its budgets: the one with the least
// left, and how long to wait until what was refused can be asked for once more.
type tightest struct {
	class  method.Class
	budget *kernel.Verdict
	retry  int // in seconds; 0: nothing was refused for now
}

func (t *tightest) add(out *outcome) {
	if b := out.budget; t.budget == nil || b.Remaining < t.budget.Remaining {
		t.class, t.budget = out.class, b
	}
	if out.fault != nil {
		t.retry = max(t.retry, out.fault.RetryAfter)
	}
}

// runBatch answers the calls of a batch; nil when nobody waits for an answer. They are
// paid for in their order, so that where the budget ends the first ones are answered.
// Writes are sent one after the other, in their order: one may build on the one before.
func (g *Gateway) runBatch(ctx context.Context, v *visit, calls []wire.Call) (body []byte, classes []string, least tightest) {
	outs := make([]outcome, len(calls))
	tab := g.NewTab(v.caller)
	for i := range calls {
		outs[i] = g.pay(ctx, tab, &calls[i])
	}
	sum := &batchSum{left: maxBatchAnswer - 2}
	for i := range calls { // every call is answered, if only with a failure
		sum.left -= len(calls[i].ID) + failureBytes
	}
	run := func(i int) {
		g.run(ctx, v, &calls[i], sum.room(), &outs[i])
		outs[i] = sum.add(outs[i], &calls[i])
	}
	slots := make(chan struct{}, g.batchAtOnce)
	var work sync.WaitGroup
	var writes []int
	for i := range calls {
		if m := method.Lookup(calls[i].Method); m != nil && m.Class == method.Write {
			writes = append(writes, i)
			continue
		}
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			run(i)
		})
	}
	for _, i := range writes {
		run(i)
	}
	work.Wait()
	for i := range outs {
		out, c := &outs[i], &calls[i]
		if out.fault != nil {
			g.logFault(v, c, out.fault)
		}
		least.add(out)
		if !slices.Contains(classes, string(out.class)) && out.class != "" {
			classes = append(classes, string(out.class))
		}
		g.tell(v, c, out)
		if c.Notification() {
			out.free()
			continue
		}
		sep := byte(',')
		if body == nil {
			body, sep = make([]byte, 0, min(maxBatchAnswer-sum.left, maxBatchAnswer)), '['
		}
		body = outs[i].appendTo(append(body, sep), calls[i].ID, v.requestID)
		outs[i].free()
	}
	if body != nil {
		body = append(body, ']')
	}
	return body, classes, least
}

// failureBytes is more than a failure of the gateway takes.
const failureBytes = 1 << 10

// batchSum bounds the answers of a batch while they come in: what does not fit is let
// go at once, so that it takes no memory from others.
type batchSum struct {
	mu   sync.Mutex
	left int
}

// room is how large one more answer can be. There is always room for a failure, and
// for what a write says, which must not be lost.
func (b *batchSum) room() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return int64(max(b.left, smallBytes))
}

func (b *batchSum) add(out outcome, c *wire.Call) outcome {
	if c.Notification() || out.fault != nil {
		return out
	}
	size := max(out.size(nil)+1-failureBytes, 0) // the id and a failure have their room
	b.mu.Lock()
	defer b.mu.Unlock()
	if size > b.left && out.class != method.Write {
		out.refuse(batchTooLarge())
		return out
	}
	b.left -= size
	return out
}

// send writes an answer, which is the caller's alone.
func send(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	h["Content-Type"], h["Cache-Control"] = typeJSON, notShared
	if len(body) >= zipFrom && kernel.AcceptsGzip(r.Header) {
		if zipped := kernel.Zip(body); zipped != nil {
			body = zipped
			h.Set("Content-Encoding", "gzip")
		}
		h.Add("Vary", "Accept-Encoding")
	}
	kernel.Send(w, r, status, body)
}
