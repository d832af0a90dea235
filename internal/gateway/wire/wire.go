// Package wire reads and writes JSON-RPC 2.0. Ids, parameters and results are
// passed on byte for byte: nothing that a caller or a node wrote is ever written anew.
//
// A message is read in one pass over its bytes and costs one allocation per call
// besides its method's name; an answer is spliced together from what is there.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"unicode/utf8"

	"chainexplorer/internal/starknet/jsonscan"
)

// MaxBatch is how many calls a batch may have.
const MaxBatch = 50

// Call is one call as it was written.
type Call struct {
	ID     json.RawMessage // nil for a notification, which is not answered
	Method string
	Params json.RawMessage // an array or an object; nil for none
	// Invalid says that it is no call, and why; ID is then null or what was given.
	Invalid *Error
}

// Notification says that nobody waits for an answer.
func (c *Call) Notification() bool { return c.ID == nil && c.Invalid == nil }

// Null is the id of an answer to what could not be read.
var Null = json.RawMessage("null")

// Parse reads a message: one call, or a batch of them. The error is about the whole
// message; a call of a batch that is none has an error of its own.
func Parse(body []byte) (calls []Call, batch bool, e *Error) {
	if !utf8.Valid(body) {
		return nil, false, notJSON(errNotUTF8)
	}
	s := jsonscan.New(body)
	switch first(body) {
	case '{':
		calls = []Call{call(&s)}
	case '[':
		batch = true
		for more := s.OpenArray(); more; more = s.NextElement() {
			if len(calls) == MaxBatch {
				return nil, true, TooManyItems()
			}
			if raw := s.Raw(); first(raw) == '{' {
				one := jsonscan.New(raw)
				calls = append(calls, call(&one))
			} else {
				calls = append(calls, Call{ID: Null, Invalid: invalid("A call is an object.")})
			}
		}
		e = invalid("A batch has at least one call.")
	default:
		s.Skip()
		e = invalid("A request is an object, or an array of them.")
	}
	s.End()
	if err := s.Err(); err != nil {
		return nil, batch, notJSON(err)
	}
	if len(calls) == 0 {
		return nil, batch, e
	}
	return calls, batch, nil
}

var errNotUTF8 = errors.New("not UTF-8")

// TooManyItems is the failure of a batch with more calls than it may have.
func TooManyItems() *Error {
	return &Error{Code: CodeInvalidRequest, Name: BatchTooLarge, Status: http.StatusBadRequest, MaxItems: MaxBatch,
		Message: "A batch has at most " + strconv.Itoa(MaxBatch) + " calls."}
}

func notJSON(err error) *Error {
	e := &Error{Code: CodeParse, Name: ParseError, Status: http.StatusBadRequest, Message: "The body is not JSON."}
	var at *jsonscan.Error
	if errors.As(err, &at) {
		e.Message = "The body is not JSON: " + at.Error() + "."
	} else if errors.Is(err, jsonscan.ErrDepth) || errors.Is(err, errNotUTF8) {
		e.Message = "The body is not JSON that can be read here: it is " + err.Error() + "."
	}
	return e
}

func invalid(message string) *Error {
	return &Error{Code: CodeInvalidRequest, Name: InvalidRequest, Status: http.StatusBadRequest, Message: message}
}

// first is the first byte that is not white space; 0 when there is none.
func first(b []byte) byte {
	for _, c := range b {
		if c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c
		}
	}
	return 0
}

// call reads an object; what is not JSON shows in the scanner's error. A member that decides what is done
// may be there once only: two would mean different things to different readers.
func call(s *jsonscan.Scanner) (c Call) {
	var version, method json.RawMessage
	fault, twice := "", false
	for more := s.OpenObject(); more; more = s.NextMember() {
		var part *json.RawMessage
		switch string(s.Key()) {
		case "jsonrpc":
			part = &version
		case "method":
			part = &method
		case "params":
			part = &c.Params
		case "id":
			part = &c.ID
		default:
			s.Skip()
			continue
		}
		if *part != nil {
			fault = "A member is given twice."
			twice = twice || part == &c.ID
		}
		*part = s.Raw()
	}
	if twice { // nobody knows which is meant
		c.ID = nil
	}
	if !legalID(c.ID) {
		c.ID, fault = nil, "An id is a string, a number or null."
	}
	switch {
	case fault != "":
	case string(version) != `"2.0"`:
		fault = `A call has "jsonrpc":"2.0".`
	case len(method) == 0 || method[0] != '"' || !readName(method, &c.Method):
		fault = "A call has the name of its method, a string."
	case len(c.Params) > 0 && c.Params[0] == 'n':
		c.Params = nil
	case len(c.Params) > 0 && c.Params[0] != '[' && c.Params[0] != '{':
		fault = "The params of a call are an array or an object."
	}
	if fault != "" {
		c.Invalid = invalid(fault)
		if c.ID == nil {
			c.ID = Null
		}
	}
	return c
}

// readName reads a string that is valid JSON.
func readName(text []byte, into *string) bool {
	if bytes.IndexByte(text, '\\') < 0 { // as it stands
		*into = string(text[1 : len(text)-1])
		return true
	}
	return json.Unmarshal(text, into) == nil
}

func legalID(id json.RawMessage) bool {
	if len(id) == 0 {
		return true
	}
	return id[0] == '"' || id[0] == 'n' || id[0] == '-' || id[0] >= '0' && id[0] <= '9'
}

// Answer parts: what stands around an id and a result or an error.
const (
	head   = `{"jsonrpc":"2.0","id":`
	result = `,"result":`
	fail   = `,"error":`
	tail   = `}`
)

// Overhead is how many bytes an answer has beside its id and what it tells.
const Overhead = len(head) + len(result) + 1

// Frame is what stands before and behind the result, or the error object, of an answer,
// for those that are too long to be copied.
func Frame(id json.RawMessage, failed bool) (before []byte, after string) {
	member := result
	if failed {
		member = fail
	}
	if len(id) == 0 {
		id = Null
	}
	before = make([]byte, 0, Overhead+len(id))
	return append(append(append(before, head...), id...), member...), tail
}

// AppendResult appends the answer to a call.
func AppendResult(dst []byte, id, value json.RawMessage) []byte {
	return appendAnswer(dst, id, result, value)
}

// AppendError appends the answer to a call that failed; object is the error object.
func AppendError(dst []byte, id, object json.RawMessage) []byte {
	return appendAnswer(dst, id, fail, object)
}

func appendAnswer(dst []byte, id json.RawMessage, member string, value json.RawMessage) []byte {
	if len(id) == 0 {
		id = Null
	}
	dst = append(dst, head...)
	dst = append(dst, id...)
	dst = append(dst, member...)
	dst = append(dst, value...)
	return append(dst, tail...)
}
