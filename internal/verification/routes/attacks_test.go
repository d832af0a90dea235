package routes_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/archive/archivetest"
	"chainexplorer/internal/verification/job"
)

// TestHostileArchives hands hostile archives of every kind over as a caller does. Each ends its job with the rule that it
// breaks, and nothing of it is kept.
func TestHostileArchives(t *testing.T) {
	limits := job.Standard
	limits.PerDay = 10_000
	w := newWorldWith(t, limits)
	n := 0
	seen := map[archive.Reason]int{}
	for _, a := range archivetest.Attacks() {
		data := a.Archive()
		if a.Limits != archive.Standard || len(data) == 0 { // a package cannot name no bytes
			continue
		}
		if seen[a.Reason]++; seen[a.Reason]%4 != 1 { // some of every kind: the reader's own test has all
			continue
		}
		n++
		j := jobOf(t, w.create(w.Key, fmt.Sprint(n), text(packageOf(t, archiveDigest(data), int64(len(data))))), http.StatusCreated)
		want := "invalid_source_archive"
		if a.Reason == archive.LockfileMissing {
			want = "lockfile_missing"
		}
		v := jobOf(t, w.put(w.Key, j.JobID, data), http.StatusOK)
		if v.State != "failed" || v.FailureCode == nil || *v.FailureCode != want || v.FailureReason == nil || *v.FailureReason != string(a.Reason) || v.Retryable == nil || *v.Retryable || v.SourceDeletesAt != nil {
			t.Errorf("%s: %s", a.Name, text(v))
		}
	}
	if n < 100 || len(seen) < 40 {
		t.Errorf("only %d archives, %d reasons", n, len(seen))
	}
	if l, err := w.jobs.Load(t.Context(), job.Chain); err != nil || l.SourceBytes != 0 || len(l.Jobs) != 0 {
		t.Errorf("left behind: %+v, %v", l, err)
	}
}

// large is a source of about so many bytes, with its package.
func large(t *testing.T, size int) ([]byte, string) {
	t.Helper()
	data, pack := prepare(t, archivetest.Noise(size))
	return data, text(pack)
}

func (w *world) uploadHead(key, id string, size int) string {
	return fmt.Sprintf("PUT %s/%s/source HTTP/1.1\r\nHost: x\r\nX-Service-Api-Key: %s\r\nContent-Type: application/gzip\r\nContent-Length: %d\r\n\r\n", base, id, key, size)
}

// TestTricklingUpload: who never pauses for long, and sends a byte now and then, is cut off all the same, long before
// the time that so many bytes may take at the slowest pace; and then hands the source over as it should be.
func TestTricklingUpload(t *testing.T) {
	w := newWorld(t)
	data, pack := large(t, 3<<20) // which may take half a minute and more
	j := jobOf(t, w.create(w.Key, "k", pack), http.StatusCreated)
	conn := w.Dial(w.uploadHead(w.Key, j.JobID, len(data)))
	answered := make(chan servertest.Reply, 1)
	go func() {
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			close(answered)
			return
		}
		body, _ := io.ReadAll(res.Body)
		answered <- servertest.Reply{Response: res, Body: body}
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for sent := 0; ; sent++ {
		select {
		case r, ok := <-answered:
			if !ok {
				t.Fatal("no answer")
			}
			servertest.Expect(t, r, http.StatusRequestTimeout, kernel.CodeRequestTimeout, nil)
			if v := jobOf(t, w.put(w.Key, j.JobID, data), http.StatusOK); v.State != "queued" {
				t.Errorf("handed over in time: %s", v.State)
			}
			return
		case <-tick.C:
			if sent > 500 {
				t.Fatalf("%d bytes, one by one, and the place is still held", sent)
			}
			if _, err := conn.Write(data[sent : sent+1]); err != nil && !errors.Is(err, net.ErrClosed) {
				continue // the answer is on its way
			}
		}
	}
}

// TestCrowdOfUploads: fifty at once of as many workspaces. Eight are read, the others are told to come back, and
// whoever does is served. A workspace has two places, and leaves the others to others.
func TestCrowdOfUploads(t *testing.T) {
	servertest.Watched(t)
	w := newWorldStalling(t, job.Standard, 20*time.Second)
	data, pack := large(t, 100<<10)
	type caller struct{ key, id string }
	open := account.Limits{LightPerMinute: 1e9, HeavyPerMinute: 1e9, Burst: 1e9}
	var crowd []caller
	n := 50
	if raced {
		n = 12
	}
	for i := range n {
		key, _ := w.Stranger(fmt.Sprintf("s%d", i), account.Enterprise, open)
		crowd = append(crowd, caller{key, jobOf(t, w.create(key, "k", pack), http.StatusCreated).JobID})
	}
	// One workspace first: two of its five get in.
	refused := func(r servertest.Reply, status int, code kernel.Code) {
		t.Helper()
		servertest.Expect(t, r, status, code, nil)
		if r.Header.Get("Retry-After") == "" {
			t.Errorf("no Retry-After: %s", r.Body)
		}
	}
	half := len(data) / 2
	begin := func(c caller) net.Conn { return w.Dial(w.uploadHead(c.key, c.id, len(data)) + string(data[:half])) }
	answers := make(chan servertest.Reply, 2*len(crowd))
	start := func(callers []caller) (conns []net.Conn) {
		for _, c := range callers {
			conn := begin(c)
			conns = append(conns, conn)
			go func() {
				if res, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
					body, _ := io.ReadAll(res.Body)
					answers <- servertest.Reply{Response: res, Body: body}
				}
			}()
		}
		return conns
	}
	own := start([]caller{crowd[0], crowd[0], crowd[0], crowd[0], crowd[0]})
	for range 3 {
		refused(<-answers, http.StatusTooManyRequests, kernel.CodeRateLimited)
	}
	others := start(crowd[1:])
	for range n - 1 - 6 {
		refused(<-answers, http.StatusServiceUnavailable, kernel.CodeServiceUnavailable)
	}
	// Those that were let in are read to their end.
	for _, c := range append(own, others...) {
		c.Write(data[half:]) //nolint:errcheck // most of them were refused and closed
	}
	for range 8 {
		if r := <-answers; r.StatusCode != http.StatusOK || !bytes.Contains(r.Body, []byte(`"queued"`)) {
			t.Errorf("%d %s", r.StatusCode, r.Body)
		}
	}
	for _, c := range crowd {
		if v := jobOf(t, w.put(c.key, c.id, data), http.StatusOK); v.State != "queued" {
			t.Errorf("who came back: %s", v.State)
		}
	}
}

// TestRevokedKey: a key that is revoked between creation and upload hands nothing over; another one of its workspace does.
func TestRevokedKey(t *testing.T) {
	w := newWorld(t)
	issued := w.Issue()
	j := jobOf(t, w.create(issued.Plaintext, "k", text(w.pack)), http.StatusCreated)
	if _, _, err := w.Repo.RevokeKey(t.Context(), issued.Key.PublicID); err != nil {
		t.Fatal(err)
	}
	w.Clock.Advance(time.Minute) // by when every process has heard of it
	for _, r := range []servertest.Reply{w.put(issued.Plaintext, j.JobID, w.source), w.send(http.MethodGet, base+"/"+j.JobID, issued.Plaintext, nil),
		w.send(http.MethodPost, base+"/"+j.JobID+"/cancel", issued.Plaintext, nil), w.send(http.MethodGet, base+"/"+j.JobID+"/receipt", issued.Plaintext, nil), w.create(issued.Plaintext, "k", text(w.pack))} {
		servertest.Expect(t, r, http.StatusUnauthorized, kernel.CodeUnauthorized, nil)
	}
	if v := jobOf(t, w.put(w.Key, j.JobID, w.source), http.StatusOK); v.State != "queued" {
		t.Errorf("%s", v.State)
	}
}

// TestPackagesOnTheWire: what readers could understand differently is refused, however large or deep it is.
func TestPackagesOnTheWire(t *testing.T) {
	w := newWorld(t)
	good := text(w.pack)
	length := fmt.Sprintf(`"uploadByteLength":%d`, len(w.source))
	spelled := func(s string) string { return strings.Replace(good, length, `"uploadByteLength":`+s, 1) }
	for name, body := range map[string]string{
		"a byte order mark": "\ufeff" + good, "two documents": good + good, "an array": "[" + good + "]", "null": "null", "nothing": "", "a comment": "/**/" + good,
		"deep nesting": strings.Replace(good, `"release"`, strings.Repeat("[", 4000)+strings.Repeat("]", 4000), 1), "a member twice, escaped": good[:len(good)-1] + `,"build\u0050rofile":"release"}`,
		"a surrogate": strings.Replace(good, `"p"`, `"\ud800"`, 1), "no UTF-8": strings.Replace(good, `"p"`, "\"\xff\"", 1), "a huge number": spelled(strings.Repeat("9", 400)), "a huge power": spelled("1e999999999"),
		"a tiny power": spelled("1e-999999999"), "a fraction": spelled("1.5"), "minus zero": spelled("-0"), "zero": spelled("0"), "a string": spelled(`"12345"`), "null as length": spelled("null"), "true": spelled("true"),
		"a plus": spelled("+1"), "a leading zero": spelled("012"), "NaN": spelled("NaN"), "hex": spelled("0x10"), "two to the 64th": spelled("18446744073709551617"), "more than 10 MiB": spelled("1048577e1"),
		"a key of another spelling": strings.Replace(good, `"packageName"`, `"PackageName"`, 1), "thirteen fields": good[:len(good)-1] + `,"idempotencyKey":"k"}`,
	} {
		r := w.create(w.Key, "k", body)
		if e := r.Envelope(); r.StatusCode != http.StatusBadRequest || e.Code != kernel.CodeInvalidPackage && e.Code != kernel.CodeInvalidRequest || len(e.Message) > 400 {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.Body)
		}
	}
	// One package, however its length is spelled.
	n := len(w.source)
	first := jobOf(t, w.create(w.Key, "k", good), http.StatusCreated)
	for _, s := range []string{fmt.Sprintf("%d.0", n), fmt.Sprintf("%de0", n), fmt.Sprintf("%dE+0", n), fmt.Sprintf("%d00e-2", n), fmt.Sprintf("%d.%03de3", n/1000, n%1000), fmt.Sprintf("0.%de%d", n, len(fmt.Sprint(n)))} {
		if again := jobOf(t, w.create(w.Key, "k", spelled(s)), http.StatusOK); again.JobID != first.JobID {
			t.Errorf("%s is another package", s)
		}
	}
	// Idempotency keys: the alphabet, both ends of the length, and what is near it.
	for _, c := range []struct {
		key string
		ok  bool
	}{{"A", true}, {strings.Repeat("z", 128), true}, {"AZaz09._:-", true}, {strings.Repeat("z", 129), false}, {"a b", false}, {"a/b", false}, {"a,b", false}, {"\u00e9", false}, {"a\tb", false}, {"a%20b", false}, {`"a"`, false}} {
		r := w.create(w.Key, c.key, good)
		switch e := r.Envelope(); {
		case c.ok && (r.StatusCode != http.StatusTooManyRequests || e.Reason != kernel.ReasonActiveJob): // it is past the key
			t.Errorf("%q: %d %s", c.key, r.StatusCode, r.Body)
		case !c.ok && (r.StatusCode != http.StatusBadRequest || e.Code != kernel.CodeInvalidRequest):
			t.Errorf("%q: %d %s", c.key, r.StatusCode, r.Body)
		}
	}
}
