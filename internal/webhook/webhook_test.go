package webhook_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/store/postgres/pgtest"
	"chainexplorer/internal/webhook"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// bench are two processes on one database.
type bench struct {
	t     *testing.T
	a, b  *webhook.Repo
	db    *control.DB
	owner webhook.Owner
	now   atomic.Int64 // seconds
}

func (b *bench) clock() time.Time { return time.Unix(time.Now().Unix()+b.now.Load(), 0) }

func everywhere(t *testing.T, test func(t *testing.T, b *bench)) {
	for name, at := range map[string]func(testing.TB) string{"file": controltest.File, "postgres": controltest.Server} {
		t.Run(name, func(t *testing.T) {
			b := &bench{t: t}
			path := at(t)
			var repos []*webhook.Repo
			for range 2 {
				db, err := control.Open(t.Context(), control.Options{Path: path})
				must(t, err)
				t.Cleanup(func() { db.Close() }) //nolint:errcheck // temporary
				repos, b.db = append(repos, webhook.New(db, webhook.Options{Now: b.clock})), db
			}
			w, err := account.NewRepository(b.db, account.Options{}).CreateWorkspace(t.Context(), "w", account.Free)
			must(t, err)
			b.a, b.b, b.owner = repos[0], repos[1], webhook.Owner{Actor: "key_1", WorkspaceID: w.ID, Chain: "SN_MAIN"}
			test(t, b)
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bench) request(key string) webhook.Request {
	return webhook.Request{Owner: b.owner, Most: 5, IdempotencyKey: key, URL: "https://example.org/" + key, Kind: "block", Filter: `{"kind":"block"}`, From: webhook.Position{Number: 7, Hash: "0x7", Place: "p7"}, FromNumber: 8}
}

func (b *bench) create(key string) *webhook.Subscription {
	b.t.Helper()
	s, _, err := b.a.Create(b.t.Context(), b.request(key))
	must(b.t, err)
	return s
}

// work is the subscription as whoever delivers reads it.
func (b *bench) work(r *webhook.Repo, id string) webhook.Work {
	b.t.Helper()
	w, err := r.Load(b.t.Context(), id)
	must(b.t, err)
	return w
}

// send makes a message of a block.
func (b *bench) send(r *webhook.Repo, s *webhook.Subscription, number int64, delivered *webhook.Message) *webhook.Message {
	b.t.Helper()
	m, err := b.trySend(r, s, number, delivered)
	must(b.t, err)
	return m
}

func (b *bench) trySend(r *webhook.Repo, s *webhook.Subscription, number int64, delivered *webhook.Message) (*webhook.Message, error) {
	m := &webhook.Message{Sequence: s.Sequence + 1, Type: "block", Body: fmt.Sprint("body ", number), MadeAt: b.clock(), NextAt: b.clock()}
	hash := fmt.Sprintf("0x%x", number)
	return m, r.Do(b.t.Context(), s, webhook.Step{Delivered: delivered, Next: m, Position: &webhook.Position{Number: number, Hash: hash, Place: fmt.Sprint("p", number)},
		Sent: &webhook.Entry{Number: number, Hash: hash, First: m.Sequence, Last: m.Sequence}, FinalNumber: -1})
}

// TestCreate: the same key and request are one subscription, whoever asks at once, and a
// workspace has no more than it may.
func TestCreate(t *testing.T) {
	everywhere(t, func(t *testing.T, b *bench) {
		var made atomic.Int32
		ids := sync.Map{}
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				r := []*webhook.Repo{b.a, b.b}[i%2]
				s, secret, err := r.Create(t.Context(), b.request("k"))
				if err != nil {
					t.Error(err)
					return
				}
				if ids.Store(s.ID, true); secret != "" {
					made.Add(1)
				}
			})
		}
		wg.Wait()
		n := 0
		ids.Range(func(any, any) bool { n++; return true })
		if n != 1 || made.Load() != 1 {
			t.Errorf("%d subscriptions, %d secrets", n, made.Load())
		}
		other := b.request("k")
		other.URL = "https://example.org/other"
		if _, _, err := b.a.Create(t.Context(), other); !errors.Is(err, webhook.ErrKeyReused) {
			t.Error(err)
		}
		other = b.request("k") // a key is of a chain
		other.Chain = "SN_SEPOLIA"
		s, secret, err := b.a.Create(t.Context(), other)
		if err != nil || secret == "" || s.Chain != "SN_SEPOLIA" {
			t.Fatal(err)
		}
		must(t, b.a.Delete(t.Context(), other.Owner, s.ID))
		for _, id := range []string{"", "a\x00b", "\xff\xfe", "wh_", "wh_abcdefghijklmnopqrstuvw1"} {
			if _, err := b.a.Get(t.Context(), b.owner, id); !errors.Is(err, webhook.ErrNotFound) {
				t.Errorf("%q: %v", id, err)
			}
			if err := b.a.Delete(t.Context(), b.owner, id); !errors.Is(err, webhook.ErrNotFound) {
				t.Errorf("%q: %v", id, err)
			}
			if _, err := b.a.Redeliver(t.Context(), b.owner, id, 1); !errors.Is(err, webhook.ErrNotFound) {
				t.Errorf("%q: %v", id, err)
			}
		}
		for i := range 5 {
			_, _, err := b.a.Create(t.Context(), b.request(fmt.Sprint(i)))
			if want := i == 4; errors.Is(err, webhook.ErrTooMany) != want {
				t.Errorf("the %dth: %v", i+2, err)
			}
		}
		list, err := b.a.List(t.Context(), b.owner, webhook.Cursor{}, 3)
		must(t, err)
		rest, err := b.a.List(t.Context(), b.owner, webhook.Cursor{CreatedAt: list[2].CreatedAt, ID: list[2].ID}, 3)
		if err != nil || len(list) != 3 || len(rest) != 2 {
			t.Errorf("pages of %d and %d: %v", len(list), len(rest), err)
		}
		stranger := b.owner
		stranger.WorkspaceID = "ws_other"
		if _, err := b.a.Get(t.Context(), stranger, list[0].ID); !errors.Is(err, webhook.ErrNotFound) {
			t.Error(err)
		}
		if err := b.a.Delete(t.Context(), stranger, list[0].ID); !errors.Is(err, webhook.ErrNotFound) {
			t.Error(err)
		}
		must(t, b.a.Delete(t.Context(), b.owner, list[0].ID))
		log, err := b.db.AuditLog(t.Context(), 1)
		if err != nil || log[0].Action != "webhook.delete" || log[0].Subject != list[0].ID || log[0].Actor != "key_1" {
			t.Errorf("%+v %v", log, err)
		}
	})
}

// TestTakenOver: whoever read a subscription before another moved it changes nothing, in
// none of the ways in which it can be changed.
func TestTakenOver(t *testing.T) {
	everywhere(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		id := b.create("k").ID
		late, now := b.work(b.a, id), b.work(b.b, id)
		first := b.send(b.b, now.Subscription, 8, nil)
		if _, err := b.trySend(b.a, late.Subscription, 8, nil); !errors.Is(err, webhook.ErrLost) {
			t.Errorf("a second message: %v", err)
		}
		must(t, b.a.Idle(ctx, webhook.Position{Number: 99, Place: "p99"}, []*webhook.Subscription{late.Subscription}))
		late = b.work(b.a, id)
		if late.Position.Number != 8 || late.Sequence != 1 || late.Message == nil || late.Message.Sequence != 1 || late.Message.Body != "" {
			t.Fatalf("%+v %+v", late.Subscription, late.Message)
		}
		if body, err := b.a.Body(ctx, id, 1); err != nil || body != "body 8" {
			t.Error(body, err)
		}
		second := b.send(b.b, now.Subscription, 9, first)
		late.Message.Attempts++
		for name, err := range map[string]error{
			"a delivery": b.a.Delivered(ctx, id, late.Message), "an attempt": b.a.Attempted(ctx, id, late.Message), "an end": b.a.Disable(ctx, late.Subscription, late.Message, webhook.Gone),
			"an end by itself": b.a.Disable(ctx, late.Subscription, nil, webhook.RolledBack),
		} {
			if !errors.Is(err, webhook.ErrLost) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := b.a.GiveUp(ctx, id, late.Message, "x"); !errors.Is(err, webhook.ErrLost) {
			t.Error(err)
		}
		got := b.work(b.a, id)
		if got.State != webhook.Active || got.Message == nil || got.Message.Sequence != second.Sequence || got.Message.Attempts != 0 || got.Position.Number != 9 {
			t.Errorf("%+v %+v", got.Subscription, got.Message)
		}
		// An owner's change is noticed by who delivers, who can still say what was delivered.
		before, err := b.a.Version(ctx, "SN_MAIN")
		must(t, err)
		text := "new"
		_, err = b.a.Change(ctx, b.owner, id, webhook.Change{Description: &text})
		must(t, err)
		if after, err := b.b.Version(ctx, "SN_MAIN"); err != nil || after <= before {
			t.Error(after, err)
		}
		if _, err := b.trySend(b.b, now.Subscription, 10, second); !errors.Is(err, webhook.ErrLost) {
			t.Error(err)
		}
		must(t, b.b.Delivered(ctx, id, second))
		if got := b.work(b.b, id); got.Message != nil || got.Description != "new" || got.DeliveredAt == nil {
			t.Errorf("%+v", got)
		}
	})
}

// TestLedger: what was sent is found newest first, is dropped when it is final, and is taken
// back along with its dead letters.
func TestLedger(t *testing.T) {
	everywhere(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		w := b.work(b.a, b.create("k").ID)
		s := w.Subscription
		var last *webhook.Message
		for n := int64(8); n < 13; n++ {
			if last = b.send(b.a, s, n, last); n == 11 {
				last.Attempts, last.Answered, last.Status = 1, 1, 500
				if why, err := b.a.GiveUp(ctx, s.ID, last, last.Body); err != nil || why != "" {
					t.Fatal(why, err)
				}
				s, last = b.work(b.a, s.ID).Subscription, nil
			}
		}
		got, err := b.a.Sent(ctx, s.ID, 10)
		if err != nil || len(got) != 5 || got[0] != (webhook.Entry{Number: 12, Hash: "0xc", First: 5, Last: 5}) {
			t.Fatal(got, err)
		}
		must(t, b.a.Do(ctx, s, webhook.Step{Delivered: last, FinalNumber: 9, FinalHash: "0x9"}))
		if got, err = b.a.Sent(ctx, s.ID, 10); err != nil || len(got) != 3 || s.FinalNumber != 9 {
			t.Fatal(got, err)
		}
		if e, found, err := b.a.Behind(ctx, s, 11); err != nil || !found || e.Number != 11 {
			t.Error(e, found, err)
		}
		_, err = b.a.Redeliver(ctx, b.owner, s.ID, 4)
		must(t, err)
		if w = b.work(b.a, s.ID); w.Wanted != 4 {
			t.Fatalf("%+v", w)
		}
		for _, e := range got[:2] {
			back := &webhook.Message{Sequence: w.Sequence + 1, Type: "retracted", Body: "back"}
			must(t, b.a.Do(ctx, w.Subscription, webhook.Step{Delivered: w.Message, Next: back, Retracted: &e, FinalNumber: -1}))
			w = b.work(b.a, s.ID)
		}
		if w.Wanted != 0 || w.Sequence != 7 || w.Message.Type != "retracted" {
			t.Errorf("%+v %+v", w, w.Message)
		}
		if _, err := b.a.Redeliver(ctx, b.owner, s.ID, 4); !errors.Is(err, webhook.ErrNoLetter) {
			t.Error(err)
		}
		at := webhook.Position{Number: 20, Hash: "0x14", Place: "p20"}
		must(t, b.a.Idle(ctx, at, []*webhook.Subscription{w.Subscription}))
		if w = b.work(b.a, s.ID); w.Position != at {
			t.Errorf("%+v", w.Position)
		}
		if _, err = b.a.Replay(ctx, b.owner, s.ID, webhook.Position{Number: 2, Hash: "0x2", Place: "p2"}, 3); err != nil {
			t.Fatal(err)
		}
		w = b.work(b.a, s.ID)
		if _, found, err := b.a.Behind(ctx, w.Subscription, 100); err != nil || found || w.FromSequence != 8 || w.FinalNumber != -1 {
			t.Errorf("what was sent before counts after a replay: %+v %v", w, err)
		}
	})
}

// TestGivenUp: three messages in a row, or one without any answer, disable a subscription,
// which says why and goes on when its owner says so.
func TestGivenUp(t *testing.T) {
	everywhere(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		id := b.create("k").ID
		for i := range int64(3) {
			m := b.send(b.a, b.work(b.a, id).Subscription, 8+i, nil)
			m.Attempts, m.Answered, m.Status = 1, 1, 500
			why, err := b.a.GiveUp(ctx, id, m, m.Body)
			if err != nil || (why == webhook.Failing) != (i == 2) {
				t.Fatal(why, err)
			}
		}
		s, err := b.a.Get(ctx, b.owner, id)
		if err != nil || s.State != webhook.Disabled || s.Reason != webhook.Failing {
			t.Fatalf("%+v %v", s, err)
		}
		if active, disabled, err := b.b.Revisions(ctx, "SN_MAIN"); err != nil || len(active) != 0 || disabled != 1 {
			t.Error(active, disabled, err)
		}
		log, err := b.db.AuditLog(ctx, 1)
		if err != nil || log[0].Action != "webhook.disable" || log[0].Detail != "failing" {
			t.Errorf("%+v %v", log, err)
		}
		if _, err := b.a.Test(ctx, b.owner, id); !errors.Is(err, webhook.ErrNotActive) {
			t.Error(err)
		}
		letters, err := b.a.DeadLetters(ctx, b.owner, id, 1<<62, 2)
		if err != nil || len(letters) != 2 || letters[0].Sequence != 3 || letters[0].Status != 500 {
			t.Errorf("%+v %v", letters, err)
		}
		active := webhook.Active
		if s, err = b.a.Change(ctx, b.owner, id, webhook.Change{State: &active}); err != nil || s.State != webhook.Active || s.Reason != "" || s.DeadInRow != 0 {
			t.Fatalf("%+v %v", s, err)
		}
		m := b.send(b.a, b.work(b.a, id).Subscription, 20, nil)
		m.Attempts = 1
		if why, err := b.a.GiveUp(ctx, id, m, m.Body); err != nil || why != webhook.Unreachable {
			t.Fatal(why, err)
		}
		b.now.Store(int64(31 * 24 * 3600))
		if n, err := b.a.Tidy(ctx); err != nil || n != 4 {
			t.Error(n, err)
		}
	})
}

// TestSignature is held against a library of Standard Webhooks, also while two secrets count.
func TestSignature(t *testing.T) {
	everywhere(t, func(t *testing.T, b *bench) {
		s, old, err := b.a.Create(t.Context(), b.request("k"))
		must(t, err)
		s, secret, err := b.a.Rotate(t.Context(), b.owner, s.ID)
		must(t, err)
		if !strings.HasPrefix(secret, "whsec_") || old == secret {
			t.Error("the secret is not new")
		}
		body := []byte(`{"type":"test"}`)
		for _, tt := range []struct {
			after        time.Duration
			secret       string
			good, listed bool
		}{{0, secret, true, true}, {0, old, true, true}, {25 * time.Hour, secret, true, false}, {25 * time.Hour, old, false, false}} {
			at := b.clock().Add(tt.after)
			signature, err := s.Sign("msg_1", at, body)
			must(t, err)
			verifier, err := standard.NewWebhook(tt.secret)
			must(t, err)
			h := http.Header{}
			h.Set(webhook.HeaderID, "msg_1")
			h.Set(webhook.HeaderTimestamp, strconv.FormatInt(at.Unix(), 10))
			h.Set(webhook.HeaderSignature, signature)
			if err := verifier.VerifyIgnoringTimestamp(body, h); (err == nil) != tt.good {
				t.Errorf("after %s: %v", tt.after, err)
			}
			if err := verifier.VerifyIgnoringTimestamp([]byte(`{"type":"tesT"}`), h); err == nil {
				t.Error("another body passes")
			}
			if strings.Contains(signature, " ") != tt.listed {
				t.Errorf("after %s: %s", tt.after, signature)
			}
		}
	})
}
