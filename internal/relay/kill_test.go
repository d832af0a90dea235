package relay_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/backoff"
	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/relay"
	"chainexplorer/internal/relay/job"
	"chainexplorer/internal/relay/upstream"
	"chainexplorer/internal/simprover"
	"chainexplorer/internal/store/postgres/pgtest"
)

// The child is a relay in a process of its own, which is killed.
const childEnv = "RELAY_TEST_CHILD"

func TestMain(m *testing.M) {
	if spec := os.Getenv(childEnv); spec != "" {
		if err := child(spec); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(pgtest.Main(m))
}

var usual = job.Budget{Concurrency: 100, PerDay: 100}

func newRelay(at, prover string, now func() time.Time) (*relay.Relay, error) {
	db, err := control.Open(context.Background(), control.Options{Path: at})
	if err != nil {
		return nil, err
	}
	up, err := upstream.New(upstream.Options{URL: prover})
	if err != nil {
		return nil, err
	}
	return relay.New(relay.Options{Jobs: job.New(db, job.Options{Usual: usual, Now: now}), Prover: up, Concurrency: 1, Now: now, Retry: backoff.Policy{Min: 5 * time.Millisecond, Max: 20 * time.Millisecond}})
}

// child submits requests in the order of their answers and works until it is killed.
func child(spec string) error {
	parts := strings.Split(spec, " ")
	r, err := newRelay(parts[0], parts[1], nil)
	if err != nil {
		return err
	}
	go r.Run(context.Background(), context.Background())
	if err := joined(r); err != nil {
		return err
	}
	for n, answer := range parts[3:] {
		j, _, err := r.Submit(context.Background(), submission(parts[2], n, answer))
		if err != nil {
			return err
		}
		fmt.Println(j.ID)
	}
	select {}
}

// joined waits until a relay takes requests.
func joined(r *relay.Relay) error {
	for end := time.Now().Add(time.Minute); r.Ready() != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return errors.New("the relay takes no requests")
		}
	}
	return nil
}

// submission asks for an answer by its nonce, as the simulated prover has it.
func submission(space string, n int, answer string) relay.Submission {
	nonce, err := felt.FromShortString(answer)
	if err != nil {
		panic(err)
	}
	return relay.Submission{WorkspaceID: space, KeyID: "key_1", IdempotencyKey: fmt.Sprintf("idempotency-key-%d", n), Body: fmt.Appendf(nil,
		`{"block_id":{"block_number":%d},"transaction":{"type":"INVOKE","version":"0x3","sender_address":"0x5e0","calldata":["0x1"],"signature":["0x1","0x2"],"nonce":"%s","tip":"0x0",`+
			`"resource_bounds":{"l1_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"},"l2_gas":{"max_amount":"0x5f5e100","max_price_per_unit":"0x0"},"l1_data_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"}},`+
			`"paymaster_data":[],"account_deployment_data":[],"nonce_data_availability_mode":"L1","fee_data_availability_mode":"L1"}}`, n, nonce.String())}
}

// TestKilledAtEveryState: a process is killed with jobs in every state. Whoever comes next
// calls what waited unavailable, what was sent unknown, and what was held gone; and no
// request that may have been delivered is ever sent again.
func TestKilledAtEveryState(t *testing.T) {
	for name, place := range map[string]func() string{
		"file":     func() string { return controltest.File(t) },
		"postgres": func() string { return controltest.Server(t) },
	} {
		t.Run(name, func(t *testing.T) { killed(t, place()) })
	}
}

func killed(t *testing.T, at string) {
	sim := simprover.New(simprover.Options{})
	front := httptest.NewServer(sim)
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	db, err := control.Open(t.Context(), control.Options{Path: at})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // temporary
	space, err := account.NewRepository(db, account.Options{}).CreateWorkspace(t.Context(), "w", account.Free)
	if err != nil {
		t.Fatal(err)
	}
	answers := []simprover.Answer{simprover.Proof, simprover.BadInput, simprover.ResetAfter, simprover.Internal, simprover.Silence, simprover.Proof}
	want := []job.State{job.Succeeded, job.Failed, job.UnknownDelivery, job.Unavailable, job.Dispatched, job.Queued}
	spec := []string{at, front.URL, space.ID}
	for _, a := range answers {
		spec = append(spec, string(a))
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join(spec, " "))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() }) //nolint:errcheck // it is dead
	lines := bufio.NewScanner(out)
	var ids []string
	for range answers {
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), "prv_") {
			t.Fatalf("the child says %q", lines.Text())
		}
		ids = append(ids, lines.Text())
	}
	repo := job.New(db, job.Options{Usual: usual})
	is := func(want []job.State) {
		t.Helper()
		for i, id := range ids {
			var last job.State
			for end := time.Now().Add(time.Minute); last != want[i]; time.Sleep(2 * time.Millisecond) {
				j, err := repo.Get(t.Context(), space.ID, id)
				if err != nil {
					t.Fatal(err)
				}
				if last = j.State; time.Now().After(end) {
					t.Fatalf("job %d is %s, and not %s", i, last, want[i])
				}
			}
		}
	}
	is(want)
	cmd.Process.Kill() //nolint:errcheck // Wait tells
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child was not killed")
	}
	before := len(sim.Heard())

	// On PostgreSQL the next one waits until the lease is over, and until what the other held
	// would have expired, which a clock that is ahead makes now.
	later := func() time.Time { return time.Now().Add(time.Hour) }
	next, err := newRelay(at, front.URL, later)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		next.Run(ctx, ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	if err := joined(next); err != nil {
		t.Fatal(err)
	}
	is([]job.State{job.Succeeded, job.Failed, job.UnknownDelivery, job.Unavailable, job.UnknownDelivery, job.Unavailable})
	for i, id := range ids {
		v, err := next.Poll(t.Context(), space.ID, id, true)
		if err != nil || v.Parcel != nil || v.Elsewhere != nil {
			t.Errorf("job %d: %+v %v", i, v, err)
		}
	}
	// What is sent once more by its client is sent only where nothing was proven.
	for i, a := range answers {
		j, created, err := next.Submit(t.Context(), submission(space.ID, i, string(a)))
		if err != nil || created || j.ID != ids[i] {
			t.Errorf("job %d: %+v %t %v", i, j, created, err)
		}
	}
	is([]job.State{job.Succeeded, job.Failed, job.UnknownDelivery, job.Unavailable, job.UnknownDelivery, job.Succeeded})
	if n := len(sim.Heard()) - before; n != 2 {
		t.Errorf("%d requests were sent again", n)
	}
	v, err := next.Poll(t.Context(), space.ID, ids[5], true)
	if err != nil || v.Parcel == nil || v.Attempts != 1 {
		t.Fatalf("%+v %v", v, err)
	}
	v.Parcel.Done(true)
	if _, err := next.Poll(t.Context(), "other", ids[5], true); !errors.Is(err, job.ErrNotFound) {
		t.Error(err)
	}
}
