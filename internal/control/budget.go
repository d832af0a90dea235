package control

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrNotShared says that a file has no budgets: the one process that uses it
// counts in memory.
var ErrNotShared = errors.New("the control database is a file, which has no shared budgets")

// Draw asks for a part of a budget that all processes share.
type Draw struct {
	Owner  string // the id of a workspace or of a key; the column is called key_id
	Class  string
	Want   int64 // how many; fewer are given when few are left
	Limit  int64 // of all processes in a window
	Window time.Duration
}

// Drawn is what was given.
type Drawn struct {
	Granted int64         // 0: the budget is used up until the window ends
	Used    int64         // by all processes, with what was given
	Ends    time.Duration // how long the window still lasted when the server answered
}

// share is the part of what is left that one process gets at most: what it takes
// and does not use is lost to the others until the window ends.
const share = 8

// drawSQL is one round trip and one row's lock. The window begins with the first
// request after the last one ended, by the server's clock. A clock that was set
// begins a new one.
const drawSQL = `
INSERT INTO budget AS b (key_id, class, started_at, used, granted)
VALUES ($1, $2, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, $6, $6)
ON CONFLICT (key_id, class) DO UPDATE SET
  started_at = CASE WHEN abs(excluded.started_at - b.started_at) >= $5 THEN excluded.started_at ELSE b.started_at END,
  granted = CASE WHEN abs(excluded.started_at - b.started_at) >= $5 THEN excluded.used
            ELSE greatest(0, least($3, $4 - b.used, greatest(1, ($4 - b.used) / $7))) END,
  used = CASE WHEN abs(excluded.started_at - b.started_at) >= $5 THEN excluded.used
         ELSE b.used + greatest(0, least($3, $4 - b.used, greatest(1, ($4 - b.used) / $7))) END
RETURNING granted, used, started_at + $5 - (extract(epoch FROM clock_timestamp()) * 1000000)::bigint`

// Draw takes a part of a budget. The parts that all processes get in a window
// never add up to more than the limit. It does not wait for Update.
func (d *DB) Draw(ctx context.Context, q Draw) (Drawn, error) {
	if d.IsFile() {
		return Drawn{}, ErrNotShared
	}
	first := max(0, min(q.Want, q.Limit, max(1, q.Limit/share)))
	var out Drawn
	var ends int64
	err := d.write.QueryRowContext(ctx, drawSQL, q.Owner, q.Class, q.Want, q.Limit, q.Window.Microseconds(), first, int64(share)).Scan(&out.Granted, &out.Used, &ends)
	if err != nil {
		return Drawn{}, fmt.Errorf("draw on a budget: %w", err)
	}
	out.Ends = max(0, time.Duration(ends)*time.Microsecond)
	return out, nil
}
