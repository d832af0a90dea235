package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/gateway/upstream"
	"chainexplorer/internal/gateway/wire"
	"chainexplorer/internal/kernel"
)

// refusals are the table of failures, by their names.
var refusals = func() map[string]method.Refusal {
	out := map[string]method.Refusal{}
	for _, r := range method.Refusals() {
		out[r.Name] = r
	}
	return out
}()

// fail is a failure of the table.
func fail(name, format string, args ...any) *wire.Error {
	r, ok := refusals[name]
	if !ok {
		panic("gateway: no failure is called " + name)
	}
	return &wire.Error{Code: r.Code, Name: name, Status: r.Status, Message: account.Hide(fmt.Sprintf(format, args...))}
}

// nodesAway is the hint when no node answers, in seconds.
const nodesAway = 2

// translate puts a failure of the kernel into the words of JSON-RPC.
func translate(e *kernel.Error) *wire.Error {
	name := wire.Internal
	switch e.Code {
	case kernel.CodeConflictingKeys, kernel.CodeMalformedKey:
		name = wire.AuthenticationInvalid
	case kernel.CodeUnauthorized:
		name = wire.AuthenticationRequired
	case kernel.CodeForbidden:
		name = wire.ScopeRequired
	case kernel.CodeRateLimited:
		name = wire.RateLimited
		if e.Reason == kernel.ReasonConcurrency {
			name = wire.LocalSaturation
		}
	case kernel.CodeServiceUnavailable:
		name = wire.LocalSaturation
	case kernel.CodePayloadTooLarge:
		name = wire.PayloadTooLarge
	case kernel.CodeRequestTimeout:
		name = wire.RequestTimeout
	case kernel.CodeUnsupportedMedia:
		name = wire.UnsupportedMedia
	case kernel.CodeInvalidRequest:
		name = wire.InvalidRequest
	}
	out := fail(name, "%s", e.Message)
	out.RetryAfter, out.Cause = e.RetryAfter, e.Cause
	if name == wire.PayloadTooLarge {
		out.MaxBytes = maxBody
	}
	return out
}

// Refuse answers a call that comes before there is a Gateway, and says whether the
// request is one.
func Refuse(w http.ResponseWriter, r *http.Request, e *kernel.Error, requestID string) bool {
	path, _ := cutKey(r.URL.Path)
	parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(path, "/api"), "/"), "/")
	if r.Method != http.MethodPost || len(parts) != 3 || parts[0] != "rpc" && (parts[0] != "v1" || parts[2] != "rpc") {
		return false
	}
	out := translateEarly(e)
	setRetry(w.Header(), out)
	send(w, r, statusOf(out), wire.AppendError(nil, wire.Null, out.Object(requestID)))
	return true
}

// translateEarly is translate of what fails before we are asked: whether the caller may
// ask is not known yet.
func translateEarly(e *kernel.Error) *wire.Error {
	out := translate(e)
	if e.Code == kernel.CodeServiceUnavailable {
		out.Name = wire.AuthorizationAway
	}
	return out
}

// refuse answers for the kernel, before anything of the body is read: nobody knows
// the id yet.
func (g *Gateway) refuse(w http.ResponseWriter, r *http.Request, e *kernel.Error) {
	out := translateEarly(e)
	kernel.Challenge(w.Header(), e, kernel.RecordOf(w).Route)
	g.sendWhole(w, r, out)
}

// sendWhole answers a request that failed as a whole.
func (g *Gateway) sendWhole(w http.ResponseWriter, r *http.Request, e *wire.Error) {
	id := kernel.RecordOf(w).ID
	if e.Cause != nil {
		g.Log.Warn("rpc request failed", "request_id", id, "code", e.Name, "err", e.Cause)
	}
	g.metrics.refused(e.Name)
	setRetry(w.Header(), e)
	send(w, r, statusOf(e), wire.AppendError(nil, wire.Null, e.Object(id)))
}

// sendSpent is sendWhole for what was wrong with a request of a known caller. It costs
// like the cheapest call: being refused must not be the cheap way to keep the gateway
// busy.
func (g *Gateway) sendSpent(w http.ResponseWriter, r *http.Request, e *wire.Error) {
	class := kernel.Class(method.ReadLight.Budget())
	budget, refused := g.Spend(r.Context(), kernel.RecordOf(w).Caller, class, 1)
	if refused != nil {
		e = translate(refused)
		w.Header().Del("WWW-Authenticate") // which is about what it would have been refused for
	}
	kernel.TellBudget(w.Header(), budget, class)
	g.sendWhole(w, r, e)
}

func setRetry(h http.Header, e *wire.Error) {
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
}

func statusOf(e *wire.Error) int {
	if e.Status == 0 {
		return http.StatusOK
	}
	return e.Status
}

func unavailable(cause error, format string, args ...any) *wire.Error {
	e := fail(wire.UpstreamUnavailable, format, args...)
	e.RetryAfter, e.Cause = nodesAway, cause
	return e
}

func saturated(message string) *wire.Error {
	e := fail(wire.LocalSaturation, "%s", message)
	e.RetryAfter = 1
	return e
}

// tooLarge is an answer that is longer than those of its method may be. Asking again
// does not help.
func tooLarge(m *method.Method) *wire.Error {
	e := fail(m.TooLarge, "The result is larger than %d bytes. Ask for less.", m.MaxAnswer)
	e.MaxBytes = m.MaxAnswer
	return e
}

func batchTooLarge() *wire.Error {
	e := fail(wire.BatchResponseTooLarge, "The results of the batch are larger than %d bytes together, and this one did not fit. Ask for it alone.", maxBatchAnswer)
	e.MaxBytes = maxBatchAnswer
	return e
}

// explain says why nobody answered a call.
func explain(m *method.Method, err error) *wire.Error {
	var unknown *upstream.DeliveryUnknownError
	var incomplete *upstream.IncompleteTraceError
	switch {
	case errors.As(err, &unknown):
		e := fail(wire.DeliveryUnknown, "The transaction was handed to a node, and nobody knows whether it arrived. Do not send it again blindly: look for its hash first.")
		e.Cause = err
		if unknown.Hash != nil {
			e.TransactionHash = unknown.Hash.String()
		}
		return e
	case errors.As(err, &incomplete):
		e := fail(wire.TraceIncomplete, "The node's trace lacks what every trace has, and is not passed on.")
		e.Cause = err
		return e
	case errors.Is(err, upstream.ErrTooLarge):
		return tooLarge(m)
	case errors.Is(err, upstream.ErrBusy):
		return saturated("Too many calls wait for a node.")
	case errors.Is(err, context.DeadlineExceeded):
		return unavailable(err, "No node answered in time.")
	case explorer.Unavailable(err):
		return unavailable(err, "The index cannot be read right now.")
	case m.Class == method.Write:
		return unavailable(err, "The transaction was not sent: no node could be reached.")
	}
	return unavailable(err, "No node could answer.")
}
