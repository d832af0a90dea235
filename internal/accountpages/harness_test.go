package accountpages_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/session"
	"chainexplorer/internal/usage"
)

func TestMain(m *testing.M) { os.Exit(servertest.Main(m.Run)) }

// world is a service with accounts, and ada, who owns the workspace.
type world struct {
	*servertest.World
	ada session.Opened
}

func newWorld(t *testing.T, change ...func(*servertest.Options)) *world {
	t.Helper()
	w, ada := servertest.SignedIn(t, 3, change...)
	return &world{w, ada}
}

// flush writes down what was asked for.
func (w *world) flush() {
	w.T.Helper()
	if err := w.Usage.Flush(w.T.Context()); err != nil {
		w.T.Fatal(err)
	}
}

func cookie(s session.Opened) string { return servertest.Cookie(s)[1] }

// page reads a page of somebody.
func (w *world) page(s session.Opened, path string) string {
	w.T.Helper()
	r := w.Do(http.MethodGet, path, "", "Cookie", cookie(s))
	if r.StatusCode != http.StatusOK {
		w.T.Fatalf("%s: %d %s", path, r.StatusCode, r.Body)
	}
	return string(r.Body)
}

var formField = regexp.MustCompile(`name="form" value="([0-9a-f]+)"`)

// token is what forms of somebody's pages carry.
func (w *world) token(s session.Opened) string {
	w.T.Helper()
	found := formField.FindStringSubmatch(w.page(s, "/account"))
	if found == nil {
		w.T.Fatal("the page has no form")
	}
	return found[1]
}

// send sends a form as a browser does; fields come in pairs.
func (w *world) send(s session.Opened, path string, fields ...string) servertest.Reply {
	w.T.Helper()
	form := url.Values{"form": {w.token(s)}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return w.post(s, path, form, "Origin", w.URL, "Sec-Fetch-Site", "same-origin")
}

func (w *world) post(s session.Opened, path string, form url.Values, headers ...string) servertest.Reply {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), http.MethodPost, w.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		w.T.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if s.Token != "" {
		req.Header.Set("Cookie", cookie(s))
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return w.Send(req)
}

// record writes down requests with a key as if they had been made.
func (w *world) record(k account.Key, at time.Time, n, failures int, class string) {
	for i := range n {
		e := usage.Event{RequestID: fmt.Sprintf("svc-%s-%d", class, i), WorkspaceID: k.WorkspaceID, KeyID: k.PublicID, Method: "GET", Path: "/v1/{chain}/status",
			Class: class, Status: 200, At: at, Took: 12 * time.Millisecond, Budget: usage.Budget{Policy: class + ";w=60", Limit: 120, Remaining: 119 - i%100}}
		if i < failures {
			e.Status, e.Failed = 404, true
		}
		w.Usage.Record(e)
	}
}
