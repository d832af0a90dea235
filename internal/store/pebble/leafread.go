package pebble

import (
	"bytes"
	"context"
	"encoding/binary"

	"chainexplorer/internal/store"
)

// row finds the row of a key with an iterator, whose memory the value is. A fault that the
// iterator came upon is its own to tell.
func (r *reader) row(it *iterator, key []byte) (value []byte, found bool, err error) {
	if !r.engine.inLeaf(key) {
		if !it.SeekPrefixGE(key) || !bytes.Equal(it.Key(), key) {
			return nil, false, nil
		}
		value, err = it.ValueAndErr()
		return value, true, err
	}
	if !it.SeekGE(key) {
		return nil, false, nil
	}
	at := it.Key()
	if alone := bytes.Equal(at, key); !alone && !(r.engine.leaves.isLeaf(at) && bytes.HasPrefix(at, key[:len(key)-store.NumberBytes])) {
		return nil, false, nil
	} else if value, err = it.ValueAndErr(); err != nil || alone {
		return value, true, err
	}
	l := leafPool.Get().(*leaf)
	defer l.giveBack()
	if err := l.read(at, value); err != nil {
		return nil, false, err
	}
	value, found = l.find(binary.BigEndian.Uint64(key[len(key)-store.NumberBytes:]))
	return value, found, nil
}

// eachOfSeries is each for a table that may have leaves.
func (r *reader) eachOfSeries(ctx context.Context, lower, upper []byte, reverse bool, fn func(key, value []byte) bool) (err error) {
	// The leaf that upper divides, if there is one, is the first key from there on.
	divided, bound := r.engine.inLeaf(upper), upper
	if divided {
		bound = store.PrefixEnd(upper[:r.engine.leaves[upper[0]]-1-store.NumberBytes])
	}
	it, err := r.spare.take(ctx, r.view, unfiltered, lower[0], lower, bound)
	if err != nil {
		return err
	}
	w := seriesWalk{r: r, it: it, lower: lower, upper: upper, reverse: reverse, fn: fn}
	defer func() {
		if closeErr := r.spare.give(it); err == nil && !w.stopped {
			err = closeErr
		}
		if w.leaf != nil {
			w.leaf.giveBack()
		}
	}()
	var ok bool
	switch {
	case !reverse:
		ok = it.First()
	case divided && it.SeekGE(upper):
		ok = true
	default:
		ok = it.Last()
	}
	for n := 0; ok; n++ {
		if n%checkEvery == checkEvery-1 {
			if err := r.check(ctx); err != nil {
				return err
			}
		}
		behind, err := w.show()
		if err != nil {
			return err
		}
		switch {
		case w.stopped, behind && !reverse: // there is nothing more below upper
			return nil
		case reverse:
			ok = it.Prev()
		default:
			ok = it.Next()
		}
	}
	return nil
}

// seriesWalk shows the rows of one key after the other.
type seriesWalk struct {
	r            *reader
	it           *iterator
	lower, upper []byte
	reverse      bool
	fn           func(key, value []byte) bool
	leaf         *leaf
	stopped      bool // fn wants no more
}

// show hands the rows of the key at hand to fn that are in bounds. behind says that the
// key is not below upper.
func (w *seriesWalk) show() (behind bool, err error) {
	key := w.it.Key()
	value, err := w.it.ValueAndErr()
	if err != nil {
		return false, err
	}
	behind = bytes.Compare(key, w.upper) >= 0
	if !w.r.engine.leaves.isLeaf(key) {
		w.stopped = !behind && !w.fn(key, value)
		return behind, nil
	}
	if w.leaf == nil {
		w.leaf = leafPool.Get().(*leaf)
	}
	l := w.leaf
	if err := l.read(key, value); err != nil {
		return behind, err
	}
	from, to := 0, len(l.rows)
	for from < to && bytes.Compare(l.keyOf(from), w.lower) < 0 {
		from++
	}
	for behind && from < to && bytes.Compare(l.keyOf(to-1), w.upper) >= 0 {
		to--
	}
	for i := range to - from {
		at := from + i
		if w.reverse {
			at = to - 1 - i
		}
		if !w.fn(l.keyOf(at), l.rows[at].value) {
			w.stopped = true
			break
		}
	}
	return behind, nil
}
