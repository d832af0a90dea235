package servertest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
)

// shelf is what the tests of a package share.
var shelf struct {
	sync.Mutex
	worlds map[int]*World // by number of blocks
	ends   []func()       // newest last
}

// Shared is a World of n blocks that all tests of a package have in common. It is
// for reading: keys may be made, but a test that moves the chain or the clock, or
// writes to the index, fails. The package's TestMain must call Main.
func Shared(t *testing.T, n int) *World {
	t.Helper()
	leaveOut(t)
	shelf.Lock()
	defer shelf.Unlock()
	kept := shelf.worlds[n]
	if kept == nil {
		kept = serve(&World{T: t, life: life{context.Background(), atTheEnd, scratch}}, n)
		kept.shared = true
		if shelf.worlds == nil {
			shelf.worlds = map[int]*World{}
		}
		shelf.worlds[n] = kept
	}
	w := *kept
	w.T = t
	before := w.state()
	t.Cleanup(func() {
		if after := w.state(); after != before {
			t.Errorf("a test changed what others share: %s, and was %s", after, before)
		}
		w.checkLogs()
	})
	return &w
}

// state is what a test that shares must leave as it was.
func (w *World) state() string {
	head, _ := w.Chain.Head()
	return fmt.Sprintf("block %d after %d forks at %s", head, len(w.Chain.Reorgs()), w.Clock.Now())
}

// own is for what only a World of the test's own may do.
func (w *World) own() {
	w.T.Helper()
	if w.shared {
		w.T.Fatal("other tests share this world: use New")
	}
}

// atTheEnd and scratch are called with the shelf locked.
func atTheEnd(f func()) { shelf.ends = append(shelf.ends, f) }

func scratch() string {
	dir, err := os.MkdirTemp("", "servertest-")
	if err != nil {
		panic(fmt.Sprintf("servertest: %v", err))
	}
	atTheEnd(func() { os.RemoveAll(dir) }) //nolint:errcheck // of no use to anybody
	return dir
}

// Main runs a package's tests and ends what they shared:
//
//	func TestMain(m *testing.M) { os.Exit(servertest.Main(m.Run)) }
func Main(run func() int) int {
	defer func() {
		shelf.Lock()
		defer shelf.Unlock()
		for i := len(shelf.ends) - 1; i >= 0; i-- {
			shelf.ends[i]()
		}
		shelf.worlds, shelf.ends = nil, nil
	}()
	return run()
}
