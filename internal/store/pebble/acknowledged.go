package pebble

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/store"
)

// Pebble takes a log that ends early as one that was cut by a crash. Damage can
// cut it, too: then commits are gone that were acknowledged, and what is left is a
// sound store. So every commit has a number, which the store holds with it:
//
//	key    00 'c' 'o' 'm' 'm' 'i' 't' 's'
//	value  number (8) | height (8), and settled (8) where there is something: see leaf.go
//
// and which is noted in a file beside it before the commit is acknowledged. A store
// whose number is below the file's has lost commits. The number rises with every
// commit, where heights fall with forks.
//
// The file has two places, which are written in turn, so that a write that is cut
// leaves the one before: number (8) | height (8) | CRC-32 (4), at 0 and at 512, and behind
// it what is known of the manifest: see manifest.go.
const (
	commitsKey       = "\x00commits"
	acknowledgedFile = "ACKNOWLEDGED"
	lostFile         = "LOST"
	placeBytes       = 20
	placeDistance    = 512
)

// mark is the number of a commit, and the height that the store had with it and the number
// below which rows were settled.
type mark struct{ number, height, settled uint64 }

const (
	markBytes        = 16
	settledMarkBytes = 24
)

// encode is what is noted in the file.
func (m mark) encode() []byte {
	return store.AppendUint64(store.AppendUint64(make([]byte, 0, settledMarkBytes), m.number), m.height)
}

// row is what the store holds. Programs that know no leaves do not open a store with its
// longer form.
func (m mark) row() []byte {
	if m.settled == 0 {
		return m.encode()
	}
	return store.AppendUint64(m.encode(), m.settled)
}

func decodeMark(b []byte) (m mark, ok bool) {
	if len(b) != markBytes && len(b) != settledMarkBytes {
		return m, false
	}
	m.number, b, _ = store.Uint64(b)
	m.height, b, _ = store.Uint64(b)
	if len(b) > 0 {
		m.settled, _, _ = store.Uint64(b)
	}
	return m, true
}

// Loss tells of commits that had been acknowledged and are not in the store.
type Loss struct {
	Acknowledged uint64 `json:"acknowledged"`   // the height that was acknowledged
	Found        uint64 `json:"found"`          // the height that was found instead
	None         bool   `json:"none,omitempty"` // there was none
}

func (l Loss) String() string {
	ended := fmt.Sprintf("ended at block %d", l.Found)
	if l.None {
		ended = "had no block"
	}
	return fmt.Sprintf("commits up to block %d had been acknowledged, and the store %s when it was opened: a part of its log is lost", l.Acknowledged, ended)
}

// Lost tells what was lost, until the store has reached the height again.
func (e *engine) Lost() (Loss, bool) {
	if l := e.lost.Load(); l != nil {
		return *l, true
	}
	return Loss{}, false
}

// recall finds out whether commits were lost since the store was open last.
func (e *engine) recall() error {
	value, closer, err := e.db.Get([]byte(commitsKey))
	switch {
	case err == nil:
		var ok bool
		e.last, ok = decodeMark(value)
		if err := closer.Close(); err != nil || !ok {
			return errors.Join(errors.New("the number of the last commit cannot be read"), err)
		}
		e.settled.Store(e.last.settled)
	case !errors.Is(err, lsm.ErrNotFound):
		return fmt.Errorf("read the number of the last commit: %w", err)
	}
	told, _, err := e.readAcknowledged()
	if err != nil {
		return err
	}
	loss, err := e.readLoss()
	if err != nil {
		return err
	}
	if told.number > e.last.number {
		now := Loss{Acknowledged: told.height, Found: e.last.height}
		if now.None, err = e.withoutHeight(); err != nil {
			return err
		}
		if loss == nil || now.Acknowledged > loss.Acknowledged {
			loss = &now
		}
	}
	// Numbers that were acknowledged are not used again.
	e.last.number = max(e.last.number, told.number)
	if loss == nil {
		return nil
	}
	e.lost.Store(loss)
	e.log.Error("acknowledged commits are missing", "acknowledged_block", loss.Acknowledged, "found_block", loss.Found, "no_block", loss.None)
	if e.readOnly {
		return nil
	}
	return e.guarded(func() error { return e.writeLoss(*loss) })
}

// withoutHeight says whether nothing in the store has a height.
func (e *engine) withoutHeight() (bool, error) {
	if e.heightRow == nil {
		return e.last.number == 0, nil
	}
	_, closer, err := e.db.Get(appendKey(nil, e.heightRow))
	if errors.Is(err, lsm.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the height of the store: %w", err)
	}
	return false, closer.Close()
}

// readAcknowledged returns the newer of the two places that can be read, with what it tells of the manifest.
func (e *engine) readAcknowledged() (newest mark, noted manifestNote, err error) {
	b, err := e.readOwn(acknowledgedFile)
	if err != nil {
		return newest, noted, err
	}
	for at := 0; at+placeBytes <= len(b); at += placeDistance {
		p := b[at : at+placeBytes]
		sum, _, _ := store.Uint64(append(make([]byte, 4), p[markBytes:]...))
		if m, _ := decodeMark(p[:markBytes]); uint64(crc32.ChecksumIEEE(p[:markBytes])) == sum && m.number > newest.number {
			newest, noted = m, manifestNote{}
			if n, ok := decodeNote(b[at+placeBytes:], m.number); ok {
				noted = n
			}
		}
	}
	return newest, noted, nil
}

func (e *engine) readLoss() (*Loss, error) {
	b, err := e.readOwn(lostFile)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	l := &Loss{}
	if err := json.Unmarshal(b, l); err != nil {
		return nil, fmt.Errorf("read %s: %w", lostFile, err)
	}
	return l, nil
}

// readOwn reads a small file of the engine's own; none is an empty one.
func (e *engine) readOwn(name string) ([]byte, error) {
	f, err := e.disk.Open(e.disk.PathJoin(e.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	return io.ReadAll(io.LimitReader(f, 4096))
}

func (e *engine) writeLoss(l Loss) error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	f, err := e.disk.Create(e.disk.PathJoin(e.dir, lostFile), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(b, '\n')); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Close())
	}
	return errors.Join(f.Close(), e.syncNames())
}

// syncNames makes the names of new files survive a crash.
func (e *engine) syncNames() error {
	d, err := e.disk.OpenDir(e.dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// acknowledge notes a durable commit beside the store. The caller has the writer's
// token.
func (e *engine) acknowledge(m mark) error {
	err := e.guarded(func() (err error) {
		if e.acknowledged == nil {
			name := e.disk.PathJoin(e.dir, acknowledgedFile)
			if e.acknowledged, err = e.disk.OpenReadWrite(name, vfs.WriteCategoryUnspecified); err != nil {
				return err
			}
			if err := e.syncNames(); err != nil {
				return err
			}
		}
		p := m.encode()
		sum := store.AppendUint64(nil, uint64(crc32.ChecksumIEEE(p)))
		p = append(p, sum[4:]...)
		if noted := e.disk.manifestNote(); noted.length > 0 {
			p = append(p, noted.encode(m.number)...)
		}
		if _, err := e.acknowledged.WriteAt(p, int64(m.number%2)*placeDistance); err != nil {
			return err
		}
		return e.acknowledged.Sync()
	})
	if err != nil {
		return err
	}
	e.last = m
	if l := e.lost.Load(); l != nil && m.height >= l.Acknowledged {
		if err := e.disk.Remove(e.disk.PathJoin(e.dir, lostFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			e.log.Warn("forget the loss", "err", err)
			return nil
		}
		e.lost.Store(nil)
		e.log.Info("what was lost is there again", "block", m.height)
	}
	return nil
}

// next is the mark of a batch that is committed now.
func (e *engine) next(c *store.Changes) mark {
	m := mark{number: e.last.number + 1, height: e.last.height, settled: e.settled.Load()}
	if e.height != nil {
		if h, ok := e.height(c); ok {
			m.height = h
		}
	}
	return m
}
