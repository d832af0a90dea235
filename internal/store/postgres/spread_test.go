package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/postgres"
)

// onCitus opens a store on the cluster whose commits may die at a step. The second
// value opens it once more, as another process does.
func onCitus(t *testing.T, schema string, dies func(step string) bool) (*postgres.Engine, func() *postgres.Engine) {
	t.Helper()
	o := options(citusDatabase(t))
	o.Schema, o.Citus, o.ShardCount = schema, postgres.CitusOn, 8
	forget(t, o)
	doomed := o
	doomed.Dies = dies
	return mustOpen(t, doomed), func() *postgres.Engine { return mustOpen(t, o) }
}

// prepared counts what is prepared for the schema, on all workers.
func prepared(t *testing.T, conn *pgx.Conn, schema string) (n int) {
	t.Helper()
	err := conn.QueryRow(t.Context(), fmt.Sprintf(`select coalesce(sum(result::int), 0) from run_command_on_all_nodes(
		$$select count(*) from pg_prepared_xacts where gid like 'cx:%s:%%'$$)`, schema)).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func coordinator(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), citusDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) }) //nolint:errcheck // a test's
	return conn
}

// killedAt commits rows of "before", and dies at a step of the commit of those of "after".
// Again is the next process.
func killedAt(t *testing.T, schema, step string, rows int) (again func() *postgres.Engine) {
	t.Helper()
	var armed atomic.Bool
	e, again := onCitus(t, schema, func(at string) bool { return at == step && armed.CompareAndSwap(true, false) })
	epoch := acquire(t, e, "a").Epoch
	if err := e.Commit(t.Context(), fill(epoch, rows, "before")); err != nil {
		t.Fatal(err)
	}
	armed.Store(true)
	if err := e.Commit(t.Context(), fill(epoch, rows, "after")); err == nil {
		t.Fatal("the process did not die")
	}
	return again
}

// TestKilledBetweenPhasesOnCitus: a process dies when all workers have prepared, and
// when the coordinator has decided. The next one finds nothing of the commit, or all
// of it, whether it begins with a view or with a commit; and nothing stays behind.
func TestKilledBetweenPhasesOnCitus(t *testing.T) {
	for _, step := range []string{postgres.StepPrepared, postgres.StepDecided} {
		for _, first := range []string{"view", "commit"} {
			t.Run(step+" "+first, func(t *testing.T) {
				const rows = 300
				schema, conn := "killed_"+step+"_"+first, coordinator(t)
				again := killedAt(t, schema, step, rows)
				if prepared(t, conn, schema) == 0 {
					t.Fatal("nothing is prepared: the test proves nothing")
				}
				next := again()
				want := map[string]string{postgres.StepPrepared: "before", postgres.StepDecided: "after"}[step]
				if first == "view" {
					if got := whole(t, next); got != want {
						t.Errorf("the store holds %q, want %q", got, want)
					}
				}
				epoch := acquire(t, next, "a").Epoch
				// Other rows of the same leaves: what was decided may not be lost.
				b := &store.Batch{Epoch: epoch}
				for i := range uint32(rows) {
					b.Put(store.Key{Table: left, Partition: []byte{byte(i), byte(i >> 8)}, Sort: store.AppendUint32(nil, i+1000)}, []byte("beside"))
				}
				if err := next.Commit(t.Context(), b); err != nil {
					t.Fatal(err)
				}
				if got := census(t, next); got[want] != 2*rows || got["beside"] != rows || len(got) != 2 {
					t.Errorf("the store holds %v, want %d of %q", got, 2*rows, want)
				}
				if n := prepared(t, conn, schema); n != 0 {
					t.Errorf("%d transactions are left prepared", n)
				}
			})
		}
	}
}

// TestCommitUponKilledOnCitus: a commit of the same process, under the same lease,
// meets what one before it left.
func TestCommitUponKilledOnCitus(t *testing.T) {
	for _, step := range []string{postgres.StepPrepared, postgres.StepDecided} {
		t.Run(step, func(t *testing.T) {
			var armed atomic.Bool
			e, _ := onCitus(t, "upon_"+step, func(at string) bool { return at == step && armed.CompareAndSwap(true, false) })
			epoch := acquire(t, e, "a").Epoch
			for i, value := range []string{"0", "1", "2"} {
				armed.Store(i == 1)
				if err := e.Commit(t.Context(), fill(epoch, 50*(i+1), value)); (err != nil) != (i == 1) {
					t.Fatal(i, err)
				}
			}
			if got := whole(t, e); got != "2" {
				t.Errorf("the store holds %q", got)
			}
		})
	}
}

// TestMovesBesideCommitsOnCitus moves shards to and fro while rows are committed. Every row
// that was acknowledged is there in the end.
func TestMovesBesideCommitsOnCitus(t *testing.T) {
	for _, mode := range []string{"block_writes", "force_logical"} {
		t.Run(mode, func(t *testing.T) {
			e, _ := onCitus(t, "moved_"+mode, nil)
			epoch := acquire(t, e, "a").Epoch
			conn := coordinator(t)
			done := make(chan error, 1)
			go func() {
				for i := range 6 {
					if err := moveShard(t.Context(), conn, "moved_"+mode, i, mode); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
			commits, moving := 0, true
			for ; moving || commits < 20; commits++ {
				b := &store.Batch{Epoch: epoch}
				for i := range uint32(60) {
					b.Put(store.Key{Table: left, Partition: []byte{byte(i), 0}, Sort: store.AppendUint32(nil, uint32(commits))}, []byte("row"))
				}
				if err := e.Commit(t.Context(), b); err != nil {
					t.Fatalf("commit %d: %v", commits, err)
				}
				select {
				case err := <-done:
					if err != nil {
						t.Fatal(err)
					}
					moving = false
				default:
				}
			}
			if got := census(t, e)["row"]; got != 60*commits {
				t.Errorf("%d rows after %d commits of 60", got, commits)
			}
		})
	}
}

// moveShard moves the nth shard of the leaves to another worker.
func moveShard(ctx context.Context, conn *pgx.Conn, schema string, n int, mode string) error {
	_, err := conn.Exec(ctx, fmt.Sprintf(`select citus_move_shard_placement(s.shardid, n.nodename, n.nodeport, o.nodename, o.nodeport, '%s')
		from (select shardid, groupid from pg_dist_shard join pg_dist_placement using (shardid)
			where logicalrelid = '%s._leaves'::regclass order by shardid offset %d limit 1) s
		join pg_dist_node n using (groupid) join pg_dist_node o on o.groupid = (select min(groupid) from pg_dist_node where groupid > 0 and groupid <> s.groupid)`, mode, schema, n))
	return err
}

// TestMoveUponKilledOnCitus: a process dies after the decision, and a shard is moved
// before anybody has finished the commit. The move has to wait: it would take the
// rows along that were before.
func TestMoveUponKilledOnCitus(t *testing.T) {
	for _, mode := range []string{"block_writes", "force_logical"} {
		t.Run(mode, func(t *testing.T) {
			const rows = 300
			schema, conn := "stuck_"+mode, coordinator(t)
			again := killedAt(t, schema, postgres.StepDecided, rows)
			moved := make(chan error, 1)
			mover := coordinator(t)
			go func() { moved <- moveShard(t.Context(), mover, schema, 0, mode) }()
			waitFor(t, conn, `select exists (select from run_command_on_all_nodes($$select exists (select from pg_locks where not granted)$$) where result = 't')`)
			select {
			case err := <-moved:
				t.Fatalf("the shard was moved: %v", err)
			default:
			}
			if got := whole(t, again()); got != "after" {
				t.Errorf("before the move the store holds %q", got)
			}
			if err := <-moved; err != nil {
				t.Fatal(err)
			}
			if got := census(t, again()); got["after"] != 2*rows || len(got) != 1 {
				t.Errorf("after the move the store holds %v", got)
			}
		})
	}
}

func waitFor(t *testing.T, conn *pgx.Conn, question string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		var yes bool
		if err := conn.QueryRow(t.Context(), question).Scan(&yes); err != nil {
			t.Fatal(err)
		}
		if yes {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not happen: ", question)
		}
	}
}

// TestBulkPastTheCoordinatorOnCitus: whatever the size of a commit, only a few bytes
// of it go through the coordinator.
func TestBulkPastTheCoordinatorOnCitus(t *testing.T) {
	at, err := url.Parse(citusDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	var sent atomic.Int64
	o := options("")
	to := at.Host
	at.Host = relay(t, to, &sent)
	o.URL, o.Schema, o.Citus = at.String(), "citus_bulk", postgres.CitusOn
	forget(t, o)
	e := mustOpen(t, o)
	epoch := acquire(t, e, "a").Epoch
	commit := func(rows int, value string) int64 {
		before := sent.Load()
		if err := e.Commit(t.Context(), fill(epoch, rows, value)); err != nil {
			t.Fatal(err)
		}
		return sent.Load() - before
	}
	commit(1, "warm")
	for _, rows := range []int{1, 100, 10_000} {
		for _, value := range []string{"new", "changed"} {
			if n := commit(rows, value); n > 16<<10 {
				t.Errorf("a commit of %d rows sent %d bytes through the coordinator", 2*rows, n)
			}
		}
	}
}

// relay passes connections on and counts what is sent.
func relay(t *testing.T, to string, sent *atomic.Int64) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) //nolint:errcheck // a test's
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				client.Close() //nolint:errcheck // a test's
				continue
			}
			go func() {
				io.Copy(client, server) //nolint:errcheck // until either ends
				client.Close()          //nolint:errcheck // a test's
			}()
			go func() {
				io.Copy(server, io.TeeReader(client, counter{sent})) //nolint:errcheck // until either ends
				server.Close()                                       //nolint:errcheck // a test's
			}()
		}
	}()
	return l.Addr().String()
}

type counter struct{ n *atomic.Int64 }

func (c counter) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return len(b), nil
}

// TestTwoHoldersOnCitus: the process that lost its lease dies in the middle or goes
// on; whatever it has begun on the workers is never decided.
func TestTwoHoldersOnCitus(t *testing.T) {
	hold, held := make(chan struct{}), make(chan struct{})
	var armed atomic.Bool
	e, again := onCitus(t, "two_holders", func(at string) bool {
		if armed.Load() && at == postgres.StepPrepared {
			close(held)
			<-hold
		}
		return false
	})
	old := acquire(t, e, "a")
	if err := e.Commit(t.Context(), fill(old.Epoch, 50, "before")); err != nil {
		t.Fatal(err)
	}
	armed.Store(true)
	done := make(chan error, 1)
	go func() { done <- e.Commit(context.Background(), fill(old.Epoch, 50, "late")) }()
	<-held
	next := again()
	if _, err := next.Acquire(t.Context(), store.Writer, "a", time.Hour); err != nil { // the same owner, who may
		t.Fatal(err)
	}
	var epoch uint64
	if l, err := next.Acquire(t.Context(), store.Writer, "a", time.Hour); err != nil {
		t.Fatal(err)
	} else {
		epoch = l.Epoch
	}
	if err := next.Commit(t.Context(), fill(epoch, 60, "next")); err != nil {
		t.Fatal(err)
	}
	armed.Store(false)
	close(hold)
	if err := <-done; err == nil || errors.Is(err, store.ErrInvalid) {
		t.Errorf("the commit of the one before ended with %v", err)
	}
	if got := whole(t, next); got != "next" {
		t.Errorf("the store holds %q", got)
	}
	if n := prepared(t, coordinator(t), "two_holders"); n != 0 {
		t.Errorf("%d transactions are left prepared", n)
	}
}
