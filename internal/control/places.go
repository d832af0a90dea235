package control

import (
	"context"
	"fmt"
	"time"
)

// PlaceAsk asks for places that all processes share.
type PlaceAsk struct {
	Kind  string        // what the places are for
	Owner string        // the id of a workspace
	Want  int           // how many the process would have in all; 0 gives back what it has
	Need  int           // how many of them it could use at once
	Limit int           // of all processes together
	Lasts time.Duration // how long nobody else gets what was granted
}

// PlaceGrant is what a process has from now on.
type PlaceGrant struct {
	Places int // in all, not besides what it had
	Others int // processes that have some, or wait for some
	Short  int // how many the others could use and do not have
}

// AskPlaces asks about several owners in one round trip. What all processes have of an
// owner's places never adds up to more than the limit. The number of a process's
// question is larger than that of the one before; one that arrives late changes nothing.
// It does not wait for Update.
func (d *DB) AskPlaces(ctx context.Context, process string, number int64, asks []PlaceAsk) ([]PlaceGrant, error) {
	if d.IsFile() {
		return nil, ErrNotShared
	}
	n := len(asks)
	kinds, owners := make([]string, n), make([]string, n)
	wants, needs, limits, lasts := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	for i, a := range asks {
		kinds[i], owners[i] = a.Kind, a.Owner
		wants[i], needs[i], limits[i], lasts[i] = int64(a.Want), int64(a.Need), int64(a.Limit), a.Lasts.Microseconds()
	}
	rows, err := d.write.QueryContext(ctx, `SELECT granted, others, short FROM take_places($1, $2, $3, $4, $5, $6, $7, $8)`,
		process, number, kinds, owners, wants, needs, limits, lasts)
	if err != nil {
		return nil, fmt.Errorf("ask for places: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	out := make([]PlaceGrant, 0, n)
	for rows.Next() {
		var g PlaceGrant
		if err := rows.Scan(&g.Places, &g.Others, &g.Short); err != nil {
			return nil, fmt.Errorf("ask for places: %w", err)
		}
		out = append(out, g)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("ask for places: %w", err)
	}
	if len(out) != n {
		return nil, fmt.Errorf("ask for places: %d answers to %d questions", len(out), n)
	}
	return out, nil
}

// LeavePlaces gives back all that a process has, and forgets what has ended.
func (d *DB) LeavePlaces(ctx context.Context, process string) error {
	if d.IsFile() {
		return ErrNotShared
	}
	_, err := d.write.ExecContext(ctx, `DELETE FROM place WHERE process = $1 OR until <= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint`, process)
	if err != nil {
		return fmt.Errorf("give back places: %w", err)
	}
	return nil
}
