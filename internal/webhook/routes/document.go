package routes

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/feed"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/webhook"
)

// WebhookFilter is feed.Filter for the documents.
type WebhookFilter struct {
	Kind    string   `json:"kind" enum:"block,transaction,event,transfer,finality,fork" doc:"What is told: new blocks, transactions that an address has a part in, events, token transfers, that the finalized or L1-accepted block moved, or that blocks were taken back."`
	Address []string `json:"address,omitempty" nullable:"false" doc:"Of transaction the one address, of event the emitters, of transfer either side."`
	Token   []string `json:"token,omitempty" nullable:"false" doc:"Of transfer: the tokens."`
	From    []string `json:"from,omitempty" nullable:"false" doc:"Of transfer: who sent."`
	To      []string `json:"to,omitempty" nullable:"false" doc:"Of transfer: who received. Not together with from."`
	Topic0  []string `json:"topic0,omitempty" nullable:"false" doc:"Of event: values of the first key, one of which it has."`
	Topic1  []string `json:"topic1,omitempty" nullable:"false" doc:"Of event: values of the key at this position, one of which it has. Later topics need topic0."`
	Topic2  []string `json:"topic2,omitempty" nullable:"false" doc:"As topic1."`
	Topic3  []string `json:"topic3,omitempty" nullable:"false" doc:"As topic1."`
	Topic4  []string `json:"topic4,omitempty" nullable:"false" doc:"As topic1."`
	Topic5  []string `json:"topic5,omitempty" nullable:"false" doc:"As topic1."`
	Topic6  []string `json:"topic6,omitempty" nullable:"false" doc:"As topic1."`
	Topic7  []string `json:"topic7,omitempty" nullable:"false" doc:"As topic1."`
	Topic8  []string `json:"topic8,omitempty" nullable:"false" doc:"As topic1."`
	Topic9  []string `json:"topic9,omitempty" nullable:"false" doc:"As topic1."`
	Topic10 []string `json:"topic10,omitempty" nullable:"false" doc:"As topic1."`
	Topic11 []string `json:"topic11,omitempty" nullable:"false" doc:"As topic1."`
	Topic12 []string `json:"topic12,omitempty" nullable:"false" doc:"As topic1."`
	Topic13 []string `json:"topic13,omitempty" nullable:"false" doc:"As topic1."`
	Topic14 []string `json:"topic14,omitempty" nullable:"false" doc:"As topic1."`
	Topic15 []string `json:"topic15,omitempty" nullable:"false" doc:"As topic1."`
}

// parse is the filter that is meant.
func (f WebhookFilter) parse() (feed.Filter, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return feed.Filter{}, err
	}
	return feed.Parse(text)
}

// WebhookPosition is how far a webhook was told.
type WebhookPosition struct {
	BlockNumber uint64 `json:"blockNumber" doc:"The newest block that was looked at for it. While nothing matches it is written every few seconds."`
	BlockHash   string `json:"blockHash" doc:"Hash of that block."`
}

// Webhook is what its workspace sees of one.
type Webhook struct {
	WebhookID       string           `json:"webhookId" pattern:"^wh_[a-z2-7]{24}$" doc:"Names the webhook."`
	ChainID         string           `json:"chainId" doc:"The chain that it is told of."`
	URL             string           `json:"url" doc:"Where messages are sent."`
	Description     string           `json:"description" doc:"What its owner calls it."`
	Filter          WebhookFilter    `json:"filter" doc:"What is told."`
	State           string           `json:"state" enum:"active,paused,disabled" doc:"Paused by its owner, or disabled by the service; PATCH makes it active again, and it goes on where it was."`
	StateReason     *string          `json:"stateReason" enum:"gone,unreachable,failing,rolled_back" doc:"Why it was disabled; null otherwise."`
	StateAt         time.Time        `json:"stateAt" doc:"Since when it is in its state."`
	FromBlock       uint64           `json:"fromBlock" doc:"The first block that is told of."`
	Position        *WebhookPosition `json:"position" doc:"How far it was told. Null in front of the first block."`
	LastSequence    int64            `json:"lastSequence" doc:"The sequence of the newest message; 0 for none."`
	LastDeliveredAt *time.Time       `json:"lastDeliveredAt" doc:"When a message was last taken; null for never."`
	CreatedAt       time.Time        `json:"createdAt" doc:"When it was created."`
	UpdatedAt       time.Time        `json:"updatedAt" doc:"When its owner last changed it."`
}

// CreatedWebhook is a webhook with its secret, which is told once.
type CreatedWebhook struct {
	Webhook Webhook `json:"webhook" doc:"The webhook."`
	Secret  *string `json:"secret" doc:"What messages are signed with: whsec_ and base64. It is shown this once; null where the same request had made the webhook before. Rotate it when it was lost."`
}

// WebhookPage is a page of webhooks.
type WebhookPage struct {
	Items      []Webhook `json:"items" nullable:"false" doc:"The webhooks of the workspace on the chain, oldest first."`
	NextCursor *string   `json:"nextCursor"`
}

// DeletedWebhook says which webhook is gone.
type DeletedWebhook struct {
	WebhookID string `json:"webhookId" doc:"The webhook that is gone, with its dead letters and what was under way."`
}

// WebhookLetter is a message that was given up.
type WebhookLetter struct {
	MessageID   string    `json:"messageId" doc:"The id of the message, as in the header webhook-id."`
	Sequence    int64     `json:"sequence" doc:"Its place in the order of the webhook's messages."`
	Type        string    `json:"type" doc:"What it tells."`
	Attempts    int       `json:"attempts" doc:"How often it was sent."`
	LastStatus  *int      `json:"lastStatus" doc:"The status that the receiver last answered with; null when it did not answer."`
	CreatedAt   time.Time `json:"createdAt" doc:"When the message was made."`
	GivenUpAt   time.Time `json:"givenUpAt" doc:"When it was given up. It is kept for 30 days, and the newest 100 of a webhook."`
	Redelivered bool      `json:"redelivered" doc:"It was asked for, and is sent when its turn comes."`
}

// WebhookLetterPage is a page of dead letters.
type WebhookLetterPage struct {
	Items      []WebhookLetter `json:"items" nullable:"false" doc:"The messages that were given up, newest first."`
	NextCursor *string         `json:"nextCursor"`
}

func view(s *webhook.Subscription) (Webhook, error) {
	out := Webhook{WebhookID: s.ID, ChainID: s.Chain, URL: s.URL, Description: s.Description, State: string(s.State), StateAt: s.StateAt, FromBlock: uint64(s.FromNumber),
		LastSequence: s.Sequence, LastDeliveredAt: s.DeliveredAt, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt}
	if err := json.Unmarshal([]byte(s.Filter), &out.Filter); err != nil {
		return out, fmt.Errorf("the filter of webhook %s: %w", s.ID, err)
	}
	if s.Reason != "" {
		why := string(s.Reason)
		out.StateReason = &why
	}
	if p := s.Position; p.Number >= 0 {
		out.Position = &WebhookPosition{uint64(p.Number), p.Hash}
	}
	return out, nil
}

func letter(id string, l webhook.Letter) WebhookLetter {
	out := WebhookLetter{MessageID: webhook.MessageID(id, l.Sequence), Sequence: l.Sequence, Type: l.Type, Attempts: l.Attempts, CreatedAt: l.MadeAt, GivenUpAt: l.DiedAt, Redelivered: l.Wanted}
	if l.Status != 0 {
		out.LastStatus = &l.Status
	}
	return out
}

// register puts the routes into the table.
func (r *routes) register(s *kernel.Server) {
	base := kernel.Route{Family: "Webhooks", Path: "/v1/{chain}/webhooks", Method: http.MethodPost, Class: kernel.Light, Scope: changing, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External,
		Depends: kernel.OnCaller | kernel.OnClock, Statuses: []int{http.StatusNotFound, http.StatusConflict}}
	one, letters := base.Path+"/{webhook_id}", base.Path+"/{webhook_id}/dead-letters"
	body := func(x *kernel.Route, example string) {
		x.MaxBody = maxBody
		x.ExampleBody = func(kernel.Examples) string { return example }
	}

	list := base
	list.ID, list.Method, list.Scope, list.Summary = "listWebhooks", http.MethodGet, reading, "List webhooks"
	list.Description = "The webhooks of the key's workspace on the chain, oldest first. `limit` is {page}."
	list.Page, list.Statuses = kernel.Page{Usual: 25, Most: 100}, []int{http.StatusNotFound}
	kernel.Register(s, list, r.list)

	create := base
	create.ID, create.Class, create.Summary = "createWebhook", kernel.Heavy, "Create a webhook"
	create.Description = "Begins to send signed messages about what matches the filter, by the rules of Standard Webhooks. 201 with the new webhook and its secret, which is shown this once; 200 with the webhook that the same Idempotency-Key and body made before. Plans have 5 to 2,000 webhooks. " +
		"A key of a workspace is needed, with the scope write. See [webhooks](/docs/guide/webhooks)."
	body(&create, `{"url":"https://example.org/hook","filter":{"kind":"transfer","to":["0x1"]}}`)
	create.ExampleStatus = http.StatusForbidden
	kernel.Register(s, create, r.create)
	op := s.OpenAPI().Paths[base.Path].Post
	op.Responses["201"] = &huma.Response{Description: "Created: the webhook is new", Content: op.Responses["200"].Content}

	get := base
	get.ID, get.Method, get.Scope, get.Path, get.Summary = "getWebhook", http.MethodGet, reading, one, "Look at a webhook"
	get.Description = "The webhook, to the workspace that owns it. One of another workspace is answered like one that does not exist."
	get.Statuses, get.ExampleStatus = []int{http.StatusNotFound}, http.StatusNotFound
	kernel.Register(s, get, r.get)

	change := base
	change.ID, change.Method, change.Path, change.Summary = "changeWebhook", http.MethodPatch, one, "Change, pause or resume a webhook"
	change.Description = "Changes what the body names. A webhook that is made active goes on where it was: nothing is left out. With another url, or made active, the message under way is tried at once, and has all its attempts again."
	body(&change, `{"state":"paused"}`)
	change.ExampleStatus, change.ExampleCurl = http.StatusNotFound, "-X PATCH"
	kernel.Register(s, change, r.change)

	remove := base
	remove.ID, remove.Method, remove.Path, remove.Summary = "deleteWebhook", http.MethodDelete, one, "Delete a webhook"
	remove.Description = "Ends a webhook, and forgets all of it. A message under way may still arrive."
	remove.Statuses, remove.ExampleStatus, remove.ExampleCurl = []int{http.StatusNotFound}, http.StatusNotFound, "-X DELETE"
	kernel.Register(s, remove, r.remove)

	rotate := base
	rotate.ID, rotate.Path, rotate.Summary = "rotateWebhookSecret", one+"/secret", "Make a new secret"
	rotate.Description = "Messages are signed with the new secret and, for 24 hours each, also with those before. A webhook has 4 at most: a further one is refused with 409, which says until when. The answer holds the secret, this once. The request has no body."
	rotate.ExampleStatus, rotate.ExampleCurl = http.StatusNotFound, "-X POST"
	kernel.Register(s, rotate, r.rotate)

	test := base
	test.ID, test.Path, test.Summary = "testWebhook", one+"/test", "Ask for a test message"
	test.Description = "A message of type test is sent, in order with the others. At most 3 wait at once. The request has no body."
	test.ExampleStatus, test.ExampleCurl = http.StatusNotFound, "-X POST"
	kernel.Register(s, test, r.test)

	replay := base
	replay.ID, replay.Path, replay.Class, replay.Summary = "replayWebhook", one+"/replay", kernel.Heavy, "Begin a webhook again at a block"
	replay.Description = "Everything from that block on is told again, in new messages with new ids. What was told before is not taken back: rows are the same by their own identity."
	body(&replay, `{"fromBlock":0}`)
	replay.ExampleStatus = http.StatusNotFound
	kernel.Register(s, replay, r.replay)

	dead := base
	dead.ID, dead.Method, dead.Scope, dead.Path, dead.Summary = "listWebhookDeadLetters", http.MethodGet, reading, letters, "List messages that were given up"
	dead.Description = "Messages that were not taken within a day, newest first: at most 100 of a webhook, for 30 days. `limit` is {page}."
	dead.Page, dead.Statuses, dead.ExampleStatus = kernel.Page{Usual: 25, Most: 100}, []int{http.StatusNotFound}, http.StatusNotFound
	kernel.Register(s, dead, r.deadLetters)

	again := base
	again.ID, again.Path, again.Summary = "redeliverWebhookMessage", letters+"/{message_id}/redeliver", "Send a dead letter again"
	again.Description = "The message is sent with its own id and sequence, before what is new. The request has no body."
	again.ExampleStatus, again.ExampleCurl = http.StatusNotFound, "-X POST"
	kernel.Register(s, again, r.redeliver)
}
