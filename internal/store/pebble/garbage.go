package pebble

import (
	"os"
	"runtime/debug"
)

// garbagePercent is how much garbage may gather, of what is in use.
const garbagePercent = 45

// LimitGarbage lets the process collect garbage sooner than it would, unless GOGC says
// how soon. The cache lies in Go's heap, so that as much garbage as the cache is large
// would gather beside it. It is of the whole process, hence not done by Open.
func LimitGarbage() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
}
