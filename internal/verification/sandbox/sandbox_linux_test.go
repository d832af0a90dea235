//go:build amd64 || arm64

package sandbox_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"chainexplorer/internal/verification/sandbox"
	"chainexplorer/internal/verification/sandbox/sandboxtest"
)

// world is a sandbox with an attacker and a tree that it sees.
type world struct {
	*sandbox.Sandbox
	program, tree, scratch string
	name                   string // of its folder and groups
}

func newWorld(t *testing.T, l sandbox.Limits) *world {
	t.Helper()
	w := &world{program: sandboxtest.Program(t), tree: sandboxtest.Folder(t), scratch: sandboxtest.Folder(t)}
	if err := os.WriteFile(filepath.Join(w.tree, "file"), []byte("source"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(w.tree, 0o777), os.Chmod(filepath.Join(w.tree, "file"), 0o666)); err != nil { // modes alone do not hold
		t.Fatal(err)
	}
	s, err := sandbox.New(sandbox.Options{Scratch: w.scratch, Helper: w.program, Limits: l})
	if err != nil {
		t.Skipf("a sandbox cannot be had here: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		w.leftNothing(t)
	})
	w.Sandbox = s
	own, err := os.ReadDir(w.scratch)
	if err != nil || len(own) != 1 {
		t.Fatalf("%v %v", own, err)
	}
	w.name = own[0].Name()
	return w
}

// leftNothing looks for groups and folders.
func (w *world) leftNothing(t *testing.T) {
	t.Helper()
	patterns := []string{filepath.Join(w.scratch, "*")}
	for _, dir := range w.Groups() {
		patterns = append(patterns, filepath.Join(dir, w.name+"-*"))
	}
	for _, p := range patterns {
		if left, err := filepath.Glob(p); err != nil || left != nil {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
	data, err := os.ReadFile(filepath.Join(w.tree, "file"))
	if err != nil || string(data) != "source" {
		t.Errorf("the tree was changed: %q %v", data, err)
	}
}

func (w *world) attempt(t *testing.T, output string, args ...string) *sandbox.Result {
	t.Helper()
	r, err := w.Run(t.Context(), &sandbox.Spec{
		Command: append([]string{"/attacker"}, args...), Output: output,
		Mounts: []sandbox.Place{{From: w.program, At: "/attacker"}, {From: w.tree, At: "/tree"}},
	})
	if err != nil {
		t.Fatalf("%s: %v", args[0], err)
	}
	return r
}

func refused(t *testing.T, what string, r *sandbox.Result) {
	t.Helper()
	if r.End != sandbox.Exited || r.ExitCode != 0 || !strings.Contains(string(r.Text), "refused:") || strings.Contains(string(r.Text), "ESCAPED") {
		t.Errorf("%s: ended by %s with %d and printed %q", what, r.End, r.ExitCode, r.Text)
	}
}

// TestNothingGetsOut plays attacks inside, with all that holds and then without the filter
// of system calls: the namespaces must hold alone what they are there for.
func TestNothingGetsOut(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	t.Setenv("SANDBOX_TEST_SECRET", "secret")
	w := newWorld(t, sandbox.Limits{})
	here, _ := filepath.Abs(".")
	args := map[string][]string{
		"connect": {port}, "signals": {fmt.Sprint(os.Getpid())}, "hostfiles": {here, w.tree, w.scratch, os.TempDir()},
	}
	both := []string{"connect", "proc", "hostfiles", "environment", "identity", "files", "readonly", "signals", "mount", "unshare", "setuid", "mknod", "terminal", "daemon"}
	for _, name := range append([]string{"network", "ptrace", "iouring", "kernel", "personality"}, both...) {
		refused(t, name, w.attempt(t, "", append([]string{name}, args[name]...)...))
	}
	w.Unfiltered()
	for _, name := range both {
		refused(t, name+" without the filter", w.attempt(t, "", append([]string{name}, args[name]...)...))
	}
}

func TestLimitsHold(t *testing.T) {
	t.Run("processes", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, sandbox.Limits{Processes: 40})
		r := w.attempt(t, "", "forkbomb")
		refused(t, "fork bomb", r)
		var n int
		if _, err := fmt.Sscanf(string(r.Text), "%d processes", &n); err != nil || n == 0 || n > 40 {
			t.Errorf("%d processes: %q", n, r.Text)
		}
	})
	t.Run("space", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, sandbox.Limits{Space: 2 << 20})
		r := w.attempt(t, "", "disk")
		refused(t, "a large file", r)
		if !strings.Contains(string(r.Text), "no space left") {
			t.Errorf("%q", r.Text)
		}
	})
	for name, c := range map[string]struct {
		limits sandbox.Limits
		args   []string
		end    sandbox.End
	}{
		"memory":          {sandbox.Limits{Memory: 96 << 20}, []string{"memory"}, sandbox.OutOfMemory},
		"names":           {sandbox.Limits{Memory: 48 << 20}, []string{"names"}, sandbox.OutOfMemory},
		"memory by space": {sandbox.Limits{Memory: 96 << 20, Space: 1 << 30}, []string{"disk"}, sandbox.OutOfMemory},
		"text":            {sandbox.Limits{Text: 1 << 20}, []string{"print"}, sandbox.TooMuchText},
		"time asleep":     {sandbox.Limits{Time: time.Second}, []string{"sleep"}, sandbox.TimedOut},
		"time busy":       {sandbox.Limits{Time: time.Second}, []string{"spin"}, sandbox.TimedOut},
		"time of many":    {sandbox.Limits{Time: time.Second}, []string{"daemon", "sleep"}, sandbox.TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.limits)
			if r := w.attempt(t, sandbox.Out+"/file", c.args...); r.End != c.end || r.Output != nil {
				t.Errorf("ended by %s with %d, output of %d bytes: %q", r.End, r.ExitCode, len(r.Output), r.Text)
			}
		})
	}
}

// TestBesideOtherProcesses: what is started while a sandbox is made does not keep its helper
// from being started.
func TestBesideOtherProcesses(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var others sync.WaitGroup
	defer others.Wait()
	defer cancel()
	for range 4 {
		others.Go(func() {
			for ctx.Err() == nil {
				cmd := exec.CommandContext(ctx, "true")
				cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET} // it takes longer to become another program
				cmd.Run()                                                                //nolint:errcheck // it need only be begun
			}
		})
	}
	for range 20 {
		w := newWorld(t, sandbox.Limits{Time: time.Minute})
		if r := w.attempt(t, sandbox.Out+"/file", "out-plain"); r.End != sandbox.Exited {
			t.Fatalf("ended by %s", r.End)
		}
	}
}

// TestOutputIsReadStrictly: links, pipes, folders, second names and large files are no output.
func TestOutputIsReadStrictly(t *testing.T) {
	w := newWorld(t, sandbox.Limits{Output: 2 << 20})
	w.Unfiltered() // it would refuse to make links at all
	for _, c := range []struct {
		attempt, output, want string
		trouble               sandbox.OutputTrouble
	}{
		{"out-plain", "/out/file", "plain", sandbox.OutputFine},
		{"nothing", "/out/file", "", sandbox.OutputMissing},
		{"out-link", "/out/file", "", sandbox.OutputNotPlain},
		{"out-above", "/out/sub/file", "", sandbox.OutputNotPlain},
		{"out-hard", "/out/file", "", sandbox.OutputNotPlain},
		{"out-fifo", "/out/file", "", sandbox.OutputNotPlain},
		{"out-folder", "/out/file", "", sandbox.OutputNotPlain},
		{"out-large", "/out/file", "", sandbox.OutputTooLarge},
		{"out-sparse", "/out/file", strings.Repeat("\x00", 2<<20), sandbox.OutputFine},
	} {
		r := w.attempt(t, c.output, c.attempt)
		if r.End != sandbox.Exited || r.OutputTrouble != c.trouble || string(r.Output) != c.want {
			t.Errorf("%s: ended by %s, %d bytes, trouble %q", c.attempt, r.End, len(r.Output), r.OutputTrouble)
		}
	}
	for range 20 { // whoever wins, a link is not followed
		r := w.attempt(t, "/out/file", "out-swap")
		if r.Output != nil && string(r.Output) != "plain" && len(r.Output) != 0 {
			t.Fatalf("the link was followed: %q", r.Output)
		}
	}
	for _, output := range []string{"/etc/passwd", "/out", "/out/../tree/file", "out/file"} {
		if _, err := w.Run(t.Context(), &sandbox.Spec{Command: []string{"/attacker"}, Output: output}); err == nil {
			t.Errorf("an output %s was taken", output)
		}
	}
}

func TestCommandsEnd(t *testing.T) {
	w := newWorld(t, sandbox.Limits{})
	if r := w.attempt(t, "", "no such"); r.End != sandbox.Exited || r.ExitCode != 3 {
		t.Errorf("ended by %s with %d", r.End, r.ExitCode)
	}
	if r := w.attempt(t, "", "crash"); r.End != sandbox.Exited || r.ExitCode == 0 {
		t.Errorf("ended by %s with %d", r.End, r.ExitCode)
	}
	r, err := w.Run(t.Context(), &sandbox.Spec{Command: []string{"/not/there"}})
	if err != nil || r.ExitCode != 127 {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := w.Run(t.Context(), &sandbox.Spec{Command: []string{"/attacker"}, Mounts: []sandbox.Place{{From: "/not/there", At: "/x"}}}); !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("a mount that is not there: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if r, err := w.Run(ctx, &sandbox.Spec{Command: []string{"/attacker", "sleep"}, Mounts: []sandbox.Place{{From: w.program, At: "/attacker"}}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: %+v %v", r, err)
	}
}

// TestFolderIsSeenByTheSandboxAlone: what is laid there can be a private source.
func TestFolderIsSeenByTheSandboxAlone(t *testing.T) {
	w := newWorld(t, sandbox.Limits{})
	dir, remove, err := w.Folder()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("private"), 0o644); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	r, err := w.Run(t.Context(), &sandbox.Spec{Command: []string{"/attacker", "cat", "/tree/file"}, Mounts: []sandbox.Place{{From: w.program, At: "/attacker"}, {From: dir, At: "/tree"}}})
	if err != nil || string(r.Text) != "private" {
		t.Errorf("%+v %v", r, err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	w := newWorld(t, sandbox.Limits{})
	if err := w.Check(t.Context()); err != nil {
		t.Error(err)
	}
	w.Unfiltered()
	if err := w.Check(t.Context()); !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), "network") {
		t.Errorf("without the filter sockets can be made, and Check says %v", err)
	}
}

func TestNewSaysWhatIsMissing(t *testing.T) {
	program := sandboxtest.Program(t)
	dynamic, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o    sandbox.Options
		want string
	}{
		{sandbox.Options{Helper: program, Bwrap: "/not/there"}, "bubblewrap is not installed"},
		{sandbox.Options{Helper: program, Cgroup: t.TempDir()}, "controllers [memory pids cpu]"},
		{sandbox.Options{Helper: program, Scratch: "/not/there"}, "make a folder"},
		{sandbox.Options{Helper: dynamic}, "CGO_ENABLED=0"},
		{sandbox.Options{Helper: "/not/there"}, "not/there"},
	} {
		if c.o.Scratch == "" {
			c.o.Scratch = sandboxtest.Folder(t)
		}
		s, err := sandbox.New(c.o)
		if s != nil || !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.o, err)
		}
		if left, _ := os.ReadDir(c.o.Scratch); len(left) > 0 {
			t.Errorf("%+v left %v", c.o, left)
		}
	}
}

// TestNothingOutlivesItsOwner ends a process that runs a sandbox by SIGKILL.
func TestNothingOutlivesItsOwner(t *testing.T) {
	w := newWorld(t, sandbox.Limits{})
	scratch := sandboxtest.Folder(t)
	owner := exec.Command(w.program, "host", scratch, w.program)
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- owner.Wait() }()
	var folder string
	var inside []string
	wait(t, "the command to run", func() bool {
		if found, _ := filepath.Glob(filepath.Join(scratch, "*")); len(found) == 1 {
			folder = found[0]
		} else {
			return false
		}
		inside = members(w.Groups(), filepath.Base(folder))
		return len(inside) >= 5 // two of bubblewrap, the collector, the command and its child
	})
	for _, pid := range inside {
		status, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
		if err != nil || strings.Contains(string(status), "Uid:\t0") || strings.Contains(string(status), "Gid:\t0") {
			t.Errorf("outside, process %s is root: %v %s", pid, err, status)
		}
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	wait(t, "all processes to end", func() bool { return len(members(w.Groups(), filepath.Base(folder))) == 0 })
	s, err := sandbox.New(sandbox.Options{Scratch: scratch, Helper: w.program})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
	for _, dir := range w.Groups() {
		if left, _ := filepath.Glob(filepath.Join(dir, filepath.Base(folder)+"*")); left != nil {
			t.Errorf("groups are still there: %v", left)
		}
	}
}

// members are the processes in groups of that name.
func members(parents map[string]string, name string) (pids []string) {
	files, _ := filepath.Glob(filepath.Join(parents["pids"], name+"-*", "cgroup.procs"))
	for _, f := range files {
		if data, err := os.Open(f); err == nil {
			for lines := bufio.NewScanner(data); lines.Scan(); {
				pids = append(pids, lines.Text())
			}
			data.Close()
		}
	}
	return pids
}

func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited too long for %s", what)
		}
	}
}
