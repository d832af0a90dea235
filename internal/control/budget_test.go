package control_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/control"
)

// TestDraw takes budgets from several processes at once.
func TestDraw(t *testing.T) {
	file := open(t, control.Options{Path: onFile.made(t)})
	if _, err := file.Draw(t.Context(), control.Draw{Owner: "k", Class: "light", Want: 1, Limit: 1, Window: time.Minute}); !errors.Is(err, control.ErrNotShared) {
		t.Errorf("a file: %v", err)
	}
	url := onServer.made(t)
	one, two := open(t, control.Options{Path: url}), open(t, control.Options{Path: url})
	draw := func(db *control.DB, key string, want, limit int64) control.Drawn {
		t.Helper()
		got, err := db.Draw(t.Context(), control.Draw{Owner: key, Class: "light", Want: want, Limit: limit, Window: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if got.Ends <= 0 || got.Ends > time.Minute {
			t.Errorf("the window ends in %s", got.Ends)
		}
		return got
	}
	for i, c := range []struct {
		db            *control.DB
		want, limit   int64
		granted, used int64
	}{
		{one, 1, 20, 1, 1}, {two, 100, 20, 2, 3}, {one, 2, 20, 2, 5}, {one, 100, 20, 1, 6}, // an eighth of what is left, or one
		{two, 1, 7, 1, 7}, {two, 1, 7, 0, 7}, {one, 5, 7, 0, 7}, // used up
		{one, 5, 3, 0, 7}, // a limit that was lowered
		{one, 0, 9, 0, 7},
	} {
		if got := draw(c.db, "a", c.want, c.limit); got.Granted != c.granted || got.Used != c.used {
			t.Errorf("draw %d: %+v, want %d of %d", i, got, c.granted, c.used)
		}
	}
	if got := draw(two, "b", 5, 0); got.Granted != 0 {
		t.Errorf("no budget at all: %+v", got)
	}
	for _, shift := range []string{"-60000000", "+3600000000"} { // the window ended; the clock was set back
		rawPostgres(t, url, `update chainexplorer_control.budget set started_at = started_at `+shift)
		if got := draw(two, "a", 1, 7); got.Granted != 1 || got.Used != 1 {
			t.Errorf("after %s: %+v", shift, got)
		}
	}
	var sum atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		db := []*control.DB{one, two}[i%2]
		all.Go(func() {
			for {
				got, err := db.Draw(t.Context(), control.Draw{Owner: "c", Class: "light", Want: 7, Limit: 301, Window: time.Minute})
				if err != nil {
					t.Error(err)
					return
				}
				if got.Granted == 0 {
					return
				}
				sum.Add(got.Granted)
			}
		})
	}
	all.Wait()
	if sum.Load() != 301 {
		t.Errorf("%d of 301 were given", sum.Load())
	}
}
