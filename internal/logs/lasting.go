package logs

import (
	"log/slog"
	"time"
)

// again is how often trouble that goes on is told of.
const again = time.Minute

// Lasting tells of trouble that lasts: when it begins, once a minute while it goes on, and when
// it is over. Who tries again several times a second would fill a log with one and the same
// thing. It is for one goroutine.
type Lasting struct {
	Logger *slog.Logger
	// Trouble says what fails, and Over that it does no more; "" where something else tells.
	Trouble, Over string

	began, told time.Time
	untold      int
}

// Fails notes that it failed once more.
func (l *Lasting) Fails(err error, args ...any) {
	now := time.Now()
	if l.began.IsZero() {
		l.began = now
	} else if now.Sub(l.told) < again {
		l.untold++
		return
	} else {
		args = append(args, "for", now.Sub(l.began), "untold", l.untold)
	}
	l.told, l.untold = now, 0
	l.Logger.Warn(l.Trouble, append(args, "err", err)...)
}

// Works notes that it does not fail, or not any more.
func (l *Lasting) Works() {
	if l.began.IsZero() {
		return
	}
	if l.Over != "" {
		l.Logger.Info(l.Over, "after", time.Since(l.began))
	}
	l.began, l.told, l.untold = time.Time{}, time.Time{}, 0
}
