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
// lists what is served there and nothing else. All of these answers, and those to
// OPTIONS, name the class of a route of the path, and whether it is still to change.
func TestOtherMethods(t *testing.T) {
	w := newWorld(t, 5, withVerification)
	served, classes, stabilities := map[string][]string{}, map[string]string{}, map[string]string{}
	for _, r := range w.Server.Entries() {
		stabilities[r.Path] = r.Headers[kernel.HeaderStability] // of all methods of the path
		classes[r.Path+" "+r.Method] = string(r.Class)
		served[r.Path] = append(served[r.Path], r.Method)
		if strings.HasSuffix(r.Path, "/rpc") {
			served[r.Path] = append(served[r.Path], http.MethodGet) // WebSocket
			classes[r.Path+" "+http.MethodGet] = string(kernel.Light)
		}
	}
	if stabilities["/v1/{chain}/privacy-pool/tvl"] == "" || served["/v1/{chain}/tx/previews"] == nil || served["/v1/{chain}/tx/{tx_hash}"] == nil || served["/v1/{chain}/verification-jobs/{jobId}/source"] == nil {
		t.Fatal("nothing to tell apart")
	}
	asked := 0
	for path, methods := range served {
		if slices.Contains(methods, http.MethodGet) {
			methods = append(methods, http.MethodHead)
		}
		slices.Sort(methods)
		class, stability := classes[path+" "+methods[0]], stabilities[path]
		announced := classes[path+" "+methods[len(methods)-1]]
		if announced == "" { // HEAD, which GET stands for
			announced = classes[path+" "+http.MethodGet]
		}
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
					servertest.Expect(t, w.Do(m, prefix+path, w.Key), 405, code, map[string]string{"Allow": allow, "X-Service-Route-Class": class, kernel.HeaderStability: stability})
				})
			}
			servertest.Expect(t, w.Do(http.MethodOptions, prefix+path, ""), 204, "", map[string]string{"X-Service-Route-Class": class, kernel.HeaderStability: stability})
			servertest.Expect(t, w.Do(http.MethodOptions, prefix+path, "", "Origin", allowedOrigin, "Access-Control-Request-Method", methods[len(methods)-1]), 204, "",
				map[string]string{"X-Service-Route-Class": announced, kernel.HeaderStability: stability})
		}
	}
	if asked < 300 {
		t.Errorf("only %d requests", asked)
	}
	for _, path := range []string{"/v1/none/at/all", servertest.StatusPath + "/", "/healthz"} { // none is a route's
		for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodOptions} {
			if got := w.Do(m, path, "").Header.Values("X-Service-Route-Class"); len(got) > 0 {
				t.Errorf("%s %s is of the class %s", m, path, got)
			}
		}
	}
}
