//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// insideUser is who a command is inside.
const insideUser = 1000

// bwrapArgs is the command line of bubblewrap.
func (s *Sandbox) bwrapArgs(spec *Spec) []string {
	args := []string{
		s.bwrap,
		"--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup", "--disable-userns",
		"--uid", strconv.Itoa(insideUser), "--gid", strconv.Itoa(insideUser), "--hostname", "sandbox",
		"--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv",
		"--ro-bind", s.helper, helper,
	}
	if !s.unfiltered {
		args = append(args, "--seccomp", strconv.Itoa(filterFile))
	}
	for _, m := range spec.Mounts {
		args = append(args, "--ro-bind", m.From, m.At)
	}
	for _, l := range spec.Links {
		args = append(args, "--symlink", l.From, l.At)
	}
	for _, e := range spec.Env {
		name, value, _ := strings.Cut(e, "=")
		args = append(args, "--setenv", name, value)
	}
	dir := spec.Dir
	if dir == "" {
		dir = "/"
	}
	args = append(args, "--perms", "0700", "--size", strconv.FormatInt(s.limits.Space, 10), "--tmpfs", Out, "--remount-ro", "/", "--chdir", dir)
	return append(args, "--", helper, strconv.FormatInt(s.limits.Output, 10), spec.Output)
}

// order is what the launcher is told.
func (s *Sandbox) order(spec *Spec) order {
	file := uint64(max(s.limits.Space, s.limits.Output)) //nolint:gosec // limits are positive
	return order{
		Parent: os.Getpid(), User: s.user, Command: append(s.bwrapArgs(spec), spec.Command...),
		Limits: map[int]uint64{
			// The group bounds what is used; address space is reserved generously.
			unix.RLIMIT_AS: uint64(s.limits.Memory)*2 + 16<<30, //nolint:gosec // limits are positive
			// The clock on the wall ends a command, unless it stands still while the machine sleeps.
			unix.RLIMIT_CPU:   uint64(s.limits.Time.Seconds()*max(1, s.limits.CPUs)) + 1,
			unix.RLIMIT_FSIZE: file, unix.RLIMIT_NOFILE: 1024, unix.RLIMIT_CORE: 0, unix.RLIMIT_MEMLOCK: 0, unix.RLIMIT_MSGQUEUE: 0, unix.RLIMIT_SIGPENDING: 1024,
			// Counts all processes of the user; the group counts those of the command.
			unix.RLIMIT_NPROC: 4096,
		},
	}
}

// tail is how long pipes may stay open when all processes were ended.
const tail = 5 * time.Second

// Run runs a command to its end and leaves nothing behind. Whatever the command does is
// in the result; an error is trouble of the sandbox, or that ctx ended.
func (s *Sandbox) Run(ctx context.Context, spec *Spec) (*Result, error) {
	if len(spec.Command) == 0 || spec.Output != "" && (!strings.HasPrefix(spec.Output, Out+"/") || !filepath.IsLocal(strings.TrimPrefix(spec.Output, Out+"/"))) {
		return nil, errors.New("sandbox: a command, and an output below " + Out)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g, err := s.groups.create(s.nextName(), &s.limits)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	r, err := s.run(ctx, spec, g)
	if e := g.end(); e != nil {
		return nil, errors.Join(err, e)
	}
	return r, err
}

func (s *Sandbox) run(ctx context.Context, spec *Spec, g *group) (*Result, error) {
	limited, cancel := context.WithTimeout(ctx, s.limits.Time)
	defer cancel()
	p, err := s.start(spec, g)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	end := Exited
	select {
	case <-p.ended:
	case <-p.text.over:
		end = TooMuchText
	case <-limited.Done():
		end = TimedOut
	}
	g.kill()
	p.kill()
	<-p.ended
	select { // what the pipes still hold
	case <-p.read:
	case <-time.After(tail):
		p.close()
		<-p.read
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := p.result(s.limits.Output)
	switch {
	case err != nil:
		return nil, err
	case end != Exited:
		r.End = end
	case p.text.isOver():
		r.End = TooMuchText
	case g.outOfMemory():
		r.End = OutOfMemory
	case r.End == "":
		// The collector died with the command, without a word.
		r.End, r.ExitCode = Exited, 128+int(unix.SIGKILL)
	case r.ExitCode == 128+int(unix.SIGXCPU):
		r.End = OutOfCPU
	}
	if r.End != Exited {
		r.Output, r.OutputTrouble = nil, OutputMissing
	}
	return r, nil
}

// process is bubblewrap with the command in it.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it was waited for
	text  *text
	said  bytes.Buffer  // by the collector
	read  chan struct{} // closed when both were read to their ends
	open  []*os.File
}

func (p *process) kill() { _ = p.cmd.Process.Kill() }

func (p *process) close() {
	for _, f := range p.open {
		_ = f.Close()
	}
}

// start starts the launcher, puts it into its group and only then lets it go on.
func (s *Sandbox) start(spec *Spec, g *group) (*process, error) {
	plan, err := json.Marshal(s.order(spec))
	if err != nil {
		return nil, fmt.Errorf("write the order: %w", err)
	}
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
	}()
	p := &process{ended: make(chan struct{}), read: make(chan struct{}), text: &text{limit: s.limits.Text, over: make(chan struct{})}}
	var pipes [5][2]*os.File // standard input, text, order, filter, result
	for i := range pipes {
		if pipes[i][0], pipes[i][1], err = os.Pipe(); err != nil {
			p.close()
			return nil, fmt.Errorf("make pipes: %w", err)
		}
		their := 0 // they read, but for text and result
		if i == 1 || i == 4 {
			their = 1
		}
		theirs, p.open = append(theirs, pipes[i][their]), append(p.open, pipes[i][1-their])
	}
	_ = p.open[0].Close() // nothing is typed
	p.cmd = &exec.Cmd{
		Path: s.helper, Args: []string{launcherName}, Env: []string{}, Dir: "/",
		Stdin: theirs[0], Stdout: theirs[1], Stderr: theirs[1], ExtraFiles: theirs[2:],
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	started := make(chan error)
	go func() {
		// The kernel sends a child the signal when the thread ends that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // the collector says what became of the command
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		p.close()
		return nil, fmt.Errorf("start the launcher: %w", err)
	}
	err = g.add(p.cmd.Process.Pid)
	for i, data := range [][]byte{plan, s.filter} { // both fit into a pipe
		if err == nil {
			_, err = p.open[2+i].Write(data)
		}
		_ = p.open[2+i].Close()
	}
	if err != nil {
		p.kill()
		<-p.ended
		p.close()
		return nil, err
	}
	go func() {
		defer close(p.read)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = io.Copy(p.text, p.open[1])
		}()
		_, _ = io.Copy(&p.said, io.LimitReader(p.open[4], s.limits.Output+64))
		<-done
		p.close()
	}()
	return p, nil
}

// result reads what the collector said, which the command may have forged.
func (p *process) result(limit int64) (*Result, error) {
	r := &Result{Text: p.text.kept, OutputTrouble: OutputMissing}
	said := p.said.Bytes()
	if len(said) == 0 || said[0] != saysStarted {
		// All text is bubblewrap's and the launcher's, then.
		return nil, fmt.Errorf("%w: bubblewrap: %.500q", ErrUnavailable, bytes.TrimSpace(p.text.kept))
	}
	said = said[1:]
	if len(said) < 5 || said[0] != saysExited {
		return r, nil
	}
	r.End, r.ExitCode = Exited, int(binary.BigEndian.Uint32(said[1:]))
	said = said[5:]
	switch {
	case len(said) == 2 && said[0] == saysRefused && int(said[1]) < len(troubles):
		r.OutputTrouble = troubles[said[1]]
	case len(said) > 0 && said[0] == saysOutput && int64(len(said)-1) > limit:
		r.OutputTrouble = OutputTooLarge
	case len(said) > 0 && said[0] == saysOutput:
		r.Output, r.OutputTrouble = said[1:], OutputFine
	}
	return r, nil
}

// text counts what a command prints and keeps how it begins.
type text struct {
	kept  []byte
	n     int64
	limit int64
	over  chan struct{} // closed when there is too much
}

func (t *text) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b[:min(len(b), keptText-len(t.kept))]...)
	before := t.n
	t.n += int64(len(b))
	if before <= t.limit && t.n > t.limit {
		close(t.over)
	}
	return len(b), nil
}

func (t *text) isOver() bool {
	select {
	case <-t.over:
		return true
	default:
		return false
	}
}
