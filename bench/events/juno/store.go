package main

import (
	"context"
	"runtime"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// hold keeps a block for storeHeld.
func (w *writer) hold(b *block) { w.held = append(w.held, valuesOf(b)) }

// storeHeld writes the blocks that are held and measures it: neither the stream that
// they came by nor the making of the node's values is in it. Everything is compacted
// afterwards, to be weighed.
func (w *writer) storeHeld() (s stored) {
	runtime.GC()
	worked, start := cpuTime(), time.Now()
	err := w.putHeld()
	s.Took, s.CPU = time.Since(start), cpuTime()-worked
	if err == nil {
		s.Bytes, err = w.weigh()
	}
	if err != nil {
		s.Err = err.Error()
	}
	return s
}

func (w *writer) putHeld() error {
	for _, b := range w.held {
		if err := w.put(b); err != nil {
			return err
		}
	}
	w.held = nil
	return w.finish()
}

// weigh compacts the store and returns the size of its tables.
func (w *writer) weigh() (uint64, error) {
	db := w.store.Impl().(*pebble.DB)
	if err := db.Flush(); err != nil {
		return 0, err
	}
	if err := db.Compact(context.Background(), []byte{0}, []byte{255, 255}, true); err != nil {
		return 0, err
	}
	total := db.Metrics().Total()
	return uint64(total.TablesSize), nil
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
