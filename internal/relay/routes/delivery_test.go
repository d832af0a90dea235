package routes_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/backoff"
	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/relay"
	"chainexplorer/internal/relay/job"
	"chainexplorer/internal/relay/routes"
	"chainexplorer/internal/relay/upstream"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simprover"
)

// oddProver writes results as no encoder would, and large ones.
type oddProver struct{ size int }

func (p oddProver) result() []byte {
	return append([]byte("{ \"proof\" : \"<&>\\u0041\\/\",\r\n\t\"l2_to_l1_messages\":[ ] , \"proof_facts\":[],\"additional_data\":{\"n\":1.50e0},\"filler\":\""), append(bytes.Repeat([]byte("x"), p.size), '"', ' ', '}')...)
}

func (p oddProver) Prove(context.Context, []byte) upstream.Outcome {
	return upstream.Outcome{Kind: upstream.Succeeded, Class: "result", Result: p.result()}
}

func (oddProver) Ready(context.Context) error { return nil }

// TestResultsAreNotTouched: the result is passed on byte for byte.
func TestResultsAreNotTouched(t *testing.T) {
	w := newWorld(t, func(s *setting) { s.Prover = oddProver{10} })
	j := jobOf(t, w.submit(idem(1), body(1)), http.StatusAccepted)
	w.settled(j.JobID)
	if r := w.look(j.JobID); !bytes.HasSuffix(r.Body, append(append([]byte(`,"result":`), oddProver{10}.result()...), '}')) {
		t.Errorf("the answer is %s", r.Body)
	}
}

// TestOnePollOfMany gets the result, and the others are told so.
func TestOnePollOfMany(t *testing.T) {
	servertest.Watched(t)
	w := newWorld(t, func(s *setting) { s.Prover = oddProver{1 << 20} })
	for i := range 5 {
		j := jobOf(t, w.submit(idem(i), body(i)), http.StatusAccepted)
		w.settled(j.JobID)
		var got atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				r := w.look(j.JobID)
				switch {
				case bytes.Contains(r.Body, []byte(`"result":`)):
					got.Add(1)
				case !bytes.Contains(r.Body, []byte(`"delivered_or_expired"`)):
					t.Errorf("%.200s", r.Body)
				}
			})
		}
		wg.Wait()
		if got.Load() != 1 {
			t.Fatalf("%d polls got the result", got.Load())
		}
	}
}

// TestAnswerThatCouldNotBeWritten: a client that hangs up before it has the result does not
// take it away from the next poll, which may be waiting already.
func TestAnswerThatCouldNotBeWritten(t *testing.T) {
	w := newWorld(t, func(s *setting) { s.Prover = oddProver{16 << 20} })
	j := jobOf(t, w.submit(idem(1), body(1)), http.StatusAccepted)
	w.settled(j.JobID)
	for range 2 {
		c := w.Dial("GET " + path + "/" + j.JobID + " HTTP/1.1\r\nHost: x\r\nX-Service-Api-Key: " + w.key + "\r\n\r\n").(*net.TCPConn)
		if _, err := c.Read(make([]byte, 1)); err != nil { // it is being written
			t.Fatal(err)
		}
		waits := make(chan servertest.Reply, 1)
		go func() { waits <- w.look(j.JobID) }()
		c.SetLinger(0) //nolint:errcheck // then the connection is reset
		c.Close()      //nolint:errcheck // as above
		if r := <-waits; bytes.Contains(r.Body, []byte(`"result":`)) {
			return
		}
		t.Fatal("the result is gone")
	}
}

// pair is one world with two processes on PostgreSQL.
type pair struct {
	*world
	second      string // address of the other process
	secondRelay *relay.Relay
	endSecond   func()
}

func newPair(t *testing.T, change ...func(*setting)) *pair {
	t.Helper()
	at := controltest.Server(t)
	var kept servertest.Options
	p := &pair{}
	var set setting
	p.world = newWorld(t, append(change, func(s *setting) {
		s.on = at
		set = *s
		s.kept = &kept
	})...)
	db, err := control.Open(t.Context(), control.Options{Path: at})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // temporary
	o := set.Options
	o.Now = p.relay.Now
	o.Jobs, o.Prover = job.New(db, job.Options{Now: o.Now, Usual: set.budget}), p.relay.Prover
	o.Retry = backoff.Policy{Min: 5 * time.Millisecond, Max: 20 * time.Millisecond}
	front := httptest.NewUnstartedServer(nil)
	o.Address = "http://" + front.Listener.Addr().String()
	if p.secondRelay, err = relay.New(o); err != nil {
		t.Fatal(err)
	}
	other := kept
	other.Relay = &routes.Options{Relay: p.secondRelay, Secret: secretOf(db)}
	k, _ := other.Open(t)
	front.Config.Handler = k
	front.Start()
	t.Cleanup(front.Close)
	p.second = front.URL
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.secondRelay.Run(ctx, ctx)
	}()
	p.endSecond = func() {
		stop()
		<-ended
	}
	t.Cleanup(p.endSecond)
	joined(t, p.secondRelay)
	return p
}

// at sends a request to one of the two.
func (p *pair) at(i int, req *http.Request) (int, string) {
	p.T.Helper()
	if i%2 == 1 {
		u := p.second + strings.TrimPrefix(req.URL.String(), p.URL)
		with, err := http.NewRequestWithContext(req.Context(), req.Method, u, req.Body)
		if err != nil {
			p.T.Error(err)
			return 0, ""
		}
		with.Header, with.ContentLength = req.Header, req.ContentLength
		req = with
	}
	res, err := servertest.Transport.RoundTrip(req)
	if err != nil {
		p.T.Error(err)
		return 0, ""
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	var b bytes.Buffer
	if _, err := b.ReadFrom(res.Body); err != nil {
		p.T.Error(err)
	}
	return res.StatusCode, b.String()
}

// TestTwoProcesses: many clients send the same requests to two processes and poll both. One
// job each, one proof each, one result each, wherever it is asked for.
func TestTwoProcesses(t *testing.T) {
	servertest.Watched(t)
	p := newPair(t, func(s *setting) { s.Results, s.sim.Workers, s.sim.Queue = 256, 8, 64 })
	requests, clients := 12, 6
	if raced {
		requests, clients = 4, 4
	}
	var mu sync.Mutex
	jobs := map[int]map[string]bool{}
	accepted, results := map[int]int{}, map[int]int{}
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for n := range requests {
				n := (n + c) % requests
				status, text := p.at(c+n, p.request(http.MethodPost, path, p.key, idem(n), body(n)))
				i := strings.Index(text, "prv_")
				if status != http.StatusAccepted && status != http.StatusOK || i < 0 {
					t.Errorf("request %d: %d %.200s", n, status, text)
					return
				}
				id := text[i : i+28]
				mu.Lock()
				if jobs[n] == nil {
					jobs[n] = map[string]bool{}
				}
				jobs[n][id] = true
				if status == http.StatusAccepted {
					accepted[n]++
				}
				mu.Unlock()
				for k := 0; ; k++ {
					status, text = p.at(c+k, p.request(http.MethodGet, path+"/"+id, p.key, "", ""))
					if status != http.StatusOK {
						t.Errorf("poll: %d %.200s", status, text)
						return
					}
					if strings.Contains(text, `"result":`) {
						mu.Lock()
						results[n]++
						mu.Unlock()
					}
					if strings.Contains(text, `"terminal":true`) {
						if !strings.Contains(text, `"status":"succeeded"`) {
							t.Errorf("%.300s", text)
						}
						break
					}
				}
			}
		})
	}
	wg.Wait()
	for n := range requests {
		if len(jobs[n]) != 1 || accepted[n] != 1 || results[n] != 1 {
			t.Errorf("request %d: %d jobs, accepted %d times, %d results", n, len(jobs[n]), accepted[n], results[n])
		}
	}
	heard := map[[32]byte]int{}
	for _, h := range p.sim.Heard() {
		heard[h.Digest]++
	}
	for _, n := range heard {
		if n != 1 {
			t.Errorf("a request was proven %d times", n)
		}
	}
	if len(heard) != requests {
		t.Errorf("%d requests were proven", len(heard))
	}
}

// TestAResultOfTheOther: a poll at one process gets the result that the other has, once; a
// client that hangs up there does not take it away; and when that process is gone, so is it.
func TestAResultOfTheOther(t *testing.T) {
	p := newPair(t, func(s *setting) { s.Prover = oddProver{16 << 20} })
	ask := func(n int) string {
		status, text := p.at(1, p.request(http.MethodPost, path, p.key, idem(n), body(n)))
		i := strings.Index(text, "prv_")
		if status != http.StatusAccepted || i < 0 {
			t.Fatalf("%d %s", status, text)
		}
		p.settled(text[i : i+28])
		return text[i : i+28]
	}
	one := ask(1)
	c := p.Dial("GET " + path + "/" + one + " HTTP/1.1\r\nHost: x\r\nX-Service-Api-Key: " + p.key + "\r\n\r\n").(*net.TCPConn)
	if _, err := c.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	c.SetLinger(0) //nolint:errcheck // then the connection is reset
	c.Close()      //nolint:errcheck // as above
	if got := jobOf(t, p.look(one), http.StatusOK); !bytes.Equal(got.Result, bytes.TrimSpace(oddProver{16 << 20}.result())) {
		t.Errorf("%d bytes", len(got.Result))
	}
	if got := jobOf(t, p.look(one), http.StatusOK); got.Result != nil || got.ResultUnavailableReason == "" {
		t.Error("the result came twice")
	}
	// A process that was silent for longer than its lease still has what it holds.
	silent := ask(3)
	p.Clock.Advance(21 * time.Second)
	if _, err := p.jobs.Recover(t.Context(), "another", p.Clock.Now().Add(-time.Minute), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	if got := jobOf(t, p.look(silent), http.StatusOK); len(got.Result) == 0 {
		t.Errorf("what a silent process holds: %+v", got.ProverJob)
	}
	two := ask(2)
	p.endSecond()
	if got := jobOf(t, p.look(two), http.StatusOK); got.Result != nil || got.ResultUnavailableReason == "" || got.Status != "succeeded" {
		t.Errorf("%+v", got.ProverJob)
	}
}

// TestStopping: what waits is unavailable at once, what is at the prover is given up when
// the time is over, and nothing new is taken meanwhile.
func TestStopping(t *testing.T) {
	w := newWorld(t, func(s *setting) { s.Concurrency = 1 })
	w.sim.Always(simprover.Silence)
	sent := jobOf(t, w.submit(idem(1), body(1)), http.StatusAccepted)
	// One that is dispatched may not be on its way yet, and nothing was delivered then.
	w.reaches(sent.JobID, func(s job.State) bool { return s == job.Dispatched && len(w.sim.Heard()) == 1 })
	waiting := jobOf(t, w.submit(idem(2), body(2)), http.StatusAccepted)
	w.stop()
	<-w.ended
	for id, want := range map[string]string{sent.JobID: "unknown_delivery", waiting.JobID: "unavailable"} {
		if got := jobOf(t, w.look(id), http.StatusOK); got.Status != want || !got.Terminal || got.Error == nil {
			t.Errorf("%s: %+v", want, got.ProverJob)
		}
	}
	r := w.submit(idem(3), body(3))
	if r.StatusCode != http.StatusServiceUnavailable || r.Envelope().Code != "prover_unavailable" || r.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
}

// gate is a prover that proves when it is told to.
type gate struct{ open chan struct{} }

func (g gate) Prove(ctx context.Context, _ []byte) upstream.Outcome {
	select {
	case <-g.open:
		return upstream.Outcome{Kind: upstream.Succeeded, Class: "result", Result: oddProver{}.result()}
	case <-ctx.Done():
		return upstream.Outcome{Kind: upstream.Unknown, Class: "timeout"}
	}
}

func (gate) Ready(context.Context) error { return nil }

// TestDraining: while the process only waits for its end, what waits is unavailable, what is at
// the prover goes on, and its result can be fetched.
func TestDraining(t *testing.T) {
	g := gate{make(chan struct{})}
	w := newWorld(t, func(s *setting) { s.Concurrency, s.Prover = 1, g })
	sent := jobOf(t, w.submit(idem(1), body(1)), http.StatusAccepted)
	w.reaches(sent.JobID, func(s job.State) bool { return s == job.Dispatched })
	waiting := jobOf(t, w.submit(idem(2), body(2)), http.StatusAccepted)
	w.drain()
	if s := w.settled(waiting.JobID); s != job.Unavailable {
		t.Errorf("what waited is %s", s)
	}
	if r := w.submit(idem(2), body(2)); r.StatusCode != http.StatusServiceUnavailable || r.Envelope().Code != "prover_unavailable" {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
	close(g.open)
	if s := w.settled(sent.JobID); s != job.Succeeded {
		t.Errorf("what was sent is %s", s)
	}
	if got := jobOf(t, w.look(sent.JobID), http.StatusOK); got.Result == nil {
		t.Error("the result is gone")
	}
}

// away is a prover that does not answer until it is told to.
type away struct {
	gate
	up *atomic.Bool
}

func (a away) Ready(context.Context) error {
	if a.up.Load() {
		return nil
	}
	return errors.New("nobody is there")
}

// TestProverThatIsAway: nothing is taken for a prover that is known to be away, and what was
// taken before is answered all the same.
func TestProverThatIsAway(t *testing.T) {
	up := &atomic.Bool{}
	w := newWorld(t, func(s *setting) { s.Prover = away{gate{make(chan struct{})}, up} })
	for end := time.Now().Add(time.Minute); w.relay.Ready() == nil; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nobody noticed")
		}
	}
	r := w.submit(idem(1), body(1))
	if r.StatusCode != http.StatusServiceUnavailable || r.Envelope().Code != "prover_unavailable" || r.Header.Get("Retry-After") != "30" {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
}
