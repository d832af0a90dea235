package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

func allocated() uint64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.TotalAlloc
}

// diskSize tells the tables from the write-ahead logs, which are kept for
// reuse and do not grow with the chain.
func diskSize(dir string) (tables, logs int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // an obsolete file that was just removed
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if filepath.Ext(path) == ".log" {
			logs += info.Size()
		} else {
			tables += info.Size()
		}
		return nil
	})
	return tables, logs, err
}

// peakMemory is the most that this process had in memory at once, as the system
// counts it, and 0 where it does not tell.
func peakMemory() (bytesAtMost int64) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, found := bytes.Cut(b, []byte("VmHWM:"))
	if !found {
		return 0
	}
	var kib int64
	if _, err := fmt.Sscan(string(after), &kib); err != nil {
		return 0
	}
	return kib << 10
}
