package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/store"
)

// statements are the SQL of one table. The driver prepares each on a connection
// when it is first used there.
type statements struct {
	get       string // p, k
	getMany   string // ps, ks: place and value of what is there
	scan      [2][2]string
	walk      string // p, k, limit: rows behind (p, k)
	walkStart string // limit
	upsert    string // ps, ks, vs
	remove    string // ps, ks; under Citus p, k
	copyIn    string
	stageIn   string // table id
	copyOut   string
	table     string
}

// scan is indexed by direction and by whether the range has an end.
func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func newStatements(schema string, t *store.Table, citus bool) *statements {
	name := pgx.Identifier{schema, t.Name}.Sanitize()
	s := &statements{
		table:     name,
		get:       "select v from " + name + " where p = $1 and k = $2",
		getMany:   "select q.i, t.v from unnest($1::bytea[], $2::bytea[]) with ordinality q(p, k, i) join " + name + " t on t.p = q.p and t.k = q.k",
		walk:      "select p, k, v from " + name + " where (p, k) > ($1, $2) order by p, k limit $3",
		walkStart: "select p, k, v from " + name + " order by p, k limit $1",
		upsert: "insert into " + name + " (p, k, v) select * from unnest($1::bytea[], $2::bytea[], $3::bytea[]) " +
			"on conflict (p, k) do update set v = excluded.v",
		remove:  "delete from " + name + " t using unnest($1::bytea[], $2::bytea[]) q(p, k) where t.p = q.p and t.k = q.k",
		copyIn:  "copy " + name + " (p, k, v) from stdin (format binary)",
		stageIn: "insert into " + name + " (p, k, v) select p, k, v from pg_temp._stage where t = $1 on conflict (p, k) do update set v = excluded.v",
		copyOut: "copy (select p, k, v from " + name + " order by p, k) to stdout (format binary)",
	}
	if citus {
		// A join with a function is not one that Citus can send to one shard.
		s.remove = "delete from " + name + " where p = $1 and k = $2"
	}
	for _, reverse := range []bool{false, true} {
		for _, bounded := range []bool{false, true} {
			order, to := "", ""
			if reverse {
				order = " desc"
			}
			if bounded {
				to = " and k < $4"
			}
			s.scan[b2i(reverse)][b2i(bounded)] = fmt.Sprintf("select k, v from %s where p = $1 and k >= $2%s order by k%s limit $3", name, to, order)
		}
	}
	return s
}

// ownStatements are those on the engine's own tables.
//
// _store is one row about the schema. Each name of a lease has two rows: the one
// in _fences is locked by a commit under that lease, to keep it where it is; the
// one in _leases repeats it with the time when it ends, so that a renewal never
// waits for a commit.
type ownStatements struct {
	store, tables, fences, leases, pin string // names

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
	lockViews  string // while a view takes its snapshots
	freeViews  string
	lockCommit string // while a commit becomes visible
}

func newOwnStatements(schema string) ownStatements {
	in := func(table string) string { return pgx.Identifier{schema, table}.Sanitize() }
	s := ownStatements{store: in("_store"), tables: in("_tables"), fences: in("_fences"), leases: in("_leases"), pin: in("_pin")}
	// One statement checks the epoch, locks the lease until the end of the
	// transaction, numbers the commit and announces it. It fails with a division
	// by zero when the lease is not ours, because statements that were sent
	// behind it without waiting must not run then.
	s.fence = `with fenced as (
			update ` + s.fences + ` set commits = commits + $2 where name = $4 and held and epoch = $1 returning commits)
		select coalesce(max(commits), 0) / count(*),
			case when $2 > 0 then pg_notify($3, rtrim(max(commits)::text || ' ' || $4)) end from fenced`
	s.commits = `select name, commits from ` + s.fences
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
	s.lockViews, s.freeViews, s.lockCommit = `select pg_advisory_lock_shared`+lock, `select pg_advisory_unlock_shared`+lock, `select pg_advisory_xact_lock`+lock
	s.layout = `select md5(string_agg(s.shardid || ':' || p.groupid, ',' order by s.shardid, p.groupid)) from pg_dist_shard s
		join pg_dist_placement p using (shardid) where s.logicalrelid = '` + s.pin + `'::regclass`
	return s
}
