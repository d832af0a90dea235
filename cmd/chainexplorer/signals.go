package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"chainexplorer/internal/logs"
)

// closeTime is what a command may take to end after it was asked to, beyond what
// it announces with patience.
const closeTime = 10 * time.Second

// stopper ends the program by signals: the first one asks it to end, the second
// one ends it at once, and so does the time when the first one does not help.
type stopper struct {
	stderr io.Writer
	limit  atomic.Int64 // time.Duration
}

func newStopper(stderr io.Writer) *stopper {
	s := &stopper{stderr: stderr}
	s.limit.Store(int64(closeTime))
	return s
}

// listen returns a context that ends with the first signal, and a function that
// gives the signals back.
func (s *stopper) listen() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals, done := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		select {
		case <-signals:
			cancel()
		case <-done:
			return
		}
		limit := time.Duration(s.limit.Load())
		t := time.NewTimer(limit)
		defer t.Stop()
		for {
			select {
			case sig := <-signals:
				if sig != syscall.SIGHUP { // which comes along when a terminal or a session ends
					s.exit(fmt.Sprintf("%s once more, ending at once", sig))
				}
			case <-t.C:
				s.exit(fmt.Sprintf("did not end within %s of the signal", limit))
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}

// exit leaves everything as a crash would: all that was acknowledged is durable.
func (s *stopper) exit(why string) {
	fmt.Fprintf(s.stderr, "chainexplorer: %s\n", why) //nolint:errcheck // nobody is left to tell
	if u, ok := s.stderr.(*logs.Unread); ok {
		u.Flush(lastWords)
	}
	os.Exit(exitFailure)
}

// services run until they are stopped, whoever reads their log.
var services = []string{"serve", "index", "api", "worker", "signer"}

// lastWords is how long the end of a process waits for who reads its log.
const lastWords = time.Second

// detached is where a service logs to. A reader that stops reading must not stop the service, nor keep it from ending, and one
// that goes away must not end it. A terminal is left as it is: a person is there.
func detached(stderr io.Writer) (io.Writer, func()) {
	f, ok := stderr.(*os.File)
	if !ok || term.IsTerminal(int(f.Fd())) {
		return stderr, func() {}
	}
	signal.Ignore(syscall.SIGPIPE)
	u := logs.NewUnread(f)
	return u, func() { u.Flush(lastWords) }
}
