//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func init() {
	if len(os.Args) == 0 {
		return
	}
	switch os.Args[0] {
	case launcherName:
		fmt.Fprintln(os.Stderr, launch())
		os.Exit(1)
	case helper:
		if err := collect(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case probeName:
		if err := probe(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// What the helper's open files are, beside the standard ones.
const (
	orderFile  = 3 // the launcher reads its order from it
	filterFile = 4 // bubblewrap reads the filter from it
	resultFile = 5 // the collector writes what became of the command to it
)

// order is what the launcher is told. It comes when the launcher is in its group.
type order struct {
	Parent  int
	User    int // -1 to stay who it is
	Limits  map[int]uint64
	Command []string
}

// launch returns only when something is wrong.
func launch() error {
	var o order
	if err := json.NewDecoder(io.LimitReader(os.NewFile(orderFile, "order"), 1<<20)).Decode(&o); err != nil {
		return fmt.Errorf("launch: read the order: %w", err)
	}
	if err := unix.CloseRange(resultFile+1, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("launch: close files: %w", err)
	}
	if o.User >= 0 {
		if err := errors.Join(unix.Setgroups(nil), unix.Setresgid(o.User, o.User, o.User), unix.Setresuid(o.User, o.User, o.User)); err != nil {
			return fmt.Errorf("launch: become user %d: %w", o.User, err)
		}
	}
	for resource, limit := range o.Limits {
		hard := limit
		if resource == unix.RLIMIT_CPU {
			hard++ // at the first a signal says why, at the second it is over
		}
		if err := unix.Prlimit(0, resource, &unix.Rlimit{Cur: limit, Max: hard}, nil); err != nil {
			return fmt.Errorf("launch: set limit %d: %w", resource, err)
		}
	}
	// Another user forgets whose death is one's own.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("launch: %w", err)
	}
	if os.Getppid() != o.Parent {
		return errors.New("launch: who ordered it is gone")
	}
	unix.CloseOnExec(orderFile)
	return fmt.Errorf("launch %s: %w", o.Command[0], unix.Exec(o.Command[0], o.Command, nil))
}

// What the collector says.
const (
	saysStarted = 'S' // it stands in the sandbox
	saysExited  = 'X' // then four bytes: the exit code
	saysOutput  = 'O' // then the file to its end
	saysRefused = 'R' // then one byte: why there is no output
)

var troubles = []OutputTrouble{OutputFine, OutputMissing, OutputNotPlain, OutputTooLarge}

// collect starts the command and hands its output over. Its arguments are the most
// bytes of output, its path in Out or "", and the command.
func collect(args []string) error {
	if len(args) < 3 {
		return errors.New("collect: too few arguments")
	}
	limit, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		return fmt.Errorf("collect: %w", err)
	}
	// The command gets the standard files alone.
	if err := unix.CloseRange(orderFile, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("collect: %w", err)
	}
	say := func(b ...byte) error {
		_, err := unix.Write(resultFile, b)
		return err
	}
	if err := say(saysStarted); err != nil {
		return fmt.Errorf("collect: %w", err)
	}
	code := command(args[2:])
	if err := say(binary.BigEndian.AppendUint32([]byte{saysExited}, uint32(code))...); err != nil || args[1] == "" { //nolint:gosec // a code
		return err
	}
	f, trouble := openOutput(args[1], limit)
	if trouble != 0 {
		return say(saysRefused, trouble)
	}
	if err := say(saysOutput); err != nil {
		return err
	}
	_, err = io.Copy(os.NewFile(resultFile, "result"), io.LimitReader(f, limit+1))
	return err
}

// command runs the command and returns its exit code, in the way of shells.
func command(args []string) int {
	cmd := exec.Cmd{Path: args[0], Args: append([]string{path.Base(args[0])}, args[1:]...), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	if args[0] == helper {
		cmd.Args[0] = probeName
	}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		fmt.Fprintln(os.Stderr, err)
		return 127
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}

// openOutput opens a plain file in Out that has one name and is not too large. No link is
// followed on the way, and nothing is waited for.
func openOutput(file string, limit int64) (f *os.File, trouble byte) {
	root, err := unix.Open(Out, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, 1
	}
	fd, err := unix.Openat2(root, strings.TrimPrefix(file, Out+"/"), &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOFOLLOW | unix.O_NOCTTY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
	})
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil, 1
	case err != nil:
		return nil, 2
	}
	var st unix.Stat_t
	switch err := unix.Fstat(fd, &st); {
	case err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink != 1:
		return nil, 2
	case st.Size > limit:
		return nil, 3
	}
	return os.NewFile(uintptr(fd), file), 0
}

// probe looks around inside, when a sandbox is checked.
func probe() error {
	if fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); err == nil {
		return fmt.Errorf("probe: there is a network (socket %d)", fd)
	}
	if err := unix.Unshare(unix.CLONE_NEWUSER); err == nil {
		return errors.New("probe: there is a way to new namespaces")
	}
	for _, p := range []string{"/etc", "/home", "/root", "/usr", "/var", "/sys", "/dev", "/proc/1", "/tmp"} {
		if _, err := os.Lstat(p); err == nil {
			return fmt.Errorf("probe: there is %s", p)
		}
	}
	if os.Geteuid() == 0 || len(os.Environ()) > 1 { // bubblewrap sets PWD
		return fmt.Errorf("probe: user %d, environment %q", os.Geteuid(), os.Environ())
	}
	if err := os.WriteFile("/probe", nil, 0o600); err == nil {
		return errors.New("probe: the root can be written to")
	}
	return os.WriteFile(path.Join(Out, "probe"), []byte("ok"), 0o600)
}
