package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5"
)

// statements are the SQL of the leaves in one table, which may be a shard. The driver
// prepares each on a connection when it is first used there.
type statements struct {
	table    string
	get      string       // p, k: the leaf that k is in, if it is there
	getMany  string       // ps, ks: place and leaf
	scan     [2][2]string // p, from, limit and, with an end, to
	scanOn   [2]string    // the same forward, behind the leaf of a key
	walk     string       // p, k, end, limit: leaves behind (p, k)
	walkFrom string       // the same from (p, k) on
	ask      string       // ps, ks, more: see setAsk

	copyTable string // COPY of one table to us; %s and %s are the bounds of its partitions

	insert string // ps, ks, ns, vs
	update string // ps, ks, ns, vs
	remove string // ps, ks
	copyIn string
}

// scan is indexed by direction and by whether the range has an end.
func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func newStatements(name string) *statements {
	const in = "select k, n, v from %s where p = %s and k <= %s order by k desc limit 1"
	leafOf := func(p, k string) string { return fmt.Sprintf(in, name, p, k) }
	s := &statements{
		table: name,
		get:   leafOf("$1", "$2"),
		getMany: "select q.i, l.k, l.n, l.v from unnest($1::bytea[], $2::bytea[]) with ordinality q(p, k, i) cross join lateral (" +
			leafOf("q.p", "q.k") + ") l",
		walk:      "select p, k, n, v from " + name + " where (p, k) > ($1, $2) and p < $3 order by p, k limit $4",
		walkFrom:  "select p, k, n, v from " + name + " where (p, k) >= ($1, $2) and p < $3 order by p, k limit $4",
		copyTable: "copy (select p, k, n, v from " + name + " where p >= '%s' and p < '%s' order by p, k) to stdout (format binary)",
	}
	s.setAsk()
	s.setChanges()
	for _, reverse := range []bool{false, true} {
		for _, bounded := range []bool{false, true} {
			order, to := "", ""
			if reverse {
				order = " desc"
			}
			if bounded {
				to = " and k < $4"
			}
			// From the leaf on in which $2 would be.
			s.scan[b2i(reverse)][b2i(bounded)] = fmt.Sprintf("select k, n, v from %s where p = $1 and k >= coalesce((select l.k from %s l "+
				"where l.p = $1 and l.k <= $2 order by l.k desc limit 1), $2)%s order by k%s limit $3", name, name, to, order)
			if !reverse {
				s.scanOn[b2i(bounded)] = fmt.Sprintf("select k, n, v from %s where p = $1 and k > $2%s order by k limit $3", name, to)
			}
		}
	}
	return s
}

// setAsk makes the question of a commit. A key belongs into the last leaf that begins
// at or before it, or into the first one of its partition; with more, the answer
// says where the leaf behind that one begins.
func (s *statements) setAsk() {
	// The second is asked when the first finds nothing, or would be in vain.
	s.ask = fmt.Sprintf("select q.i, l.k, l.n, l.v, case when q.more then (select b.k from %[1]s b where b.p = q.p and b.k > l.k order by b.k limit 1) end "+
		"from unnest($1::bytea[], $2::bytea[], $3::bool[]) with ordinality q(p, k, more, i) cross join lateral ("+
		"(select l.k, l.n, l.v from %[1]s l where l.p = q.p and l.k <= q.k and q.k <> '' order by l.k desc limit 1) union all "+
		"(select l.k, l.n, l.v from %[1]s l where l.p = q.p and l.k >= q.k order by l.k limit 1) limit 1) l", s.table)
}

// setChanges makes what a commit needs to write.
func (s *statements) setChanges() {
	s.insert = "insert into " + s.table + " (p, k, n, v) select * from unnest($1::bytea[], $2::bytea[], $3::int2[], $4::bytea[])"
	s.copyIn = "copy " + s.table + " (p, k, n, v) from stdin (format binary)"
	s.update = "update " + s.table + " t set n = q.n, v = q.v from unnest($1::bytea[], $2::bytea[], $3::int2[], $4::bytea[]) q(p, k, n, v) " +
		"where t.p = q.p and t.k = q.k"
	s.remove = "delete from " + s.table + " t using unnest($1::bytea[], $2::bytea[]) q(p, k) where t.p = q.p and t.k = q.k"
}

// ownStatements are those on the engine's own tables.
//
// _store is one row about the schema. Each name of a lease has two rows: the one
// in _fences is locked by a commit under that lease, to keep it where it is; the
// one in _leases repeats it with the time when it ends, so that a renewal never
// waits for a commit.
type ownStatements struct {
	store, tables, fences, leases, pin, leaves string // names

	fence      string // epoch, step, channel, name
	commits    string // of every name
	leaseNow   string // clock, name
	lockFence  string // name
	lockLease  string // clock, name
	grantFence string // epoch, name
	grantLease string // epoch, owner, expires, name
	renew      string // epoch, owner, clock, ttl, name
	freeFence  string // epoch, name
	freeLease  string // epoch, owner, name
	endOthers  string // application name
	lockSchema string // until the end of the transaction
	addFence   string // name
	addLease   string // name

	// Under Citus.
	layout     string // of the shards
	state      string // how many commits there were, and the layout
	lockViews  string // while a view takes its snapshots
	lockCommit string // while a commit becomes visible, until the end of the transaction
	lockEnd    string // the same until freeEnd
	freeEnd    string
}

func newOwnStatements(schema string) ownStatements {
	in := func(table string) string { return pgx.Identifier{schema, table}.Sanitize() }
	s := ownStatements{store: in("_store"), tables: in("_tables"), fences: in("_fences"), leases: in("_leases"), pin: in("_pin"), leaves: in("_leaves")}
	// One statement checks the epoch, locks the lease until the end of the
	// transaction, numbers the commit and announces it. It fails with a division
	// by zero when the lease is not ours, because statements that were sent
	// behind it without waiting must not run then.
	s.fence = `with fenced as (
			update ` + s.fences + ` set commits = commits + $2 where name = $4 and held and epoch = $1 returning commits)
		select coalesce(max(commits), 0) / count(*),
			case when $2 > 0 then pg_notify($3, rtrim(max(commits)::text || ' ' || $4)) end from fenced`
	s.commits = `select name, commits, pg_postmaster_start_time()::text from ` + s.fences
	// Times are nanoseconds since 1970, by the database's clock unless a test has another.
	const now = `coalesce(%s::bigint, (extract(epoch from clock_timestamp()) * 1000000)::bigint * 1000)`
	s.leaseNow = `select held, epoch, owner, expires, ` + fmt.Sprintf(now, "$1") + ` from ` + s.leases + ` where name = $2`
	s.lockFence = `select epoch from ` + s.fences + ` where name = $1 for update`
	s.lockLease = s.leaseNow + ` for update`
	s.grantFence = `update ` + s.fences + ` set held = true, epoch = $1 where name = $2`
	s.grantLease = `update ` + s.leases + ` set held = true, epoch = $1, owner = $2, expires = $3 where name = $4`
	s.renew = `update ` + s.leases + ` set expires = ` + fmt.Sprintf(now, "$3") + ` + $4
		where name = $5 and held and epoch = $1 and owner = $2 returning expires`
	s.freeFence = `update ` + s.fences + ` set held = false where name = $2 and held and epoch = $1`
	s.freeLease = `update ` + s.leases + ` set held = false where name = $3 and held and epoch = $1 and owner = $2`
	s.lockSchema = `select pg_advisory_xact_lock(hashtextextended('` + program + ` ` + schema + `', 0))`
	s.addFence = `insert into ` + s.fences + ` (name, held, epoch, commits) values ($1, false, 0, 0) on conflict do nothing`
	s.addLease = `insert into ` + s.leases + ` (name, held, epoch, owner, expires) values ($1, false, 0, '', 0) on conflict do nothing`
	s.endOthers = `select count(pg_terminate_backend(pid)) from pg_stat_activity
		where application_name = $1 and datname = current_database() and usename = current_user and pid <> pg_backend_pid()`
	lock := `(hashtextextended('` + program + ` views of ` + schema + `', 0))`
	s.lockViews, s.lockCommit = `select pg_advisory_xact_lock_shared`+lock, `select pg_advisory_xact_lock`+lock
	s.lockEnd, s.freeEnd = `select pg_advisory_lock`+lock, `select pg_advisory_unlock`+lock
	s.layout = `select string_agg(concat_ws(':', s.shardid, n.groupid, n.nodename, n.nodeport), ',' order by s.shardid, n.groupid)
		from pg_dist_shard s join pg_dist_placement p using (shardid) join pg_dist_node n using (groupid)
		where s.logicalrelid = '` + s.leaves + `'::regclass and n.noderole = 'primary' and p.shardstate = 1`
	s.state = `select (select sum(commits)::text from ` + s.fences + `), (` + s.layout + `)`
	return s
}
