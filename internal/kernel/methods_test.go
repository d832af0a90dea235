package kernel_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

var variable = regexp.MustCompile(`\{\w+\}`)

// TestOtherMethods asks every path of the table in every way that it is not served:
// a path is not to be taken for another that has a variable in its place, and Allow
// lists what is served there and nothing else.
func TestOtherMethods(t *testing.T) {
	w := sharedWorld(t, 41)
	served := map[string][]string{}
	for _, r := range w.Server.Entries() {
		served[r.Path] = append(served[r.Path], r.Method)
		if strings.HasSuffix(r.Path, "/rpc") {
			served[r.Path] = append(served[r.Path], http.MethodGet) // WebSocket
		}
	}
	if served["/v1/{chain}/tx/previews"] == nil || served["/v1/{chain}/tx/{tx_hash}"] == nil {
		t.Fatal("nothing to tell apart")
	}
	asked := 0
	for path, methods := range served {
		if slices.Contains(methods, http.MethodGet) {
			methods = append(methods, http.MethodHead)
		}
		slices.Sort(methods)
		path = variable.ReplaceAllString(strings.Replace(path, "{chain}", chainID, 1), "0x1")
		for _, prefix := range []string{"", "/api"} {
			for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch} {
				if slices.Contains(methods, m) {
					continue
				}
				asked++
				allow := strings.Join(append(slices.Clone(methods), http.MethodOptions), ", ")
				code := kernel.CodeMethodNotAllowed
				if m == http.MethodHead {
					code = "" // there is no body
				}
				t.Run(fmt.Sprint(m, " ", prefix+path), func(t *testing.T) {
					servertest.Expect(t, w.Do(m, prefix+path, w.Key), 405, code, map[string]string{"Allow": allow})
				})
			}
		}
	}
	if asked < 300 {
		t.Errorf("only %d requests", asked)
	}
}
