// Package usage keeps count of what keys ask for.
//
// A request is recorded in memory, by arithmetic under one lock, and never waits for
// the database. What was gathered is written about every second, in one transaction
// that is applied once however often it is tried, so that the counts are exact across
// processes and across restarts. What a process that is killed had not written yet,
// at most the last second or as long as the database was away, is lost.
//
// Everything is bounded. Counts are kept by the hour, for each key and class, for
// KeepCounts. Single requests are kept for KeepEvents, and only the newest of each
// workspace. While the database is away, counts go on in memory: a few numbers for
// each key, class and hour. What has no room there is dropped, counted and logged.
package usage

import "time"

const (
	// KeepCounts is how long the counts of an hour are kept.
	KeepCounts = 31 * 24 * time.Hour
	// KeepEvents is how long a single request is kept.
	KeepEvents = 7 * 24 * time.Hour
	// Recent is how many requests are kept of a workspace, and how many failures.
	Recent = 100
)

// Event is a request that somebody with a valid key made: one of HTTP, or one call of
// JSON-RPC, also when several came together.
type Event struct {
	RequestID   string
	WorkspaceID string
	KeyID       string // public
	Method      string // of HTTP
	Path        string // of the route, with its parameters' names in place of their values
	Call        string // the method of JSON-RPC, of the table: never what a caller wrote
	Class       string
	Status      int
	Failed      bool // the answer is an error
	At          time.Time
	Took        time.Duration
	Budget      Budget
}

// Budget is what the caller was told of its budget. The zero value says that it was
// told nothing: the request was refused before.
type Budget struct {
	Policy           string
	Limit, Remaining int
	RetryAfter       int // in seconds; 0 unless the budget was used up
}

func (b *Budget) told() bool { return b.Policy != "" }

// routePath is how the request's route is shown.
func (e *Event) routePath() string {
	if e.Call == "" {
		return e.Path
	}
	return e.Path + "#" + e.Call
}
