package kernel_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// TestPanicsHideSecrets: what a handler panics with is logged without the secrets in it.
func TestPanicsHideSecrets(t *testing.T) {
	w := servertest.NewHooked(t)
	secrets := map[string]string{"key": w.Key, "session": "ses." + strings.Repeat("a1", 20), "link": "lnk." + strings.Repeat("b2", 20), "code": "7Q2MX-94KDB-ZN3WA-0VHTE", "concealed": "what-the-operator-chose-alone"}
	account.Conceal(secrets["concealed"])
	for name, secret := range secrets {
		for kind, value := range map[string]any{"text": "cannot use " + secret + " here", "error": errors.New("cannot use " + secret)} {
			id := "panic" + name + kind
			servertest.AddRead(w.Server, kernel.Route{ID: id, Method: "GET", Path: "/v1/test/" + id, Family: "Test", Summary: "Test.", Description: "Test.", Class: kernel.Light, Scope: account.Read,
				Tier: kernel.TierOfficial, Certification: kernel.Experimental, Audience: kernel.External, Depends: kernel.OnClock}, func(context.Context) error { panic(value) })
		}
	}
	for name, secret := range secrets {
		for _, kind := range []string{"text", "error"} {
			req := w.Request(http.MethodGet, "/v1/test/panic"+name+kind, "")
			req.Header.Set("X-Service-Api-Key", w.Key)
			req.Header.Set(kernel.HeaderRequestID, secret) // in the wrong header
			r := w.Send(req)
			if r.StatusCode != http.StatusInternalServerError || strings.Contains(string(r.Body), secret[9:]) || r.Header.Get(kernel.HeaderRequestID) == secret {
				t.Errorf("%s: %d %s %v", name, r.StatusCode, r.Body, r.Header)
			}
			w.Do(http.MethodGet, "/nothing/"+secret, w.Key)
		}
		if strings.Contains(w.Logs.String(), secret[9:]) {
			t.Errorf("the %s is in the log", name)
		}
	}
	if n := strings.Count(w.Logs.String(), "cannot use"); n != 10 {
		t.Errorf("%d panics are in the log", n)
	}
}
