package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"chainexplorer/internal/control"
)

// A code gives a workspace a plan, and a kind where it says so: nothing else. Scopes
// that only the operator gives out are never in one, so that whoever finds a code
// cannot get them. It is kept as a keyed digest, as a key is.

const (
	// MaxCodeUses bounds how many workspaces may redeem one code.
	MaxCodeUses = 100_000
	// mostTries is how many codes that are no good somebody may try in triesWindow.
	// It is counted in the database: exactly, whichever process is asked.
	mostTries   = 10
	triesWindow = time.Hour
)

// Why a code is not redeemed.
var (
	// ErrCodeInvalid: never made, used up, used by this workspace before, expired or
	// revoked; which of them is not told.
	ErrCodeInvalid = errors.New("the code is not valid")
	// ErrCodeGivesNothing: the workspace has all that the code gives. It is not used up.
	ErrCodeGivesNothing = errors.New("the workspace has all that the code gives")
	// ErrCodeTakesAway: the workspace would lose something by the code. It is not used up.
	ErrCodeTakesAway = errors.New("the workspace would lose some of what it has by the code")
	// ErrInternalWorkspace: the operator alone changes the operator's own workspaces.
	ErrInternalWorkspace = errors.New("the workspace is the operator's own")
	// ErrCodeNotFound: no code has the id.
	ErrCodeNotFound = errors.New("there is no such code")
)

// TriesError says that somebody tried too many codes that are no good.
type TriesError struct{ Wait time.Duration }

// Error says for how long nothing more is tried.
func (e *TriesError) Error() string {
	return fmt.Sprintf("too many codes were tried; the next one may be in %s", e.Wait.Round(time.Second))
}

// CodeStatus is whether a code can be redeemed.
type CodeStatus string

// The statuses.
const (
	CodeActive  CodeStatus = "active"
	CodeUsed    CodeStatus = "used"
	CodeExpired CodeStatus = "expired"
	CodeRevoked CodeStatus = "revoked"
)

// Code is everything about a code but the code.
type Code struct {
	ID        string     `json:"id"`
	Hint      string     `json:"hint"` // its last characters
	Plan      Plan       `json:"plan"`
	Kind      Kind       `json:"kind,omitempty"` // "" leaves that of the workspace
	Note      string     `json:"note"`
	Uses      int        `json:"uses"` // how many workspaces may redeem it
	Used      int        `json:"used"` // how many did
	Status    CodeStatus `json:"status"`
	CreatedAt time.Time  `json:"createdAt"`
	ExpiresAt *time.Time `json:"expiresAt"`
	RevokedAt *time.Time `json:"revokedAt"`
}

// NewCode is what to make.
type NewCode struct {
	Plan     Plan
	Kind     Kind // "" leaves that of the workspace
	Note     string
	Uses     int           // 1 when zero
	Lifetime time.Duration // the code expires after it; never when zero
}

func (n *NewCode) check() error {
	if n.Uses == 0 {
		n.Uses = 1
	}
	if _, err := ParsePlan(string(n.Plan)); err != nil {
		return err
	}
	switch {
	case n.Kind != "" && n.Kind != WalletKind && n.Kind != PartnerKind:
		return &InvalidError{"kind", "a code can give wallet or partner"}
	case n.Uses < 1 || n.Uses > MaxCodeUses:
		return &InvalidError{"uses", fmt.Sprintf("it must be 1 to %d", MaxCodeUses)}
	case n.Lifetime < 0:
		return &InvalidError{"lifetime", "it must be longer than zero"}
	case n.Note == "":
		return nil
	}
	return checkName("note", n.Note)
}

// CreateCode makes a code. Its text is nowhere else than in the result.
func (r *Repository) CreateCode(ctx context.Context, n NewCode) (c Code, text string, err error) {
	if err := n.check(); err != nil {
		return Code{}, "", err
	}
	if text, err = newCode(r.rand); err != nil {
		return Code{}, "", err
	}
	id, err := newID(r.rand, "cod_")
	if err != nil {
		return Code{}, "", err
	}
	plain, _ := plainCode(text)
	c = Code{ID: id, Hint: plain[codeSize-hintSize:], Plan: n.Plan, Kind: n.Kind, Note: n.Note, Uses: n.Uses, Status: CodeActive, CreatedAt: r.moment()}
	if n.Lifetime > 0 {
		end := control.Moment(control.Micros(c.CreatedAt.Add(n.Lifetime)))
		c.ExpiresAt = &end
	}
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO code (id, digest, hint, plan, kind, note, uses, used, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9)`,
			c.ID, r.codes.of(plain), c.Hint, string(c.Plan), string(c.Kind), c.Note, c.Uses, control.Micros(c.CreatedAt), control.OptionalMicros(c.ExpiresAt))
		if err != nil {
			return err
		}
		return r.audit(ctx, tx, "code.create", c.ID, c.gives()+fmt.Sprintf(", %d uses", c.Uses), c.CreatedAt)
	})
	if err != nil {
		return Code{}, "", fmt.Errorf("create code: %w", err)
	}
	return c, text, nil
}

func (c *Code) gives() string {
	if c.Kind == "" {
		return "plan " + string(c.Plan)
	}
	return "plan " + string(c.Plan) + ", kind " + string(c.Kind)
}

const selectCode = `SELECT id, hint, plan, kind, note, uses, used, created_at, expires_at, revoked_at FROM code `

func (r *Repository) scanCode(row interface{ Scan(...any) error }) (Code, error) {
	var c Code
	var created int64
	var expires, revoked sql.NullInt64
	if err := row.Scan(&c.ID, &c.Hint, &c.Plan, &c.Kind, &c.Note, &c.Uses, &c.Used, &created, &expires, &revoked); err != nil {
		return Code{}, err
	}
	c.CreatedAt, c.ExpiresAt, c.RevokedAt = control.Moment(created), control.OptionalMoment(expires), control.OptionalMoment(revoked)
	switch {
	case c.RevokedAt != nil:
		c.Status = CodeRevoked
	case c.Used >= c.Uses:
		c.Status = CodeUsed
	case c.ExpiresAt != nil && !r.now().Before(*c.ExpiresAt):
		c.Status = CodeExpired
	default:
		c.Status = CodeActive
	}
	return c, nil
}

// ListCodes returns codes newest first, and whether there are more than limit. A limit
// of 0 is 100.
func (r *Repository) ListCodes(ctx context.Context, limit int) (list []Code, more bool, err error) {
	limit = clampPage(limit)
	rows, err := r.db.Reader().QueryContext(ctx, selectCode+`ORDER BY created_at DESC, id LIMIT $1`, limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("list codes: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		c, err := r.scanCode(rows)
		if err != nil {
			return nil, false, fmt.Errorf("list codes: %w", err)
		}
		list = append(list, c)
	}
	if err := rows.Err(); err != nil {
		return nil, false, fmt.Errorf("list codes: %w", err)
	}
	if len(list) > limit {
		return list[:limit], true, nil
	}
	return list, false, nil
}

// RevokeCode ends a code for good. What it gave stays. Revoking it again changes
// nothing and returns the code as it is; an id that was never given out is
// ErrCodeNotFound.
func (r *Repository) RevokeCode(ctx context.Context, id string) (c Code, already bool, err error) {
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		c, err = r.scanCode(tx.QueryRowContext(ctx, selectCode+`WHERE id = $1`, id))
		if errors.Is(err, sql.ErrNoRows) {
			return ErrCodeNotFound
		} else if err != nil {
			return err
		}
		if already = c.RevokedAt != nil; already {
			return nil
		}
		now := r.moment()
		if _, err := tx.ExecContext(ctx, `UPDATE code SET revoked_at = $1 WHERE id = $2`, control.Micros(now), id); err != nil {
			return err
		}
		c.Status, c.RevokedAt = CodeRevoked, &now
		return r.audit(ctx, tx, "code.revoke", id, "", now)
	})
	if err != nil {
		return Code{}, false, fmt.Errorf("revoke code: %w", err)
	}
	return c, already, nil
}

// RedeemCode gives a workspace what a code says, and uses the code: both or neither
// happen, however many try at once. By says who does it. The keys of the workspace
// have the new limits within a second, here at once.
func (r *Repository) RedeemCode(ctx context.Context, workspaceID, text string) (w Workspace, err error) {
	plain, ok := plainCode(text)
	if !ok {
		return Workspace{}, ErrCodeInvalid // no code looks like that: nobody learns anything by trying
	}
	var refused error
	err = r.db.Update(ctx, func(tx *sql.Tx) (err error) {
		w, refused, err = r.redeem(ctx, tx, workspaceID, plain)
		return err
	})
	r.changes.Add(1) // also after an error: the change may have happened
	if err = errors.Join(err, refused); err != nil {
		return Workspace{}, fmt.Errorf("redeem code: %w", err)
	}
	return w, nil
}

// redeem returns why the code is refused where the transaction has to be kept.
func (r *Repository) redeem(ctx context.Context, tx *sql.Tx, workspaceID, plain string) (w Workspace, refused, err error) {
	if w, err = workspaceByID(ctx, tx, workspaceID); err != nil {
		return w, nil, err
	}
	if w.Kind == InternalKind {
		return w, ErrInternalWorkspace, nil
	}
	if err := r.mayTry(ctx, tx); err != nil {
		return w, nil, err
	}
	c, err := r.scanCode(tx.QueryRowContext(ctx, selectCode+`WHERE digest = $1`, r.codes.of(plain)))
	known := err == nil
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return w, nil, err
	}
	var before int
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM code_use WHERE code_id = $1 AND workspace_id = $2`, c.ID, w.ID).Scan(&before); err != nil {
		return w, nil, err
	}
	now := r.moment()
	if !known || c.Status != CodeActive || before > 0 {
		_, err := tx.ExecContext(ctx, `INSERT INTO code_failure (actor, at) VALUES ($1, $2)`, actorOf(ctx), control.Micros(now))
		return w, ErrCodeInvalid, err
	}
	if w.has(&c) {
		return w, ErrCodeGivesNothing, nil
	}
	was := w
	switch {
	case w.Plan.gives(c.Plan): // the better one stays
	case c.Plan.gives(w.Plan):
		w.Plan = c.Plan
	default:
		return was, ErrCodeTakesAway, nil
	}
	if c.Kind != "" && c.Kind != w.Kind {
		if w.Kind != Ordinary {
			return was, ErrCodeTakesAway, nil
		}
		w.Kind = c.Kind
	}
	for _, change := range []struct {
		statement string
		args      []any
	}{
		{`UPDATE code SET used = used + 1 WHERE id = $1`, []any{c.ID}},
		{`INSERT INTO code_use (code_id, workspace_id, actor, at) VALUES ($1, $2, $3, $4)`, []any{c.ID, w.ID, actorOf(ctx), control.Micros(now)}},
		{`UPDATE workspace SET plan = $1, kind = $2 WHERE id = $3`, []any{string(w.Plan), string(w.Kind), w.ID}},
	} {
		if _, err := tx.ExecContext(ctx, change.statement, change.args...); err != nil {
			return w, nil, err
		}
	}
	return w, nil, r.audit(ctx, tx, "code.redeem", w.ID, fmt.Sprintf("code %s, %s, before plan %s, kind %s", c.ID, c.gives(), was.Plan, was.Kind), now)
}

// mayTry refuses who tried too many codes that are no good, and forgets what was tried
// long ago, or by a clock that was ahead: it would keep them out for as long.
func (r *Repository) mayTry(ctx context.Context, tx *sql.Tx) error {
	now := r.moment()
	if _, err := tx.ExecContext(ctx, `DELETE FROM code_failure WHERE at <= $1 OR at > $2`, control.Micros(now.Add(-triesWindow)), control.Micros(now.Add(triesWindow/6))); err != nil {
		return err
	}
	var tries int
	var oldest sql.NullInt64
	err := tx.QueryRowContext(ctx, `SELECT COUNT(*), MIN(at) FROM code_failure WHERE actor = $1`, actorOf(ctx)).Scan(&tries, &oldest)
	if err != nil || tries < mostTries {
		return err
	}
	return &TriesError{Wait: control.Moment(oldest.Int64).Add(triesWindow).Sub(now)}
}

// has says whether a workspace would gain nothing by a code.
func (w *Workspace) has(c *Code) bool {
	return (c.Kind == "" || c.Kind == w.Kind) && w.Plan.gives(c.Plan)
}

// gives says whether a plan gives all that another does. The plan of wallets gives
// searches of whole ranges, which no other has.
func (p Plan) gives(q Plan) bool {
	if q == Wallet && p != Wallet {
		return false
	}
	have, want := p.Policy(), q.Policy()
	return have.LightPerMinute >= want.LightPerMinute && have.HeavyPerMinute >= want.HeavyPerMinute && have.BatchPerMinute >= want.BatchPerMinute &&
		have.Burst >= want.Burst && have.MaxActiveKeys >= want.MaxActiveKeys
}

// codeAlphabet leaves out letters that are taken for digits, and U.
const (
	codeAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	codeSize     = 20 // 100 bits
	codeGroup    = 5
)

// plainCode is a code without what people add to it: small letters, spaces, hyphens
// and the letters that stand for digits.
func plainCode(text string) (string, bool) {
	if len(text) > 4*codeSize {
		return "", false
	}
	plain := strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(strings.TrimSpace(text)))
	if len(plain) != codeSize || strings.Trim(plain, codeAlphabet) != "" {
		return "", false
	}
	return plain, true
}
