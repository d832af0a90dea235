package me

import (
	"context"
	"net/http"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/usage"
)

// Usage is the answer to GET /v1/me/usage.
type Usage struct {
	usage.Summary
	PerKey          []KeyUsage `json:"perKey" doc:"The newest keys of the workspace, the revoked ones too."`
	PerKeyTruncated bool       `json:"perKeyTruncated" doc:"Whether the workspace has more keys. The totals are of all."`
}

// KeyUsage is what one key asked for.
type KeyUsage struct {
	APIKey Key `json:"apiKey" doc:"The key, without its secret."`
	usage.KeyCounts
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
	out := Usage{Summary: u.Summary, PerKey: []KeyUsage{}, PerKeyTruncated: u.PerKeyTruncated}
	for _, k := range u.PerKey {
		out.PerKey = append(out.PerKey, KeyUsage{summary(k.APIKey), k.KeyCounts})
	}
	return &answer[Usage]{out}, nil
}
