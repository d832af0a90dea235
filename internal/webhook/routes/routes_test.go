package routes_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/webhook"
	"chainexplorer/internal/webhook/routes"
)

func TestMain(m *testing.M) { os.Exit(servertest.Main(m.Run)) }

const base = "/v1/" + servertest.ChainID + "/webhooks"

type world struct {
	*servertest.World
	db    *control.DB
	hooks *webhook.Repo
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{}
	w.World = servertest.New(t, 12, func(o *servertest.Options) {
		w.db = o.Control()
		w.hooks = webhook.New(w.db, webhook.Options{Now: o.Now})
		o.Webhooks = &routes.Options{Webhooks: w.hooks}
	})
	return w
}

func (w *world) do(method, path, key, body string, headers ...string) servertest.Reply {
	w.T.Helper()
	req := w.Request(method, path, body, headers...)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("X-Service-Api-Key", key)
	return w.Send(req)
}

func read[T any](t *testing.T, r servertest.Reply) (out T) {
	t.Helper()
	if r.StatusCode != http.StatusOK && r.StatusCode != http.StatusCreated {
		t.Fatalf("status %d: %s", r.StatusCode, r.Body)
	}
	if err := json.Unmarshal(r.Plain(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

const hook = `{"url":"https://example.org/hook","description":"mine","filter":{"kind":"transfer","token":["0x01","0x1"],"to":["0x2"]},"fromBlock":3}`

// TestLife goes through all that can be done with a webhook.
func TestLife(t *testing.T) {
	w := newWorld(t)
	made := read[routes.CreatedWebhook](t, w.do("POST", base, w.Key, hook, "Idempotency-Key", "k1"))
	if made.Secret == nil || !strings.HasPrefix(*made.Secret, "whsec_") {
		t.Fatal("no secret")
	}
	h := made.Webhook
	if h.State != "active" || h.StateReason != nil || h.FromBlock != 3 || h.Position == nil || h.Position.BlockNumber != 2 || h.Description != "mine" || len(h.Filter.Token) != 1 || h.Filter.To[0] != "0x2" || h.LastDeliveredAt != nil {
		t.Errorf("%+v", h)
	}
	again := read[routes.CreatedWebhook](t, w.do("POST", base, w.Key, hook, "Idempotency-Key", "k1"))
	if w.do("POST", base, w.Key, hook, "Idempotency-Key", "k1").StatusCode != http.StatusOK || again.Secret != nil || again.Webhook.WebhookID != h.WebhookID {
		t.Errorf("the same request: %+v", again)
	}
	servertest.Expect(t, w.do("POST", base, w.Key, strings.Replace(hook, "mine", "other", 1), "Idempotency-Key", "k1"), 409, kernel.CodeIdempotencyKeyReused, nil)
	next := read[routes.CreatedWebhook](t, w.do("POST", "/api"+base, w.Key, `{"url":"https://example.org/","filter":{"kind":"block"}}`))
	if next.Webhook.FromBlock != 12 || next.Webhook.Position.BlockNumber != 11 {
		t.Errorf("%+v", next.Webhook)
	}
	page := read[routes.WebhookPage](t, w.do("GET", base+"?limit=1", w.Key, ""))
	if len(page.Items) != 1 || page.NextCursor == nil {
		t.Fatalf("%+v", page)
	}
	rest := read[routes.WebhookPage](t, w.do("GET", base+"?limit=5&cursor="+*page.NextCursor, w.Key, ""))
	if len(rest.Items) != 1 || rest.NextCursor != nil || rest.Items[0].WebhookID == page.Items[0].WebhookID {
		t.Errorf("%+v", rest)
	}
	one := base + "/" + h.WebhookID
	if got := read[routes.Webhook](t, w.do("PATCH", one, w.Key, `{"url":"https://example.com/","description":"theirs","state":"paused"}`)); got.URL != "https://example.com/" || got.Description != "theirs" || got.State != "paused" {
		t.Errorf("%+v", got)
	}
	servertest.Expect(t, w.do("POST", one+"/test", w.Key, ""), 409, kernel.CodeConflict, nil)
	read[routes.Webhook](t, w.do("PATCH", one, w.Key, `{"state":"active"}`))
	for i := range 4 {
		if r := w.do("POST", one+"/test", w.Key, ""); (r.StatusCode == 200) != (i < 3) {
			t.Errorf("test %d: %d", i, r.StatusCode)
		}
	}
	if got := read[routes.Webhook](t, w.do("POST", one+"/replay", w.Key, `{"fromBlock":0}`)); got.Position != nil || got.FromBlock != 0 {
		t.Errorf("%+v", got)
	}
	servertest.Expect(t, w.do("POST", one+"/replay", w.Key, `{"fromBlock":13}`), 400, kernel.CodeInvalidRequest, nil)
	if got := read[routes.CreatedWebhook](t, w.do("POST", one+"/secret", w.Key, "")); got.Secret == nil || *got.Secret == *made.Secret {
		t.Error("the secret is not new")
	}
	for i := range 3 { // four are good at once
		if r := w.do("POST", one+"/secret", w.Key, ""); i < 2 {
			read[routes.CreatedWebhook](t, r)
		} else {
			servertest.Expect(t, r, 409, kernel.CodeConflict, nil)
		}
	}
	work, err := w.hooks.Load(t.Context(), h.WebhookID)
	if err != nil {
		t.Fatal(err)
	}
	m := &webhook.Message{Sequence: 1, Type: "test", Body: "{}"}
	if err := w.hooks.Do(t.Context(), work.Subscription, webhook.Step{Next: m, FinalNumber: -1}); err != nil {
		t.Fatal(err)
	}
	m.Attempts, m.Answered, m.Status = 1, 1, 500
	if _, err := w.hooks.GiveUp(t.Context(), h.WebhookID, m, "{}"); err != nil {
		t.Fatal(err)
	}
	letters := read[routes.WebhookLetterPage](t, w.do("GET", one+"/dead-letters", w.Key, ""))
	if len(letters.Items) != 1 || letters.Items[0].MessageID != "msg_"+h.WebhookID+"_1" || *letters.Items[0].LastStatus != 500 || letters.Items[0].Redelivered {
		t.Fatalf("%+v", letters)
	}
	read[routes.Webhook](t, w.do("POST", one+"/dead-letters/"+letters.Items[0].MessageID+"/redeliver", w.Key, ""))
	servertest.Expect(t, w.do("POST", one+"/dead-letters/msg_"+h.WebhookID+"_2/redeliver", w.Key, ""), 404, kernel.CodeNotFound, nil)
	read[routes.DeletedWebhook](t, w.do("DELETE", one, w.Key, ""))
	servertest.Expect(t, w.do("GET", one, w.Key, ""), 404, kernel.CodeNotFound, nil)
	log, err := w.db.AuditLog(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	var actions []string
	for _, e := range log {
		if strings.Contains(e.Detail, "whsec_") {
			t.Error("the audit log holds a secret")
		}
		actions = append(actions, e.Action)
	}
	for _, want := range []string{"webhook.create", "webhook.change", "webhook.secret", "webhook.replay", "webhook.delete"} {
		if !strings.Contains(strings.Join(actions, " "), want) {
			t.Errorf("no %s in %v", want, actions)
		}
	}
	if strings.Contains(w.Logs.String(), *made.Secret) {
		t.Error("a secret was logged")
	}
}

// TestRefuses: what is wrong is named, and nothing is made of it.
func TestRefuses(t *testing.T) {
	w := newWorld(t)
	for body, want := range map[string]string{
		`{}`: "url", `{"url":"https://example.org/"}`: "filter", `{"url":"http://example.org/","filter":{"kind":"block"}}`: "body.url", `{"url":"https://127.0.0.1/","filter":{"kind":"block"}}`: "body.url",
		`{"url":"https://0x7f.1/","filter":{"kind":"block"}}`: "body.url", `{"url":"https://u:p@example.org/","filter":{"kind":"block"}}`: "body.url", `{"url":"https://example.org/","filter":{"kind":"x"}}`: "kind",
		`{"url":"https://example.org/","filter":{"kind":"block","address":["0x1"]}}`: "body.filter.address", `{"url":"https://example.org/","filter":{"kind":"event"}}`: "body.filter", `{"url":"https://example.org/","filter":{"kind":"transfer","to":["zz"]}}`: "body.filter.to",
		`{"url":"https://example.org/","filter":{"kind":"block"},"fromBlock":99}`: "body.fromBlock", `{"url":"https://example.org/","filter":{"kind":"block"},"fromBlock":-1}`: "fromBlock", `{"url":"https://example.org/","description":"a\u0000b","filter":{"kind":"block"}}`: "body.description", `{"url":"https://example.org/","description":"a\u202eb","filter":{"kind":"block"}}`: "body.description", `{"url":"https://example.org/","filter":{"kind":"block"},"more":1}`: "more",
	} {
		r := w.do("POST", base, w.Key, body)
		if r.StatusCode != 400 || !strings.Contains(string(r.Body), want) {
			t.Errorf("%s: %d %s", body, r.StatusCode, r.Body)
		}
	}
	servertest.Expect(t, w.do("POST", base, w.Key, `{"url":"https://example.org/","description":"`+strings.Repeat("x", 40_000)+`","filter":{"kind":"block"}}`), 413, kernel.CodePayloadTooLarge, nil)
	for _, key := range []string{"", "a b"} {
		servertest.Expect(t, w.do("POST", base, w.Key, hook, "Idempotency-Key", key), 400, kernel.CodeInvalidRequest, nil)
	}
	for id, want := range map[string]kernel.Code{"%00": kernel.CodeInvalidRequest, "%ff%fe": kernel.CodeInvalidRequest, "wh_1": kernel.CodeNotFound} {
		status := map[kernel.Code]int{kernel.CodeInvalidRequest: 400, kernel.CodeNotFound: 404}[want]
		servertest.Expect(t, w.do("GET", base+"/"+id, w.Key, ""), status, want, nil)
		servertest.Expect(t, w.do("POST", base+"/"+id+"/dead-letters/msg_"+id+"_1/redeliver", w.Key, ""), status, want, nil)
	}
	servertest.Expect(t, w.do("POST", "/v1/SN_OTHER/webhooks", w.Key, hook), 404, kernel.CodeNotFound, nil)
	servertest.Expect(t, w.do("POST", base, w.NewKey(account.Read), hook), 403, kernel.CodeForbidden, nil)
	if page := read[routes.WebhookPage](t, w.do("GET", base, w.NewKey(account.Read), "")); len(page.Items) != 0 {
		t.Errorf("%+v", page)
	}
	for i := range webhook.Most(w.Space.Plan) + 1 {
		r := w.do("POST", base, w.Key, fmt.Sprintf(`{"url":"https://example.org/%d","filter":{"kind":"block"}}`, i))
		if want := 201; i == webhook.Most(w.Space.Plan) {
			servertest.Expect(t, r, 409, kernel.CodeConflict, nil)
		} else if r.StatusCode != want {
			t.Fatalf("%d: %d %s", i, r.StatusCode, r.Body)
		}
	}
	list := read[routes.WebhookPage](t, w.do("GET", base, w.Key, ""))
	id := list.Items[0].WebhookID
	servertest.Expect(t, w.do("PATCH", base+"/"+id, w.Key, `{}`), 400, kernel.CodeInvalidRequest, nil)
	servertest.Expect(t, w.do("PATCH", base+"/"+id, w.Key, `{"description":"a\u0000b"}`), 400, kernel.CodeInvalidRequest, nil)
	servertest.Expect(t, w.do("PATCH", base+"/"+id, w.Key, `{"state":"disabled"}`), 400, kernel.CodeInvalidRequest, nil)
	servertest.Expect(t, w.do("PATCH", base+"/"+id, w.Key, `{"url":"https://10.0.0.1/"}`), 400, kernel.CodeInvalidRequest, nil)
	// Another workspace neither sees nor changes it.
	space, err := w.Repo.CreateWorkspace(t.Context(), "others", account.Growth)
	if err != nil {
		t.Fatal(err)
	}
	issued, err := w.Repo.CreateKey(t.Context(), account.NewKey{WorkspaceID: space.ID, Label: "others", Scopes: account.DefaultScopes})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{{"GET", "", ""}, {"PATCH", "", `{"state":"paused"}`}, {"DELETE", "", ""}, {"POST", "/secret", ""}, {"POST", "/test", ""}, {"POST", "/replay", `{"fromBlock":0}`}, {"GET", "/dead-letters", ""}, {"POST", "/dead-letters/msg_" + id + "_1/redeliver", ""}} {
		servertest.Expect(t, w.do(c[0], base+"/"+id+c[1], issued.Plaintext, c[2]), 404, kernel.CodeNotFound, nil)
	}
	if after := read[routes.Webhook](t, w.do("GET", base+"/"+id, w.Key, "")); after.State != "active" || after.UpdatedAt != list.Items[0].UpdatedAt {
		t.Errorf("%+v", after)
	}
}
