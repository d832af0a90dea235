//go:build unix

package durable

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// canLock says whether Lock is of use on this system.
const canLock = true

// Lock takes an open file for this process alone, until the file is closed. It fails at once
// when another has it.
func Lock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// mine says whether a file is of the user that this process runs as.
func mine(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
