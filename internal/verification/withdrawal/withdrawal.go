// Package withdrawal takes receipts back that should not have been issued, one by one or all
// that one compiler built, without touching those of the same key that are good.
//
// A withdrawal is for good. It is a row beside the receipt, which stays as it is, and a leaf
// of the transparency log (logproof.Withdrawal), so that nobody has to take the service's
// word for it and the service cannot deny it later.
//
// Rows: one per receipt that was withdrawn, numbered by the place of its leaf, which grows.
// Who follows them reads those from the last that it knows on: mostly that one alone. Withdrawing
// n receipts is n rows and leaves, in transactions of at most batch of them.
package withdrawal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/control"
	"chainexplorer/internal/verification/logproof"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/translog"
)

// batch is how many receipts one transaction takes back: others wait for it.
const batch = 100

// MaxReason bounds the reason of a withdrawal, in bytes.
const MaxReason = 200

// Selection says which receipts are meant: those of jobs, or of what built them.
type Selection struct {
	Jobs      []string
	Toolchain string // such as cairo-2.20.0
}

// Receipt is one that was withdrawn.
type Receipt struct {
	Number    uint64
	JobID     string
	ClassHash string
	Digest    string // of its entry in the log, with sha256: before it
}

// Withdrawn is the number of a receipt that was, and when.
type Withdrawn struct {
	Number uint64
	At     time.Time
}

// Book is the withdrawals of a control database.
type Book struct {
	db  *control.DB
	now func() time.Time
}

// New makes a book. The clock is time.Now unless a test gives one.
func New(db *control.DB, now func() time.Time) *Book {
	if now == nil {
		now = time.Now
	}
	return &Book{db: db, now: now}
}

// ErrNone says that a job has no receipt, or does not exist.
var ErrNone = errors.New("there is no receipt of it")

// Withdraw takes receipts back and tells which; of those that were withdrawn before it tells
// nothing. When it ends early it is called again: what was done stays done.
func (b *Book) Withdraw(ctx context.Context, s Selection, reason string) (done []Receipt, err error) {
	for _, id := range s.Jobs {
		if err := b.exists(ctx, id); err != nil {
			return nil, fmt.Errorf("withdraw the receipt of %s: %w", id, err)
		}
	}
	for {
		var some []Receipt
		err := b.db.Update(ctx, func(tx *sql.Tx) (err error) {
			some, err = b.next(ctx, tx, s, reason)
			return err
		})
		if err != nil {
			return done, fmt.Errorf("withdraw receipts: %w", err)
		}
		if len(some) == 0 {
			return done, nil
		}
		done = append(done, some...)
	}
}

func (b *Book) exists(ctx context.Context, job string) error {
	var one int
	err := b.db.Reader().QueryRowContext(ctx, `SELECT 1 FROM verification_receipt WHERE job_id = $1`, job).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNone
	}
	return err
}

const left = `SELECT r.receipt_id, r.job_id, r.class_hash, r.document FROM verification_receipt r
	WHERE NOT EXISTS (SELECT 1 FROM receipt_withdrawal w WHERE w.receipt_id = r.receipt_id) AND `

// next withdraws the next of those that are meant, in one transaction.
func (b *Book) next(ctx context.Context, tx *sql.Tx, s Selection, reason string) (list []Receipt, err error) {
	now := b.now()
	var documents []string
	find := func(where string, args ...any) error {
		rows, err := tx.QueryContext(ctx, left+where, args...)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Err tells
		for rows.Next() {
			var r Receipt
			var text string
			if err := rows.Scan(&r.Number, &r.JobID, &r.ClassHash, &text); err != nil {
				return err
			}
			list, documents = append(list, r), append(documents, text)
		}
		return rows.Err()
	}
	for _, id := range s.Jobs {
		if len(list) == batch {
			break
		}
		if err := find(`r.job_id = $1`, id); err != nil {
			return nil, err
		}
	}
	if s.Toolchain != "" && len(list) < batch {
		if err := find(`r.toolchain = $1 ORDER BY r.receipt_id LIMIT $2`, s.Toolchain, batch-len(list)); err != nil {
			return nil, err
		}
	}
	for i := range list {
		if list[i].Digest, err = add(ctx, tx, &list[i], documents[i], reason, now); err != nil {
			return nil, fmt.Errorf("receipt %d: %w", list[i].Number, err)
		}
		entry := control.AuditEntry{At: now, Actor: "operator", Action: "receipt.withdraw", Subject: list[i].JobID, Detail: fmt.Sprintf("receipt %d: %s", list[i].Number, reason)}
		if err := b.db.Audit(ctx, tx, entry); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func add(ctx context.Context, tx *sql.Tx, r *Receipt, document, reason string, now time.Time) (digest string, err error) {
	signed, err := receipt.Parse([]byte(document))
	if err != nil {
		return "", err
	}
	entry, err := logproof.Entry(signed)
	if err != nil {
		return "", err
	}
	place, err := translog.AppendEntry(ctx, tx, logproof.Withdrawal(entry))
	if err != nil {
		return "", err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO receipt_withdrawal (place, receipt_id, reason, withdrawn_at) VALUES ($1, $2, $3, $4)`, place, int64(r.Number), reason, control.Micros(now)) //nolint:gosec // it came from such a column
	return logproof.Digest(entry), err
}

// Mark is a withdrawal up to which all are known. The zero value is none.
type Mark struct {
	set                bool
	place, receipt, at int64
}

// Since is which receipts were withdrawn behind a mark, and when, at most limit, and the mark of
// the last of them. A database that no longer has the withdrawal of the mark was given back from
// before it: what was withdrawn there since may stand at lower places, so that all are told
// from the first.
func (b *Book) Since(ctx context.Context, known Mark, limit int) (withdrawn []Withdrawn, last Mark, err error) {
	list, err := b.from(ctx, known.place, limit+1)
	if err == nil && known.set {
		if len(list) > 0 && list[0] == known {
			list = list[1:]
		} else {
			known = Mark{}
			list, err = b.from(ctx, 0, limit)
		}
	}
	if err != nil {
		return nil, known, fmt.Errorf("withdrawn receipts: %w", err)
	}
	last = known
	for _, m := range list[:min(len(list), limit)] {
		withdrawn, last = append(withdrawn, Withdrawn{uint64(m.receipt), control.Moment(m.at)}), m //nolint:gosec // numbers of receipts begin with 1
	}
	return withdrawn, last, nil
}

func (b *Book) from(ctx context.Context, place int64, limit int) (list []Mark, err error) {
	rows, err := b.db.Reader().QueryContext(ctx, `SELECT place, receipt_id, withdrawn_at FROM receipt_withdrawal WHERE place >= $1 ORDER BY place LIMIT $2`, place, limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		m := Mark{set: true}
		if err := rows.Scan(&m.place, &m.receipt, &m.at); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, rows.Err()
}

// Toolchains counts the receipts by what built them, "" for those that do not tell.
func (b *Book) Toolchains(ctx context.Context) (all map[string]int, err error) {
	rows, err := b.db.Reader().QueryContext(ctx, `SELECT toolchain, COUNT(*) FROM verification_receipt GROUP BY toolchain`)
	if err != nil {
		return nil, fmt.Errorf("count receipts: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	all = map[string]int{}
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			return nil, fmt.Errorf("count receipts: %w", err)
		}
		all[name] = n
	}
	return all, rows.Err()
}
