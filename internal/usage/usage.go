package usage

import (
	"time"

	"chainexplorer/internal/account"
)

// Usage is what a workspace asked for, as the public API tells it.
type Usage struct {
	WindowStart             time.Time   `json:"windowStart"`
	WindowEnd               time.Time   `json:"windowEnd"`
	TotalRequests           int64       `json:"totalRequests"`
	TotalFailures           int64       `json:"totalFailures"`
	PerClass                []PerClass  `json:"perClass"`
	PerKey                  []PerKey    `json:"perKey"`
	PerKeyTruncated         bool        `json:"perKeyTruncated"`
	RecentRequests          []Requested `json:"recentRequests"`
	RecentRequestsTruncated bool        `json:"recentRequestsTruncated"`
	RecentFailures          []Requested `json:"recentFailures"`
	RecentFailuresTruncated bool        `json:"recentFailuresTruncated"`
}

// PerClass is what a workspace asked of one class in the window.
type PerClass struct {
	LoadClass     string `json:"loadClass"`
	TotalRequests int64  `json:"totalRequests"`
	SuccessCount  int64  `json:"successCount"`
	FailureCount  int64  `json:"failureCount"`
}

// PerKey is what one key asked for in the window.
type PerKey struct {
	APIKey               account.Key     `json:"apiKey"`
	TotalRequests        int64           `json:"totalRequests"`
	SuccessCount         int64           `json:"successCount"`
	FailureCount         int64           `json:"failureCount"`
	LastRequestAt        *time.Time      `json:"lastRequestAt"`
	LastFailureAt        *time.Time      `json:"lastFailureAt"`
	LatestRateLimitState *RateLimitState `json:"latestRateLimitState"`
}

// Requested is one request, or one call of JSON-RPC.
type Requested struct {
	RequestID         string              `json:"requestId"`
	APIKeyPublicID    string              `json:"apiKeyPublicId"`
	APIKeyLabel       string              `json:"apiKeyLabel"`
	APIKeyEnvironment account.Environment `json:"apiKeyEnvironment" enum:"live,test"`
	APIKeyScopes      account.Scopes      `json:"apiKeyScopes"`
	Method            string              `json:"method"`
	RoutePath         string              `json:"routePath"`
	LoadClass         string              `json:"loadClass"`
	StatusCode        int                 `json:"statusCode"`
	LatencyMs         *int64              `json:"latencyMs"`
	RateLimitState    *RateLimitState     `json:"rateLimitState"`
	ObservedAt        time.Time           `json:"observedAt"`
}

// RateLimitState is what a caller was told of a budget.
type RateLimitState struct {
	LoadClass         string    `json:"loadClass"`
	LimitPerMinute    int64     `json:"limitPerMinute"`
	Remaining         int64     `json:"remaining"`
	Policy            string    `json:"policy"`
	RetryAfterSeconds *int64    `json:"retryAfterSeconds"`
	ObservedAt        time.Time `json:"observedAt"`
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
