package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"
)

// Codes of the proving service.
const (
	codeBlockNotFound      = 24
	codeValidationFailed   = 55
	codeUnsupportedVersion = 61
	codeInvalidInput       = 1000
	codeUnsupportedType    = 1001 // what newer provers say in place of 61
	codeBlocked            = 10000
	codeInternal           = -32603
	codeBusy               = -32005
)

// revertedPrefix begins the data of an internal error that is a judgement on the
// transaction: it reverted.
const revertedPrefix = "Reverted transactions are not supported; hash: TransactionHash("

// judge says what an answer means.
func judge(a answer) Outcome {
	switch {
	case a.status >= 200 && a.status < 300:
		return judgeEnvelope(a)
	case a.status == http.StatusServiceUnavailable, a.status == http.StatusTooManyRequests:
		return Outcome{Kind: Busy, Class: fmt.Sprintf("http_%d", a.status), RetryAfter: a.retryAfter}
	case a.status < 500: // a redirection, or a refusal by something that is no prover
		return Outcome{Kind: Unavailable, Class: class4xx(a.status), Alert: true}
	case !a.delivered:
		return Outcome{Kind: Unsent, Class: "write"}
	default: // something between us and the prover gave up: the prover may be at work
		return Outcome{Kind: Unknown, Class: class5xx(a.status)}
	}
}

// class4xx and class5xx keep the set of classes small whatever the prover sends.
func class4xx(status int) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusRequestEntityTooLarge:
		return fmt.Sprintf("http_%d", status)
	}
	return fmt.Sprintf("http_%dxx", status/100)
}

func class5xx(status int) string {
	switch status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return fmt.Sprintf("http_%d", status)
	}
	return "http_5xx"
}

func judgeEnvelope(a answer) Outcome {
	var e envelope
	err := errors.New("the answer ended early")
	if !a.unreadable {
		e, err = readEnvelope(a.body)
	}
	switch {
	case !a.delivered: // whatever it says, it has not heard the question
		return Outcome{Kind: Unsent, Class: "write"}
	case err == nil && e.result != nil && isProof(e.result):
		return Outcome{Kind: Succeeded, Class: "result", Result: e.result}
	case err == nil && e.failure != nil:
		return judgeError(e)
	default:
		return Outcome{Kind: Unknown, Class: "unreadable"}
	}
}

func judgeError(e envelope) Outcome {
	refused := Outcome{Kind: Refused, Class: "refused", Code: e.code, Error: e.failure}
	switch e.code {
	case codeBlockNotFound, codeValidationFailed, codeUnsupportedVersion, codeInvalidInput, codeUnsupportedType:
		return refused
	case codeBlocked:
		refused.Class = "screening"
		return refused
	case codeInternal:
		if e.reverted {
			refused.Class = "reverted"
			return refused
		}
		return Outcome{Kind: Unavailable, Class: "internal"}
	case codeBusy:
		return Outcome{Kind: Busy, Class: "busy"}
	case -32700, -32600, -32601, -32602: // the relay should not have let this through
		return Outcome{Kind: Unavailable, Class: "not_understood", Alert: true}
	}
	if e.code >= 0 { // of the prover's own node
		return Outcome{Kind: Unavailable, Class: "node", Alert: true}
	}
	return Outcome{Kind: Unavailable, Class: "other", Alert: true}
}

// envelope is an answer of JSON-RPC: a result, or a failure with its code.
type envelope struct {
	result   []byte
	failure  []byte
	code     int64
	reverted bool
}

var errEnvelope = errors.New("no answer of JSON-RPC")

// readEnvelope reads an answer strictly: what two readers could understand differently
// is no answer. The members' bytes stay as they are.
func readEnvelope(body []byte) (envelope, error) {
	members, err := object(body)
	if err != nil {
		return envelope{}, err
	}
	if string(members["jsonrpc"]) != `"2.0"` || string(members["id"]) != "1" {
		return envelope{}, errEnvelope
	}
	result, failure := members["result"], members["error"]
	if failure == nil {
		if result == nil {
			return envelope{}, errEnvelope
		}
		return envelope{result: result}, nil
	}
	// Some servers write null for the member that does not apply.
	if string(failure) == "null" && result != nil {
		return envelope{result: result}, nil
	}
	if result != nil && string(result) != "null" {
		return envelope{}, errEnvelope
	}
	inner, err := object(failure)
	if err != nil {
		return envelope{}, err
	}
	var code *int64
	if err := json.Unmarshal(inner["code"], &code); err != nil || code == nil {
		return envelope{}, errEnvelope
	}
	e := envelope{failure: failure, code: *code}
	var message, data string
	if err := json.Unmarshal(inner["message"], &message); err != nil {
		return envelope{}, errEnvelope
	}
	e.reverted = json.Unmarshal(inner["data"], &data) == nil && strings.HasPrefix(data, revertedPrefix)
	return e, nil
}

// isProof tells a result of the prover from other objects: a job must not be called
// succeeded for an answer without a proof.
func isProof(result []byte) bool {
	members, err := object(result)
	if err != nil {
		return false
	}
	proof := members["proof"]
	return len(proof) > 2 && proof[0] == '"'
}

// object splits an object into its members, each as it was written.
func object(body []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(body) || !json.Valid(body) {
		return nil, errEnvelope
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errEnvelope
	}
	members := map[string]json.RawMessage{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, errEnvelope
		}
		text, _ := name.(string)
		if _, twice := members[text]; twice {
			return nil, errEnvelope
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, errEnvelope
		}
		members[text] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, errEnvelope
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errEnvelope
	}
	return members, nil
}
