package pebble

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// While a chain is being caught up with, commits are large and their rows are sorted
// anyway. They are written as Pebble's own tables, which it takes over in one step:
// past its log, its memtables and their flushes, and, where no older table has rows
// between theirs, right to the bottom level. That step is durable when it returns and
// is there after a crash as a whole or not at all, as a write of the log is.

const (
	// defaultBulkBytes is from where on a commit is worth tables of its own. Each of
	// them is synced, and so is the list of all tables.
	defaultBulkBytes = 4 << 20
	// bulkCuts is how many cuts are worth a table of their own: in a memtable they are
	// put in order anew for the reads that follow.
	bulkCuts = 500
	// ownShare is the part of that which the rows of a table whose keys ascend must have
	// to get one for themselves: it goes to the bottom, where others' rows would keep it
	// from.
	ownShare = 4
)

// bulk is a commit by tables.
type bulk struct {
	e     *engine
	first rows // of the first table, which the mark and cuts go to
	cuts  []span
	paths []string // of the others, which are written
	// settled is the number below which rows of series are with this commit.
	settled uint64
	series  *packed // of a stream, for the first table; nil if there are none
	order   []place // of those
}

// piece is a part of the rows that makes a table.
type piece struct {
	rows
	bottom bool
}

// pieces cuts sorted rows into those of ascending tables and what is between them.
// The first piece may be empty.
func pieces(all rows, ownBytes int) []piece {
	out := []piece{{rows: rows{Changes: all.Changes}}}
	from := 0 // where the last piece begins
	for at := 0; at < len(all.list); {
		t, end, size := all.Table(&all.list[at]), at, 0
		for ; end < len(all.list) && all.list[end].ID == t.ID; end++ {
			size += all.list[end].Size()
		}
		own := t.Ascending && size-(end-at)*t.PartitionLen >= ownBytes
		if own || out[len(out)-1].bottom {
			out, from = append(out, piece{bottom: own}), at
		}
		out[len(out)-1].rows = rows{all.Changes, all.list[from:end:end]}
		at = end
	}
	return out
}

// buildTables writes all tables but the first, beside those of a stream.
func (e *engine) buildTables(all rows, cuts []span, streamed []string, series *packed, settled uint64) (*bulk, error) {
	parts := pieces(all, e.bulkBytes/ownShare)
	if len(cuts) > 0 { // tables of one step must not overlap, and those of cuts reach over all
		parts = []piece{{rows: all}}
	}
	w := &bulk{e: e, first: parts[0].rows, cuts: cuts, paths: streamed, settled: settled, series: series}
	if series != nil {
		w.order = series.inOrder()
	}
	for range parts[1:] {
		w.paths = append(w.paths, e.bulkPath())
	}
	paths := w.paths[len(streamed):]
	err := e.guarded(func() error {
		for i, p := range parts[1:] {
			if err := e.writeTable(paths[i], p.rows, p.bottom, nil, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.drop()
		return nil, fmt.Errorf("write tables to store %s: %w", e.dir, err)
	}
	return w, nil
}

// drop removes what was written. What it fails to remove, or finds when the engine has
// stopped and no change of the disk comes back, goes at the next start.
func (w *bulk) drop() {
	_ = w.e.guarded(func() error {
		for _, path := range w.paths {
			_ = w.e.disk.Remove(path)
		}
		return nil
	})
}

func (w *bulk) apply(m mark) (*lsm.Snapshot, error) {
	e := w.e
	return e.changed(func() error {
		err := e.checkCuts(w.cuts)
		if err == nil {
			path := e.bulkPath()
			w.paths = append(w.paths, path)
			m.settled = max(m.settled, w.settled)
			err = e.writeTable(path, w.first, false, &beginning{m, w.cuts}, &seriesWriter{p: w.series, places: w.order})
		}
		if err == nil {
			err = e.db.Ingest(context.Background(), w.paths)
		}
		if err != nil {
			w.drop()
			return err
		}
		e.settled.Store(m.settled)
		if w.series != nil { // unless the commit failed, when it may still be read
			w.series.giveBack()
		}
		return nil
	})
}

// bulkPrefix begins the names of the files of a commit under way. Once Pebble has
// taken them over they have other names.
const bulkPrefix = "COMMIT-"

func (e *engine) bulkPath() string {
	return e.disk.PathJoin(e.dir, bulkPrefix+strconv.FormatUint(e.bulkFiles.Add(1), 10))
}

// removeBulk removes what a process that ended during a commit left behind. Such a
// file may be another name of a table of the store, which stays.
func (e *engine) removeBulk() error {
	names, err := e.disk.List(e.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, bulkPrefix) {
			continue
		}
		if err := e.disk.Remove(e.disk.PathJoin(e.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// tableWriter writes a table to a file, packed as those of the bottom level if it is
// meant for that.
func (e *engine) tableWriter(f vfs.File, bottom bool) *sstable.Writer {
	level := 0
	if bottom {
		level = len(e.settings.Levels) - 1
	}
	o := e.settings.MakeWriterOptions(level, e.db.TableFormat())
	// There a row that goes would be marked as of no use, and be looked past. Where the
	// table comes to lie is not known before Pebble has it: older rows may be below.
	o.WritingToLowestLevel = false
	return sstable.NewWriter(objstorageprovider.NewFileWritable(f), o)
}

// beginning is what the first table of a commit has in front of its rows.
type beginning struct {
	mark mark
	cuts []span // which end none of the table's own rows
}

func (b *beginning) write(w *sstable.Writer) error {
	if err := w.Set([]byte(commitsKey), b.mark.row()); err != nil {
		return err
	}
	for i := range b.cuts {
		if err := w.DeleteRange(b.cuts[i].from, b.cuts[i].to); err != nil {
			return err
		}
	}
	return nil
}

// writeTable writes rows, behind a beginning if there is one, to a new file and syncs it.
// Rows of series are all in a table with a beginning.
func (e *engine) writeTable(path string, rows rows, bottom bool, begin *beginning, series *seriesWriter) (err error) {
	f, err := e.disk.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	w := e.tableWriter(f, bottom)
	// Closing it writes the end of the table, and syncs and closes the file.
	defer func() { err = errors.Join(err, w.Close()) }()
	written := uint64(0)
	leaves := leafWriter{lengths: &e.leaves, since: e.settled.Load(), set: func(key, value []byte) error {
		written++
		return w.Set(key, value)
	}}
	if begin != nil {
		leaves.settled = begin.mark.settled
		if err := begin.write(w); err != nil {
			return err
		}
	}
	if series == nil {
		series = &seriesWriter{}
	}
	series.leaves = &leaves
	err = rows.each(func(key, value []byte) error {
		if len(series.places) > 0 {
			if err := leaves.flush(); err != nil {
				return err
			}
			if err := series.before(int(key[0])); err != nil {
				return err
			}
		}
		if value == nil {
			return leaves.gone(key, w.Delete)
		}
		return leaves.put(key, value)
	})
	if err != nil {
		return err
	}
	if err := leaves.flush(); err != nil {
		return err
	}
	if err := series.before(math.MaxInt); err != nil {
		return err
	}
	if !bottom { // where nothing is merged into
		e.bulkRows.Add(written)
	}
	return nil
}
