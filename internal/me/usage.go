package me

import (
	"context"
	"net/http"
	"time"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/usage"
)

// Usage is the answer to GET /v1/me/usage.
type Usage struct {
	WindowStart             time.Time    `json:"windowStart" doc:"Since when requests are counted here: the beginning of an hour, 30 days ago."`
	WindowEnd               time.Time    `json:"windowEnd" doc:"When this was read. Requests of the last seconds may be missing."`
	TotalRequests           int64        `json:"totalRequests" doc:"Requests of all keys in the window; each call of a JSON-RPC batch is one."`
	TotalFailures           int64        `json:"totalFailures" doc:"Those among them that were answered with an error."`
	PerClass                []ClassUsage `json:"perClass" doc:"The same by the budget that the requests drew on; classes that nobody used are not there."`
	PerKey                  []KeyUsage   `json:"perKey" doc:"The newest keys of the workspace, the revoked ones too."`
	PerKeyTruncated         bool         `json:"perKeyTruncated" doc:"Whether the workspace has more keys. The totals are of all."`
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

// KeyUsage is what one key asked for.
type KeyUsage struct {
	APIKey               Key             `json:"apiKey" doc:"The key, without its secret."`
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

// usageRoute tells what the workspace asked for.
func (r *routes) usageRoute(s *kernel.Server, base kernel.Route) {
	base.ID, base.Method, base.Path, base.Summary = "getMyUsage", http.MethodGet, "/v1/me/usage", "Tell what the workspace asked for"
	base.Description = "Requests and failures of the workspace's keys in the last 30 days, in all, by class and by key, and the newest of them one by one: at most 100, of the last 7 days. " +
		"Counts are exact across all processes of the service; they are written about every second. Requests with a session are not counted. A session is needed, in a cookie or as a bearer token."
	kernel.Register(s, base, r.usage)
}

func (r *routes) usage(ctx context.Context, _ *struct{}) (*answer[Usage], error) {
	u, err := r.Usage.Of(ctx, kernel.RequestOf(ctx).Caller.WorkspaceID, 0)
	if err != nil {
		return nil, unavailable(err)
	}
	out := Usage{WindowStart: u.WindowStart, WindowEnd: u.WindowEnd, TotalRequests: u.TotalRequests, TotalFailures: u.TotalFailures, PerClass: []ClassUsage{}, PerKey: []KeyUsage{},
		PerKeyTruncated: u.PerKeyTruncated, RecentRequests: requested(u.RecentRequests), RecentRequestsTruncated: u.RecentRequestsTruncated,
		RecentFailures: requested(u.RecentFailures), RecentFailuresTruncated: u.RecentFailuresTruncated}
	for _, c := range u.PerClass {
		out.PerClass = append(out.PerClass, ClassUsage(c))
	}
	for _, k := range u.PerKey {
		out.PerKey = append(out.PerKey, KeyUsage{APIKey: summary(k.APIKey), TotalRequests: k.TotalRequests, SuccessCount: k.SuccessCount, FailureCount: k.FailureCount,
			LastRequestAt: k.LastRequestAt, LastFailureAt: k.LastFailureAt, LatestRateLimitState: (*RateLimitState)(k.LatestRateLimitState)})
	}
	return &answer[Usage]{out}, nil
}

func requested(list []usage.Requested) []Requested {
	out := make([]Requested, 0, len(list))
	for _, e := range list {
		out = append(out, Requested{RequestID: e.RequestID, APIKeyPublicID: e.APIKeyPublicID, APIKeyLabel: e.APIKeyLabel, APIKeyEnvironment: string(e.APIKeyEnvironment),
			APIKeyScopes: e.APIKeyScopes.Names(), Method: e.Method, RoutePath: e.RoutePath, LoadClass: e.LoadClass, StatusCode: e.StatusCode, LatencyMs: e.LatencyMs,
			RateLimitState: (*RateLimitState)(e.RateLimitState), ObservedAt: e.ObservedAt})
	}
	return out
}
