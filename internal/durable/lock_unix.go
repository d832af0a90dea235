//go:build unix

package durable

import (
	"os"

	"golang.org/x/sys/unix"
)

// Lock takes an open file for this process alone, until the file is closed. It fails at once
// when another has it.
func Lock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
