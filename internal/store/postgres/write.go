package postgres

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/store"
)

// spot is a leaf and the changes that belong into it.
type spot struct {
	partition []byte
	old       *leaf // nil: the partition has none
	ops       []*store.Op
}

// search is a partition for whose changes leaves are being looked for.
type search struct {
	*span
	pending []*store.Op
	found   []*spot
	asked   bool // once at least
}

// question asks for the leaf of one key.
type question struct {
	search *search
	op     *store.Op
}

// answer is a leaf and where the next one begins.
type answer struct {
	question question
	leaf     leaf
	behind   []byte // nil: there is no other, or nobody asked
}

// asker sends questions and takes the answers.
type asker func(questions []question, answers *[]answer) error

// find asks for the leaves that changes belong into. One key of a partition is
// asked for, and where the next leaf begins: in most partitions that settles all.
// Where it does not, more are in the next round, each time so many times as many.
func find(spans []*span, growth int, ask asker) ([]*spot, error) {
	searches := make([]*search, len(spans))
	for i, s := range spans {
		searches[i] = &search{span: s, pending: s.ops}
	}
	var open []*search
	for round, most := 0, 1; ; round, most = round+1, most*growth {
		open = open[:0]
		var questions []question
		for _, s := range searches {
			if len(s.pending) > 0 {
				open = append(open, s)
				questions = s.questions(questions, most)
			}
		}
		if len(open) == 0 {
			break
		}
		answers := make([]answer, 0, len(questions))
		if err := ask(questions, &answers); err != nil {
			return nil, err
		}
		for i := range answers {
			answers[i].settle()
		}
		for _, s := range open {
			s.empty()
		}
		if round > 32 {
			return nil, fmt.Errorf("%w: a partition's leaves cannot be found", errLeaf)
		}
	}
	var spots []*spot
	for _, s := range searches {
		spots = append(spots, s.found...)
	}
	return spots, nil
}

// questions adds up to most keys, evenly spaced.
func (s *search) questions(list []question, most int) []question {
	n := min(most, len(s.pending))
	for i := range n {
		list = append(list, question{s, s.pending[i*len(s.pending)/n]})
	}
	return list
}

// settle gives the leaf all changes that belong into it.
func (a *answer) settle() {
	s := a.question.search
	s.asked = true
	at := func(key []byte) int {
		i, _ := slices.BinarySearchFunc(s.pending, key, func(op *store.Op, key []byte) int { return bytes.Compare(op.Sort, key) })
		return i
	}
	from, to := 0, len(s.pending)
	// A leaf that begins behind the key is the first of all.
	if bytes.Compare(a.leaf.first, a.question.op.Sort) <= 0 {
		from = at(a.leaf.first)
	}
	if a.behind != nil {
		to = at(a.behind)
	}
	if from >= to {
		return // an answer before had them
	}
	old := a.leaf
	s.found = append(s.found, &spot{partition: s.partition, old: &old, ops: s.pending[from:to:to]})
	s.pending = slices.Concat(s.pending[:from], s.pending[to:])
}

// empty takes the changes of a partition that has no leaf.
func (s *search) empty() {
	if !s.asked {
		s.found, s.pending = append(s.found, &spot{partition: s.partition, ops: s.pending}), nil
	}
}

// queueAsk asks one table.
func (s *statements) queueAsk(batch *pgx.Batch, questions []question, answers *[]answer) {
	for asked := range slices.Chunk(questions, askKeys) {
		ps, ks, more := make([][]byte, len(asked)), make([][]byte, len(asked)), make([]bool, len(asked))
		for i, q := range asked {
			ps[i], ks[i], more[i] = q.search.partition, solid(q.op.Sort), len(q.search.pending) > 1
		}
		batch.Queue(s.ask, ps, ks, more).Query(take(asked, answers))
	}
}

// take reads answers.
func take(asked []question, answers *[]answer) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		for rows.Next() {
			raw := rows.RawValues()
			q := asked[binary.BigEndian.Uint64(raw[0])-1]
			*answers = append(*answers, answer{question: q, behind: bytes.Clone(raw[4]), leaf: leaf{
				partition: q.search.partition, first: bytes.Clone(raw[1]), rows: int(binary.BigEndian.Uint16(raw[2])), value: bytes.Clone(raw[3])}})
		}
		return rows.Err()
	}
}

// writes are the leaves that a commit changes.
type writes struct {
	removed, updated, added []leaf
}

// change applies the changes to their leaves.
func change(spots []*spot) (*writes, error) {
	w := &writes{}
	for _, s := range spots {
		var old []pair
		if s.old != nil {
			var err error
			if old, err = s.old.pairs(); err != nil {
				return nil, fmt.Errorf("table %d, partition %x: %w", s.partition[0], s.partition[1:], err)
			}
		}
		rows, atEnd := merge(old, s.ops)
		leaves := cut(s.partition, rows, atEnd)
		kept := s.old == nil
		for _, l := range leaves {
			switch {
			case kept || !bytes.Equal(l.first, s.old.first):
				w.added = append(w.added, l)
			default:
				kept = true
				if l.rows != s.old.rows || !bytes.Equal(l.value, s.old.value) {
					w.updated = append(w.updated, l)
				}
			}
		}
		if !kept {
			w.removed = append(w.removed, *s.old)
		}
	}
	return w, nil
}

// write sends the changed leaves and commits.
func (t *transaction) write(w *writes) error {
	e := t.engine
	batch := &pgx.Batch{}
	for part := range parts(w.removed) {
		ps, ks, _, _ := columns(part)
		batch.Queue(e.sql.remove, ps, ks)
	}
	for part := range parts(w.updated) {
		ps, ks, ns, vs := columns(part)
		batch.Queue(e.sql.update, ps, ks, ns, vs)
	}
	if len(w.added) < copyLeaves {
		for part := range parts(w.added) {
			ps, ks, ns, vs := columns(part)
			batch.Queue(e.sql.insert, ps, ks, ns, vs)
		}
	} else {
		if batch.Len() > 0 {
			if err := t.conn.SendBatch(t.ctx, batch).Close(); err != nil {
				return err
			}
			batch = &pgx.Batch{}
		}
		if _, err := t.conn.Conn().PgConn().CopyFrom(t.ctx, &copyStream{leaves: w.added}, e.sql.copyIn); err != nil {
			return fmt.Errorf("copy leaves: %w", err)
		}
	}
	batch.Queue("commit")
	return t.conn.SendBatch(t.ctx, batch).Close()
}

func columns(leaves []leaf) (ps, ks [][]byte, ns []int16, vs [][]byte) {
	all := make([][]byte, 3*len(leaves))
	ps, ks, vs = all[:len(leaves)], all[len(leaves):2*len(leaves)], all[2*len(leaves):]
	ns = make([]int16, len(leaves))
	for i, l := range leaves {
		ps[i], ks[i], ns[i], vs[i] = l.partition, solid(l.first), int16(l.rows), solid(l.value)
	}
	return ps, ks, ns, vs
}

// parts cuts a list so that the arrays of each part stay below arrayBytes, unless
// one leaf alone is larger.
func parts(leaves []leaf) func(func([]leaf) bool) {
	return func(yield func([]leaf) bool) {
		start, size := 0, 0
		for i := range leaves {
			n := len(leaves[i].partition) + len(leaves[i].first) + len(leaves[i].value)
			if i > start && size+n > arrayBytes {
				if !yield(leaves[start:i]) {
					return
				}
				start, size = i, 0
			}
			size += n
		}
		if start < len(leaves) {
			yield(leaves[start:])
		}
	}
}
