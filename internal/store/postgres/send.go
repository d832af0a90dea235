package postgres

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// The numbers that the server has for types.
const (
	oidBytea = 17
	oidInt2  = 21
)

// sendBytes is how much of a message is made before it is sent.
const sendBytes = 4 << 20

// changeOf is a statement with the leaves that it changes.
type changeOf struct {
	name   string // of the prepared statement
	leaves []leaf
	values bool // it takes more than their keys
}

// write sends the changed leaves of all shards and prepares the transaction, in one
// message, which the worker works at while it is being made.
func (p *part) write(w *writes) error {
	list, err := p.changes(w)
	if err != nil {
		return err
	}
	pipe := p.conn.Conn().PgConn().StartPipeline(p.ctx)
	size, binary := 0, []int16{1, 1, 1, 1}
	for _, c := range list {
		args := c.arguments()
		pipe.SendQueryPrepared(c.name, args, binary[:len(args)], nil)
		for _, arg := range args {
			size += len(arg)
		}
		if size < sendBytes {
			continue
		}
		size = 0
		if err := pipe.Flush(); err != nil {
			return errors.Join(err, pipe.Close())
		}
	}
	pipe.SendQueryParams("prepare transaction '"+p.gid()+"'", nil, nil, nil, nil)
	p.sent = true
	err = pipe.Sync()
	for i := 0; err == nil && i <= len(list); i++ {
		var result any
		if result, err = pipe.GetResults(); err != nil {
			break
		}
		r, ok := result.(*pgconn.ResultReader)
		if !ok {
			err = fmt.Errorf("a worker answers a change with %T", result)
			break
		}
		var tag pgconn.CommandTag
		tag, err = r.Close()
		switch {
		case err != nil:
		case i == len(list) && tag.String() != "PREPARE TRANSACTION":
			err = fmt.Errorf("a worker prepares with %s", tag)
		case i < len(list) && tag.RowsAffected() != int64(len(list[i].leaves)):
			err = fmt.Errorf("%w: %d of %d leaves were changed", errLeaf, tag.RowsAffected(), len(list[i].leaves))
		}
	}
	return errors.Join(err, pipe.Close())
}

// changes are what has to be sent, in the order of the shards. Statements are
// prepared when they are first used on a connection.
func (p *part) changes(w *writes) (list []changeOf, err error) {
	type kinds struct{ removed, updated, added []leaf }
	byShard := map[int64]*kinds{}
	shards := map[int64]*shard{}
	of := func(l *leaf) *kinds {
		in := p.ring.shardOf(l.partition)
		if byShard[in.id] == nil {
			byShard[in.id], shards[in.id] = &kinds{}, in
		}
		return byShard[in.id]
	}
	for i := range w.removed {
		k := of(&w.removed[i])
		k.removed = append(k.removed, w.removed[i])
	}
	for i := range w.updated {
		k := of(&w.updated[i])
		k.updated = append(k.updated, w.updated[i])
	}
	for i := range w.added {
		k := of(&w.added[i])
		k.added = append(k.added, w.added[i])
	}
	add := func(sql string, leaves []leaf, values bool) {
		if err != nil || len(leaves) == 0 {
			return
		}
		prepared, failed := p.conn.Conn().Prepare(p.ctx, sql, sql)
		if err = failed; err != nil {
			return
		}
		for some := range parts(leaves) {
			list = append(list, changeOf{name: prepared.Name, leaves: some, values: values})
		}
	}
	for _, id := range p.ids {
		if k := byShard[id]; k != nil {
			sql := shards[id].sql
			add(sql.remove, k.removed, false)
			add(sql.update, k.updated, true)
			add(sql.insert, k.added, true)
		}
	}
	return list, err
}

// arguments are the leaves as arrays, in the server's binary form.
func (c *changeOf) arguments() [][]byte {
	keys := func(of func(*leaf) []byte) []byte {
		size := 20
		for i := range c.leaves {
			size += 4 + len(of(&c.leaves[i]))
		}
		b := arrayHead(make([]byte, 0, size), oidBytea, len(c.leaves))
		for i := range c.leaves {
			value := of(&c.leaves[i])
			b = binary.BigEndian.AppendUint32(b, uint32(len(value)))
			b = append(b, value...)
		}
		return b
	}
	args := [][]byte{keys(func(l *leaf) []byte { return l.partition }), keys(func(l *leaf) []byte { return l.first })}
	if !c.values {
		return args
	}
	rows := arrayHead(make([]byte, 0, 20+6*len(c.leaves)), oidInt2, len(c.leaves))
	for i := range c.leaves {
		rows = binary.BigEndian.AppendUint32(rows, 2)
		rows = binary.BigEndian.AppendUint16(rows, uint16(c.leaves[i].rows))
	}
	return append(args, rows, keys(func(l *leaf) []byte { return l.value }))
}

// arrayHead begins an array of one dimension without nulls.
func arrayHead(b []byte, oid uint32, n int) []byte {
	for _, word := range []uint32{1, 0, oid, uint32(n), 1} {
		b = binary.BigEndian.AppendUint32(b, word)
	}
	return b
}
