package postgres

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/postgres/pgtest"
)

// filled opens a store with rows in many partitions.
func filled(t *testing.T, o Options) *Engine {
	t.Helper()
	e, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		e.Close() //nolint:errcheck // never fails
		if err := Drop(context.Background(), o); err != nil {
			t.Error(err)
		}
	})
	l, err := e.Acquire(t.Context(), store.Writer, "a", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	b := &store.Batch{Epoch: l.Epoch}
	for _, table := range o.Tables {
		for i := range uint32(3000) {
			b.Put(store.Key{Table: table, Partition: []byte{byte(i), byte(i >> 8)}, Sort: store.AppendUint32(nil, i)}, []byte("value"))
		}
	}
	if err := e.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return e
}

// explain returns the plan of a statement as the engine's own connections to a server make it.
func explain(t *testing.T, e *Engine, server int, sql string, args ...any) string {
	t.Helper()
	var plan []string
	err := e.View(t.Context(), func(r store.Reader) error {
		return r.(*reader).on(t.Context(), e.schema.Tables()[0], server, func(conn *pgx.Conn) error {
			rows, err := conn.Query(t.Context(), "explain (costs off) "+sql, append([]any{pgx.QueryExecModeExec}, args...)...)
			if err != nil {
				return err
			}
			plan, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
	})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return strings.Join(plan, "\n")
}

func testOptions(url, schema string) Options {
	return Options{URL: url, Schema: schema, Tables: []*store.Table{{ID: 1, Name: "one", PartitionLen: 2}, {ID: 2, Name: "two", PartitionLen: 2}}}
}

// TestPlans: whatever the statistics say, and there are none yet, every read is
// a range of the primary key in its order, without a sort or a scan of a table.
func TestPlans(t *testing.T) {
	e := filled(t, testOptions(pgtest.Database(t), "plans"))
	holdPlans(t, e)
	list := [][]byte{{1, 1, 0}, {1, 2, 0}}
	rows, err := e.write.Query(t.Context(), "explain (costs off) "+e.sql.remove, pgx.QueryExecModeExec, list, list)
	var plan []string
	if err == nil {
		plan, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil || !strings.Contains(strings.Join(plan, "\n"), "Index Cond: ((p = q.p) AND (k = q.k))") {
		t.Errorf("deletion: %v\n%s", err, strings.Join(plan, "\n"))
	}
}

// holdPlans looks at one shard of every server.
func holdPlans(t *testing.T, e *Engine) {
	t.Helper()
	for _, statistics := range []bool{false, true} {
		if statistics {
			if err := e.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		r := e.ring.Load()
		for server := range r.servers {
			for _, in := range r.shards {
				if in.server == server {
					holdShardPlans(t, e, in, statistics)
					break
				}
			}
		}
	}
}

func holdShardPlans(t *testing.T, e *Engine, in *shard, statistics bool) {
	t.Helper()
	s := in.sql
	p, k, list := []byte{1, 1, 0}, []byte{0}, [][]byte{{1, 1, 0}, {1, 2, 0}}
	cases := map[string]struct {
		sql  string
		args []any
		want string
	}{
		"get":     {s.get, []any{p, k}, "Index Cond: ((p = "},
		"getMany": {s.getMany, []any{list, list}, "Index Cond: ((p = q.p) AND (k <= q.k))"},
		"walk":    {s.walk, []any{p, k, []byte{2}, 10}, "Index Cond: ((ROW(p, k) > ROW("},
		"walkAll": {s.walkFrom, []any{p, k, []byte{2}, 10}, "Index Cond: ((ROW(p, k) >= ROW("},
		"ask":     {s.ask, []any{list, list, []bool{true, false}}, "Index Cond: ((p = q.p) AND (k <= q.k))"},
		"scanOn":  {s.scanOn[1], []any{p, k, 10, []byte{9}}, "Index Cond: ((p = "},
	}
	for _, reverse := range []bool{false, true} {
		for _, bounded := range []bool{false, true} {
			args := []any{p, k, 10}
			want := "Index Cond: ((p = "
			if bounded {
				args = append(args, []byte{9})
			}
			name := fmt.Sprintf("scan reverse %t bounded %t", reverse, bounded)
			cases[name] = struct {
				sql  string
				args []any
				want string
			}{s.scan[b2i(reverse)][b2i(bounded)], args, want}
		}
	}
	for name, c := range cases {
		plan := explain(t, e, in.server, c.sql, c.args...)
		if !strings.Contains(plan, c.want) || !strings.Contains(plan, "_leaves_pkey") {
			t.Errorf("%s (statistics %t): plan lacks %q\n%s", name, statistics, c.want, plan)
		}
		for _, bad := range []string{"Seq Scan", "Sort", "Hash", "Bitmap", "Filter:"} {
			if strings.Contains(strings.ReplaceAll(plan, "One-Time Filter:", ""), bad) { // which spares an index scan
				t.Errorf("%s (statistics %t) has a %s\n%s", name, statistics, bad, plan)
			}
		}
		if strings.HasPrefix(name, "scan ") && strings.Contains(name, "reverse true") != strings.Contains(plan, "Index Scan Backward") {
			t.Errorf("%s goes the wrong way\n%s", name, plan)
		}
	}
}

// TestPlansOnCitus: the workers plan like one server, and the shards of all tables
// lie beside each other.
func TestPlansOnCitus(t *testing.T) {
	url := os.Getenv("TEST_CITUS_URL")
	if url == "" {
		t.Skip("TEST_CITUS_URL is not set")
	}
	o := testOptions(url, "citus_plans")
	o.Citus, o.ShardCount = CitusOn, 8
	if err := Drop(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	e := filled(t, o)
	holdPlans(t, e)
	var groups, shards int
	err := e.read.QueryRow(t.Context(), `select count(distinct colocationid), min(c)::int from (
		select d.colocationid, (select count(*) from pg_dist_shard s where s.logicalrelid = d.logicalrelid) c from pg_dist_partition d
		where d.logicalrelid in ('citus_plans._leaves'::regclass, 'citus_plans._pin'::regclass)) x`).Scan(&groups, &shards)
	if err != nil || groups != 1 || shards != 8 {
		t.Errorf("%d co-location groups, %d shards, %v", groups, shards, err)
	}
}

// TestMovedShardsOnCitus: a view that begins after shards were moved to another
// worker notices, and takes its snapshots where they are now.
func TestMovedShardsOnCitus(t *testing.T) {
	url := os.Getenv("TEST_CITUS_URL")
	if url == "" {
		t.Skip("TEST_CITUS_URL is not set")
	}
	o := testOptions(url, "citus_moved")
	o.Citus, o.ShardCount = CitusOn, 4
	if err := Drop(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	e := filled(t, o)
	before := e.ring.Load()
	count := func() (n int) {
		t.Helper()
		err := e.View(t.Context(), func(r store.Reader) error {
			for _, err := range r.Walk(t.Context(), o.Tables[0], nil) {
				if err != nil {
					return err
				}
				n++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(); n != 3000 {
		t.Fatalf("%d rows", n)
	}
	var workers int
	if err := e.write.QueryRow(t.Context(), `select count(*) from pg_dist_node where shouldhaveshards`).Scan(&workers); err != nil {
		t.Fatal(err)
	}
	if workers < 2 {
		t.Skip("the cluster has one worker: there is nowhere to move shards to")
	}
	// Everything to the first worker.
	_, err := e.write.Exec(t.Context(), `select citus_move_shard_placement(s.shardid, f.nodename, f.nodeport, w.nodename, w.nodeport, 'block_writes')
		from pg_dist_shard s join pg_dist_placement p using (shardid) join pg_dist_node f using (groupid),
		(select * from pg_dist_node where shouldhaveshards order by groupid limit 1) w
		where s.logicalrelid = 'citus_moved._pin'::regclass and f.groupid <> w.groupid`)
	if err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 3000 {
		t.Errorf("%d rows after the move", n)
	}
	if after := e.ring.Load(); after.layout == before.layout {
		t.Error("the move went unnoticed")
	}
}
