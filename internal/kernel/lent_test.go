package kernel_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// lentAnswer is an answer in memory that is overwritten when it is taken back.
type lentAnswer struct {
	Body struct {
		Words []string `json:"words"`
	}
	back int
}

func (a *lentAnswer) Return() {
	a.Body.Words[0] = "overwritten"
	a.back++
}

// TestLentMemory: the memory of an answer is taken back once, when all of it was written, and
// never when somebody in this process was handed it.
func TestLentMemory(t *testing.T) {
	w := servertest.New(t, 2)
	var last *lentAnswer
	route := kernel.Route{ID: "lending", Method: http.MethodGet, Path: "/v1/test/lending", Family: "Test", Summary: "Test.", Description: "Test.", Class: kernel.Light,
		Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Experimental, Audience: kernel.External, Depends: kernel.OnClock}
	kernel.Register(w.Server, route, func(ctx context.Context, in *struct {
		Fails string `query:"fails" doc:"Test."`
	}) (*lentAnswer, error) {
		last = &lentAnswer{}
		last.Body.Words = []string{"written"}
		kernel.RequestOf(ctx).Lend(last)
		if in.Fails != "" {
			return nil, kernel.Fail(kernel.CodeNotFound, "There is none.")
		}
		return last, nil
	})
	w.Server.HandleSheet(kernel.Sheet{ID: "page", Pattern: "GET /pages/lending", Dress: func(http.Header) {},
		Make: func(rw http.ResponseWriter, r *http.Request) error {
			_, err := w.Server.Ask(r.Context(), "lending", nil)
			rw.Write([]byte(last.Body.Words[0])) //nolint:errcheck // a recorder never fails
			return err
		},
		Refuse: func(rw http.ResponseWriter, r *http.Request, e *kernel.Error) {
			kernel.SendError(rw, r, e, kernel.RecordOf(rw).ID, nil)
		}})
	for _, c := range []struct {
		path, key    string
		status, back int
		body         string
	}{
		{"/v1/test/lending", w.Key, http.StatusOK, 1, `["written"]`},
		{"/v1/test/lending?fails=true", w.Key, http.StatusNotFound, 0, ""},
		{"/pages/lending", "", http.StatusOK, 0, "written"},
	} {
		r := w.Do(http.MethodGet, c.path, c.key)
		if r.StatusCode != c.status || last.back != c.back || !strings.Contains(string(r.Body), c.body) {
			t.Errorf("%s: %d %s, taken back %d times; want %d %s, %d times", c.path, r.StatusCode, r.Body, last.back, c.status, c.body, c.back)
		}
	}
}
