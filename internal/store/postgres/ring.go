package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ring says where the leaves of a partition are. Without Citus that is one table on
// one server. With it each shard is a table of its own on a worker, and leaves are
// read there, past the coordinator.
type ring struct {
	layout  string // what the coordinator says of it, to notice a change
	servers []*server
	shards  []*shard // by the hash
}

// shard is one SQL table of leaves.
type shard struct {
	id     int64
	from   int32 // the first hash
	server int   // its place in the ring
	sql    *statements
}

// server is where shards are.
type server struct {
	*endpoint
	unsettled string // what is prepared there
	check     string // shards: how many of them are there, and what is prepared
}

// endpoint are the connections to a server.
type endpoint struct {
	name        string // host and port
	read, write *pgxpool.Pool
}

// shardOf is where a partition lies.
func (r *ring) shardOf(partition []byte) *shard {
	if len(r.shards) == 1 {
		return r.shards[0]
	}
	hash := int32(hashBytes(partition))
	i, found := slices.BinarySearchFunc(r.shards, hash, func(s *shard, hash int32) int {
		switch {
		case s.from < hash:
			return -1
		case s.from > hash:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	return r.shards[i]
}

// oneServer is the ring without Citus.
func (e *Engine) oneServer() *ring {
	return &ring{servers: []*server{{endpoint: &endpoint{read: e.read}}}, shards: []*shard{{sql: e.sql}}}
}

// arrange finds out where the shards are.
func (e *Engine) arrange(ctx context.Context) error {
	e.arranging.Lock()
	defer e.arranging.Unlock()
	found := &ring{}
	err := pgx.BeginTxFunc(ctx, e.write, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, e.own.layout).Scan(&found.layout); err != nil {
			return err
		}
		if known := e.ring.Load(); known != nil && known.layout == found.layout {
			found = known
			return nil
		}
		if err := e.findShards(ctx, tx, found); err != nil {
			return err
		}
		return found.try(ctx, tx, e.own.leaves)
	})
	if err != nil {
		return fmt.Errorf("find the shards: %w", err)
	}
	e.ring.Store(found)
	return nil
}

// findShards reads which shard is on which worker.
func (e *Engine) findShards(ctx context.Context, tx pgx.Tx, r *ring) error {
	rows, err := tx.Query(ctx, `select distinct on (s.shardminvalue::int) s.shardid, s.shardminvalue::int, n.groupid, n.nodename, n.nodeport,
			count(*) over (partition by s.shardid), n.groupid = 0 or n.hasmetadata
		from pg_dist_shard s join pg_dist_placement p using (shardid) join pg_dist_node n using (groupid)
		where s.logicalrelid = $1::regclass and n.noderole = 'primary' and p.shardstate = 1 order by s.shardminvalue::int, n.groupid`, e.own.leaves)
	if err != nil {
		return err
	}
	places := map[string]int{}
	var tables [][]string // by server, as literals
	var id int64
	var from int32
	var group, port int
	var host string
	var copies int
	var knows bool
	_, err = pgx.ForEachRow(rows, []any{&id, &from, &group, &host, &port, &copies, &knows}, func() error {
		switch { // who writes past the coordinator
		case copies > 1 && !e.o.ReadOnly:
			return fmt.Errorf("shard %d is kept %d times, and only one copy can be written to", id, copies)
		case !knows && !e.o.ReadOnly:
			return fmt.Errorf("worker %s:%d does not know which shards it has: select start_metadata_sync_to_node('%s', %d)", host, port, host, port)
		}
		table := pgx.Identifier{e.o.Schema, "_leaves_" + strconv.FormatInt(id, 10)}.Sanitize()
		name := net.JoinHostPort(host, strconv.Itoa(port))
		if group == 0 {
			name = "" // the coordinator itself, whose address we were given
		}
		at, known := places[name]
		if !known {
			at = len(r.servers)
			places[name] = at
			to, err := e.endpointOf(name, host, uint16(port))
			if err != nil {
				return err
			}
			r.servers, tables = append(r.servers, &server{endpoint: to}), append(tables, nil)
		}
		tables[at] = append(tables[at], "'"+table+"'::regclass")
		r.shards = append(r.shards, &shard{id: id, from: from, server: at, sql: newStatements(table)})
		return nil
	})
	if err != nil {
		return err
	}
	if len(r.shards) == 0 || r.shards[0].from != -1<<31 {
		return errors.New("some have no place")
	}
	for i, s := range r.servers {
		s.unsettled = unsettledSQL(e.o.Schema, tables[i])
		s.check = checkShards(s.unsettled)
	}
	return nil
}

// try holds our hash against Citus', of which it is a copy: a server that hashes
// otherwise would have rows looked for where they are not.
func (r *ring) try(ctx context.Context, tx pgx.Tx, table string) error {
	var samples [][]byte
	for n := range 26 {
		sample := make([]byte, n)
		for i := range sample {
			sample[i] = byte(251*i + 31*n)
		}
		samples = append(samples, sample)
	}
	rows, err := tx.Query(ctx, `select get_shard_id_for_distribution_column($1::regclass, p) from unnest($2::bytea[]) with ordinality q(p, i) order by i`, table, samples)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	for i, id := range ids {
		if ours := r.shardOf(samples[i]).id; ours != id {
			return fmt.Errorf("partition %x is in shard %d and was looked for in %d", samples[i], id, ours)
		}
	}
	return nil
}

// hashBytes is the server's hash of a bytea: Jenkins' lookup3 with another beginning.
func hashBytes(key []byte) uint32 {
	word := func(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24 }
	rot := func(x uint32, k int) uint32 { return x<<k | x>>(32-k) }
	a := 0x9e3779b9 + uint32(len(key)) + 3923095
	b, c := a, a
	for ; len(key) >= 12; key = key[12:] {
		a, b, c = a+word(key), b+word(key[4:]), c+word(key[8:])
		a = (a - c) ^ rot(c, 4)
		c += b
		b = (b - a) ^ rot(a, 6)
		a += c
		c = (c - b) ^ rot(b, 8)
		b += a
		a = (a - c) ^ rot(c, 16)
		c += b
		b = (b - a) ^ rot(a, 19)
		a += c
		c = (c - b) ^ rot(b, 4)
		b += a
	}
	// The lowest byte of c is kept for the length.
	var rest [12]byte
	copy(rest[:8], key)
	if len(key) > 8 {
		copy(rest[9:], key[8:])
	}
	a, b, c = a+word(rest[:]), b+word(rest[4:]), c+word(rest[8:])
	c = (c ^ b) - rot(b, 14)
	a = (a ^ c) - rot(c, 11)
	b = (b ^ a) - rot(a, 25)
	c = (c ^ b) - rot(b, 16)
	a = (a ^ c) - rot(c, 4)
	b = (b ^ a) - rot(a, 14)
	return (c ^ b) - rot(b, 24)
}
