package pages_test

import (
	"encoding/json"
	"html"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// behind are the calls of the API that each page shows the facts of, by what their paths
// hold; those that begin with ! wait for a node, and are named without an answer.
var behind = map[string][]string{
	"home": {"/status", "/txs?", "/blocks?"}, "chain": {"/status", "/txs?", "/blocks?"}, "status": {"/status"},
	"blocks": {"/blocks?"}, "txs": {"/txs?"}, "block": {"/block/20?"},
	"tx": {"/tx/0x", "/block/20?"}, "calls": {"/tx/0x"}, "tx transfers": {"/tx/0x"}, "tx events": {"/tx/0x"}, "trace": {"/tx/0x"},
	"address":  {"/address/0x", "/attribution", "/activity?", "/assets", "/transfers?", "!/balance-of/"},
	"holdings": {"/address/0x", "/attribution", "/assets", "!/balance-of/"},
	"activity": {"/activity?", "/attribution"}, "transfers": {"/transfers?", "/attribution"}, "transactions": {"/transactions?", "/attribution"}, "balance": {"/attribution"},
	"tokens": {"/token/0x"}, "token": {"/token/0x", "/controls", "/transfers?", "!/total-supply"}, "token transfers": {"/token/0x", "/transfers?"}, "holders": {"/token/0x"}, "pools": {"/token/0x", "/pools?"}, "supply": {"/total-supply"},
	"messages": {"/messages?"}, "message": {"/message/0x"}, "privacy pool": {"/privacy-pool/"}, "pool list": {"/privacy-pool/"},
	"contract":         {"/contract/0x", "/attribution", "/classes?", "/class/0x", "/entrypoints?", "/controls"},
	"contract classes": {"/contract/0x", "/classes?"}, "contract events": {"/contract/0x", "/events?", "/class/0x"}, "read": {"/contract/0x", "/entrypoints?", "/class/0x"},
	"verification": {}, "events form": {}, "latest": {"/block/59?"},
	"class": {"/class/0x"}, "classes": {"/classes?"}, "events": {"/events?"}, "events of one": {"/events?", "/contract/0x", "/class/0x"},
}

var (
	calledURI  = regexp.MustCompile(`(?s)<h2 class="mono">GET ([^<]*)</h2>.*?<pre [^>]*class="answer"[^>]*><code>([^<]*)</code>`)
	waitingURI = regexp.MustCompile(`<li class="mono">GET ([^<]*)</li>`)
)

// TestAsJSON: every page leads to the calls of the API that tell what it shows, with the
// answers that the API gives, and names those that it cannot wait for.
func TestAsJSON(t *testing.T) {
	w := sharedWorld(t, 60)
	pages := everyPage(w)
	pages["events of one"] = pages["events"] + "&contract=" + strings.Split(pages["contract"], "/")[3]
	pages["events form"], pages["latest"] = "/"+chainID+"/events", "/"+chainID+"/block/latest"
	for kind, path := range pages {
		want, told := behind[kind]
		page := w.look(path, http.StatusOK)
		if link := strings.Contains(page, "as=json"); link != told {
			t.Errorf("%s leads to its calls: %v", kind, link)
		}
		if !told {
			continue
		}
		text := w.look(with(path, "as=json"), http.StatusOK)
		var made, waiting []string
		for _, m := range calledURI.FindAllStringSubmatch(text, -1) {
			uri := html.UnescapeString(m[1])
			made = append(made, uri)
			if strings.Contains(uri, "/status") || strings.Contains(uri, "/total-supply") { // which tell the time, or ask a node
				continue
			}
			r := w.Do(http.MethodGet, uri, w.Partner)
			var shown, answered any
			if err := json.Unmarshal([]byte(html.UnescapeString(m[2])), &shown); err != nil {
				t.Errorf("%s: %s: %v", kind, uri, err)
			}
			if err := json.Unmarshal(r.Body, &answered); err != nil || r.StatusCode != http.StatusOK || !reflect.DeepEqual(shown, answered) {
				t.Errorf("%s: %s is answered with %d, and not as the page shows: %v", kind, uri, r.StatusCode, err)
			}
		}
		for _, m := range waitingURI.FindAllStringSubmatch(text, -1) {
			waiting = append(waiting, html.UnescapeString(m[1]))
		}
		for _, part := range want {
			list := made
			if rest, waits := strings.CutPrefix(part, "!"); waits {
				part, list = rest, waiting
			}
			if !strings.Contains(strings.Join(list, "\n"), part) {
				t.Errorf("%s shows what %s tells, and has %q", kind, part, list)
			}
		}
	}
}

// TestAsJSONNames: what the newest block is asked for by is its number, and pages that ask
// nothing say where the API tells it.
func TestAsJSONNames(t *testing.T) {
	w := sharedWorld(t, 60)
	page := w.page("/block/latest")
	for _, want := range []string{`href="/` + chainID + `/block/59?as=json"`, `<link rel="alternate" type="application/json" href="/v1/` + chainID + `/block/59?`} {
		if !strings.Contains(page, want) {
			t.Errorf("the newest block lacks %s", want)
		}
	}
	if calls := w.page("/block/latest?as=json"); strings.Contains(calls, "/v1/"+chainID+"/block/latest") {
		t.Error("a call names whichever block is the newest")
	}
	for path, want := range map[string]string{"/verification": "/v1/" + chainID + "/class/{classHash}", "/" + chainID + "/events": "GET /v1/" + chainID + "/events"} {
		if text := w.look(path+"?as=json", http.StatusOK); !strings.Contains(text, want) || !strings.Contains(text, "without a call of the API") {
			t.Errorf("%s does not lead on to %s", path, want)
		}
	}
}
