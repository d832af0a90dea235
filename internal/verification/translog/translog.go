// Package translog is the transparency log of receipts: a tree of hashes that only grows, kept in
// the control database. A leaf is added in the transaction that admits a receipt, or withdraws one, so that there is
// never one without the other; the signer signs the head when the tree has grown, and only if
// it holds all that it held before. What is served ends at the last head that was signed.
//
// Rows, with n receipts and withdrawals: n leaves, fewer than 2n hashes, and one head. Adding a leaf reads and
// writes at most log n hashes; a tile is one range of at most 256.
package translog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"chainexplorer/internal/control"
	"chainexplorer/internal/verification/logproof"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/signer"
)

// Append adds a receipt to the log, in the transaction that admits it, and returns its place.
func Append(ctx context.Context, tx *sql.Tx, receiptJSON []byte) (place int64, err error) {
	r, err := receipt.Parse(receiptJSON)
	if err != nil {
		return 0, fmt.Errorf("log a receipt: %w", err)
	}
	entry, err := logproof.Entry(r)
	if err != nil {
		return 0, fmt.Errorf("log a receipt: %w", err)
	}
	return AppendEntry(ctx, tx, entry)
}

// AppendEntry adds an entry to the log: that of a receipt, or of its withdrawal.
func AppendEntry(ctx context.Context, tx *sql.Tx, entry []byte) (place int64, err error) {
	if err := tx.QueryRowContext(ctx, `SELECT size FROM receipt_log_head WHERE one = 1`).Scan(&place); err != nil {
		return 0, fmt.Errorf("log a receipt: %w", err)
	}
	hashes, err := tlog.StoredHashes(place, entry, &reader{ctx, tx})
	if err != nil {
		return 0, fmt.Errorf("log a receipt: %w", err)
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO receipt_log_leaf (place, entry) VALUES ($1, $2)`, place, entry); err != nil {
		return 0, fmt.Errorf("log a receipt: %w", err)
	}
	first := tlog.StoredHashIndex(0, place)
	for i, h := range hashes {
		level, n := tlog.SplitStoredHashIndex(first + int64(i))
		if _, err := tx.ExecContext(ctx, `INSERT INTO receipt_log_hash (level, n, hash) VALUES ($1, $2, $3)`, level, n, h[:]); err != nil {
			return 0, fmt.Errorf("log a receipt: %w", err)
		}
	}
	if _, err := tx.ExecContext(ctx, `UPDATE receipt_log_head SET size = $1 WHERE one = 1`, place+1); err != nil {
		return 0, fmt.Errorf("log a receipt: %w", err)
	}
	return place, nil
}

// querier is a pool or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// reader reads hashes of the tree.
type reader struct {
	ctx context.Context //nolint:containedctx // the library's call has none
	q   querier
}

// ReadHashes reads the few hashes that a proof or a root needs.
func (r *reader) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	if len(indexes) == 0 {
		return nil, nil
	}
	var where []string
	var args []any
	for _, i := range indexes {
		level, n := tlog.SplitStoredHashIndex(i)
		where = append(where, fmt.Sprintf("(level = $%d AND n = $%d)", len(args)+1, len(args)+2))
		args = append(args, level, n)
	}
	rows, err := r.q.QueryContext(r.ctx, `SELECT level, n, hash FROM receipt_log_hash WHERE `+strings.Join(where, " OR "), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	found := map[int64]tlog.Hash{}
	for rows.Next() {
		var level int
		var n int64
		var h []byte
		if err := rows.Scan(&level, &n, &h); err != nil {
			return nil, err
		}
		if len(h) != tlog.HashSize {
			return nil, fmt.Errorf("hash %d of level %d of the log has %d bytes", n, level, len(h))
		}
		found[tlog.StoredHashIndex(level, n)] = tlog.Hash(h)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	out := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		h, ok := found[index]
		if !ok {
			level, n := tlog.SplitStoredHashIndex(index)
			return nil, fmt.Errorf("hash %d of level %d of the log is missing", n, level)
		}
		out[i] = h
	}
	return out, nil
}

// Signer signs heads: a signer.Signer, or a signer.Client.
type Signer interface {
	SignCheckpoint(ctx context.Context, g signer.Growth) ([]byte, error)
}

// Log is the log of one control database.
type Log struct {
	db  *control.DB
	key note.Verifier
}

// New reads and publishes the log whose heads bear this key.
func New(db *control.DB, key note.Verifier) *Log { return &Log{db, key} }

// head is the row of the head.
type head struct {
	size, signed int64
	checkpoint   string
}

func readHead(ctx context.Context, tx *sql.Tx) (h head, err error) {
	err = tx.QueryRowContext(ctx, `SELECT size, signed_size, checkpoint FROM receipt_log_head WHERE one = 1`).Scan(&h.size, &h.signed, &h.checkpoint)
	return h, err
}

// growthFrom is the tree as it is now, with the proof that it holds one of its own past, or
// of the last head that was signed when base is negative. It is nil when there is nothing to sign.
func (l *Log) growthFrom(ctx context.Context, base int64) (g *signer.Growth, err error) {
	err = l.db.View(ctx, func(tx *sql.Tx) error {
		h, err := readHead(ctx, tx)
		if err != nil || h.size == h.signed {
			return err
		}
		if base < 0 {
			base = h.signed
		}
		root, err := tlog.TreeHash(h.size, &reader{ctx, tx})
		if err != nil {
			return err
		}
		g = &signer.Growth{Size: h.size, Root: root, OldSize: base}
		if base > 0 && base < h.size {
			g.Proof, err = tlog.ProveTree(h.size, base, &reader{ctx, tx})
		}
		return err
	})
	return g, err
}

// Publish has the head signed if the log has grown, and returns how many leaves are
// published. Any number of processes may do so at once.
func (l *Log) Publish(ctx context.Context, s Signer) (size int64, err error) {
	size, err = l.publish(ctx, s)
	if err != nil {
		return 0, fmt.Errorf("publish the log of receipts: %w", err)
	}
	return size, nil
}

func (l *Log) publish(ctx context.Context, s Signer) (int64, error) {
	g, err := l.growthFrom(ctx, -1)
	if err != nil {
		return 0, err
	}
	if g == nil {
		size, _, err := l.Checkpoint(ctx)
		if errors.Is(err, ErrNotPublished) {
			err = nil
		}
		return size, err
	}
	signed, err := s.SignCheckpoint(ctx, *g)
	var refused *signer.Refused
	if errors.As(err, &refused) && refused.Code == signer.LogBase && refused.Size < g.Size {
		// It signed a head that we did not keep, or we have one of another signer.
		if g, err = l.growthFrom(ctx, refused.Size); err != nil || g == nil {
			return 0, err
		}
		signed, err = s.SignCheckpoint(ctx, *g)
	}
	if err != nil {
		return 0, err
	}
	c, err := logproof.OpenCheckpoint(signed, l.key)
	if err != nil {
		return 0, err
	}
	if c.Size != g.Size || c.Root != g.Root {
		return 0, errors.New("the signer signed another head")
	}
	return c.Size, l.db.Update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE receipt_log_head SET signed_size = $1, checkpoint = $2 WHERE one = 1 AND signed_size < $1`, c.Size, string(signed))
		return err
	})
}

// Run publishes what is new until the context ends. Trouble is told, and tried again.
func (l *Log) Run(ctx context.Context, s Signer, every time.Duration, trouble func(error)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if _, err := l.Publish(ctx, s); err != nil && ctx.Err() == nil {
			trouble(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Errors of reading.
var (
	ErrNotPublished = errors.New("no head of the log was signed that has it")
	ErrUnknown      = errors.New("the log does not have it")
)

// Checkpoint is the last head that was signed.
func (l *Log) Checkpoint(ctx context.Context) (size int64, signed []byte, err error) {
	var text string
	err = l.db.Reader().QueryRowContext(ctx, `SELECT signed_size, checkpoint FROM receipt_log_head WHERE one = 1`).Scan(&size, &text)
	switch {
	case err != nil:
		return 0, nil, fmt.Errorf("read the log of receipts: %w", err)
	case size == 0:
		return 0, nil, ErrNotPublished
	}
	return size, []byte(text), nil
}

// Height is that of tiles: 256 hashes.
const Height = 8

// Tile is a tile's hashes, or for level -1 its entries with their lengths.
func (l *Log) Tile(ctx context.Context, t tlog.Tile) ([]byte, error) {
	size, _, err := l.Checkpoint(ctx)
	if err != nil {
		return nil, err
	}
	level := max(t.L, 0) * Height
	first := t.N << Height
	if t.H != Height || t.N < 0 || t.N >= 1<<40 || level >= 56 || t.W < 1 || t.W > 1<<Height || first+int64(t.W) > size>>level {
		return nil, ErrUnknown
	}
	query := `SELECT hash FROM receipt_log_hash WHERE level = $1 AND n >= $2 AND n < $3 ORDER BY n`
	args := []any{level, first, first + int64(t.W)}
	if t.L < 0 {
		query, args = `SELECT entry FROM receipt_log_leaf WHERE place >= $1 AND place < $2 ORDER BY place`, args[1:]
	}
	rows, err := l.db.Reader().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read a tile: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	var out []byte
	n := 0
	for ; rows.Next(); n++ {
		var row []byte
		if err := rows.Scan(&row); err != nil {
			return nil, fmt.Errorf("read a tile: %w", err)
		}
		if len(row) != tlog.HashSize {
			return nil, fmt.Errorf("read a tile: a row has %d bytes", len(row))
		}
		if t.L < 0 {
			out = append(out, 0, byte(len(row)))
		}
		out = append(out, row...)
	}
	if err := rows.Err(); err != nil || n != t.W {
		return nil, errors.Join(fmt.Errorf("read a tile: %d of %d rows", n, t.W), err)
	}
	return out, nil
}

// Prove proves that a receipt is in the log, by the digest of its canonical form.
func (l *Log) Prove(ctx context.Context, entry []byte) (p *logproof.Proof, err error) {
	err = l.db.View(ctx, func(tx *sql.Tx) error {
		h, err := readHead(ctx, tx)
		if err != nil {
			return err
		}
		p = &logproof.Proof{Checkpoint: []byte(h.checkpoint)}
		switch err := tx.QueryRowContext(ctx, `SELECT place FROM receipt_log_leaf WHERE entry = $1`, entry).Scan(&p.Index); {
		case errors.Is(err, sql.ErrNoRows):
			return ErrUnknown
		case err != nil:
			return err
		case p.Index >= h.signed:
			return ErrNotPublished
		}
		p.Hashes, err = tlog.ProveRecord(h.signed, p.Index, &reader{ctx, tx})
		return err
	})
	if err != nil {
		if slices.ContainsFunc([]error{ErrUnknown, ErrNotPublished}, func(known error) bool { return errors.Is(err, known) }) {
			return nil, err
		}
		return nil, fmt.Errorf("prove that a receipt is in the log: %w", err)
	}
	return p, nil
}
