package webhook_test

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"chainexplorer/internal/webhook"
)

// TestRotateAgain: every secret is good for its own day, however many follow it, and there
// are no more than may be.
func TestRotateAgain(t *testing.T) {
	everywhere(t, func(t *testing.T, b *bench) {
		s, secret, err := b.a.Create(t.Context(), b.request("k"))
		must(t, err)
		secrets := []string{secret}
		hour := func(n int64) { b.now.Store(n * 3600) }
		for i := range int64(3) {
			hour(i)
			_, secret, err = b.a.Rotate(t.Context(), b.owner, s.ID)
			must(t, err)
			secrets = append(secrets, secret)
		}
		good := func(want ...bool) {
			t.Helper()
			at, body := b.clock(), []byte("{}")
			signature, err := b.work(b.b, s.ID).Sign("msg_1", at, body)
			must(t, err)
			h := http.Header{}
			h.Set(webhook.HeaderID, "msg_1")
			h.Set(webhook.HeaderTimestamp, strconv.FormatInt(at.Unix(), 10))
			h.Set(webhook.HeaderSignature, signature)
			for i, secret := range secrets {
				verifier, err := standard.NewWebhook(secret)
				must(t, err)
				if err := verifier.VerifyIgnoringTimestamp(body, h); (err == nil) != want[i] {
					t.Errorf("secret %d: %v", i, err)
				}
			}
		}
		good(true, true, true, true)
		_, _, err = b.a.Rotate(t.Context(), b.owner, s.ID)
		var soon *webhook.TooSoonError
		if !errors.As(err, &soon) || !soon.Until.After(b.clock()) || soon.Until.After(b.clock().Add(23*time.Hour)) || strings.Contains(err.Error(), "whsec_") {
			t.Fatalf("a fifth: %v", err)
		}
		good(true, true, true, true)
		hour(25)
		_, secret, err = b.a.Rotate(t.Context(), b.owner, s.ID) // the first two are over
		must(t, err)
		secrets = append(secrets, secret)
		good(false, false, true, true, true)
		hour(50)
		good(false, false, false, false, true)
	})
}
