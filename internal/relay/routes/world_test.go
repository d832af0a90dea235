package routes_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/backoff"
	"chainexplorer/internal/control"
	"chainexplorer/internal/relay"
	"chainexplorer/internal/relay/job"
	"chainexplorer/internal/relay/routes"
	"chainexplorer/internal/relay/upstream"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simprover"
	"chainexplorer/internal/store/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

const path = "/v1/SN_MAIN/prove"

// marker is what stands for the viewing key: it must be nowhere afterwards.
const marker = "0x5ec2e75ec2e75ec2e75ec2e7"

// world is a service with a relay, and a simulated prover behind it.
type world struct {
	*servertest.World
	sim   *simprover.Prover
	relay *relay.Relay
	jobs  *job.Repo
	key   string             // may prove
	drain context.CancelFunc // ends the work, and stop the rest
	stop  context.CancelFunc
	ended chan struct{}
}

type setting struct {
	relay.Options
	sim     simprover.Options
	timeout time.Duration
	budget  job.Budget
	on      string // where the control database is; "" for a file
	kept    *servertest.Options
}

func newWorld(t *testing.T, change ...func(*setting)) *world {
	t.Helper()
	s := setting{timeout: 20 * time.Second, budget: job.Budget{Concurrency: 100, PerDay: 1000}}
	s.Retry = backoff.Policy{Min: 5 * time.Millisecond, Max: 20 * time.Millisecond}
	for _, f := range change {
		f(&s)
	}
	w := &world{sim: simprover.New(s.sim), ended: make(chan struct{})}
	front := httptest.NewServer(w.sim)
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	build := func(o *servertest.Options) {
		w.serve(t, s, o, front.URL)
		if s.kept != nil {
			*s.kept = *o // for another process of the same service
		}
	}
	if s.on != "" {
		w.World = servertest.NewOn(t, 2, s.on, build)
	} else {
		w.World = servertest.New(t, 2, build)
	}
	w.relay.Address = w.URL
	w.run(t)
	joined(t, w.relay)
	w.key = w.NewKey(account.Read | account.Prove)
	return w
}

// serve makes the relay.
func (w *world) serve(t *testing.T, s setting, o *servertest.Options, prover string) {
	up, err := upstream.New(upstream.Options{URL: prover, Timeout: s.timeout})
	if err != nil {
		t.Fatal(err)
	}
	opts := s.Options
	if opts.Now == nil {
		opts.Now = o.Now // the same for rows and memory: by two clocks, other processes seem long gone
	}
	w.jobs = job.New(o.Control(), job.Options{Now: opts.Now, Usual: s.budget})
	opts.Jobs, opts.Logger = w.jobs, o.Logger
	if opts.Prover == nil {
		opts.Prover = up
	}
	if w.relay, err = relay.New(opts); err != nil {
		t.Fatal(err)
	}
	o.Relay = &routes.Options{Relay: w.relay, Secret: secretOf(o.Control())}
}

func secretOf(db *control.DB) []byte {
	s := db.ProverSecret()
	return s[:]
}

// run lets the relay work until the test ends, or stop is called.
func (w *world) run(t *testing.T) {
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	work, drain := context.WithCancel(ctx)
	w.stop, w.drain = stop, drain
	go func() {
		defer close(w.ended)
		w.relay.Run(work, ctx)
	}()
	t.Cleanup(func() {
		drain()
		stop()
		<-w.ended
	})
}

// joined waits until a relay takes requests.
func joined(t *testing.T, r *relay.Relay) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); r.Ready() != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the relay takes no requests")
		}
	}
}

// body is a request for a proof; n tells it from others.
func body(n int) string {
	return fmt.Sprintf(`{"block_id":{"block_number":%d},"transaction":{"type":"INVOKE","version":"0x3","sender_address":"0x5e0","calldata":["0x1","0x5e0","0x7","0x4","0xa11ce","%s","0x0"],`+
		`"signature":["0x1","0x2"],"nonce":"0x0","tip":"0x0","resource_bounds":{"l1_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"},"l2_gas":{"max_amount":"0x5f5e100","max_price_per_unit":"0x0"},`+
		`"l1_data_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"}},"paymaster_data":[],"account_deployment_data":[],"nonce_data_availability_mode":"L1","fee_data_availability_mode":"L1"}}`, n, marker)
}

func idem(n int) string { return fmt.Sprintf("idempotency-key-%04d", n) }

func (w *world) request(method, at, key, idempotency, content string) *http.Request {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), method, w.URL+at, bytes.NewReader([]byte(content)))
	if err != nil {
		w.T.Fatal(err)
	}
	req.Header.Set("X-Service-Api-Key", key)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	if idempotency != "" {
		req.Header["Idempotency-Key"] = []string{idempotency}
	}
	return req
}

func (w *world) submit(idempotency, content string) servertest.Reply {
	w.T.Helper()
	return w.Send(w.request(http.MethodPost, path, w.key, idempotency, content))
}

func (w *world) look(id string) servertest.Reply {
	w.T.Helper()
	return w.Send(w.request(http.MethodGet, path+"/"+id, w.key, "", ""))
}

// shown is a job with its result as it was written.
type shown struct {
	routes.ProverJob
	Result json.RawMessage `json:"result"`
}

func jobOf(t *testing.T, r servertest.Reply, status int) (out shown) {
	t.Helper()
	if r.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", r.StatusCode, status, r.Body)
	}
	if err := json.Unmarshal(r.Body, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// settled polls a job until it has ended, by its row, so that nothing is taken.
func (w *world) settled(id string) job.State {
	w.T.Helper()
	return w.reaches(id, job.State.Terminal)
}

func (w *world) reaches(id string, is func(job.State) bool) job.State {
	w.T.Helper()
	last := job.State("none")
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		j, err := w.jobs.Get(w.T.Context(), w.Space.ID, id)
		if err != nil {
			w.T.Fatal(err)
		}
		if last = j.State; is(last) {
			return last
		}
	}
	w.T.Fatalf("job %s stays %s", id, last)
	return ""
}
