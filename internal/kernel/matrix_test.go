package kernel_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// TestWhoMayAskWhat is the whole matrix: tier of the route, kind of key, how the
// key is sent, origin of the page, and method. What must come of it is told by the
// rules below and not by a list, so that no combination is left out.
func TestWhoMayAskWhat(t *testing.T) {
	internal, setting, err := account.NewConfigured(rand.Reader, "matrix", account.Read|account.Batch)
	if err != nil {
		t.Fatal(err)
	}
	configured, err := account.ParseConfigured(setting)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, 5, withVerification, func(o *servertest.Options) {
		if err := o.Keys.Configure([]account.ConfiguredKey{configured}); err != nil {
			t.Fatal(err)
		}
	})
	w.Secrets = append(w.Secrets, internal)
	partners, err := w.Repo.CreateWorkspaceOf(t.Context(), "partners", account.Enterprise, account.PartnerKind)
	if err != nil {
		t.Fatal(err)
	}
	selfServed, _, err := w.Repo.RotateDefault(t.Context(), partners.ID)
	if err != nil {
		t.Fatal(err)
	}
	w.Secrets = append(w.Secrets, selfServed.Plaintext)
	bound, err := w.Repo.CreateKey(t.Context(), account.NewKey{WorkspaceID: w.Space.ID, Origins: allowedOrigin, Limits: account.Limits{LightPerMinute: 1e9, HeavyPerMinute: 1e9, Burst: 1e9}})
	if err != nil {
		t.Fatal(err)
	}
	w.Secrets = append(w.Secrets, bound.Plaintext)
	expired := w.ExpiringKey(time.Hour)
	w.Clock.Advance(2 * time.Hour)
	base, jobs := "/v1/"+chainID, "/v1/SN_MAIN/verification-jobs"
	one := jobs + "/vrf_aaaaaaaaaaaaaaaaaaaaaaaa"
	routes := []struct {
		name, path, method string
		scope              account.Scopes
	}{
		{"read", statusPath, http.MethodGet, account.Read},
		{"utility", base + "/address/summaries", http.MethodPost, account.Batch},
		{"partner", base + "/token/0x1/holders", http.MethodGet, account.Partner},
		{"verify, create", jobs, http.MethodPost, account.Verify},
		{"verify, upload", one + "/source", http.MethodPut, account.Verify},
		{"verify, look", one, http.MethodGet, account.Verify},
		{"verify, cancel", one + "/cancel", http.MethodPost, account.Verify},
		{"verify, receipt", one + "/receipt", http.MethodGet, account.Verify},
	}
	keys := []struct {
		name, key string
		scopes    account.Scopes // zero: the key is no good
	}{
		{"default", w.Key, account.DefaultScopes},
		{"partner", w.Partner, account.DefaultScopes | account.Partner},
		{"partner's own", selfServed.Plaintext, account.DefaultScopes | account.Partner},
		{"read", w.NewKey(account.Read), account.Read | account.Verify}, // as every key of a workspace
		{"operator's", w.NewKey(account.Prove | account.Trace), account.Prove | account.Trace | account.Verify},
		{"internal", internal, account.Read | account.Batch},
		{"bound", bound.Plaintext, account.DefaultScopes},
		{"revoked", w.RevokedKey(), 0},
		{"expired", expired, 0},
		{"foreign", w.foreignKey(), 0},
	}
	forms := []struct {
		name string
		send func(key string) (query string, headers []string)
		code kernel.Code // why the form alone is refused
	}{
		{"long header", func(k string) (string, []string) { return "", []string{"X-Service-Api-Key", k} }, ""},
		{"short header", func(k string) (string, []string) { return "", []string{"X-Api-Key", k} }, ""},
		{"both headers", func(k string) (string, []string) { return "", []string{"X-Service-Api-Key", k, "X-Api-Key", k} }, kernel.CodeConflictingKeys},
		{"header and bearer", func(k string) (string, []string) {
			return "", []string{"X-Service-Api-Key", k, "Authorization", "Bearer " + k}
		}, kernel.CodeConflictingKeys},
		{"header and session", func(k string) (string, []string) {
			return "", []string{"X-Service-Api-Key", k, "Authorization", "Bearer session"}
		}, ""},
		{"bearer", func(k string) (string, []string) { return "", []string{"Authorization", "Bearer " + k} }, kernel.CodeUnauthorized},
		{"cookie", func(k string) (string, []string) { return "", []string{"Cookie", "key=" + k} }, kernel.CodeUnauthorized},
		{"internal header", func(k string) (string, []string) { return "", []string{"X-Internal-Key", k} }, kernel.CodeUnauthorized},
		{"header and internal header", func(k string) (string, []string) {
			return "", []string{"X-Service-Api-Key", k, "X-Service-Internal-Caller", k}
		}, ""},
		{"query", func(k string) (string, []string) { return "?api_key=" + k, nil }, kernel.CodeInvalidRequest},
		{"header and query", func(k string) (string, []string) { return "?api_key=" + k, []string{"X-Api-Key", k} }, kernel.CodeInvalidRequest},
		{"nothing", func(string) (string, []string) { return "", nil }, kernel.CodeUnauthorized},
	}
	statuses := map[kernel.Code]int{kernel.CodeConflictingKeys: 400, kernel.CodeInvalidRequest: 400, kernel.CodeUnauthorized: 401, kernel.CodeForbidden: 403}
	n := 0
	for _, route := range routes {
		for _, key := range keys {
			for _, form := range forms {
				for _, origin := range []string{"", strangeOrigin, allowedOrigin} {
					for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
						n++
						query, headers := form.send(key.key)
						if origin != "" {
							headers = append(headers, "Origin", origin)
						}
						r := w.Do(method, route.path+query, "", headers...)
						want := form.code
						switch {
						case want != "":
						case key.scopes == 0:
							want = kernel.CodeUnauthorized
						case !key.scopes.Has(route.scope), (key.name == "bound" || key.name == "internal") && origin == strangeOrigin:
							want = kernel.CodeForbidden
						}
						where := strings.Join([]string{route.name, key.name + " key", form.name, origin, method}, ", ")
						asked := method
						if method == http.MethodHead {
							asked = http.MethodGet
						}
						switch {
						case method == http.MethodOptions: // it asks for no key, and tells nothing
							if r.StatusCode != http.StatusNoContent || len(r.Body) > 0 || r.Header.Get("WWW-Authenticate") != "" {
								t.Errorf("%s: status %d, want 204: %s", where, r.StatusCode, r.Body)
							}
						case asked != route.method && query == "":
							if r.StatusCode != http.StatusMethodNotAllowed {
								t.Errorf("%s: status %d, want 405", where, r.StatusCode)
							}
						case want == "": // let in: what the route then says of its input is its own
							if r.StatusCode == 401 || r.StatusCode == 403 || r.StatusCode == 405 || r.StatusCode >= 500 {
								t.Errorf("%s: status %d: %s", where, r.StatusCode, r.Body)
							}
						default:
							if r.StatusCode != statuses[want] || method != http.MethodHead && r.Envelope().Code != want {
								t.Errorf("%s: status %d %s, want %d %s", where, r.StatusCode, r.Envelope().Code, statuses[want], want)
							}
							if got, must := r.Header.Get("WWW-Authenticate"), want == kernel.CodeUnauthorized || want == kernel.CodeForbidden; (got != "") != must {
								t.Errorf("%s: WWW-Authenticate %q", where, got)
							}
						}
						if account.HoldsKey(string(r.Body)) {
							t.Errorf("%s repeats the key", where)
						}
						open := ""
						switch credentialed := strings.Contains(strings.Join(headers, " "), "Authorization") || form.name == "cookie" || strings.Contains(form.name, "internal header") || key.name == "internal" && form.code == ""; {
						case origin == "":
						case !credentialed:
							open = "*"
						case origin == allowedOrigin:
							open = origin
						}
						if got := r.Header.Get("Access-Control-Allow-Origin"); got != open {
							t.Errorf("%s: allows origin %q, want %q", where, got, open)
						}
					}
				}
			}
		}
	}
	if n != 8*10*12*3*6 {
		t.Errorf("%d combinations", n)
	}
	servertest.Expect(t, w.Do(http.MethodGet, statusPath, w.Key), 200, "", nil)
}
