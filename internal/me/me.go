// Package me serves people who are signed in: the keys of their workspace, its plan, and
// what was asked for with the keys.
package me

import (
	"context"
	"errors"
	"net/http"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/session"
	"chainexplorer/internal/usage"
)

// Options are what the routes work on.
type Options struct {
	Accounts *account.Repository
	Usage    *usage.Repository
}

// maxKeys is how many keys a list has.
const maxKeys = 100

// Sessions lets a kernel ask who is signed in.
func Sessions(r *session.Repository) kernel.Sessions {
	return func(ctx context.Context, token string) (account.Principal, error) {
		who, err := r.Authenticate(ctx, token)
		if errors.Is(err, session.ErrInvalid) {
			return account.Principal{}, kernel.ErrNoSession
		} else if err != nil {
			return account.Principal{}, err
		}
		return who.Principal(), nil
	}
}

// Key is a key's summary: everything but the key.
type Key struct {
	PublicID    string     `json:"publicId" doc:"Names the key, such as key_0123456789abcdef. It is no secret."`
	Label       string     `json:"label" doc:"Name by which people know the key."`
	Environment string     `json:"environment" enum:"test,live" doc:"What the key is meant for."`
	Scopes      []string   `json:"scopes" doc:"What the key may do."`
	Status      string     `json:"status" enum:"active,revoked" doc:"A revoked key is refused for good. One that has expired is still called active: expiresAt tells."`
	SecretHint  string     `json:"secretHint" doc:"The last characters of the key."`
	MaskedKey   string     `json:"maskedKey" doc:"The key's prefix and hint, for people to tell keys apart."`
	Policy      Policy     `json:"rateLimitPolicy" doc:"How much may be asked with the key."`
	Origins     []string   `json:"allowedOrigins" doc:"Web origins from which the key may be used; none are all."`
	CreatedAt   time.Time  `json:"createdAt" doc:"When the key was made."`
	LastUsedAt  *time.Time `json:"lastUsedAt" doc:"When the key was last used, to the minute or so; null for one that never was."`
	ExpiresAt   *time.Time `json:"expiresAt" doc:"When the key ends by itself; null for one that does not."`
	RevokedAt   *time.Time `json:"revokedAt" doc:"When the key was revoked; null for one that was not."`
}

// Policy is how much may be asked with a key.
type Policy struct {
	PolicyKey         string `json:"policyKey" doc:"Names the policy."`
	PolicyDisplayName string `json:"policyDisplayName" doc:"What people call it."`
	LightPerMinute    int    `json:"lightPerMinute" doc:"Requests a minute of the class light."`
	HeavyPerMinute    int    `json:"heavyPerMinute" doc:"Requests a minute of the class heavy."`
	BatchPerMinute    int    `json:"batchPerMinute" doc:"Requests a minute of the class batch."`
	Burst             int    `json:"burst" doc:"Requests at once."`
	MaxActiveKeys     int    `json:"maxActiveKeys" doc:"How many active keys the workspace may have."`
}

// summary leaves out nothing but the key.
func summary(k account.Key) Key {
	return Key{PublicID: k.PublicID, Label: k.Label, Environment: string(k.Environment), Scopes: k.Scopes.Names(), Status: string(k.Status),
		SecretHint: k.SecretHint, MaskedKey: k.MaskedKey, Policy: Policy{PolicyKey: k.Policy.PolicyKey, PolicyDisplayName: k.Policy.PolicyDisplayName,
			LightPerMinute: k.Policy.LightPerMinute, HeavyPerMinute: k.Policy.HeavyPerMinute, BatchPerMinute: k.Policy.BatchPerMinute, Burst: k.Policy.Burst, MaxActiveKeys: k.Policy.MaxActiveKeys},
		Origins: append([]string{}, k.Origins.List()...), CreatedAt: k.CreatedAt, LastUsedAt: k.LastUsedAt, ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt}
}

// KeyList is the answer to GET /v1/me/api-keys.
type KeyList struct {
	Items     []Key `json:"items" doc:"The keys of the workspace, newest first, revoked ones too."`
	Truncated bool  `json:"truncated" doc:"There are older keys than those listed."`
}

// IssuedKey is the answer to POST /v1/me/api-keys.
type IssuedKey struct {
	Action           string   `json:"action" enum:"created,rotated" doc:"Whether the key took the place of another."`
	PlaintextKey     string   `json:"plaintextKey" doc:"The key. It is shown this once: only a digest of it is stored."`
	APIKey           Key      `json:"apiKey" doc:"Everything else about the key."`
	RevokedPublicIDs []string `json:"revokedPublicIds" doc:"The keys whose place it took. They are refused from now on, by every process within a second."`
}

// RevokedKey is the answer to DELETE /v1/me/api-keys/{public_id}.
type RevokedKey struct {
	APIKey Key `json:"apiKey" doc:"The key, as it is now."`
}

type answer[T any] struct{ Body T }

type routes struct{ Options }

// New registers the routes. It is called before the documents are made.
func New(s *kernel.Server, o Options) {
	r := &routes{o}
	base := kernel.Route{Family: "Account", Path: "/v1/me/api-keys", Class: kernel.Light, Session: true, Tier: kernel.TierOfficial,
		Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnCaller | kernel.OnClock}
	list := base
	list.ID, list.Method, list.Summary = "listMyApiKeys", http.MethodGet, "List the keys of the workspace"
	list.Description = "Metadata alone, newest first: a key itself is shown once, when it is issued. A session is needed, in a cookie or as a bearer token."
	kernel.Register(s, list, r.list)
	issue := base
	issue.ID, issue.Method, issue.Summary = "issueMyApiKey", http.MethodPost, "Issue or rotate the default key"
	issue.Description = "Issues the live key called default, with the scopes read, batch, write and verify, in a workspace of a partner also partner. If the workspace has one it is rotated: the old key is revoked " +
		"with the same stroke, there is no time when both are good. A key with a scope that only the operator gives out is left alone. The request has no body. " +
		"A session is needed, as a bearer token."
	issue.Statuses = []int{http.StatusConflict}
	kernel.Register(s, issue, r.issue)
	revoke := base
	revoke.ID, revoke.Method, revoke.Path, revoke.Summary = "revokeMyApiKey", http.MethodDelete, base.Path+"/{public_id}", "Revoke a key"
	revoke.Description = "Ends a key of the workspace for good: it is refused within a second. Revoking it again changes nothing. A session is needed, as a bearer token."
	revoke.Statuses = []int{http.StatusNotFound}
	kernel.Register(s, revoke, r.revoke)
	r.addRedeem(s, base)
	r.usageRoute(s, base)
}

func (r *routes) list(ctx context.Context, _ *struct{}) (*answer[KeyList], error) {
	keys, more, err := r.Accounts.ListKeys(ctx, kernel.RequestOf(ctx).Caller.WorkspaceID, maxKeys)
	if err != nil {
		return nil, unavailable(err)
	}
	out := &answer[KeyList]{KeyList{Items: []Key{}, Truncated: more}}
	for _, k := range keys {
		out.Body.Items = append(out.Body.Items, summary(k))
	}
	return out, nil
}

func (r *routes) issue(ctx context.Context, _ *struct{}) (*answer[IssuedKey], error) {
	who := kernel.RequestOf(ctx).Caller
	issued, old, err := r.Accounts.RotateDefault(account.By(ctx, who.PublicID), who.WorkspaceID)
	if errors.Is(err, account.ErrTooManyKeys) {
		return nil, kernel.Fail(kernel.CodeConflict, "The workspace has as many active keys as its plan allows. Revoke one first.")
	} else if errors.Is(err, account.ErrInternalWorkspace) {
		return nil, kernel.Fail(kernel.CodeForbidden, "The workspace is the operator's own: its keys are made by the operator alone.")
	} else if err != nil {
		return nil, unavailable(err)
	}
	out := IssuedKey{Action: "created", PlaintextKey: issued.Plaintext, APIKey: summary(issued.Key), RevokedPublicIDs: []string{}}
	for _, k := range old {
		out.Action = "rotated"
		out.RevokedPublicIDs = append(out.RevokedPublicIDs, k.PublicID)
	}
	return &answer[IssuedKey]{out}, nil
}

type keyPath struct {
	PublicID string `path:"public_id" doc:"Id of the key." example:"key_0123456789abcdef"`
}

func (r *routes) revoke(ctx context.Context, in *keyPath) (*answer[RevokedKey], error) {
	who := kernel.RequestOf(ctx).Caller
	k, err := r.Accounts.RevokeOwn(account.By(ctx, who.PublicID), who.WorkspaceID, in.PublicID)
	if errors.Is(err, account.ErrKeyNotFound) {
		return nil, kernel.Fail(kernel.CodeNotFound, "The workspace has no such key.")
	} else if err != nil {
		return nil, unavailable(err)
	}
	return &answer[RevokedKey]{RevokedKey{summary(k)}}, nil
}

// unavailable is what the database could not do.
func unavailable(err error) *kernel.Error {
	return kernel.RetryLater(1, err, "Accounts cannot be reached right now; try again.")
}
