package job

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"chainexplorer/internal/control"
)

// change is an event with all that it changes besides the state.
type change struct {
	event  Event
	actor  string
	detail string // for the audit log, besides the states
	// claim, unless "", is the one that the job must be under.
	claim string
	set   []assignment
}

type assignment struct {
	column string
	value  any
}

// freed is what a job that no worker has looks like.
var freed = []assignment{{"claim", ""}, {"lease_until", nil}}

// move makes an event happen to a job as it was read, or fails with a StateError or
// ErrLost and changes nothing. The job that it returns is the one after.
func (r *Repo) move(ctx context.Context, tx *sql.Tx, j *Job, c change) (*Job, error) {
	to, ok := Next(j.State, c.event)
	if !ok {
		return nil, &StateError{j.State, c.event}
	}
	active := 1
	if to.Terminal() {
		active = 0
	}
	at := r.moment()
	set := append([]assignment{{"state", string(to)}, {"active", active}, {"updated_at", control.Micros(at)}}, c.set...)
	var b strings.Builder
	args := make([]any, 0, len(set)+3)
	for i, a := range set {
		if i > 0 {
			b.WriteString(", ")
		}
		args = append(args, a.value)
		fmt.Fprintf(&b, "%s = $%d", a.column, len(args))
	}
	args = append(args, j.ID, string(j.State))
	where := fmt.Sprintf("id = $%d AND state = $%d", len(args)-1, len(args))
	if c.claim != "" {
		args = append(args, c.claim)
		where += fmt.Sprintf(" AND claim = $%d", len(args))
	}
	done, err := tx.ExecContext(ctx, `UPDATE verification_job SET `+b.String()+` WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("%s job %s: %w", c.event, j.ID, err)
	}
	n, err := done.RowsAffected()
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, r.missed(ctx, tx, j.ID, c)
	}
	detail := fmt.Sprintf("%s, %s to %s", j.WorkspaceID, j.State, to)
	if c.detail != "" {
		detail += ", " + c.detail
	}
	if err := r.audit(ctx, tx, c.actor, string(c.event), j.ID, detail); err != nil {
		return nil, err
	}
	return row(ctx, tx, `id = $1`, j.ID)
}

// missed says why a compare-and-set changed nothing.
func (r *Repo) missed(ctx context.Context, tx *sql.Tx, id string, c change) error {
	now, err := row(ctx, tx, `id = $1`, id)
	switch {
	case err != nil:
		return err
	case c.claim != "" && now.claim != c.claim:
		return ErrLost
	}
	return &StateError{now.State, c.event}
}

func (r *Repo) audit(ctx context.Context, tx *sql.Tx, actor, event, subject, detail string) error {
	return r.db.Audit(ctx, tx, control.AuditEntry{At: r.moment(), Actor: actor, Action: "verification." + event, Subject: subject, Detail: detail})
}

// spoiled ends a job whose row is damaged. Its owner may try again: the source is at fault
// for nothing.
func spoiled() change {
	f := Failure{Code: DispatchFailed, Retryable: true}
	return change{event: Fail, actor: service, detail: f.detail() + ", what is stored of it is damaged", set: failed(f)}
}

// failed are the columns of a failure.
func failed(f Failure) []assignment {
	retryable := 0
	if f.Retryable {
		retryable = 1
	}
	return append([]assignment{{"code", string(f.Code)}, {"reason", f.Reason}, {"retryable", retryable}}, freed...)
}

func (f Failure) detail() string {
	if f.Reason != "" {
		return string(f.Code) + " " + f.Reason
	}
	return string(f.Code)
}
