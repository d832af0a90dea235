package kernel_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/places"
	"chainexplorer/internal/servertest"
)

// TestSharedPlaces: what another process holds of a workspace's places is refused here,
// other workspaces do not notice, and what the other gives back is taken.
func TestSharedPlaces(t *testing.T) {
	url := controltest.Server(t)
	book := func() *places.Book {
		db, err := control.Open(t.Context(), control.Options{Path: url})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() }) //nolint:errcheck // the test is over
		return places.New(places.Options{Ledger: db})
	}
	here, there := book(), book()
	w := servertest.NewHooked(t, func(o *options) { o.Places, o.MaxInFlightWorkspace, o.MaxInFlightKey = here, 3, 3 })
	key, workspace := w.Stranger("acme", account.Enterprise, account.Limits{})
	space := workspace.ID
	far := there.Share("requests", 3, 10*time.Second)
	for range 2 {
		if !far.Enter(t.Context(), space) {
			t.Fatal("there are three places")
		}
	}
	there.Renew(t.Context()) // it holds no more than it uses, once somebody else asks
	var done sync.WaitGroup
	hold := func() {
		done.Go(func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+"/v1/test/wait", nil)
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("X-Service-Api-Key", key)
			res, err := servertest.Transport.RoundTrip(req)
			if err != nil || res.StatusCode != http.StatusOK {
				t.Errorf("a waiting request: %v %v", res, err)
				return
			}
			res.Body.Close() //nolint:errcheck // not read
		})
		<-w.Entered
	}
	ask := func() reply { return w.Do(http.MethodGet, statusPath, key) }
	until := func(status int) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ask().StatusCode != status; {
			if time.Now().After(end) {
				t.Fatalf("no answer with %d", status)
			}
			there.Renew(t.Context())
			here.Renew(t.Context())
		}
	}
	until(http.StatusOK) // the third place
	hold()
	limited(t, ask(), kernel.ReasonConcurrency)
	servertest.Expect(t, w.Do(http.MethodGet, statusPath, w.Key), 200, "", nil)
	far.Leave(space)
	until(http.StatusOK)
	second := far.Enter(t.Context(), space)
	if third := far.Enter(t.Context(), space); second && third {
		t.Error("the other process has three places while one is taken here")
	}
	w.Leave <- struct{}{}
	done.Wait()
}
