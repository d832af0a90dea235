package site_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"chainexplorer/docs"
	"chainexplorer/internal/api"
	"chainexplorer/internal/gateway/method"
)

// TestMethodsAreExplained: the page has every method, as messages where the gateway is
// not served and as commands where it is.
func TestMethodsAreExplained(t *testing.T) {
	for _, served := range []bool{false, true} {
		w := newWorld(t, 30, func(o *options) { o.RPC = api.RPCService{Enabled: served} })
		page := string(w.doc(http.MethodGet, "/docs/rpc", "").Body)
		for _, m := range method.All() {
			if !strings.Contains(page, `id="`+m.Name+`"`) {
				t.Errorf("the page lacks %s", m.Name)
			}
			command := strings.Contains(page, `/rpc -H &#34;Content-Type: application/json&#34; -d &#39;{&#34;jsonrpc&#34;:&#34;2.0&#34;,&#34;id&#34;:1,&#34;method&#34;:&#34;`+m.Name+`&#34;`)
			if want := served && !m.Stream() && m.Class != method.Write; command != want {
				t.Errorf("%s is shown as a command: %v, want %v", m.Name, command, want)
			}
		}
		for _, r := range method.Refusals() {
			if !strings.Contains(page, r.Name) {
				t.Errorf("the page lacks the error %s", r.Name)
			}
		}
		if strings.Contains(page, `&#34;:,`) || strings.Contains(page, `&#34;:}`) {
			t.Error("an example lacks the value of a parameter")
		}
	}
}

// TestTheGuideHasEveryRefusal: with its code and status.
func TestTheGuideHasEveryRefusal(t *testing.T) {
	guide, err := docs.Files.ReadFile("rpc.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, line := range strings.Split(string(guide), "\n") {
		if strings.HasPrefix(line, "| -32") {
			rows++
		}
	}
	for _, r := range method.Refusals() {
		if row := fmt.Sprintf("| %d | `%s` | %d |", r.Code, r.Name, r.Status); !strings.Contains(string(guide), row) {
			t.Errorf("the guide lacks %q", row)
		}
	}
	if rows != len(method.Refusals()) {
		t.Errorf("the guide has %d errors, want %d", rows, len(method.Refusals()))
	}
}
