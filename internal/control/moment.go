package control

import (
	"database/sql"
	"time"
)

// Micros is how a time is stored: microseconds since 1970, UTC.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// Moment is the time that Micros stored.
func Moment(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// OptionalMicros stores a time that may be missing.
func OptionalMicros(t *time.Time) sql.NullInt64 {
	if t == nil {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: Micros(*t), Valid: true}
}

// OptionalMoment is the time that OptionalMicros stored.
func OptionalMoment(v sql.NullInt64) *time.Time {
	if !v.Valid {
		return nil
	}
	t := Moment(v.Int64)
	return &t
}
