package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Error is what the service answers instead of a result.
type Error struct {
	// Operation that was called, by the name of the API's document.
	Operation string `json:"-"`
	// Status of the answer.
	Status int `json:"-"`
	// Code names the failure: branch on it. Empty when somebody else answered, such as a
	// proxy.
	Code string `json:"code"`
	// Reason is what the code stands for here, where there is more to tell.
	Reason string `json:"reason"`
	// Message is for people, and may change.
	Message string `json:"message"`
	// DocSlug is the page below /docs/ that explains cause and cure.
	DocSlug string `json:"docSlug"`
	// RequestID is what the operator's log says of this call.
	RequestID string `json:"requestId"`
	// RetryAfter is how long the service asks to wait; zero when it asks nothing.
	RetryAfter time.Duration `json:"-"`
	// MaxServableToBlock, of event_key_index_coverage_unavailable: the same search up to this
	// block is answered.
	MaxServableToBlock *int64 `json:"maxServableToBlock"`
}

func (e *Error) Error() string {
	text := e.Message
	if text == "" {
		text = http.StatusText(e.Status)
	}
	if e.Code != "" {
		text = e.Code + ": " + text
	}
	text = fmt.Sprintf("%s: %d %s", e.Operation, e.Status, text)
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// waiting are the codes that waiting helps against: they come with Retry-After.
var waiting = map[string]bool{
	"rate_limited":                         true,
	"service_unavailable":                  true,
	"event_key_index_coverage_unavailable": true,
	"prover_daily_budget_exhausted":        true, // until the next day, which is longer than most wait
	"prover_queue_full":                    true,
	"prover_unavailable":                   true,
	"verifier_dispatch_failed":             true,
}

// Retryable says whether the same call can succeed after RetryAfter, with nothing changed
// but the time.
func (e *Error) Retryable() bool { return waiting[e.Code] }

// Code is the code of an error of the service; "" of any other.
func Code(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Code
}

// NotFound says whether an error means that what was asked for is not there.
func NotFound(err error) bool { return Code(err) == "not_found" }

func errorOf(operation string, res *http.Response, data []byte) error {
	e := &Error{}
	if json.Unmarshal(data, e) != nil {
		*e = Error{}
	}
	e.Operation, e.Status = operation, res.StatusCode
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 && seconds < 1<<30 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	if e.RequestID == "" {
		e.RequestID = res.Header.Get("X-Request-Id")
	}
	return e
}
