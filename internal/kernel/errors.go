package kernel

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// Code names a failure for machines. Clients branch on it; messages may change.
type Code string

// All codes. codes has an entry for each, and each is explained by a page.
const (
	CodeInvalidRequest   Code = "invalid_request"
	CodeInvalidCursor    Code = "invalid_cursor"
	CodeConflictingKeys  Code = "conflicting_api_key_headers"
	CodeMalformedKey     Code = "malformed_api_key_header"
	CodeUnauthorized     Code = "unauthorized"
	CodeForbidden        Code = "forbidden"
	CodeNotFound         Code = "not_found"
	CodeConflict         Code = "conflict"
	CodeUnsupportedRoute Code = "unsupported_route"

	CodeTokenHoldingsRetired Code = "token_holdings_retired"

	CodeMethodNotAllowed Code = "method_not_allowed"
	CodePayloadTooLarge  Code = "payload_too_large"
	CodeURITooLong       Code = "uri_too_long"
	CodeUnsupportedMedia Code = "unsupported_media_type"
	CodeHeadersTooLarge  Code = "headers_too_large"
	CodeRequestTimeout   Code = "request_timeout"
	CodeRateLimited      Code = "rate_limited"

	CodeFullRangeUnsupported     Code = "full_range_selector_not_supported"
	CodeEventCoverageUnavailable Code = "event_key_index_coverage_unavailable"

	CodeCallReverted Code = "contract_call_reverted"

	CodeUnqualifiedPolicy Code = "unqualified_token_policy"

	CodeIdempotencyKeyReused   Code = "idempotency_key_reused"
	CodeIdempotencyKeyRequired Code = "idempotency_key_required"
	CodeInvalidIdempotencyKey  Code = "invalid_idempotency_key"

	CodeInvalidPackage      Code = "invalid_verification_package"
	CodeUnsupportedPolicy   Code = "unsupported_policy"
	CodeUploadMismatch      Code = "verification_upload_mismatch"
	CodeVerificationClosed  Code = "verification_job_closed"
	CodeVerifierUnavailable Code = "verifier_dispatch_failed"

	CodeProverDailyBudget Code = "prover_daily_budget_exhausted"
	CodeProverConcurrency Code = "prover_key_concurrency"
	CodeProverQueueFull   Code = "prover_queue_full"
	CodeProverUnavailable Code = "prover_unavailable"

	CodeServiceUnavailable Code = "service_unavailable"
	CodeInternal           Code = "internal_error"
)

// codeInfo is what a code means to HTTP and to people.
type codeInfo struct {
	Status int
	Slug   string // of the page that explains it, below /docs/
	Title  string
	Cause  string
	Cure   string
}

// Codes is the one table of all failures.
var Codes = map[Code]codeInfo{
	CodeInvalidRequest: {http.StatusBadRequest, "api/invalid-request", "Invalid request",
		"A path segment, query parameter, header or body does not have the form that the route documents. The message names it.",
		"Correct what the message names. Unknown query parameters are refused too, so that a misspelt filter never widens an answer."},
	CodeInvalidCursor: {http.StatusBadRequest, "api/cursors", "Invalid cursor",
		"The cursor was changed, belongs to another route or query, or points into a branch of the chain that is gone.",
		"Pass nextCursor back unchanged, URL-encoded, with the same parameters. Otherwise start again without a cursor."},
	CodeConflictingKeys: {http.StatusBadRequest, "api/auth", "Conflicting API key headers",
		"The request carries an API key under more than one header, or one header twice.",
		"Send the key once, in X-Service-Api-Key or in X-Api-Key."},
	CodeMalformedKey: {http.StatusBadRequest, "api/auth", "Malformed API key header",
		"The key header holds something that cannot be a key: nothing, quotes, white space, a Bearer prefix, or several values.",
		"Send the key's text alone, as it was shown when it was made."},
	CodeUnauthorized: {http.StatusUnauthorized, "api/auth", "Unauthorized",
		"The key is missing, mistyped, unknown, revoked or expired; or, below /v1/me, the session is. Which of these is not disclosed.",
		"Send a valid key in X-Service-Api-Key; below /v1/me, the token of a session in Authorization: Bearer."},
	CodeForbidden: {http.StatusForbidden, "api/auth", "Forbidden",
		"The key is valid but lacks the scope or tier that the route needs; the WWW-Authenticate header names the scope. Or the key is for pages of other origins. Below /v1/me: a cookie was to change something, or a page of another origin asked.",
		"Use a key with that scope; below /v1/me, send the session's token in Authorization: Bearer, from a configured origin."},
	CodeNotFound: {http.StatusNotFound, "api/not-found", "Not found",
		"The route exists, but what it was asked for is not in the index: an unknown block, transaction, token or chain.",
		"Check the identifier and the chain. A transaction that was just sent appears once its block is indexed."},
	CodeConflict: {http.StatusConflict, "api/auth", "Conflict",
		"What was asked for does not go with how things are: the workspace has as many active keys or webhooks as its plan allows, or all that a code would give; or a webhook is paused or disabled.",
		"Revoke a key, or delete a webhook, that is not needed any more, and ask again; keep the code, it was not used. Make the webhook active first."},
	CodeUnsupportedRoute: {http.StatusNotFound, "api/unsupported-routes", "Unsupported route",
		"The path is not part of the published API.",
		"Look the route up in the API reference or in the OpenAPI document."},
	CodeTokenHoldingsRetired: {http.StatusGone, "api/retired-routes", "Token holdings are retired",
		"The token holdings of an address have not been served since the day in the Sunset header. Which tokens an address may hold, and what it holds at one block, are two questions that one list cannot answer.",
		"Ask discoverAssets which tokens the address may hold, with the evidence for each, and getWalletState for its balances at one block. Their paths are in successors and in the Link header. Retrying does not help."},
	CodeMethodNotAllowed: {http.StatusMethodNotAllowed, "api/unsupported-routes", "Method not allowed",
		"The path exists, but not with this method. The Allow header lists those that do.",
		"Use one of the methods in Allow."},
	CodePayloadTooLarge: {http.StatusRequestEntityTooLarge, "api/limits", "Payload too large",
		"The request body is larger than the route takes.",
		"Send fewer items at a time."},
	CodeURITooLong: {http.StatusRequestURITooLong, "api/limits", "Address too long",
		"The request's address is longer than 32 KiB.",
		"Use fewer filter values at a time."},
	CodeUnsupportedMedia: {http.StatusUnsupportedMediaType, "api/invalid-request", "Unsupported media type",
		"The request body is not JSON, or is compressed in another way than gzip.",
		"Send Content-Type: application/json, and Content-Encoding: gzip or none."},
	CodeHeadersTooLarge: {http.StatusRequestHeaderFieldsTooLarge, "api/limits", "Headers too large",
		"The address and the headers of the request together are larger than 48 KiB.",
		"Send fewer and shorter headers."},
	CodeRequestTimeout: {http.StatusRequestTimeout, "api/limits", "Request timeout",
		"The body of the request did not arrive in time.",
		"Send the request again, the body at once."},
	CodeFullRangeUnsupported: {http.StatusUnprocessableEntity, "api/event-search", "Selector not declared for wide ranges",
		"The search covers more than 10,000 blocks by a later topic, and its selector is not declared for that position.",
		"Look at eventSearch.fullRange.selectorCoverage in /v1/meta/capabilities, or search 10,000 blocks at a time. Retrying does not help."},
	CodeEventCoverageUnavailable: {http.StatusServiceUnavailable, "api/event-search", "Event coverage unavailable",
		"The index cannot vouch for the range right now: it has not got as far as from_block, is being built, has fallen behind the chain, or has stopped.",
		"Wait as long as Retry-After says. When maxServableToBlock is there, the same search up to that block is answered at once."},
	CodeRateLimited: {http.StatusTooManyRequests, "api/rate-limits", "Rate limited",
		"The caller asks more, or more at once, than it may. The field reason tells which limit was met.",
		"Wait as long as Retry-After says. X-Ratelimit-Remaining on earlier answers tells how much is left of the minute."},
	CodeCallReverted: {http.StatusUnprocessableEntity, "api/live-reads", "Contract call reverted",
		"The contract ran and refused, for the reason in the message. The same call at the same block always does.",
		"Correct the calldata. Retrying does not help."},
	CodeUnqualifiedPolicy: {http.StatusUnprocessableEntity, "api/holder-census", "Unqualified token policy",
		"Nobody has vouched that every change of the token's balances is a Transfer event, so that its holders cannot be counted. It is not a count of zero.",
		"Retrying does not help. The operator can qualify the token in the registry after looking at its contract."},
	CodeIdempotencyKeyReused: {http.StatusConflict, "api/errors", "Idempotency key reused",
		"The Idempotency-Key was used before in the workspace, for another package, another request for a proof, or another webhook.",
		"Send the same body again to find its job, or a new key for a new one. Nothing was changed."},
	CodeIdempotencyKeyRequired: {http.StatusBadRequest, "api/prover", "Idempotency key required",
		"A request for a proof came without an Idempotency-Key. Without one, nobody could tell a retry from a second request. No job was created.",
		"Choose a key for each request, keep it beside the request, and send it in the header Idempotency-Key."},
	CodeInvalidIdempotencyKey: {http.StatusBadRequest, "api/prover", "Invalid idempotency key",
		"The Idempotency-Key of a request for a proof is not 16 to 128 graphic ASCII characters without a space or a double quote, or is there twice. No job was created.",
		"Choose another key, such as a random UUID."},
	CodeProverDailyBudget: {http.StatusTooManyRequests, "api/prover", "Prover budget exhausted",
		"The key has created as many prover jobs as it may on one day, by UTC. Sending the same request again does not count. No job was created.",
		"Wait for the next day, as long as Retry-After says."},
	CodeProverConcurrency: {http.StatusTooManyRequests, "api/prover", "Too many prover jobs at once",
		"The key has as many prover jobs that have not ended as it may have, or the workspace as many results that nobody fetched. No job was created.",
		"Wait for a job to end, fetch its result, and send the same request again."},
	CodeProverQueueFull: {http.StatusServiceUnavailable, "api/prover", "Prover queue full",
		"There are as many requests for proofs, of all callers, as the service takes. No job was created.",
		"Wait as long as Retry-After says, and send the same request with the same key."},
	CodeProverUnavailable: {http.StatusServiceUnavailable, "api/prover", "Prover unavailable",
		"The prover does not answer, or this process is about to stop. No job was created.",
		"Wait as long as Retry-After says, and send the same request with the same key."},
	CodeInvalidPackage: {http.StatusBadRequest, "api/verification", "Invalid verification package",
		"The body is not Package V1: one of its twelve fields is missing, is not as documented, or is there twice, or there is another one. The message names it.",
		"Make the package with 'chainexplorer verify prepare', and send it as it is."},
	CodeUnsupportedPolicy: {http.StatusUnprocessableEntity, "api/verification", "Unsupported policy",
		"The package asks for a toolchain policy, or the path for a chain, that nothing is verified under. No other compiler and no other declaration is used instead.",
		"Use the policy service-exact-v25 on SN_MAIN. Retrying does not help."},
	CodeUploadMismatch: {http.StatusUnprocessableEntity, "api/verification", "Upload mismatch",
		"The bytes that were sent are not those whose length and digest the package names: mostly the archive was compressed again after it was prepared. Nothing was changed.",
		"Send the archive that was prepared with the package, byte for byte."},
	CodeVerificationClosed: {http.StatusConflict, "api/verification", "Verification job closed",
		"The job has ended before its source came: it was cancelled, or the time for the upload is over.",
		"Create a new job, with a new idempotency key."},
	CodeVerifierUnavailable: {http.StatusServiceUnavailable, "api/verification", "Verifier unavailable",
		"No verifier takes new jobs right now: this deployment has none, it cannot work, or the operator has paused it. It is not a verification result.",
		"Wait as long as Retry-After says. Jobs that were created before can be looked at meanwhile."},
	CodeServiceUnavailable: {http.StatusServiceUnavailable, "api/unavailable", "Service unavailable",
		"The service cannot answer right now: it is starting, overloaded, or a query ran out of time.",
		"Wait as long as Retry-After says and send the same request again. Do not spin."},
	CodeInternal: {http.StatusInternalServerError, "api/internal-error", "Internal error",
		"A fault of the service. It was logged under the request id.",
		"Try again; if it stays, report the request id."},
}

// Error is a failure with a public face and a private cause.
type Error struct {
	Code    Code
	Message string // public
	// RetryAfter is in seconds, for 429 and 503.
	RetryAfter int
	Cause      error // private: logged, never sent
	// MaxServableToBlock tells how far a coverage failure does not reach.
	MaxServableToBlock *uint64
	// Reason is finer than the code, where there is more to tell.
	Reason Reason
}

// slug names the page that explains the failure.
func (e *Error) slug() string {
	if info, ok := Reasons[e.Reason]; ok {
		return info.Slug
	}
	return Codes[e.Code].Slug
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

func (e *Error) Unwrap() error { return e.Cause }

// Fail makes an Error.
func Fail(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// RetryLater is a 503 with a hint.
func RetryLater(seconds int, cause error, format string, args ...any) *Error {
	return &Error{Code: CodeServiceUnavailable, Message: fmt.Sprintf(format, args...), RetryAfter: seconds, Cause: cause}
}

// Envelope is the body of every failure.
type Envelope struct {
	Code      Code   `json:"code" doc:"Names the failure; branch on this."`
	Message   string `json:"message" doc:"For people; may change."`
	DocSlug   string `json:"docSlug" doc:"Page below /docs/ that explains cause and cure."`
	RequestID string `json:"requestId" doc:"The same as the X-Request-Id header."`

	Reason Reason `json:"reason,omitempty" doc:"What exactly the code stands for here, where there is more to tell. New ones may be added."`

	MaxServableToBlock *uint64 `json:"maxServableToBlock,omitempty" doc:"Only on event_key_index_coverage_unavailable: the same search up to this block is answered."`
}

// asError turns what a handler returned into a failure with a code.
func (s *Server) asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	if s.explain != nil {
		if e = s.explain(err); e != nil {
			return e
		}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return RetryLater(2, err, "The query ran out of time; try again, or ask for less.")
	case errors.Is(err, context.Canceled):
		return RetryLater(1, err, "The request was cancelled.")
	default:
		return &Error{Code: CodeInternal, Message: "Something went wrong on our side.", Cause: err}
	}
}
