package pgtest

import (
	"os/exec"
	"runtime"
	"sync"
)

// starter is a goroutine with a thread of its own. The system ends a child by
// its parent-death signal when the thread that started it ends, not the
// process, so servers must be started from a thread that lives on.
var starter = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

func startProcess(cmd *exec.Cmd) error {
	done := make(chan error)
	starter() <- func() { done <- cmd.Start() }
	return <-done
}
