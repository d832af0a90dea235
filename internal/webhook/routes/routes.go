// Package routes serves webhooks to the workspaces that own them: create, look, change,
// delete, and what can be asked for besides.
package routes

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/account"
	"chainexplorer/internal/feed"
	job "chainexplorer/internal/job/webhook"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/webhook"
	"chainexplorer/internal/webhook/egress"
)

const (
	reading  = account.Read
	changing = account.Write
	maxBody  = 32 << 10
)

// Options are what the routes work on.
type Options struct {
	Webhooks *webhook.Repo
	// Feed is the reader of a chain; nil where the chain is not served.
	Feed func(chain string) *feed.Reader
	// Chains are those that are served.
	Chains []string
	// Policy is which addresses are taken.
	Policy egress.Policy
}

type routes struct {
	Options
	server *kernel.Server
}

// New registers the routes. It is called before the documents are made.
func New(s *kernel.Server, o Options) {
	r := &routes{o, s}
	r.register(s)
}

// ChainPath is what all paths name; the framework looks into exported types alone.
type ChainPath struct {
	Chain string `path:"chain" doc:"The chain, such as SN_MAIN."`
}

// WebhookPath names a webhook.
type WebhookPath struct {
	ChainPath
	WebhookID string `path:"webhook_id" maxLength:"64" doc:"Id of the webhook." example:"wh_abcdefghijklmnopqrstuvwx"`
}

type answer[T any] struct {
	Status int
	Body   T
}

func answered(s *webhook.Subscription) (*answer[Webhook], error) {
	v, err := view(s)
	return &answer[Webhook]{200, v}, err
}

// caller is who asks, about a chain that is served. A key of the operator's settings belongs
// to no workspace.
func (r *routes) caller(ctx context.Context, chain string) (webhook.Owner, *kernel.Error) {
	who := kernel.RequestOf(ctx).Caller
	if who.Configured || who.Session || who.WorkspaceID == "" {
		return webhook.Owner{}, kernel.Fail(kernel.CodeForbidden, "Webhooks belong to workspaces: a key of one is needed.")
	}
	if !slices.Contains(r.Chains, chain) {
		return webhook.Owner{}, kernel.Fail(kernel.CodeNotFound, "path.chain: %q is not served here; %s.", kernel.Clip(chain, 40), kernel.Listed(r.Chains))
	}
	return webhook.Owner{Actor: who.PublicID, WorkspaceID: who.WorkspaceID, Chain: chain}, nil
}

type createInput struct {
	ChainPath
	IdempotencyKey string `header:"Idempotency-Key" pattern:"^[A-Za-z0-9._:-]{1,128}$" doc:"Chosen by the caller, 1 to 128 characters of A-Z a-z 0-9 . _ : and -. The same key finds the same webhook of the chain again, as long as that exists; it is refused with another body." example:"orders-hook-1"`
	Body           struct {
		URL         string        `json:"url" maxLength:"2048" doc:"Where to: https, without a user, a password or a fragment. It must resolve to public addresses whenever a message is sent."`
		Description string        `json:"description,omitempty" maxLength:"200" doc:"What its owner calls it: characters that print."`
		Filter      WebhookFilter `json:"filter" doc:"What is told."`
		FromBlock   *uint64       `json:"fromBlock,omitempty" doc:"The first block that is told of; unless given, the one after the newest."`
	}
}

// CheckHeaders refuses a header that is there twice, or that says nothing: whoever sends it
// relies on it.
func (in *createInput) CheckHeaders(h http.Header) *huma.ErrorDetail {
	switch keys := h["Idempotency-Key"]; {
	case len(keys) > 1:
		return &huma.ErrorDetail{Location: "header.Idempotency-Key", Message: "it can be given once"}
	case len(keys) == 1 && keys[0] == "":
		return &huma.ErrorDetail{Location: "header.Idempotency-Key", Message: "it must not be empty"}
	}
	return nil
}

// badText refuses a description that cannot be shown as it is.
func badText(description *string) *kernel.Error {
	if description != nil && strings.ContainsFunc(*description, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return kernel.Fail(kernel.CodeInvalidRequest, "body.description: it holds characters that do not print.")
	}
	return nil
}

func (r *routes) create(ctx context.Context, in *createInput) (*answer[CreatedWebhook], error) {
	who, e := r.caller(ctx, in.Chain)
	if e != nil {
		return nil, e
	}
	if err := r.Policy.Check(in.Body.URL); err != nil {
		return nil, badURL(err)
	}
	if e := badText(&in.Body.Description); e != nil {
		return nil, e
	}
	f, err := in.Body.Filter.parse()
	if err != nil {
		return nil, badFilter(err)
	}
	at, from, err := r.begin(ctx, in.Chain, in.Body.FromBlock)
	if err != nil {
		return nil, err
	}
	q := webhook.Request{Owner: who, Most: webhook.Most(kernel.RequestOf(ctx).Caller.Plan), IdempotencyKey: in.IdempotencyKey, URL: in.Body.URL, Description: in.Body.Description,
		Kind: string(f.Kind), Filter: f.String(), From: at, FromNumber: from}
	if in.Body.FromBlock != nil {
		q.Begin = strconv.FormatUint(*in.Body.FromBlock, 10)
	}
	s, secret, err := r.Webhooks.Create(ctx, q)
	if err != nil {
		return nil, failure(err)
	}
	v, err := view(s)
	out := &answer[CreatedWebhook]{200, CreatedWebhook{Webhook: v}}
	if secret != "" {
		out.Status, out.Body.Secret = 201, &secret
	}
	return out, err
}

// begin is the place in front of a block, by default of the one that comes next.
func (r *routes) begin(ctx context.Context, chain string, from *uint64) (webhook.Position, int64, error) {
	reader := r.Feed(chain)
	at, err := reader.Now(ctx)
	number := at.Number + 1
	if err == nil && from != nil {
		number = *from
		at, err = reader.Before(ctx, number)
	}
	switch {
	case errors.Is(err, feed.ErrAhead):
		return webhook.Position{}, 0, kernel.Fail(kernel.CodeInvalidRequest, "body.fromBlock: there is no such block yet.")
	case errors.Is(err, feed.ErrEmpty):
		return webhook.Position{}, 0, kernel.RetryLater(5, err, "The index has no blocks yet; try again.")
	case err != nil:
		return webhook.Position{}, 0, kernel.RetryLater(1, err, "The index cannot be read right now; try again.")
	}
	p, err := job.PositionOf(at)
	return p, int64(number), err
}

func (r *routes) list(ctx context.Context, in *struct {
	ChainPath
	Limit  kernel.Limit `query:"limit"`
	Cursor string       `query:"cursor" doc:"nextCursor of the page before."`
}) (*answer[WebhookPage], error) {
	who, e := r.caller(ctx, in.Chain)
	if e != nil {
		return nil, e
	}
	scope := strings.Join([]string{"listWebhooks", who.WorkspaceID, in.Chain}, "\x00")
	var after webhook.Cursor
	if in.Cursor != "" {
		pos, e := r.server.OpenCursor(ctx, scope, in.Cursor)
		if e != nil {
			return nil, e
		}
		after = webhook.Cursor{CreatedAt: time.UnixMicro(int64(binary.BigEndian.Uint64(pos))), ID: string(pos[8:])}
	}
	limit := in.Limit.Size()
	list, err := r.Webhooks.List(ctx, who, after, limit)
	if err != nil {
		return nil, failure(err)
	}
	out := &answer[WebhookPage]{200, WebhookPage{Items: []Webhook{}}}
	for _, s := range list {
		v, err := view(s)
		if err != nil {
			return nil, err
		}
		out.Body.Items = append(out.Body.Items, v)
	}
	if n := len(list); n == limit {
		next := r.server.Seal(scope, append(kernel.PutUint64(uint64(list[n-1].CreatedAt.UnixMicro())), list[n-1].ID...))
		out.Body.NextCursor = &next
	}
	return out, nil
}

func (r *routes) get(ctx context.Context, in *WebhookPath) (*answer[Webhook], error) {
	who, e := r.caller(ctx, in.Chain)
	if e != nil {
		return nil, e
	}
	s, err := r.Webhooks.Get(ctx, who, in.WebhookID)
	if err != nil {
		return nil, failure(err)
	}
	return answered(s)
}

func (r *routes) change(ctx context.Context, in *struct {
	WebhookPath
	Body struct {
		URL         *string `json:"url,omitempty" maxLength:"2048" doc:"Where to, from now on."`
		Description *string `json:"description,omitempty" maxLength:"200" doc:"What its owner calls it."`
		State       *string `json:"state,omitempty" enum:"active,paused" doc:"Whether messages are sent."`
	}
}) (*answer[Webhook], error) {
	who, e := r.caller(ctx, in.Chain)
	if e != nil {
		return nil, e
	}
	if e := badText(in.Body.Description); e != nil {
		return nil, e
	}
	c := webhook.Change{URL: in.Body.URL, Description: in.Body.Description}
	if c.URL != nil {
		if err := r.Policy.Check(*c.URL); err != nil {
			return nil, badURL(err)
		}
	}
	if in.Body.State != nil {
		state := webhook.State(*in.Body.State)
		c.State = &state
	}
	if c == (webhook.Change{}) {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "body: it names nothing to change.")
	}
	s, err := r.Webhooks.Change(ctx, who, in.WebhookID, c)
	if err != nil {
		return nil, failure(err)
	}
	return answered(s)
}

func (r *routes) remove(ctx context.Context, in *WebhookPath) (*answer[DeletedWebhook], error) {
	who, e := r.caller(ctx, in.Chain)
	if e != nil {
		return nil, e
	}
	if err := r.Webhooks.Delete(ctx, who, in.WebhookID); err != nil {
		return nil, failure(err)
	}
	return &answer[DeletedWebhook]{200, DeletedWebhook{in.WebhookID}}, nil
}

func (r *routes) rotate(ctx context.Context, in *WebhookPath) (*answer[CreatedWebhook], error) {
	who, e := r.caller(ctx, in.Chain)
	if e != nil {
		return nil, e
	}
	s, secret, err := r.Webhooks.Rotate(ctx, who, in.WebhookID)
	if err != nil {
		return nil, failure(err)
	}
	v, err := view(s)
	return &answer[CreatedWebhook]{200, CreatedWebhook{v, &secret}}, err
}

func (r *routes) test(ctx context.Context, in *WebhookPath) (*answer[Webhook], error) {
	who, e := r.caller(ctx, in.Chain)
	if e != nil {
		return nil, e
	}
	s, err := r.Webhooks.Test(ctx, who, in.WebhookID)
	if err != nil {
		return nil, failure(err)
	}
	return answered(s)
}

func (r *routes) replay(ctx context.Context, in *struct {
	WebhookPath
	Body struct {
		FromBlock uint64 `json:"fromBlock" doc:"The first block that is told of again: any up to the one after the newest."`
	}
}) (*answer[Webhook], error) {
	who, e := r.caller(ctx, in.Chain)
	if e != nil {
		return nil, e
	}
	at, from, err := r.begin(ctx, in.Chain, &in.Body.FromBlock)
	if err != nil {
		return nil, err
	}
	s, err := r.Webhooks.Replay(ctx, who, in.WebhookID, at, from)
	if err != nil {
		return nil, failure(err)
	}
	return answered(s)
}

func (r *routes) deadLetters(ctx context.Context, in *struct {
	WebhookPath
	Limit  kernel.Limit `query:"limit"`
	Cursor string       `query:"cursor" doc:"nextCursor of the page before."`
}) (*answer[WebhookLetterPage], error) {
	who, e := r.caller(ctx, in.Chain)
	if e != nil {
		return nil, e
	}
	scope, below := "listWebhookDeadLetters\x00"+in.WebhookID, int64(math.MaxInt64)
	if in.Cursor != "" {
		pos, e := r.server.OpenCursor(ctx, scope, in.Cursor)
		if e != nil {
			return nil, e
		}
		below = int64(binary.BigEndian.Uint64(pos))
	}
	limit := in.Limit.Size()
	list, err := r.Webhooks.DeadLetters(ctx, who, in.WebhookID, below, limit)
	if err != nil {
		return nil, failure(err)
	}
	out := &answer[WebhookLetterPage]{200, WebhookLetterPage{Items: []WebhookLetter{}}}
	for _, l := range list {
		out.Body.Items = append(out.Body.Items, letter(in.WebhookID, l))
	}
	if n := len(list); n == limit {
		next := r.server.Seal(scope, kernel.PutUint64(uint64(list[n-1].Sequence)))
		out.Body.NextCursor = &next
	}
	return out, nil
}

func (r *routes) redeliver(ctx context.Context, in *struct {
	WebhookPath
	MessageID string `path:"message_id" maxLength:"100" doc:"Id of the message." example:"msg_wh_abcdefghijklmnopqrstuvwx_1"`
}) (*answer[Webhook], error) {
	who, e := r.caller(ctx, in.Chain)
	if e != nil {
		return nil, e
	}
	sequence, ok := webhook.ParseMessageID(in.WebhookID, in.MessageID)
	if !ok {
		return nil, failure(webhook.ErrNoLetter)
	}
	s, err := r.Webhooks.Redeliver(ctx, who, in.WebhookID, sequence)
	if err != nil {
		return nil, failure(err)
	}
	return answered(s)
}

func badURL(err error) *kernel.Error {
	return kernel.Fail(kernel.CodeInvalidRequest, "body.url: %s.", err)
}

func badFilter(err error) *kernel.Error {
	var wrong *feed.Error
	if errors.As(err, &wrong) {
		where := "body.filter"
		if wrong.Field != "" {
			where += "." + wrong.Field
		}
		return kernel.Fail(kernel.CodeInvalidRequest, "%s: %s", where, wrong.Reason)
	}
	return kernel.Fail(kernel.CodeInvalidRequest, "body.filter: it cannot be read.")
}

// failure puts an error of the repository into words.
func failure(err error) *kernel.Error {
	if soon := (*webhook.TooSoonError)(nil); errors.As(err, &soon) {
		return kernel.Fail(kernel.CodeConflict, "The webhook has %d secrets that are still good. The oldest is until %s; make another then.", webhook.MaxSecrets, soon.Until.UTC().Add(time.Second).Truncate(time.Second).Format(time.RFC3339))
	}
	switch {
	case errors.Is(err, webhook.ErrNotFound):
		return kernel.Fail(kernel.CodeNotFound, "The workspace has no such webhook on this chain.")
	case errors.Is(err, webhook.ErrNoLetter):
		return kernel.Fail(kernel.CodeNotFound, "The webhook has no such dead letter: it was taken meanwhile, taken back by a fork, or is too old.")
	case errors.Is(err, webhook.ErrKeyReused):
		return kernel.Fail(kernel.CodeIdempotencyKeyReused, "header.Idempotency-Key: it was used for another webhook.")
	case errors.Is(err, webhook.ErrTooMany):
		return kernel.Fail(kernel.CodeConflict, "The workspace has as many webhooks as its plan allows. Delete one first.")
	case errors.Is(err, webhook.ErrNotActive):
		return kernel.Fail(kernel.CodeConflict, "The webhook is paused or disabled. Make it active first.")
	case errors.Is(err, webhook.ErrBusy):
		return kernel.Fail(kernel.CodeConflict, "As many test messages wait as may.")
	}
	return kernel.RetryLater(1, err, "Webhooks cannot be reached right now; try again.")
}
