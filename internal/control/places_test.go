package control_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/control"
)

// TestAskPlaces: processes get what the others leave, and what a process holds ends.
func TestAskPlaces(t *testing.T) {
	file := open(t, control.Options{Path: onFile.made(t)})
	if _, err := file.AskPlaces(t.Context(), "p", 1, nil); !errors.Is(err, control.ErrNotShared) {
		t.Errorf("a file: %v", err)
	}
	url := onServer.made(t)
	one, two := open(t, control.Options{Path: url}), open(t, control.Options{Path: url})
	var number atomic.Int64
	ask := func(db *control.DB, process string, asks ...control.PlaceAsk) []control.PlaceGrant {
		t.Helper()
		for i := range asks {
			asks[i].Kind, asks[i].Lasts = "requests", time.Minute
		}
		got, err := db.AskPlaces(t.Context(), process, number.Add(1), asks)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for i, c := range []struct {
		db                *control.DB
		process           string
		want, need, limit int
		got               control.PlaceGrant
	}{
		{one, "p", 6, 3, 10, control.PlaceGrant{Places: 6}},
		{two, "q", 8, 8, 10, control.PlaceGrant{Places: 4, Others: 1}},
		{one, "p", 10, 5, 10, control.PlaceGrant{Places: 6, Others: 1, Short: 4}},
		{one, "p", 2, 2, 10, control.PlaceGrant{Places: 2, Others: 1, Short: 4}},
		{two, "q", 20, 8, 10, control.PlaceGrant{Places: 8, Others: 1}},
		{two, "r", 1, 1, 10, control.PlaceGrant{Places: 0, Others: 2}},
		{two, "q", 0, 0, 10, control.PlaceGrant{Places: 0, Others: 2, Short: 1}},
		{two, "r", 9, 1, 10, control.PlaceGrant{Places: 8, Others: 1}},
		{one, "p", 9, 1, 5, control.PlaceGrant{Places: 0, Others: 1}}, // a limit that was lowered
	} {
		if got := ask(c.db, c.process, control.PlaceAsk{Owner: "a", Want: c.want, Need: c.need, Limit: c.limit}); got[0] != c.got {
			t.Errorf("question %d: %+v, want %+v", i, got[0], c.got)
		}
	}
	// Several owners at once, each for itself.
	if got := ask(one, "p", control.PlaceAsk{Owner: "b", Want: 3, Limit: 3}, control.PlaceAsk{Owner: "c", Want: 1, Limit: 2}); got[0].Places != 3 || got[1].Places != 1 {
		t.Errorf("two owners: %+v", got)
	}
	// A question that was overtaken changes nothing.
	late := []control.PlaceAsk{{Kind: "requests", Owner: "b", Want: 1, Limit: 3, Lasts: time.Minute}}
	if _, err := one.AskPlaces(t.Context(), "p", 1, late); err != nil {
		t.Fatal(err)
	}
	if got := ask(two, "q", control.PlaceAsk{Owner: "b", Want: 3, Need: 1, Limit: 3}); got[0].Places != 0 {
		t.Errorf("after a late question: %+v", got)
	}
	for _, shift := range []string{"-60000000", "+7200000000"} { // it ended; the clock was set back
		rawPostgres(t, url, `update chainexplorer_control.place set until = until `+shift)
		if got := ask(two, "q", control.PlaceAsk{Owner: "b", Want: 3, Limit: 3}); got[0] != (control.PlaceGrant{Places: 3}) {
			t.Errorf("after %s: %+v", shift, got)
		}
	}
	if err := two.LeavePlaces(t.Context(), "q"); err != nil {
		t.Fatal(err)
	}
	if got := ask(one, "p", control.PlaceAsk{Owner: "b", Want: 3, Limit: 3}); got[0] != (control.PlaceGrant{Places: 3}) {
		t.Errorf("after the other has left: %+v", got)
	}

	// Processes at once never get more than there are.
	var all sync.WaitGroup
	var sum atomic.Int64
	for i := range 8 {
		all.Go(func() {
			got, err := []*control.DB{one, two}[i%2].AskPlaces(t.Context(), string(rune('A'+i)), 1,
				[]control.PlaceAsk{{Kind: "requests", Owner: "d", Want: 5, Limit: 17, Lasts: time.Minute}})
			if err != nil {
				t.Error(err)
				return
			}
			sum.Add(int64(got[0].Places))
		})
	}
	all.Wait()
	if sum.Load() != 17 {
		t.Errorf("%d of 17 places were given", sum.Load())
	}
}
