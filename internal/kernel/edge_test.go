package kernel_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"chainexplorer/internal/edge"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// TestRefusalsDoNotWaitForBodies: requests that are answered without their bodies
// announce one and send a byte of it. The test server has no time of its own, so that
// a connection which ends was ended by us.
func TestRefusalsDoNotWaitForBodies(t *testing.T) {
	servertest.Watched(t)
	w := newWorld(t, 5, func(o *options) { o.BodyTimeout = 50 * time.Millisecond })
	const batch = "/v1/" + chainID + "/address/summaries"
	for _, c := range []struct {
		method, path, key string
		status            int
	}{
		{"GET", statusPath, "", 401},
		{"POST", batch, "", 401},
		{"GET", "/nothing", "", 404},
		{"POST", "/v1/" + chainID + "/nothing", w.Key, 404},
		{"GET", "/healthz", "", 200},
		{"GET", "/readyz", "", 200},
		{"HEAD", "/docs/api", "", 200},
		{"DELETE", statusPath, w.Key, 405},
		{"GET", statusPath, w.Key, 200},
		{"POST", batch, w.Key, 408}, // this one waited for the body, and then no more
	} {
		for _, more := range []string{"", "Expect: 100-continue\r\n"} {
			if c.key != "" {
				more += "X-Service-Api-Key: " + c.key + "\r\n"
			}
			conn := w.Dial(fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: 100\r\n\r\nx", c.method, c.path, more))
			in := bufio.NewReader(conn)
			res, err := http.ReadResponse(in, &http.Request{Method: c.method})
			for err == nil && res.StatusCode == http.StatusContinue {
				res, err = http.ReadResponse(in, &http.Request{Method: c.method})
			}
			if err != nil || res.StatusCode != c.status || !res.Close {
				t.Errorf("%s %s: %v %v", c.method, c.path, res, err)
				continue
			}
			if _, err := io.Copy(io.Discard, in); isTimeout(err) {
				t.Errorf("%s %s: the connection is held", c.method, c.path)
			}
		}
	}
}

// TestBodyFailuresAreDocumented: every route that takes a body can find it late, too large
// or of another kind, and the document says so of each.
func TestBodyFailuresAreDocumented(t *testing.T) {
	w := newWorld(t, 5, withVerification)
	told := 0
	for _, r := range w.Server.Entries() {
		responses := w.Server.OperationOf(r).Responses
		for _, status := range []int{http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType} {
			_, documented := responses[strconv.Itoa(status)]
			if documented != (r.MaxBody > 0) {
				t.Errorf("%s takes %d bytes, and %d is documented: %v", r.ID, r.MaxBody, status, documented)
			}
			if documented {
				told++
			}
		}
	}
	if told < 3*5 {
		t.Errorf("only %d failures are documented", told)
	}
}

func isTimeout(err error) bool {
	ne, ok := err.(net.Error)
	return ok && ne.Timeout()
}

// TestRefusedConnections: what a client is told that has too many connections is a
// failure like all others.
func TestRefusedConnections(t *testing.T) {
	for why, c := range map[edge.Refusal]struct {
		status int
		code   kernel.Code
		reason kernel.Reason
	}{
		edge.TooManyOfAddress: {429, kernel.CodeRateLimited, kernel.ReasonClientAddress},
		edge.TooMany:          {503, kernel.CodeServiceUnavailable, ""},
	} {
		ours, theirs := net.Pipe()
		go func() {
			theirs.Write(kernel.WireOptions{}.Refused(why)) //nolint:errcheck // see the reader
			theirs.Close()                                  //nolint:errcheck // as above
		}()
		res, err := http.ReadResponse(bufio.NewReader(ours), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		r := reply{Response: res, Body: body}
		servertest.Expect(t, r, c.status, c.code, map[string]string{"Retry-After": "1", "Content-Type": "application/json"})
		if e := r.Envelope(); e.Reason != c.reason || e.RequestID == "" || e.RequestID != r.Header.Get("X-Request-Id") || !r.Close {
			t.Errorf("%s: %s", why, body)
		}
	}
}
