package routes_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/relay/job"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simprover"
)

// TestFromRequestToResult: one request is one job and one proof, and its result comes once.
func TestFromRequestToResult(t *testing.T) {
	w := newWorld(t)
	r := w.submit(idem(1), body(1))
	j := jobOf(t, r, http.StatusAccepted)
	if !regexp.MustCompile(`^prv_[0-9a-f]{24}$`).MatchString(j.JobID) || j.Status != "queued" || j.Terminal || j.AttemptCount != 0 || j.PollAfterSeconds == nil || j.CompletedAt != nil {
		t.Errorf("a new job is %s", r.Body)
	}
	for name, want := range map[string]string{"X-Service-Rpc-Class": "rpc_prove", "X-Service-Route-Class": "heavy", "Cache-Control": "private, no-store", "X-Ratelimit-Limit": ""} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	w.settled(j.JobID)
	// The same request in another order, spelled otherwise, is the same request.
	var parts map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body(1)), &parts); err != nil {
		t.Fatal(err)
	}
	other := ` {"transaction":` + strings.Replace(string(parts["transaction"]), `"INVOKE"`, `"\u0049NVOKE"`, 1) + `, "block_id" : {"block_number":1} }`
	for _, again := range []string{body(1), other} {
		if same := jobOf(t, w.submit(idem(1), again), http.StatusOK); same.JobID != j.JobID || same.Result != nil || same.Status != "succeeded" {
			t.Errorf("sent again: %+v", same)
		}
	}
	servertest.Expect(t, w.submit(idem(1), body(2)), http.StatusConflict, kernel.CodeIdempotencyKeyReused, nil)
	servertest.Expect(t, w.submit(idem(1), strings.Replace(body(1), `["0x1","0x2"]`, `["0x2","0x1"]`, 1)), http.StatusConflict, kernel.CodeIdempotencyKeyReused, nil)

	// HEAD takes nothing away.
	if head := w.Send(w.request(http.MethodHead, path+"/"+j.JobID, w.key, "", "")); head.StatusCode != http.StatusOK {
		t.Errorf("HEAD: %d", head.StatusCode)
	}
	first := w.look(j.JobID)
	got := jobOf(t, first, http.StatusOK)
	if got.Status != "succeeded" || !got.Terminal || got.AttemptCount != 1 || got.CompletedAt == nil || got.ResultUnavailableReason != "" || first.Header.Get("X-Service-Rpc-Class") != "rpc_prove" {
		t.Errorf("the first poll: %.300s", first.Body)
	}
	var result struct {
		Proof string `json:"proof"`
	}
	if err := json.Unmarshal(got.Result, &result); err != nil || result.Proof == "" {
		t.Errorf("the result is %.100s: %v", got.Result, err)
	}
	for range 2 {
		late := w.look(j.JobID)
		if l := jobOf(t, late, http.StatusOK); l.Status != "succeeded" || !l.Terminal || l.Result != nil || l.ResultUnavailableReason != "delivered_or_expired" {
			t.Errorf("a later poll: %s", late.Body)
		}
	}
	if n := len(w.sim.Heard()); n != 1 {
		t.Errorf("the prover was asked %d times", n)
	}
}

// TestWhatIsRefusedMakesNoJob goes through what a submission can be refused for.
func TestWhatIsRefusedMakesNoJob(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("k", 128)
	for name, c := range map[string]struct {
		idempotency, body string
		status            int
		code              kernel.Code
		headers           []string
	}{
		"no key":            {"", body(1), 400, kernel.CodeIdempotencyKeyRequired, nil},
		"a short key":       {"fifteen-letters", body(1), 400, kernel.CodeInvalidIdempotencyKey, nil},
		"a long key":        {long + "k", body(1), 400, kernel.CodeInvalidIdempotencyKey, nil},
		"a space":           {"sixteen letters1", body(1), 400, kernel.CodeInvalidIdempotencyKey, nil},
		"a quote":           {`sixteen"letters1`, body(1), 400, kernel.CodeInvalidIdempotencyKey, nil},
		"not ASCII":         {"sixteen-letter-é", body(1), 400, kernel.CodeInvalidIdempotencyKey, nil},
		"no JSON":           {long, `{"block_id":`, 400, kernel.CodeInvalidRequest, nil},
		"a tag":             {long, strings.Replace(body(1), `{"block_number":1}`, `"latest"`, 1), 400, kernel.CodeInvalidRequest, nil},
		"a declare":         {long, strings.Replace(body(1), "INVOKE", "DECLARE", 1), 400, kernel.CodeInvalidRequest, nil},
		"a member twice":    {long, strings.Replace(body(1), `"nonce":"0x0"`, `"nonce":"0x0","nonce":"0x0"`, 1), 400, kernel.CodeInvalidRequest, nil},
		"another type":      {long, body(1), 415, kernel.CodeUnsupportedMedia, []string{"Content-Type", "text/plain"}},
		"an encoding":       {long, body(1), 415, kernel.CodeUnsupportedMedia, []string{"Content-Encoding", "gzip"}},
		"more than 1 MiB":   {long, body(1) + strings.Repeat(" ", 1<<20), 413, kernel.CodePayloadTooLarge, nil},
		"nothing":           {long, "", 400, kernel.CodeInvalidRequest, nil},
		"a fee":             {long, strings.Replace(body(1), `"tip":"0x0"`, `"tip":"0x1"`, 1), 400, kernel.CodeInvalidRequest, nil},
		"with proof_facts":  {long, strings.Replace(body(1), `"tip":"0x0"`, `"tip":"0x0","proof_facts":["0x1"]`, 1), 400, kernel.CodeInvalidRequest, nil},
		"key and body both": {"short", "{", 400, kernel.CodeInvalidIdempotencyKey, nil},
	} {
		req := w.request(http.MethodPost, path, w.key, c.idempotency, c.body)
		for i := 0; i < len(c.headers); i += 2 {
			req.Header.Set(c.headers[i], c.headers[i+1])
		}
		r := w.Send(req)
		if r.StatusCode != c.status || r.Envelope().Code != c.code || r.Header.Get("X-Service-Rpc-Class") != "rpc_prove" {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.Body)
		}
		if strings.Contains(string(r.Body), marker) {
			t.Errorf("%s: the answer repeats the key", name)
		}
	}
	twice := w.request(http.MethodPost, path, w.key, "", body(1))
	twice.Header["Idempotency-Key"] = []string{idem(1), idem(1)}
	servertest.Expect(t, w.Send(twice), 400, kernel.CodeInvalidIdempotencyKey, nil)
	servertest.Expect(t, w.Send(w.request(http.MethodGet, path+"/prv_0123456789abcdef01234567", w.key, "", "")), 404, kernel.CodeNotFound, nil)
	servertest.Expect(t, w.Send(w.request(http.MethodPost, path+"?a=b", w.key, idem(1), body(1))), 400, kernel.CodeInvalidRequest, nil)

	// Who may not.
	servertest.Expect(t, w.Send(w.request(http.MethodPost, path, w.Key, idem(1), body(1))), 403, kernel.CodeForbidden, map[string]string{"WWW-Authenticate": `Bearer realm="service", error="insufficient_scope", scope="prove"`})
	servertest.Expect(t, w.Send(w.request(http.MethodGet, path+"/prv_0123456789abcdef01234567", w.Key, "", "")), 403, kernel.CodeForbidden, nil)
	none := w.request(http.MethodPost, path, "", idem(1), body(1))
	none.Header.Del("X-Service-Api-Key")
	servertest.Expect(t, w.Send(none), 401, kernel.CodeUnauthorized, nil)
	if n := len(w.sim.Heard()); n != 0 {
		t.Errorf("the prover was asked %d times", n)
	}

	// Another workspace's job is none, and its keys are its own.
	j := jobOf(t, w.submit(idem(1), body(1)), http.StatusAccepted)
	space, err := w.Repo.CreateWorkspace(t.Context(), "others", account.Enterprise)
	if err != nil {
		t.Fatal(err)
	}
	k, err := w.Repo.CreateKey(t.Context(), account.NewKey{WorkspaceID: space.ID, Scopes: account.Prove})
	if err != nil {
		t.Fatal(err)
	}
	servertest.Expect(t, w.Send(w.request(http.MethodGet, path+"/"+j.JobID, k.Plaintext, "", "")), 404, kernel.CodeNotFound, nil)
	if o := jobOf(t, w.Send(w.request(http.MethodPost, path, k.Plaintext, idem(1), body(2))), http.StatusAccepted); o.JobID == j.JobID {
		t.Error("two workspaces have one job")
	}
}

// TestDormant: without a prover there is nothing.
func TestDormant(t *testing.T) {
	w := servertest.New(t, 2)
	key := w.NewKey(account.Read | account.Prove)
	for _, k := range []string{key, w.Key, ""} {
		for _, at := range []string{path, path + "/prv_0123456789abcdef01234567"} {
			for _, m := range []string{http.MethodGet, http.MethodPost} {
				servertest.Expect(t, w.Do(m, at, k), 404, kernel.CodeUnsupportedRoute, nil)
			}
		}
	}
	if text := w.Do(http.MethodGet, "/openapi.json", "").Body; strings.Contains(string(text), "/prove") {
		t.Error("the document has a route that is not there")
	}
}

// TestOutcomes goes from what the prover did to what the caller is told. What each answer
// of a prover comes to is tested beside package upstream; here one of each kind is seen to
// its end.
func TestOutcomes(t *testing.T) {
	w := newWorld(t, func(s *setting) {
		s.Patience, s.timeout = 200*time.Millisecond, 2*time.Second
		s.Now = time.Now // patience ends
	})
	n := 100
	for _, c := range []struct {
		answer simprover.Answer
		status string
		code   any
		data   string // of the first poll
	}{
		{simprover.Proof, "succeeded", nil, ""},
		{simprover.Gzip, "succeeded", nil, ""},
		{simprover.BlockNotFound, "failed", 24., ""},
		{simprover.BadInput, "failed", 1000., "any"},
		{simprover.Reverted, "failed", -32603., "Reverted transactions are not supported; hash: TransactionHash("},
		{simprover.Blocked, "failed", 10000., ""},
		{simprover.Sanctioned, "failed", 10000., "any"},
		{simprover.Internal, "unavailable", "prover_unavailable", ""},
		{simprover.BadParams, "unavailable", "prover_unavailable", ""},
		{simprover.HTTP413, "unavailable", "prover_unavailable", ""},
		{simprover.BusyNow, "unavailable", "prover_unavailable", ""},
		{simprover.HTTP503, "unavailable", "prover_unavailable", ""},
		{simprover.ResetAfter, "unknown_delivery", "prover_delivery_unknown", ""},
		{simprover.HTTP502, "unknown_delivery", "prover_delivery_unknown", ""},
		{simprover.HTTP504, "unknown_delivery", "prover_delivery_unknown", ""},
		{simprover.Half, "unknown_delivery", "prover_delivery_unknown", ""},
		{simprover.Silence, "unknown_delivery", "prover_delivery_unknown", ""},
	} {
		n++
		w.sim.Always(c.answer)
		j := jobOf(t, w.submit(idem(n), body(n)), http.StatusAccepted)
		w.settled(j.JobID)
		r := w.look(j.JobID)
		got := jobOf(t, r, http.StatusOK)
		if got.Status != c.status || !got.Terminal {
			t.Errorf("%s: %s", c.answer, r.Body)
			continue
		}
		if (got.Error == nil) != (c.code == nil) || got.Error != nil && got.Error.Code != c.code {
			t.Errorf("%s: %s", c.answer, r.Body)
			continue
		}
		if c.code == nil {
			continue
		}
		_, passed := c.code.(float64)
		if (got.Error.Source == "prover") != passed || passed && got.Error.Message == "" {
			t.Errorf("%s: %s", c.answer, r.Body)
		}
		if (len(got.Error.Data) > 0) != (c.data != "") || c.data != "any" && !strings.Contains(string(got.Error.Data), c.data) {
			t.Errorf("%s: data is %s", c.answer, got.Error.Data)
		}
		// Later only the code is left.
		later := jobOf(t, w.look(j.JobID), http.StatusOK)
		if later.Error == nil || later.Error.Code != c.code || later.Error.Data != nil || passed && later.Error.Message != "" {
			t.Errorf("%s, later: %+v", c.answer, later.Error)
		}
	}
	w.sim.Always(simprover.Proof)
	if strings.Contains(w.Logs.String(), marker) {
		t.Error("the log has the key")
	}
}

// TestUnavailableMayTryAgain: the same key finds the same job, which is queued once more and
// costs nothing of the day; what may have been delivered is never sent again.
func TestUnavailableMayTryAgain(t *testing.T) {
	w := newWorld(t, func(s *setting) { s.budget = job.Budget{Concurrency: 1, PerDay: 2} })
	w.sim.Next(simprover.Internal, simprover.ResetAfter)
	first := jobOf(t, w.submit(idem(1), body(1)), http.StatusAccepted)
	if s := w.settled(first.JobID); s != job.Unavailable {
		t.Fatal(s)
	}
	again := jobOf(t, w.submit(idem(1), body(1)), http.StatusOK)
	if again.JobID != first.JobID || again.Status != "queued" || again.Terminal || again.AttemptCount != 1 {
		t.Fatalf("%+v", again)
	}
	if s := w.settled(first.JobID); s != job.UnknownDelivery {
		t.Fatal(s)
	}
	if last := jobOf(t, w.submit(idem(1), body(1)), http.StatusOK); last.Status != "unknown_delivery" || last.AttemptCount != 2 || len(w.sim.Heard()) != 2 {
		t.Errorf("%+v after %d requests", last, len(w.sim.Heard()))
	}
	second := jobOf(t, w.submit(idem(2), body(2)), http.StatusAccepted)
	w.settled(second.JobID)
	r := w.submit(idem(3), body(3))
	servertest.Expect(t, r, http.StatusTooManyRequests, kernel.CodeProverDailyBudget, nil)
	now := w.Clock.Now()
	left := now.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now)
	if r.Header.Get("Retry-After") != strconv.Itoa(int(left.Seconds())) {
		t.Errorf("Retry-After is %s with %s left", r.Header.Get("Retry-After"), left)
	}
	w.Clock.Advance(left)
	jobOf(t, w.submit(idem(3), body(3)), http.StatusAccepted)
}

// TestBusyProverIsAskedAgain until it has room.
func TestBusyProverIsAskedAgain(t *testing.T) {
	w := newWorld(t)
	w.sim.Next(simprover.BusyNow, simprover.HTTP429, simprover.HTTP503)
	j := jobOf(t, w.submit(idem(1), body(1)), http.StatusAccepted)
	w.settled(j.JobID)
	if got := jobOf(t, w.look(j.JobID), http.StatusOK); got.Status != "succeeded" || got.AttemptCount != 4 {
		t.Errorf("%s after %d tries", got.Status, got.AttemptCount)
	}
}

// TestRoom: places, a key's concurrency, and what is not fetched, are bounded.
func TestRoom(t *testing.T) {
	w := newWorld(t, func(s *setting) {
		s.Concurrency, s.Queue, s.Results = 1, 2, 16
		s.budget = job.Budget{Concurrency: 2, PerDay: 1000}
	})
	w.sim.Always(simprover.Silence)
	one := jobOf(t, w.submit(idem(1), body(1)), http.StatusAccepted)
	w.reaches(one.JobID, func(s job.State) bool { return s == job.Dispatched })
	two := jobOf(t, w.submit(idem(2), body(2)), http.StatusAccepted)
	if two.QueuePosition == nil || *two.QueuePosition != 1 {
		t.Errorf("the position is %v", two.QueuePosition)
	}
	r := w.submit(idem(3), body(3))
	servertest.Expect(t, r, http.StatusTooManyRequests, kernel.CodeProverConcurrency, map[string]string{"Retry-After": "10"})
	// The bound is the key's: another has its own, until the queue is full for all.
	mine := w.key
	w.key = w.NewKey(account.Prove)
	jobOf(t, w.submit(idem(4), body(4)), http.StatusAccepted)
	servertest.Expect(t, w.submit(idem(5), body(5)), http.StatusServiceUnavailable, kernel.CodeProverQueueFull, map[string]string{"Retry-After": "30"})
	// What was there before is found all the same.
	w.key = mine
	if same := jobOf(t, w.submit(idem(2), body(2)), http.StatusOK); same.JobID != two.JobID {
		t.Error("another job")
	}
	// A budget of its own lets the key have more at once.
	if err := w.jobs.SetBudget(t.Context(), w.Space.ID, &job.Budget{Concurrency: 5, PerDay: 5}, ""); err != nil {
		t.Fatal(err)
	}
	servertest.Expect(t, w.submit(idem(3), body(3)), http.StatusServiceUnavailable, kernel.CodeProverQueueFull, nil)
}

// TestUnfetchedResults: who does not fetch results gets no more of them, for a while.
func TestUnfetchedResults(t *testing.T) {
	clock := &servertest.Clock{}
	w := newWorld(t, func(s *setting) { s.Results, s.ResultTTL, s.Now = 8, time.Minute, clock.Now })
	var ids []string
	for i := range 2 {
		j := jobOf(t, w.submit(idem(i), body(i)), http.StatusAccepted)
		w.settled(j.JobID)
		ids = append(ids, j.JobID)
	}
	servertest.Expect(t, w.submit(idem(9), body(9)), http.StatusTooManyRequests, kernel.CodeProverConcurrency, nil)
	// Who only asks whether the job is there is not told that the result is gone.
	if again := jobOf(t, w.submit(idem(0), body(0)), http.StatusOK); again.Status != "succeeded" || again.Result != nil || again.ResultUnavailableReason != "" {
		t.Errorf("the same request again: %+v", again.ProverJob)
	}
	if got := jobOf(t, w.look(ids[0]), http.StatusOK); got.Result == nil {
		t.Error("the result is gone")
	}
	if again := jobOf(t, w.submit(idem(0), body(0)), http.StatusOK); again.ResultUnavailableReason != "delivered_or_expired" {
		t.Errorf("the same request after the result was fetched: %+v", again.ProverJob)
	}
	third := jobOf(t, w.submit(idem(9), body(9)), http.StatusAccepted)
	w.settled(third.JobID)
	clock.Advance(time.Minute)
	for _, id := range []string{ids[1], third.JobID} {
		if got := jobOf(t, w.look(id), http.StatusOK); got.Result != nil || got.ResultUnavailableReason != "delivered_or_expired" || got.Status != "succeeded" {
			t.Errorf("after its time: %+v", got)
		}
	}
}
