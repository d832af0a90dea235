package signin_test

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/session"
)

// TestOnce: whoever has the address of a way back and the cookie of its attempt gets in
// once, however many come at the same time, and in whichever process; also where the
// provider would give out a token again. A way back that failed is used up as well.
func TestOnce(t *testing.T) {
	for name, at := range map[string]func(*testing.T) string{
		"file":     func(t *testing.T) string { return controltest.File(t) },
		"postgres": func(t *testing.T) string { return controltest.Server(t) },
	} {
		t.Run(name, func(t *testing.T) {
			l, path := newLiar(t), at(t)
			w := liedOn(t, l, path)
			begin := func() (to, attempt string) {
				b := w.browser()
				asked := b.begin("")
				return back(asked.Get("state"), l.claims(w, asked.Get("nonce"))), b.cookie("chainexplorer_login")
			}
			to, attempt := begin()
			var in, refused atomic.Int64
			var all sync.WaitGroup
			for range 6 {
				b := w.browser()
				b.plant("chainexplorer_login", attempt)
				all.Go(func() {
					switch p := b.get(to); p.StatusCode {
					case http.StatusSeeOther:
						w.Secret(b.token())
						in.Add(1)
					case http.StatusForbidden:
						p.wants(t, 403, "finished before")
						refused.Add(1)
					}
				})
			}
			all.Wait()
			if in.Load() != 1 || refused.Load() != 5 {
				t.Errorf("%d came in, %d were refused", in.Load(), refused.Load())
			}
			// Another process knows of it.
			db, err := control.Open(t.Context(), control.Options{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close() //nolint:errcheck // the test is over
			elsewhere := session.NewRepository(db, session.Options{Now: w.Clock.Now})
			if err := elsewhere.Spend(t.Context(), attempt); !errors.Is(err, session.ErrInvalid) {
				t.Errorf("in another process: %v", err)
			}
			// One that the other process had is refused here, and the provider is not asked.
			to, attempt = begin()
			if err := elsewhere.Spend(t.Context(), attempt); err != nil {
				t.Fatal(err)
			}
			before := l.asked.Load()
			b := w.browser()
			b.plant("chainexplorer_login", attempt)
			b.get(to).wants(t, 403, "cannot be finished")
			if l.asked.Load() != before {
				t.Error("the provider was asked")
			}
			to, attempt = begin()
			for _, more := range []string{"&error=access_denied", ""} {
				b.plant("chainexplorer_login", attempt)
				b.get(to+more).wants(t, 403)
			}
			// What is too old to be tried again is forgotten.
			w.Clock.Advance(time.Hour)
			if err := elsewhere.Spend(t.Context(), attempt); err != nil {
				t.Errorf("an hour later: %v", err)
			}
		})
	}
}
