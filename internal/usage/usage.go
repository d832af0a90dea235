package usage

import (
	"time"

	"chainexplorer/internal/account"
)

// Usage is what a workspace asked for.
type Usage struct {
	Summary
	PerKey          []PerKey `json:"perKey"`
	PerKeyTruncated bool     `json:"perKeyTruncated"`
}

// PerKey is what one key asked for in the window.
type PerKey struct {
	APIKey account.Key `json:"apiKey"`
	KeyCounts
}

// The rest is told as it is here by the public API, which says more of a key.

// Summary is what all keys of a workspace asked for together.
type Summary struct {
	WindowStart             time.Time    `json:"windowStart" doc:"Since when requests are counted here: the beginning of an hour, 30 days ago."`
	WindowEnd               time.Time    `json:"windowEnd" doc:"When this was read. Requests of the last seconds may be missing."`
	TotalRequests           int64        `json:"totalRequests" doc:"Requests of all keys in the window; each call of a JSON-RPC batch is one."`
	TotalFailures           int64        `json:"totalFailures" doc:"Those among them that were answered with an error."`
	PerClass                []ClassUsage `json:"perClass" doc:"The same by the budget that the requests drew on; classes that nobody used are not there."`
	RecentRequests          []Requested  `json:"recentRequests" doc:"The newest requests, newest first."`
	RecentRequestsTruncated bool         `json:"recentRequestsTruncated" doc:"Whether there were more in the window."`
	RecentFailures          []Requested  `json:"recentFailures" doc:"The newest failures, newest first."`
	RecentFailuresTruncated bool         `json:"recentFailuresTruncated" doc:"Whether there were more in the window."`
}

// ClassUsage is what the workspace asked of one class.
type ClassUsage struct {
	LoadClass     string `json:"loadClass" doc:"Which budget."`
	TotalRequests int64  `json:"totalRequests" doc:"Requests of the class."`
	SuccessCount  int64  `json:"successCount" doc:"Those that were answered without an error."`
	FailureCount  int64  `json:"failureCount" doc:"Those that were answered with an error."`
}

// KeyCounts is what one key asked for.
type KeyCounts struct {
	TotalRequests        int64           `json:"totalRequests" doc:"Requests with the key."`
	SuccessCount         int64           `json:"successCount" doc:"Those that were answered without an error."`
	FailureCount         int64           `json:"failureCount" doc:"Those that were answered with an error."`
	LastRequestAt        *time.Time      `json:"lastRequestAt" doc:"Null when there was none in the window."`
	LastFailureAt        *time.Time      `json:"lastFailureAt" doc:"Null when there was none in the window."`
	LatestRateLimitState *RateLimitState `json:"latestRateLimitState" doc:"What the key was told of its budget last; null when it was told nothing in the window."`
}

// Requested is one request, or one call of JSON-RPC.
type Requested struct {
	RequestID         string          `json:"requestId" doc:"X-Request-Id of the answer. Calls that came together have the same."`
	APIKeyPublicID    string          `json:"apiKeyPublicId" doc:"Id of the key."`
	APIKeyLabel       string          `json:"apiKeyLabel" doc:"Name of the key."`
	APIKeyEnvironment string          `json:"apiKeyEnvironment" doc:"What the key is meant for, test or live; empty, as label and scopes are, for one that is in no list."`
	APIKeyScopes      []string        `json:"apiKeyScopes" doc:"What the key may do now."`
	Method            string          `json:"method" doc:"Method of HTTP; GET for a call over WebSocket."`
	RoutePath         string          `json:"routePath" doc:"Path of the route, without its values. Of a JSON-RPC call, its method after a #."`
	LoadClass         string          `json:"loadClass" doc:"The budget that it draws on."`
	StatusCode        int             `json:"statusCode" doc:"Status of HTTP; of a JSON-RPC call, the one that it would have alone."`
	LatencyMs         *int64          `json:"latencyMs" doc:"Whole milliseconds until the answer was handed over; null when it is not known."`
	RateLimitState    *RateLimitState `json:"rateLimitState" doc:"What the caller was told of its budget; null when it was refused before."`
	ObservedAt        time.Time       `json:"observedAt" doc:"When it was answered."`
}

// RateLimitState is what a caller was told of a budget.
type RateLimitState struct {
	LoadClass         string    `json:"loadClass" doc:"Which budget."`
	LimitPerMinute    int64     `json:"limitPerMinute" doc:"X-Ratelimit-Limit."`
	Remaining         int64     `json:"remaining" doc:"X-Ratelimit-Remaining."`
	Policy            string    `json:"policy" doc:"X-Ratelimit-Policy."`
	RetryAfterSeconds *int64    `json:"retryAfterSeconds" doc:"How long to wait; null unless the budget was used up."`
	ObservedAt        time.Time `json:"observedAt" doc:"When it was told."`
}

// Step is what a workspace asked of one class in one hour.
type Step struct {
	Hour      time.Time `json:"hour"`
	LoadClass string    `json:"loadClass"`
	Requests  int64     `json:"requests"`
	Failures  int64     `json:"failures"`
}

// Total is what one workspace asked for in a window.
type Total struct {
	Workspace     string     `json:"workspace"`
	TotalRequests int64      `json:"totalRequests"`
	TotalFailures int64      `json:"totalFailures"`
	LastRequestAt *time.Time `json:"lastRequestAt"`
}
