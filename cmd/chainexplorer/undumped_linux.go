package main

import (
	"errors"

	"golang.org/x/sys/unix"
)

// undumped keeps the memory of the process out of core dumps, and away from other
// processes of the same user.
func undumped() error {
	return errors.Join(unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0), unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}))
}
