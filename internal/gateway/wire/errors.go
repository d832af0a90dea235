package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// Codes of JSON-RPC itself, and those of the gateway.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603

	CodeUnsupportedChain = -32004
	CodeUnavailable      = -32005
	CodeRateLimited      = -32010
	CodeWriteScope       = -32011
	CodeAuthentication   = -32012
)

// Names of failures: error.data.code. Clients branch on them.
const (
	ParseError             = "parse_error"
	InvalidRequest         = "invalid_request"
	AuthenticationInvalid  = "authentication_invalid"
	BatchTooLarge          = "batch_too_large"
	PayloadTooLarge        = "payload_too_large"
	RequestTimeout         = "request_timeout"
	UnsupportedMedia       = "unsupported_media_type"
	MethodNotFound         = "method_not_found"
	WebSocketRequired      = "websocket_required"
	InvalidParams          = "invalid_params"
	TooManyProofTargets    = "storage_proof_too_many_targets"
	Internal               = "internal_error"
	UnsupportedChain       = "unsupported_chain"
	UnsupportedSpecVersion = "unsupported_spec_version"
	UpstreamUnavailable    = "upstream_unavailable"
	DeliveryUnknown        = "delivery_unknown"
	WritesDisabled         = "writes_disabled"
	LocalSaturation        = "local_saturation"
	AuthorizationAway      = "authorization_unavailable"
	BatchResponseTooLarge  = "batch_response_too_large"
	TraceIncomplete        = "trace_response_incomplete"
	RateLimited            = "rate_limited"
	WriteScopeRequired     = "write_scope_required"
	AuthenticationRequired = "authentication_required"
	ScopeRequired          = "scope_required"
	OriginRefused          = "origin_not_allowed"
)

// service is what error.data.service says: that it is this gateway and not a node
// who refuses.
const service = "rpc"

// Error is a failure of the gateway. What a node answers is not one: it is passed on
// as it was written.
type Error struct {
	Code    int
	Message string
	Name    string // error.data.code
	// Status is the HTTP status of a request that fails as a whole; in a batch it is
	// told in error.data alone.
	Status int
	// RetryAfter is in seconds, for throttling and saturation; zero: not told.
	RetryAfter int
	// MaxItems, MaxBytes and Scope are told where they say what would have been taken.
	MaxItems int
	MaxBytes int64
	Scope    string
	// TransactionHash is what a write that may have been delivered would be found under.
	TransactionHash string
	// Versions are those of the specification that can be asked for.
	Versions []string

	Cause error // private: logged, never sent
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Name + ": " + e.Message + ": " + e.Cause.Error()
	}
	return e.Name + ": " + e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// data is error.data.
type data struct {
	Code              string   `json:"code"`
	RequestID         string   `json:"requestId"`
	Service           string   `json:"service"`
	HTTPStatus        int      `json:"httpStatus"`
	RetryAfterSeconds int      `json:"retryAfterSeconds,omitempty"`
	MaxItems          int      `json:"maxItems,omitempty"`
	MaxBytes          int64    `json:"maxBytes,omitempty"`
	Scope             string   `json:"scope,omitempty"`
	TransactionHash   string   `json:"transactionHash,omitempty"`
	SpecVersions      []string `json:"specVersions,omitempty"`
}

// Object is the error as it stands in an answer.
func (e *Error) Object(requestID string) json.RawMessage {
	status := e.Status
	if status == 0 {
		status = http.StatusOK
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // people read this, and the type is JSON
	if err := enc.Encode(struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    data   `json:"data"`
	}{e.Code, e.Message, data{e.Name, requestID, service, status, e.RetryAfter, e.MaxItems, e.MaxBytes, e.Scope, e.TransactionHash, e.Versions}}); err != nil {
		panic(err) // strings and numbers always encode
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
