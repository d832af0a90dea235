package method

import (
	"net/http"
	"slices"

	"chainexplorer/internal/gateway/wire"
)

// Refusal is an error of the gateway itself: error.code, and the name that
// error.data.code has.
type Refusal struct {
	Code int
	Name string
	// Status is that of HTTP when the request is refused as a whole or is a single
	// call. In a batch HTTP says 200, and error.data.httpStatus this.
	Status int
	Cause  string
	Cure   string
}

// refusals are all errors of the gateway.
var refusals = []Refusal{
	{wire.CodeParse, wire.ParseError, http.StatusBadRequest, "The body is not JSON.", "Send one JSON value in UTF-8."},

	{wire.CodeInvalidRequest, wire.InvalidRequest, http.StatusBadRequest, "The JSON is not a call: `jsonrpc` is not \"2.0\", `method` is no text, `id` is no text, number or null, or a batch is empty.", "Correct the envelope."},
	{wire.CodeInvalidRequest, wire.AuthenticationInvalid, http.StatusBadRequest, "The key is sent in more than one way, or has the form of no key.", "Send it once: in one header, or in the address."},
	{wire.CodeInvalidRequest, wire.BatchTooLarge, http.StatusBadRequest, "The batch has more calls than `data.maxItems`. None was made.", "Send smaller batches."},
	{wire.CodeInvalidRequest, wire.RequestTimeout, http.StatusRequestTimeout, "The body did not arrive in time.", "Send it faster."},
	{wire.CodeInvalidRequest, wire.PayloadTooLarge, http.StatusRequestEntityTooLarge, "The body is larger than `data.maxBytes`. Nothing of it was done.", "Send less at once."},
	{wire.CodeInvalidRequest, wire.UnsupportedMedia, http.StatusUnsupportedMediaType, "The body is compressed in another way than gzip.", "Send it as it is, or with gzip."},

	{wire.CodeInvalidRequest, wire.UnsupportedSpecVersion, http.StatusNotFound, "The address pins a version of the specification that is not served here.", "Use one of `data.specVersions`."},

	{wire.CodeMethodNotFound, wire.MethodNotFound, http.StatusOK, "The method is not on the list, or not in this version.", "See the list of methods."},
	{wire.CodeMethodNotFound, wire.WebSocketRequired, http.StatusOK, "The method makes or ends a subscription.", "Use the WebSocket."},
	{wire.CodeInvalidParams, wire.InvalidParams, http.StatusOK, "A parameter is missing, not the method's, there twice, or out of bounds.", "Correct the call: `message` says what is wrong."},
	{wire.CodeInvalidParams, wire.TooManyProofTargets, http.StatusOK, "More is to be proven than one call can have, which is `data.maxItems`.", "Ask for fewer things at once."},
	{wire.CodeInternal, wire.Internal, http.StatusOK, "Something went wrong on our side.", "Try again once; then report `data.requestId`."},

	{wire.CodeUnsupportedChain, wire.UnsupportedChain, http.StatusNotFound, "The address names a chain that is not served.", "See `/v1/meta/chains`."},

	{wire.CodeUnavailable, wire.UpstreamUnavailable, http.StatusServiceUnavailable, "No node answered, or none that has this block or speaks the version of the path. Of a transaction: it was not sent.", "Wait as long as it says."},
	{wire.CodeInternal, wire.DeliveryUnknown, http.StatusOK, "The transaction was sent, and what became of it is not known.", "Do not send it again. Look it up by `data.transactionHash` first."},
	{wire.CodeUnavailable, wire.WritesDisabled, http.StatusServiceUnavailable, "This deployment sends no transactions now.", "Wait, or ask the operator."},
	{wire.CodeUnavailable, wire.LocalSaturation, http.StatusServiceUnavailable, "The gateway has as many calls under way as it takes.", "Wait as long as it says."},
	{wire.CodeUnavailable, wire.AuthorizationAway, http.StatusServiceUnavailable, "The key could not be checked.", "Wait as long as it says."},
	{wire.CodeUnavailable, wire.BatchResponseTooLarge, http.StatusOK, "The answers of the batch are larger together than is sent: this call's is not among them.", "Send the calls without an answer again, in smaller batches."},
	{wire.CodeUnavailable, wire.TraceIncomplete, http.StatusOK, "The node's trace lacks a field that must be there, or has it in a wrong form. It is not passed on.", "Wait, and ask again."},
	{wire.CodeUnavailable, ProofTooLarge, http.StatusOK, "The proofs are larger together than `data.maxBytes`.", "Ask for fewer things at once."},
	{wire.CodeUnavailable, CasmTooLarge, http.StatusOK, "The compiled class is larger than `data.maxBytes`.", "It cannot be had here."},
	{wire.CodeUnavailable, TraceTooLarge, http.StatusOK, "The trace is larger than `data.maxBytes`.", "Trace the transactions of the block one by one."},
	{wire.CodeUnavailable, ResponseTooLarge, http.StatusOK, "The answer is larger than `data.maxBytes`.", "Ask for less: fewer events in a page, a block with hashes only."},

	{wire.CodeRateLimited, wire.RateLimited, http.StatusTooManyRequests, "The budget of the key or its workspace is used up. A batch pays for every call in it.", "Wait as long as it says."},
	{wire.CodeWriteScope, wire.WriteScopeRequired, http.StatusForbidden, "The method sends a transaction, and the key lacks the scope `write`.", "Use a key that has it."},
	{wire.CodeAuthentication, wire.AuthenticationRequired, http.StatusUnauthorized, "There is no key, or it is not valid any more.", "Send a valid key."},
	{wire.CodeAuthentication, wire.OriginRefused, http.StatusForbidden, "A page of an origin that the operator does not list asks for a WebSocket.", "Ask the operator to list the origin, or connect from a server."},
	{wire.CodeAuthentication, wire.ScopeRequired, http.StatusForbidden, "The key lacks the scope `data.scope`.", "Use a key that has it."},
}

// Refusals are all errors of the gateway, by code.
func Refusals() []Refusal { return slices.Clone(refusals) }
