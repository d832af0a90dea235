package live_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/web/live"
)

// index is one that counts who looks, and shows nothing.
type index struct {
	looks  atomic.Int64
	within atomic.Int64
	// stuck lets a look last until it is told to end.
	stuck bool
}

func (x *index) View(ctx context.Context, _ func(explorer.Reader) error) error {
	x.looks.Add(1)
	x.within.Add(1)
	defer x.within.Add(-1)
	if x.stuck {
		<-ctx.Done()
		return ctx.Err()
	}
	return errors.New("nothing to be seen")
}

func hubOf(x *index, logger *slog.Logger) *live.Hub {
	return live.New([]live.Chain{{ID: "SN_MAIN", Index: x}}, live.Options{Logger: logger})
}

// TestOneLooksForAll: an index is looked at while somebody listens, by one for all of them,
// and one that fails for long is complained about once.
func TestOneLooksForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, log := &index{}, &bytes.Buffer{}
		h := hubOf(x, slog.New(slog.NewTextHandler(log, nil)))
		defer h.Close()
		f := h.Feed("SN_MAIN")
		if h.Feed("SN_NONE") != nil {
			t.Error("a chain that is not there is watched")
		}
		looks := func(d time.Duration) int64 {
			before := x.looks.Load()
			time.Sleep(d)
			synctest.Wait()
			return x.looks.Load() - before
		}
		if n := looks(time.Hour); n != 0 {
			t.Errorf("%d looks for nobody", n)
		}
		one, two := f.Join(), f.Join()
		if n := looks(time.Minute); n < 100 || n > 121 {
			t.Errorf("%d looks in a minute for two", n)
		}
		one()
		if n := looks(time.Minute); n < 100 || n > 121 {
			t.Errorf("%d looks in a minute for one", n)
		}
		two()
		if n := looks(time.Hour); n != 0 {
			t.Errorf("%d looks after all have left", n)
		}
		if n := strings.Count(log.String(), "cannot be watched"); n != 1 {
			t.Errorf("%d complaints: %s", n, log)
		}
		if state, _ := f.Now(); state != nil {
			t.Errorf("of nothing there is %+v", state)
		}
	})
}

// TestCloseEndsALook that would take longer, and whoever joins later sets nothing going.
func TestCloseEndsALook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &index{stuck: true}
		h := hubOf(x, nil)
		leave := h.Feed("SN_MAIN").Join()
		synctest.Wait()
		if x.within.Load() != 1 {
			t.Fatalf("%d look", x.within.Load())
		}
		began := time.Now()
		h.Close()
		if x.within.Load() != 0 || time.Since(began) != 0 {
			t.Errorf("%d look, and it took %s to end", x.within.Load(), time.Since(began))
		}
		leave()
		looks := x.looks.Load()
		again := h.Feed("SN_MAIN").Join()
		<-h.Done()
		time.Sleep(time.Minute)
		synctest.Wait()
		if x.looks.Load() != looks {
			t.Error("a closed hub looks")
		}
		again()
		h.Close()
	})
}

// TestJoinWhileClosing: whoever joins while the hub is closed sets nothing going that Close
// does not wait for.
func TestJoinWhileClosing(t *testing.T) {
	for range 200 {
		x := &index{}
		h := hubOf(x, nil)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 3 {
					leave := h.Feed("SN_MAIN").Join()
					h.Feed("SN_MAIN").Now()
					leave()
				}
			})
		}
		h.Close()
		looks := x.looks.Load()
		if n := x.within.Load(); n != 0 {
			t.Fatalf("%d looks after all has ended", n)
		}
		all.Wait()
		h.Close()
		if n := x.looks.Load(); n != looks {
			t.Fatalf("%d looks more after all had ended", n-looks)
		}
	}
}
