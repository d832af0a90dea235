package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"chainexplorer/internal/gateway/wire"
	"chainexplorer/internal/kernel"
)

// methods are those of the protocol that a client asks a server by, whether this one offers
// something under them or not.
var methods = []string{"initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
	"prompts/list", "prompts/get", "completion/complete", "logging/setLevel"}

// maxID is the largest number that every reader of JSON takes as it is.
const maxID = 1<<53 - 1

// refused says why a message is not given to the protocol's server, which would answer in
// words of its own, or read something else than was written: the answer and its status. nil
// for one that is fine.
func refused(body []byte, requestID string) (answer []byte, status int) {
	calls, _, e := wire.Parse(body)
	if e != nil {
		return wire.AppendError(nil, wire.Null, e.Object(requestID)), http.StatusBadRequest
	}
	c := &calls[0]
	invalid := func(message string) ([]byte, int) {
		e := &wire.Error{Code: wire.CodeInvalidRequest, Name: wire.InvalidRequest, Status: http.StatusBadRequest, Message: message}
		return wire.AppendError(nil, wire.Null, e.Object(requestID)), http.StatusBadRequest
	}
	switch {
	case c.Invalid != nil:
		return wire.AppendError(nil, c.ID, c.Invalid.Object(requestID)), http.StatusBadRequest
	case c.Notification():
		return nil, 0
	case !plainID(c.ID):
		return invalid("An id is a string, or a whole number of at most 53 bits.")
	case !slices.Contains(methods, c.Method):
		e := &wire.Error{Code: wire.CodeMethodNotFound, Name: wire.MethodNotFound, Message: "There is no method " + strconv.Quote(kernel.Clip(c.Method, 40)) + "."}
		return wire.AppendError(nil, c.ID, e.Object(requestID)), http.StatusOK
	}
	return nil, 0
}

// plainID says that an id comes back as it was sent.
func plainID(id json.RawMessage) bool {
	if id[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && n >= -maxID && n <= maxID
}

// told is what the protocol's server answers, held back until it can be read as a whole:
// its answers are bounded.
type told struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (t *told) WriteHeader(status int) { t.status = status }

func (t *told) Write(p []byte) (int, error) { return t.body.Write(p) }

// Unwrap lets the server set the deadlines of the connection.
func (t *told) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// failure is what an answer in plain text says, in the service's own form; nil for others.
func (t *told) failure() *kernel.Error {
	if t.status < http.StatusBadRequest || !strings.HasPrefix(t.Header().Get("Content-Type"), "text/plain") {
		return nil
	}
	code := kernel.CodeInvalidRequest
	if t.status == http.StatusUnsupportedMediaType {
		code = kernel.CodeUnsupportedMedia
	}
	return kernel.Fail(code, "%s.", kernel.Clip(strings.TrimRight(t.body.String(), ".\r\n "), 200))
}

// send hands the answer on. An error without a code is one of parameters that could not be
// read, told in the words of the program.
func (t *told) send(requestID string) {
	body := t.body.Bytes()
	var a struct {
		ID    json.RawMessage `json:"id"`
		Error *struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	if len(body) < 4096 && json.Unmarshal(body, &a) == nil && a.Error != nil && a.Error.Code == 0 {
		e := &wire.Error{Code: wire.CodeInvalidParams, Name: wire.InvalidParams, Message: "The params of the call do not have the form that its method takes."}
		body = wire.AppendError(nil, a.ID, e.Object(requestID))
	}
	t.Header().Del("Content-Length")
	t.Header().Set("Cache-Control", callersOwn) // the program that made it says less
	if t.status != 0 {
		t.ResponseWriter.WriteHeader(t.status)
	}
	t.ResponseWriter.Write(body) //nolint:errcheck // the caller is gone then
}
