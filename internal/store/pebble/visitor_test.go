package pebble_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/store"
)

// TestPanicOfAnotherVisitor: a panic in a goroutine that helps comes out where the
// rows were asked for, as that of a server's handler must to be caught.
func TestPanicOfAnotherVisitor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	e := openLog(t, logOptions(vfs.NewMem()))
	b := &store.Batch{Epoch: lease(t, e, "writer").Epoch}
	var keys []store.Key
	for n := range uint64(256) {
		keys = append(keys, entryKey(n))
		b.Put(entryKey(n), []byte("x"))
	}
	if err := e.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if p := recover(); p != "mine" {
			t.Errorf("the panic became %v", p)
		}
	}()
	helped := make(chan struct{})
	var made atomic.Int32
	err := e.View(t.Context(), func(r store.Reader) error {
		return r.Each(t.Context(), keys, func() store.Visitor {
			if made.Add(1) == 2 {
				return func(int, []byte) error { close(helped); panic("mine") }
			}
			seen := 0
			return func(int, []byte) error {
				if seen++; seen > 32 {
					<-helped // more than enough to see that help is worth it
					return nil
				}
				for begin := time.Now(); time.Since(begin) < 50*time.Microsecond; { // a slow row
				}
				return nil
			}
		})
	})
	t.Errorf("there was no panic: %v", err)
}
