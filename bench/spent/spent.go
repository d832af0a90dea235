// Package spent tells what a benchmark has taken of the machine.
package spent

import (
	"syscall"
	"time"
)

// CPU is the time that this process has had of all cores: beside other work it says more
// than the clock does.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
