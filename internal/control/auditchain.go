package control

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The hash of an entry is SHA-256, in lower-case hex, of auditDomain and, each
// behind its length in eight bytes: the previous hash, the sequence number and
// the time in microseconds (both in decimal), actor, action, subject and detail.
//
// The hash has no key: whoever can write to the database past the triggers can
// also compute the chain anew, or cut its end off and set the head back. That shows
// only against a head that was noted elsewhere, which is what AuditHead is printed for.
const auditDomain = "chainexplorer audit 1\n"

// auditPage is how many entries are read at once.
const auditPage = 1000

func (l *AuditLink) compute() string {
	h := sha256.New()
	h.Write([]byte(auditDomain))
	for _, field := range []string{
		l.PreviousHash, strconv.FormatInt(l.Sequence, 10), strconv.FormatInt(Micros(l.At), 10),
		l.Actor, l.Action, l.Subject, l.Detail,
	} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(field)))
		h.Write(size[:])
		h.Write([]byte(field))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// AuditHead names an entry, and through its hash all that are before it.
type AuditHead struct {
	Sequence int64  `json:"sequence"` // 0: no entry
	Hash     string `json:"hash"`
}

// String is what ParseAuditHead reads.
func (h AuditHead) String() string { return fmt.Sprintf("%d:%s", h.Sequence, h.Hash) }

// ParseAuditHead reads SEQUENCE:HASH.
func ParseAuditHead(text string) (AuditHead, error) {
	number, hash, ok := strings.Cut(text, ":")
	seq, err := strconv.ParseInt(number, 10, 64)
	raw, hexErr := hex.DecodeString(hash)
	if !ok || err != nil || hexErr != nil || seq < 1 || len(raw) != sha256.Size {
		return AuditHead{}, errors.New("want SEQUENCE:HASH as 'admin audit verify' prints it")
	}
	return AuditHead{Sequence: seq, Hash: strings.ToLower(hash)}, nil
}

func auditHead(ctx context.Context, tx *sql.Tx) (h AuditHead, err error) {
	err = tx.QueryRowContext(ctx, `SELECT seq, hash FROM audit_head WHERE one = 1`).Scan(&h.Sequence, &h.Hash)
	if err != nil {
		return h, fmt.Errorf("audit: read the head: %w", err)
	}
	return h, nil
}

// AuditBreak is the first place where the chain does not hold.
type AuditBreak struct {
	Sequence int64  `json:"sequence"`
	Kind     string `json:"kind"` // one of the constants below
	Reason   string `json:"reason"`
}

// The kinds of breaks.
const (
	AuditChanged   = "changed"   // an entry is not what its hash was computed of
	AuditRemoved   = "removed"   // an entry is missing before others
	AuditReplaced  = "replaced"  // an entry is whole and does not follow the one before it
	AuditTruncated = "truncated" // the newest entries are missing
	AuditAppended  = "appended"  // there are entries behind the head that the program did not write
	AuditRewritten = "rewritten" // the chain holds, and is another than the one whose head was noted
)

// AuditReport is what VerifyAudit found.
type AuditReport struct {
	Entries int64       `json:"entries"` // that were read
	Head    AuditHead   `json:"head"`    // the last entry that is in its place
	Intact  bool        `json:"intact"`
	Broken  *AuditBreak `json:"broken"`
	// MissingGuards are triggers of the database that are gone or switched off, and that
	// refuse to change the log: it is easier to break then, and need not be broken.
	MissingGuards []string `json:"missingGuards"`
	// ChangedGuards are triggers and rules that are there, and are not what this program made.
	ChangedGuards []string `json:"changedGuards"`
}

// VerifyAudit reads the whole chain, on one state of the database, and tells where
// it breaks first. A noted head, unless nil, must be in the chain. The error is
// about the machine.
func (d *DB) VerifyAudit(ctx context.Context, noted *AuditHead) (r AuditReport, err error) {
	err = d.View(ctx, func(tx *sql.Tx) error {
		r = AuditReport{}
		var err error
		if r.MissingGuards, r.ChangedGuards, err = d.checkGuards(ctx, tx); err != nil {
			return err
		}
		head, err := auditHead(ctx, tx)
		if errors.Is(err, sql.ErrNoRows) {
			r.Broken = &AuditBreak{1, AuditTruncated, "the row that names the newest entry is gone"}
			return nil
		} else if err != nil {
			return err
		}
		var early, heads int64
		if err := tx.QueryRowContext(ctx, `SELECT (SELECT COUNT(*) FROM audit WHERE seq < 1), (SELECT COUNT(*) FROM audit_head)`).Scan(&early, &heads); err != nil {
			return err
		}
		if early > 0 || heads > 1 {
			r.Broken = &AuditBreak{1, AuditAppended, "there are entries before the first one, or two rows that name the newest: they were not written by this program"}
			return nil
		}
		for r.Broken == nil {
			page, err := auditLinks(ctx, tx, `WHERE seq > $1 ORDER BY seq LIMIT $2`, r.Head.Sequence, auditPage)
			if err != nil {
				return err
			}
			if len(page) == 0 {
				break
			}
			for i := range page {
				r.Entries++
				if r.Broken = page[i].follows(r.Head, head, noted); r.Broken != nil {
					return nil
				}
				r.Head = AuditHead{Sequence: page[i].Sequence, Hash: page[i].Hash}
			}
		}
		r.Broken = ends(r.Head, head, noted)
		return nil
	})
	if err != nil {
		return AuditReport{}, fmt.Errorf("verify the audit log: %w", err)
	}
	r.Intact = r.Broken == nil
	return r, nil
}

// follows checks an entry against the one before it, the head and the noted head.
func (l *AuditLink) follows(before, head AuditHead, noted *AuditHead) *AuditBreak {
	next := before.Sequence + 1
	switch {
	case l.Sequence != next:
		return &AuditBreak{next, AuditRemoved, fmt.Sprintf("entry %d is missing; the next one is %d", next, l.Sequence)}
	case l.compute() != l.Hash:
		return &AuditBreak{next, AuditChanged, fmt.Sprintf("entry %d is not what its hash was computed of: it was changed or moved", next)}
	case l.PreviousHash != before.Hash:
		return &AuditBreak{next, AuditReplaced, fmt.Sprintf("entry %d does not follow entry %d: one of them was put in the place of another", next, before.Sequence)}
	case l.Sequence > head.Sequence:
		return &AuditBreak{next, AuditAppended, fmt.Sprintf("entry %d is behind the head, which is %d: it was not written by this program", next, head.Sequence)}
	case noted != nil && l.Sequence == noted.Sequence && l.Hash != noted.Hash:
		return &AuditBreak{next, AuditRewritten, fmt.Sprintf("entry %d has another hash than was noted: the log was written anew up to there", next)}
	}
	return nil
}

// ends checks that the last entry is the head, and that the noted one was reached.
func ends(last, head AuditHead, noted *AuditHead) *AuditBreak {
	next := last.Sequence + 1
	switch {
	case last.Sequence < head.Sequence:
		return &AuditBreak{next, AuditTruncated, fmt.Sprintf("entries %d to %d are missing at the end", next, head.Sequence)}
	case last.Hash != head.Hash:
		return &AuditBreak{last.Sequence, AuditReplaced, fmt.Sprintf("entry %d is not the one that the head names", last.Sequence)}
	case noted != nil && last.Sequence < noted.Sequence:
		return &AuditBreak{next, AuditTruncated, fmt.Sprintf("the log ends with entry %d, and entry %d was noted", last.Sequence, noted.Sequence)}
	}
	return nil
}

// auditBefore is the audit log as it was before it was a chain.
const auditBefore = "audit_before"

// chainAudit moves entries from before into the chain, in the order of their times,
// all in one transaction, and drops the table that they were in.
func (d *DB) chainAudit(ctx context.Context) error {
	present, err := d.kind.hasTable(ctx, d.write, auditBefore)
	if err != nil || !present {
		return err
	}
	err = d.Update(ctx, func(tx *sql.Tx) error {
		at, id := int64(-1<<63), ""
		for {
			list, err := beforeAfter(ctx, tx, &at, &id)
			if err != nil {
				return err
			}
			if len(list) == 0 {
				break
			}
			head, err := auditHead(ctx, tx)
			if err != nil {
				return err
			}
			if err := appendAudit(ctx, tx, head, list); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `DROP TABLE `+auditBefore)
		return err
	})
	if err != nil {
		return fmt.Errorf("chain the audit log: %w", err)
	}
	return nil
}

// beforeAfter reads a page of old entries behind a place, and moves the place on.
func beforeAfter(ctx context.Context, tx *sql.Tx, at *int64, id *string) (list []AuditEntry, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT at, id, actor, action, subject, detail FROM `+auditBefore+`
		WHERE (at, id) > ($1, $2) ORDER BY at, id LIMIT $3`, *at, *id, auditPage)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		var e AuditEntry
		if err := rows.Scan(at, id, &e.Actor, &e.Action, &e.Subject, &e.Detail); err != nil {
			return nil, err
		}
		e.At = Moment(*at)
		list = append(list, e)
	}
	return list, rows.Err()
}
