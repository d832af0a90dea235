package routes_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/submission"
)

// TestLife is the whole way through HTTP, with a worker that finds what it should.
func TestLife(t *testing.T) {
	w := newWorld(t)
	created := w.create(w.Key, "k:1", text(w.pack))
	j := jobOf(t, created, http.StatusCreated)
	if j.State != "awaiting_upload" || j.IdempotencyKey != "k:1" || j.PollAfterSeconds == nil || j.Retryable != nil || j.FailureCode != nil || !j.UploadExpiresAt.After(w.Clock.Now()) {
		t.Errorf("created %s", created.Body)
	}
	if again := jobOf(t, w.create(w.Key, "k:1", text(w.pack)), http.StatusOK); again.JobID != j.JobID {
		t.Errorf("again it is %s", again.JobID)
	}
	spelled := strings.Replace(text(w.pack), fmt.Sprintf(`"uploadByteLength":%d`, len(w.source)), fmt.Sprintf(`"uploadByteLength":%d.0e0`, len(w.source)), 1)
	if spelled == text(w.pack) {
		t.Fatal("nothing was spelled otherwise")
	}
	if again := jobOf(t, w.create(w.Key, "k:1", strings.Replace(spelled, `"0x5eed"`, `"0x0005EED"`, 1)), http.StatusOK); again.JobID != j.JobID {
		t.Errorf("spelled otherwise it is %s", again.JobID)
	}
	servertest.Expect(t, w.create(w.Key, "k:1", strings.Replace(text(w.pack), `"p::c"`, `"p::d"`, 1)), 409, kernel.CodeIdempotencyKeyReused, nil)
	servertest.Expect(t, w.send(http.MethodGet, base+"/"+j.JobID+"/receipt", w.Key, nil), 404, kernel.CodeNotFound, nil)
	up := jobOf(t, w.put(w.Key, j.JobID, w.source), http.StatusOK)
	if up.State != "queued" || up.SourceDeletesAt == nil || !up.SourceDeletesAt.Equal(w.Clock.Now().Add(24*time.Hour)) {
		t.Errorf("uploaded %+v", up)
	}
	jobOf(t, w.put(w.Key, j.JobID, w.source), http.StatusOK)
	work, err := w.jobs.Claim(t.Context(), job.Chain, "w", time.Minute)
	if err != nil || work == nil {
		t.Fatal(work, err)
	}
	if v := jobOf(t, w.send(http.MethodGet, base+"/"+j.JobID, w.Key, nil), http.StatusOK); v.State != "building" {
		t.Errorf("state %s", v.State)
	}
	signed := w.admit(work)
	v := jobOf(t, w.send(http.MethodGet, "/api"+base+"/"+j.JobID, w.Key, nil), http.StatusOK)
	if v.State != "succeeded" || v.PollAfterSeconds != nil || v.FailureCode != nil {
		t.Errorf("%+v", v)
	}
	got := w.send(http.MethodGet, base+"/"+j.JobID+"/receipt", w.Key, nil)
	read, err := receipt.Parse(got.Body)
	if got.StatusCode != http.StatusOK || err != nil || read.Signature != signed.Signature || text(read) != text(signed) {
		t.Errorf("%d %s, %v", got.StatusCode, got.Body, err)
	}
	if late := jobOf(t, w.send(http.MethodPost, base+"/"+j.JobID+"/cancel", w.Key, nil), http.StatusOK); late.State != "succeeded" {
		t.Errorf("cancelled after its success: %s", late.State)
	}
}

// TestRefusedCreates: what is refused is refused with its code, and makes no job.
func TestRefusedCreates(t *testing.T) {
	w := newWorld(t)
	good := text(w.pack)
	change := func(field string, v any) string {
		p := map[string]any{}
		for k, old := range w.pack {
			p[k] = old
		}
		if p[field] = v; v == nil {
			delete(p, field)
		}
		return text(p)
	}
	type refusal struct {
		name, path, key, body, says string
		status                      int
		code                        kernel.Code
	}
	list := []refusal{
		{"another chain", "/v1/SN_SEPOLIA/verification-jobs", "k", good, "SN_MAIN", 422, kernel.CodeUnsupportedPolicy},
		{"no chain", "/v1/SN_OTHER/verification-jobs", "k", good, "path.chain", 404, kernel.CodeNotFound},
		{"another policy", base, "k", change("toolchainPolicyId", "service-exact-v24"), "toolchainPolicyId", 422, kernel.CodeUnsupportedPolicy},
		{"another field", base, "k", change("chainId", "SN_MAIN"), "", 400, kernel.CodeInvalidPackage},
		{"a field twice", base, "k", good[:len(good)-1] + `,"buildProfile":"release"}`, "", 400, kernel.CodeInvalidPackage},
		{"no JSON", base, "k", "{", "body", 400, kernel.CodeInvalidPackage},
		{"a fraction", base, "k", change("uploadByteLength", 1.5), "uploadByteLength", 400, kernel.CodeInvalidPackage},
		{"a negative length", base, "k", change("uploadByteLength", -1), "uploadByteLength", 400, kernel.CodeInvalidPackage},
		{"too long", base, "k", change("uploadByteLength", 10<<20+1), "uploadByteLength", 400, kernel.CodeInvalidPackage},
		{"too large", base, "k", change("packageName", strings.Repeat("p", submission.MaxBytes)), "larger", 413, kernel.CodePayloadTooLarge},
		{"no idempotency key", base, "", good, "Idempotency-Key", 400, kernel.CodeInvalidRequest},
		{"a bad one", base, "a b", good, "Idempotency-Key", 400, kernel.CodeInvalidRequest},
		{"one that is too long", base, strings.Repeat("k", 129), good, "Idempotency-Key", 400, kernel.CodeInvalidRequest},
	}
	for field := range w.pack {
		list = append(list, refusal{"without " + field, base, "k", change(field, nil), field, 400, kernel.CodeInvalidPackage})
	}
	for _, c := range list {
		headers := []string{"Content-Type", "application/json"}
		if c.key != "" {
			headers = append(headers, "Idempotency-Key", c.key)
		}
		r := w.send(http.MethodPost, c.path, w.Key, []byte(c.body), headers...)
		if e := r.Envelope(); r.StatusCode != c.status || e.Code != c.code || !strings.Contains(e.Message, c.says) || e.DocSlug == "" {
			t.Errorf("%s: %d %s", c.name, r.StatusCode, r.Body)
		}
	}
	r := w.send(http.MethodPost, base, w.Key, []byte(good), "Content-Type", "application/json", "Idempotency-Key", "a", "Idempotency-Key", "b")
	if r.StatusCode != 400 {
		t.Errorf("two keys: %d %s", r.StatusCode, r.Body)
	}
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "application/gzip", "json", "application/json, text/plain"} {
		servertest.Expect(t, w.send(http.MethodPost, base, w.Key, []byte(good), "Content-Type", kind, "Idempotency-Key", "a"), 415, kernel.CodeUnsupportedMedia, nil)
	}
	if list, err := w.jobs.List(t.Context(), "", 10); err != nil || len(list) != 0 {
		t.Errorf("%d jobs, %v", len(list), err)
	}
}

// TestWho: only keys of workspaces that may verify.
func TestWho(t *testing.T) {
	w := newWorld(t)
	id := "vrf_aaaaaaaaaaaaaaaaaaaaaaaa"
	for _, c := range []struct {
		name, key string
		status    int
		code      kernel.Code
	}{
		{"nobody", "", 401, kernel.CodeUnauthorized},
		{"internal", w.internal, 403, kernel.CodeForbidden},
		{"revoked", w.RevokedKey(), 401, kernel.CodeUnauthorized},
	} {
		for _, r := range []servertest.Reply{w.create(c.key, "k", text(w.pack)), w.put(c.key, id, w.source), w.send(http.MethodGet, base+"/"+id, c.key, nil),
			w.send(http.MethodPost, base+"/"+id+"/cancel", c.key, nil), w.send(http.MethodGet, base+"/"+id+"/receipt", c.key, nil)} {
			servertest.Expect(t, r, c.status, c.code, nil)
		}
	}
	// A session is no key.
	r := w.send(http.MethodGet, base+"/"+id, "", nil, "Authorization", "Bearer session")
	servertest.Expect(t, r, 401, kernel.CodeUnauthorized, nil)
}

// TestHidden: a job that is another's, one that does not exist, one on another chain and
// one with nothing to show are one and the same answer.
func TestHidden(t *testing.T) {
	w := newWorld(t)
	j := jobOf(t, w.create(w.Key, "k", text(w.pack)), http.StatusCreated)
	stranger, _ := w.Stranger("stranger", account.Free, account.Limits{})
	absent := "vrf_" + strings.Repeat("a", len(j.JobID)-4)
	ask := func(key, id string) (out []string) {
		for _, r := range []servertest.Reply{w.put(key, id, w.source), w.send(http.MethodGet, base+"/"+id, key, nil), w.send(http.MethodPost, base+"/"+id+"/cancel", key, nil),
			w.send(http.MethodGet, base+"/"+id+"/receipt", key, nil)} {
			e := r.Envelope()
			e.RequestID = ""
			var names []string
			for name := range r.Header {
				names = append(names, name)
			}
			slices.Sort(names)
			out = append(out, fmt.Sprint(r.StatusCode, text(e), names))
			if r.StatusCode != 404 || e.Code != kernel.CodeNotFound {
				t.Errorf("%s: %d %s", id, r.StatusCode, r.Body)
			}
		}
		return out
	}
	foreign, gone := ask(stranger, j.JobID), ask(stranger, absent)
	for i := range foreign {
		if foreign[i] != gone[i] {
			t.Errorf("another's job is told apart:\n%s\n%s", foreign[i], gone[i])
		}
	}
	for _, other := range []string{"x", strings.Repeat("y", 300), "vrf_'--"} {
		servertest.Expect(t, w.send(http.MethodGet, base+"/"+other, w.Key, nil), 404, kernel.CodeNotFound, nil)
	}
	servertest.Expect(t, w.send(http.MethodGet, base+"/%00", w.Key, nil), 400, kernel.CodeInvalidRequest, nil)
	unready := w.send(http.MethodGet, base+"/"+j.JobID+"/receipt", w.Key, nil).Envelope()
	unready.RequestID = ""
	if !strings.Contains(gone[3], text(unready)) {
		t.Errorf("a receipt that is not ready is told apart: %s", text(unready))
	}
	servertest.Expect(t, w.send(http.MethodGet, "/v1/SN_SEPOLIA/verification-jobs/"+j.JobID, w.Key, nil), 404, kernel.CodeNotFound, nil)
	if v := jobOf(t, w.send(http.MethodGet, base+"/"+j.JobID, w.Key, nil), 200); v.State != "awaiting_upload" {
		t.Errorf("it was changed: %s", v.State)
	}
}

// TestUploads: bytes that are not those of the package change nothing, however they
// come, and those that are count once.
// TestDamagedJob: what the database no longer holds as it was written is told to the owner in
// plain words, and to nobody else.
func TestDamagedJob(t *testing.T) {
	w := newWorld(t)
	j := jobOf(t, w.create(w.Key, "k", text(w.pack)), http.StatusCreated)
	if err := w.db.Update(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`UPDATE verification_job SET package = REPLACE(package, '0x', '0x1') WHERE id = $1`, j.JobID)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	stranger, _ := w.Stranger("stranger", account.Free, account.Limits{})
	for _, r := range []servertest.Reply{w.send(http.MethodGet, base+"/"+j.JobID, w.Key, nil), w.put(w.Key, j.JobID, w.source), w.send(http.MethodPost, base+"/"+j.JobID+"/cancel", w.Key, nil)} {
		if e := r.Envelope(); r.StatusCode != http.StatusInternalServerError || e.Code != kernel.CodeInternal || !strings.Contains(e.Message, "is damaged") {
			t.Errorf("%d %s", r.StatusCode, r.Body)
		}
	}
	servertest.Expect(t, w.send(http.MethodGet, base+"/"+j.JobID, stranger, nil), 404, kernel.CodeNotFound, nil)
}

func TestUploads(t *testing.T) {
	w := newWorld(t)
	j := jobOf(t, w.create(w.Key, "k", text(w.pack)), http.StatusCreated)
	path := base + "/" + j.JobID + "/source"
	flipped := bytes.Clone(w.source)
	flipped[len(flipped)/2] ^= 1
	for _, c := range []struct {
		name    string
		body    []byte
		headers []string
		status  int
		code    kernel.Code
	}{
		{"other bytes", flipped, []string{"Content-Type", "application/gzip"}, 422, kernel.CodeUploadMismatch},
		{"fewer", w.source[1:], []string{"Content-Type", "application/gzip"}, 422, kernel.CodeUploadMismatch},
		{"more", append(bytes.Clone(w.source), 0), []string{"Content-Type", "application/gzip"}, 422, kernel.CodeUploadMismatch},
		{"too many", make([]byte, 10<<20+1), []string{"Content-Type", "application/gzip"}, 413, kernel.CodePayloadTooLarge},
		{"another type", w.source, []string{"Content-Type", "application/x-gzip"}, 415, kernel.CodeUnsupportedMedia},
		{"a type with a parameter", w.source, []string{"Content-Type", "application/gzip; q=1"}, 415, kernel.CodeUnsupportedMedia},
		{"two types", w.source, []string{"Content-Type", "application/gzip", "Content-Type", "application/gzip"}, 415, kernel.CodeUnsupportedMedia},
		{"no type", w.source, nil, 415, kernel.CodeUnsupportedMedia},
		{"an encoding", w.source, []string{"Content-Type", "application/gzip", "Content-Encoding", "gzip"}, 415, kernel.CodeUnsupportedMedia},
		{"a part", w.source, []string{"Content-Type", "application/gzip", "Content-Range", "bytes 0-9/20"}, 400, kernel.CodeInvalidRequest},
		{"an identity", w.source, []string{"Content-Type", "application/gzip", "Content-Encoding", "identity"}, 415, kernel.CodeUnsupportedMedia},
	} {
		r := w.send(http.MethodPut, path, w.Key, c.body, c.headers...)
		if r.StatusCode != c.status || r.Envelope().Code != c.code {
			t.Errorf("%s: %d %s", c.name, r.StatusCode, r.Body)
		}
	}
	servertest.Expect(t, w.send(http.MethodPut, path+"?x=1", w.Key, w.source, "Content-Type", "application/gzip"), 400, kernel.CodeInvalidRequest, nil)
	// On the wire: no length, too few bytes, a pause without end.
	head := fmt.Sprintf("PUT %s HTTP/1.1\r\nHost: x\r\nX-Service-Api-Key: %s\r\nContent-Type: application/gzip\r\n", path, w.Key)
	for name, c := range map[string]struct {
		request string
		status  int
	}{
		"chunked": {head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		"stalled": {head + fmt.Sprintf("Content-Length: %d\r\n\r\nabc", len(w.source)), 408},
	} {
		conn := w.Dial(c.request)
		if r := w.Read(conn); r.StatusCode != c.status {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.Body)
		}
	}
	if v := jobOf(t, w.send(http.MethodGet, base+"/"+j.JobID, w.Key, nil), 200); v.State != "awaiting_upload" || v.SourceDeletesAt != nil {
		t.Fatalf("something counted: %+v", v)
	}
	var wg sync.WaitGroup
	other := w.NewKey(account.DefaultScopes) // of the same workspace
	for _, key := range []string{w.Key, other} {
		wg.Go(func() {
			if v := jobOf(t, w.put(key, j.JobID, w.source), 200); v.State != "queued" {
				t.Errorf("%+v", v)
			}
		})
	}
	wg.Wait()
	// When the job has gone on, the same bytes are answered, and others refused.
	if _, err := w.jobs.Claim(t.Context(), job.Chain, "w", time.Minute); err != nil {
		t.Fatal(err)
	}
	if v := jobOf(t, w.put(w.Key, j.JobID, w.source), 200); v.State != "building" {
		t.Errorf("%+v", v)
	}
	servertest.Expect(t, w.put(w.Key, j.JobID, flipped), 422, kernel.CodeUploadMismatch, nil)
	if v := jobOf(t, w.send(http.MethodPost, base+"/"+j.JobID+"/cancel", w.Key, nil), 200); v.State != "cancelled" || v.PollAfterSeconds != nil {
		t.Errorf("%+v", v)
	}

	// An archive that cannot be built ends its job.
	bad := []byte("this is no gzip")
	sum := archiveDigest(bad)
	j = jobOf(t, w.create(w.Key, "bad", text(packageOf(t, sum, int64(len(bad))))), http.StatusCreated)
	v := jobOf(t, w.put(w.Key, j.JobID, bad), 200)
	if v.State != "failed" || *v.FailureCode != "invalid_source_archive" || *v.FailureReason != "not_gzip" || *v.Retryable || v.FailureMessage == nil {
		t.Errorf("%+v", v)
	}
	// One that was never uploaded and is cancelled takes nothing any more.
	j = jobOf(t, w.create(w.Key, "ended", text(w.pack)), http.StatusCreated)
	jobOf(t, w.send(http.MethodPost, base+"/"+j.JobID+"/cancel", w.Key, nil), 200)
	servertest.Expect(t, w.put(w.Key, j.JobID, w.source), 409, kernel.CodeVerificationClosed, nil)
}

// TestQuotas: who may not create now is told when to come back.
func TestQuotas(t *testing.T) {
	w := newWorld(t)
	refused := func(r servertest.Reply, status int, code kernel.Code, reason kernel.Reason) {
		t.Helper()
		servertest.Expect(t, r, status, code, nil)
		if r.Envelope().Reason != reason || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s, Retry-After %q", r.Body, r.Header.Get("Retry-After"))
		}
	}
	for i := range 5 {
		j := jobOf(t, w.create(w.Key, fmt.Sprint(i), text(w.pack)), 201)
		refused(w.create(w.Key, "other", text(w.pack)), 429, kernel.CodeRateLimited, kernel.ReasonActiveJob)
		jobOf(t, w.send(http.MethodPost, base+"/"+j.JobID+"/cancel", w.Key, nil), 200)
	}
	refused(w.create(w.Key, "sixth", text(w.pack)), 429, kernel.CodeRateLimited, kernel.ReasonDailyJobs)
	jobOf(t, w.create(w.Key, "4", text(w.pack)), 200)
	w.Clock.Advance(w.jobs.UntilTomorrow())
	refused(w.create(w.Key, "sixth", text(w.pack)), 503, kernel.CodeVerifierUnavailable, "") // nobody heard of the worker for a day
	w.ready()
	j := jobOf(t, w.create(w.Key, "sixth", text(w.pack)), 201)
	w.Clock.Advance(time.Hour)
	if v := jobOf(t, w.send(http.MethodGet, base+"/"+j.JobID, w.Key, nil), 200); v.State != "expired" {
		t.Errorf("%+v", v)
	}
	if err := w.jobs.Pause(t.Context(), "operator", "a secret reason"); err != nil {
		t.Fatal(err)
	}
	r := w.create(w.Key, "seventh", text(w.pack))
	refused(r, 503, kernel.CodeVerifierUnavailable, "")
	if bytes.Contains(r.Body, []byte("secret reason")) {
		t.Errorf("it says why: %s", r.Body)
	}
}

// TestRoom: a workspace has a share of the room for sources, and all together have an end; who comes too late for
// either is told which, and when to come back.
func TestRoom(t *testing.T) {
	limits := job.Standard
	source, _ := prepare(t, "fn main() {}")
	size := int64(len(source))
	limits.OwnBytes, limits.SourceBytes, limits.Active = 2*size-1, 3*size-1, 2
	small := newWorldWith(t, limits)
	open := account.Limits{LightPerMinute: 1e9, HeavyPerMinute: 1e9, Burst: 1e9}
	other, _ := small.Stranger("other", account.Enterprise, open)
	third, _ := small.Stranger("third", account.Enterprise, open)
	refused := func(r servertest.Reply, status int, code kernel.Code, reason kernel.Reason) {
		t.Helper()
		servertest.Expect(t, r, status, code, nil)
		if r.Envelope().Reason != reason || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s, Retry-After %q", r.Body, r.Header.Get("Retry-After"))
		}
	}
	done := func(key, idempotency string) {
		t.Helper()
		j := jobOf(t, small.create(key, idempotency, text(small.pack)), 201)
		jobOf(t, small.put(key, j.JobID, small.source), 200)
		jobOf(t, small.send(http.MethodPost, base+"/"+j.JobID+"/cancel", key, nil), 200)
	}
	done(small.Key, "first")
	refused(small.create(small.Key, "second", text(small.pack)), 429, kernel.CodeRateLimited, kernel.ReasonSources)
	done(other, "first")
	refused(small.create(third, "first", text(small.pack)), 503, kernel.CodeServiceUnavailable, kernel.ReasonQueueFull)
	small.Clock.Advance(24 * time.Hour) // by when both are due
	small.ready()
	if done, err := small.jobs.Tidy(t.Context()); err != nil || done.Deleted != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	for _, key := range []string{small.Key, other} {
		jobOf(t, small.create(key, "later", text(small.pack)), 201)
	}
	refused(small.create(third, "first", text(small.pack)), 503, kernel.CodeServiceUnavailable, kernel.ReasonQueueFull) // as many jobs as all may have
}
