// Command testrun runs 'go test' and says which tests were skipped, and why: a
// test that is skipped without a word is a test that nobody misses.
//
//	go run ./scripts/testrun [flags and packages of go test]
//
// It prints what go test prints: a line per package, and all that a failed test
// said. With CI set in the environment, a skip whose reason is not on the list in
// skips.go is a failure: a machine that lacks PostgreSQL has not tested it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, append([]string{"go", "test", "-json"}, os.Args[1:]...), os.Getenv("CI") != "", os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		stop()
		os.Exit(1)
	}
}

// run runs a command that prints the events of go test, and tells of them.
func run(ctx context.Context, command []string, strict bool, out io.Writer) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	// go test ends its tests by itself when it is interrupted.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("read the events of go test: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start go test: %w", err)
	}
	r := &report{out: out}
	readErr := r.read(events)
	// What is left unread would keep go test from ending.
	_, _ = io.Copy(io.Discard, events)
	waitErr := cmd.Wait()
	unexpected := r.summary()
	switch {
	case readErr != nil:
		return readErr
	case waitErr != nil:
		return fmt.Errorf("go test: %w", errors.Join(ctx.Err(), waitErr))
	case r.failed:
		return errors.New("a package failed, although go test ended well")
	case unexpected > 0 && strict:
		return fmt.Errorf("%d tests were skipped for reasons that are not on the list in scripts/testrun/skips.go", unexpected)
	}
	return nil
}

// summary tells which tests were skipped, and returns how many of them are not
// expected.
func (r *report) summary() (unexpected int) {
	counts := make([]int, len(expected))
	var others []skip
	for _, s := range r.skips {
		if i := slices.IndexFunc(expected, func(e expectation) bool { return e.matches(s.reason) }); i >= 0 {
			counts[i]++
		} else {
			others = append(others, s)
		}
	}
	if len(r.skips) > len(others) {
		fmt.Fprintln(r.out, "skipped, as expected:")
		for i, n := range counts {
			if n > 0 {
				fmt.Fprintf(r.out, "  %4d  %s: %s\n", n, expected[i].reason, expected[i].why)
			}
		}
	}
	if len(others) > 0 {
		fmt.Fprintln(r.out, "skipped, which fails where CI is set:")
		for _, s := range others {
			fmt.Fprintf(r.out, "        %s %s: %s\n", s.pkg, s.test, s.reason)
		}
	}
	return len(others)
}
