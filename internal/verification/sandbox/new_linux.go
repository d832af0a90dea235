//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// Sandbox runs commands. It can run several at once.
type Sandbox struct {
	bwrap  string
	helper string // a copy of the program that users can get to
	user   int    // -1 for that of this process
	limits Limits
	groups *cgroups
	filter []byte

	dir  string // its own folder
	lock *os.File
	id   string
	made atomic.Int64

	unfiltered bool // tests see what holds without the filter of system calls
}

// What folders and groups are called. The rest of the name is the owner's.
const prefix = "chainexplorer-sandbox-"

// New prepares a sandbox and takes away what processes that died left behind. Close it.
func New(o Options) (*Sandbox, error) {
	s := &Sandbox{limits: o.Limits.WithDefaults(), user: -1, id: strings.ToLower(rand.Text())}
	if err := s.prepare(&o); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, errors.Join(err, s.Close()))
	}
	return s, nil
}

func (s *Sandbox) prepare(o *Options) (err error) {
	if s.filter, err = filter(); err != nil {
		return err
	}
	name := o.Bwrap
	if name == "" {
		name = "bwrap"
	}
	if s.bwrap, err = exec.LookPath(name); err != nil {
		return fmt.Errorf("bubblewrap is not installed: %w", err)
	}
	if s.bwrap, err = filepath.Abs(s.bwrap); err != nil {
		return fmt.Errorf("find bubblewrap: %w", err)
	}
	if os.Geteuid() == 0 {
		if s.user = o.User; s.user == 0 {
			s.user = DefaultUser
		}
	}
	if s.groups, err = findCgroups(o.Cgroup, "/proc/self", "/"); err != nil {
		return err
	}
	scratch := o.Scratch
	if scratch == "" {
		scratch = os.TempDir()
	}
	if scratch, err = filepath.Abs(scratch); err != nil {
		return fmt.Errorf("the folder for temporary files: %w", err)
	}
	s.sweep(scratch)
	if err := s.own(scratch); err != nil {
		return err
	}
	program := o.Helper
	if program == "" {
		if program, err = os.Executable(); err != nil {
			return fmt.Errorf("which program is this? %w", err)
		}
	}
	return s.copyHelper(program)
}

// own makes the folder of this sandbox. Whoever holds its lock is alive.
func (s *Sandbox) own(scratch string) (err error) {
	s.dir = filepath.Join(scratch, prefix+s.id)
	if err := os.Mkdir(s.dir, 0o711); err != nil {
		s.dir = ""
		return fmt.Errorf("make a folder: %w", err)
	}
	if err := os.Chmod(s.dir, 0o711); err != nil { // users pass, and see no names
		return fmt.Errorf("make a folder: %w", err)
	}
	if s.lock, err = os.OpenFile(filepath.Join(s.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return fmt.Errorf("make a lock: %w", err)
	}
	if err := unix.Flock(int(s.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("lock %s: %w", s.lock.Name(), err)
	}
	return nil
}

// sweep takes away what others left behind that hold no lock any more: their processes,
// groups and folders. Where one cannot be locked, it lives, or is somebody else's.
func (s *Sandbox) sweep(scratch string) {
	stale, _ := filepath.Glob(filepath.Join(scratch, prefix+"*"))
	for _, dir := range stale {
		var st unix.Stat_t
		if unix.Lstat(dir, &st) != nil || int(st.Uid) != os.Geteuid() {
			continue
		}
		lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			s.groups.sweep(filepath.Base(dir) + "-")
			_ = os.RemoveAll(dir)
		}
		_ = lock.Close()
	}
}

// copyHelper copies the program to where the user of the sandbox can get to. A program
// that needs libraries would need those of this machine inside.
func (s *Sandbox) copyHelper(program string) (err error) {
	f, err := elf.Open(program)
	if err != nil {
		return fmt.Errorf("look at %s: %w", program, err)
	}
	defer f.Close() //nolint:errcheck // read only
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("%s is linked dynamically: build it with CGO_ENABLED=0", program)
		}
	}
	from, err := os.Open(program)
	if err != nil {
		return fmt.Errorf("copy the program: %w", err)
	}
	defer from.Close() //nolint:errcheck // read only
	s.helper = filepath.Join(s.dir, "helper")
	// A process that is started meanwhile would have the file open for writing until it has
	// become another program, and until then the copy could not be started: ETXTBSY.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	to, err := os.OpenFile(s.helper, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return fmt.Errorf("copy the program: %w", err)
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Chmod(0o755), to.Close()); err != nil {
		return fmt.Errorf("copy the program: %w", err)
	}
	return nil
}

// Close takes the sandbox's folder away. No command may be running.
func (s *Sandbox) Close() error {
	var errs []error
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}

func (s *Sandbox) nextName() string {
	return prefix + s.id + "-" + strconv.FormatInt(s.made.Add(1), 10)
}

// Folder makes an empty folder that this process and the user of the sandbox can get to
// and nobody else, and what takes it away. If this process dies, the next one does.
func (s *Sandbox) Folder() (dir string, remove func() error, err error) {
	if dir, err = os.MkdirTemp(s.dir, "tree-"); err != nil {
		return "", nil, fmt.Errorf("make a folder: %w", err)
	}
	if s.user >= 0 {
		if err := os.Chown(dir, s.user, s.user); err != nil {
			return "", nil, fmt.Errorf("make a folder: %w", err)
		}
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}

// Check runs a command in the sandbox that looks for what should not be there. It has the
// mounts that later commands are to have, so that one that cannot be had is known by then.
func (s *Sandbox) Check(ctx context.Context, mounts ...Place) error {
	r, err := s.Run(ctx, &Spec{Command: []string{helper}, Mounts: mounts, Output: Out + "/probe"})
	if err != nil {
		return err
	}
	if r.End != Exited || r.ExitCode != 0 || !bytes.Equal(r.Output, []byte("ok")) {
		return fmt.Errorf("%w: it is not tight: ended by %s with %d: %.500q", ErrUnavailable, r.End, r.ExitCode, bytes.TrimSpace(r.Text))
	}
	return nil
}
