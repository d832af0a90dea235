package site_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"chainexplorer/internal/servertest"
)

// TestAnswersHaveDocumentedHeaders asks every operation in three ways, without looking at
// what it says: each status, and each header that tells a client something, is in the
// document.
func TestAnswersHaveDocumentedHeaders(t *testing.T) {
	w := newWorld(t, 5, servertest.Whole(t))
	doc := new(published)
	if err := json.Unmarshal(w.Do(http.MethodGet, "/openapi.json", "").Body, doc); err != nil {
		t.Fatal(err)
	}
	// How a message is carried, and what a browser may do with it, is not an operation's.
	carried := regexp.MustCompile(`^(Date|Content-.*|Vary|Connection|X-Content-Type-Options|Transfer-Encoding)$`)
	variable, seen := regexp.MustCompile(`\{\w+\}`), map[string]bool{}
	for path, item := range doc.Paths {
		if strings.HasSuffix(path, "/stream") { // its answer has no end
			continue
		}
		at := variable.ReplaceAllString(strings.Replace(path, "{chain}", chainID, 1), "0x1")
		for method, op := range item {
			method = strings.ToUpper(method)
			asked := []servertest.Reply{w.Do(method, at, ""), w.Do(method, at+"?none=1", w.Key)}
			if method == http.MethodGet || method == http.MethodDelete {
				asked = append(asked, w.Do(method, at, w.Key))
			} else {
				asked = append(asked, w.Send(w.Request(method, at, `{"ownerAddress":"0x1","jsonrpc":"2.0","id":1,"method":"starknet_chainId"}`)), w.Send(w.Request(method, at, `{"ownerAddress":"0x1"}`)))
			}
			for _, r := range asked {
				documented, ok := op.Responses[strconv.Itoa(r.StatusCode)]
				if !ok {
					t.Errorf("%s %s: %d is not in the document: %s", method, path, r.StatusCode, r.Body)
				}
				named := map[string]bool{}
				for name := range documented.Headers {
					named[http.CanonicalHeaderKey(name)] = true
				}
				for name := range r.Header {
					seen[name] = true
					if !named[name] && !carried.MatchString(name) {
						t.Errorf("%s %s: %d has %s, which is not in the document", method, path, r.StatusCode, name)
					}
				}
			}
		}
	}
	for _, name := range []string{"X-Service-Rpc-Class", "X-Service-Query-Class", "X-Service-Cost-Units", "X-Service-Route-Stability", "Deprecation"} {
		if !seen[name] {
			t.Errorf("no answer had %s", name)
		}
	}
}
