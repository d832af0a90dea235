//go:build linux

// Command attacker tries to get out of the sandbox that it runs in, or to use more than
// it may. Tests run it inside; it links the sandbox, so that it is its helper as well.
// An attempt that is refused prints "refused:" and why, and one that gets through "ESCAPED".
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"chainexplorer/internal/verification/sandbox"
)

var errNothing = errors.New("there is nothing to be had")

// attempts return nil when they got through.
var attempts = map[string]func(args []string) error{
	"network": func([]string) error {
		return firstNil(
			socket(unix.AF_INET, unix.SOCK_STREAM), socket(unix.AF_INET6, unix.SOCK_DGRAM), socket(unix.AF_UNIX, unix.SOCK_STREAM),
			socket(unix.AF_NETLINK, unix.SOCK_RAW), socket(unix.AF_PACKET, unix.SOCK_RAW), socket(unix.AF_VSOCK, unix.SOCK_STREAM))
	},
	"connect": connect,
	"proc": func([]string) error {
		return firstNil(exists("/proc/1"), exists("/proc/self/environ"), exists("/proc/cpuinfo"), exists("/proc/sys"), exists("/proc/kcore"))
	},
	"hostfiles": func(args []string) error {
		var errs []error
		for _, p := range append(args, "/etc/passwd", "/etc/hostname", "/home", "/root", "/usr/bin", "/var", "/run", "/sys", "/tmp", "/boot", "/dev/null", "/dev/mem", "/dev/tty") {
			errs = append(errs, exists(p))
		}
		return firstNil(errs...)
	},
	"environment": func([]string) error {
		for _, e := range os.Environ() {
			if !strings.HasPrefix(e, "PWD=") {
				return nil
			}
		}
		return errNothing
	},
	"identity": func([]string) error {
		groups, _ := os.Getgroups()
		host, _ := os.Hostname()
		if os.Getuid() == 1000 && os.Geteuid() == 1000 && os.Getgid() == 1000 && len(groups) <= 1 && host == "sandbox" {
			return errNothing
		}
		fmt.Println(os.Getuid(), os.Getgid(), groups, host)
		return nil
	},
	"files": func([]string) error { // inherited ones
		for fd := 3; fd < 1024; fd++ {
			var st unix.Stat_t
			if err := unix.Fstat(fd, &st); err != nil {
				continue
			}
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
				return nil
			}
		}
		for fd := range 3 {
			var st unix.Stat_t
			if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
				return nil // a device or a file of the host
			}
		}
		return errNothing
	},
	"readonly": func([]string) error {
		var errs []error
		for _, p := range []string{"/new", "/tree/new", "/tree/file", "/attacker", "/chainexplorer-sandbox-collector"} {
			f, err := os.OpenFile(p, os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				f.Close()
			}
			errs = append(errs, err, os.Remove(p), os.Chmod(p, 0o777))
		}
		return firstNil(errs...)
	},
	"signals": func(args []string) error {
		var pid int
		fmt.Sscan(args[0], &pid)
		return firstNil(unix.Kill(pid, 0), unix.Kill(pid, unix.SIGKILL), unix.Tgkill(pid, pid, unix.SIGKILL), pidfd(pid))
	},
	"ptrace": func([]string) error {
		parent := os.Getppid()
		return firstNil(unix.PtraceAttach(parent), unix.PtraceSeize(parent), vmRead(parent), vmRead(1), unix.PtraceAttach(1))
	},
	"mount": func([]string) error {
		_ = os.Mkdir("/out/m", 0o700)
		return firstNil(unix.Mount("proc", "/out/m", "proc", 0, ""), unix.Mount("tmpfs", "/out/m", "tmpfs", 0, ""), unix.Mount("/", "/out/m", "", unix.MS_BIND, ""),
			unix.Mount("", "/", "", unix.MS_REMOUNT, ""), unix.Mount("", "/tree", "", unix.MS_REMOUNT|unix.MS_BIND, ""), unix.Unmount("/tree", unix.MNT_DETACH), unix.Unmount("/out", 0),
			unix.PivotRoot("/out", "/out/m"), unix.Chroot("/out"), openTree())
	},
	"unshare": func([]string) error {
		var errs []error
		for _, flag := range []int{unix.CLONE_NEWUSER, unix.CLONE_NEWNS, unix.CLONE_NEWNET, unix.CLONE_NEWPID, unix.CLONE_NEWIPC, unix.CLONE_NEWUTS, unix.CLONE_NEWCGROUP, unix.CLONE_NEWTIME} {
			errs = append(errs, inThread(func() error { return unix.Unshare(flag) }))
		}
		clone := child("nothing")
		clone.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS}
		return firstNil(append(errs, clone.Run(), clone3())...)
	},
	"setuid": func([]string) error {
		return firstNil(
			inThread(func() error { return raw(unix.SYS_SETUID, 0) }), inThread(func() error { return raw(unix.SYS_SETRESUID, 0, 0, 0) }), inThread(func() error { return raw(unix.SYS_SETGID, 0) }),
			inThread(func() error { return raw(unix.SYS_SETGROUPS, 0, 0) }), os.Chown("/out", 0, 0), inThread(func() error { return raw(unix.SYS_CAPSET, 0, 0) }),
			inThread(func() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) }), inThread(func() error { return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, 21, 0, 0) }))
	},
	"mknod": func([]string) error {
		return firstNil(unix.Mknod("/out/mem", unix.S_IFCHR|0o600, 1<<8|1), unix.Mknod("/out/disk", unix.S_IFBLK|0o600, 8<<8))
	},
	"iouring": func([]string) error {
		var params [120]byte
		return raw(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params)))
	},
	"kernel": func([]string) error { // the doors through which kernels were broken
		attr := [128]byte{}
		at := uintptr(unsafe.Pointer(&attr))
		return firstNil(raw(unix.SYS_BPF, 0, at, 120), raw(unix.SYS_PERF_EVENT_OPEN, at, 0, ^uintptr(0), ^uintptr(0), 0), raw(unix.SYS_USERFAULTFD, 1),
			raw(unix.SYS_KEYCTL, 0, ^uintptr(2), 1), raw(unix.SYS_ADD_KEY, at, at, at, 0, ^uintptr(2)), raw(unix.SYS_KEXEC_LOAD, 0, 0, 0, 0), raw(unix.SYS_INIT_MODULE, at, 1, at),
			raw(unix.SYS_FINIT_MODULE, 0, at, 0), raw(unix.SYS_REBOOT, 0xfee1dead, 672274793, 0, 0), raw(unix.SYS_SWAPON, at, 0), raw(unix.SYS_OPEN_BY_HANDLE_AT, 0, at, 0),
			raw(unix.SYS_SETHOSTNAME, at, 1), raw(unix.SYS_SETNS, 0, 0), raw(unix.SYS_ACCT, at), raw(unix.SYS_SYSLOG, 3, at, 100), raw(unix.SYS_CLOCK_SETTIME, 0, at))
	},
	"personality": func([]string) error { // allowed without the filter, and harmless: see the test
		return raw(unix.SYS_PERSONALITY, 0x0040000)
	},
	"terminal": func([]string) error {
		var errs []error
		for fd := range 3 {
			c := byte('x')
			errs = append(errs, raw(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&c))))
			errs = append(errs, raw(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI|1<<32, uintptr(unsafe.Pointer(&c))))
		}
		return firstNil(errs...)
	},
	"forkbomb": forkBomb,
	"memory": func([]string) error {
		var all [][]byte
		for i := 0; i < 1<<12; i++ {
			b := make([]byte, 1<<20)
			for j := 0; j < len(b); j += 4096 {
				b[j] = 1
			}
			all = append(all, b)
		}
		runtime.KeepAlive(all)
		return nil
	},
	"disk":  func([]string) error { return fill("/out/fill", 1<<30) },
	"names": func([]string) error { return many() },
	"print": func([]string) error {
		line := []byte(strings.Repeat("x", 4095) + "\n")
		for {
			if _, err := os.Stdout.Write(line); err != nil {
				return err
			}
		}
	},
	"sleep": func([]string) error { time.Sleep(time.Hour); return nil },
	"spin": func([]string) error {
		for spun := uint64(0); ; spun++ {
			runtime.KeepAlive(spun)
		}
	},
	"daemon": func(args []string) error { // it must not outlive the sandbox
		if err := child("sleep").Start(); err != nil {
			return err
		}
		if len(args) > 0 {
			time.Sleep(time.Hour)
		}
		return errNothing
	},
	"cat": func(args []string) error { // no attempt
		data, err := os.ReadFile(args[0])
		if err == nil {
			os.Stdout.Write(data)
			os.Exit(0)
		}
		return err
	},
	"nothing": func([]string) error { return errNothing },
	"crash": func([]string) error {
		return raw(unix.SYS_TGKILL, uintptr(os.Getpid()), uintptr(os.Getpid()), uintptr(unix.SIGSEGV))
	},
	"host": host,
	// What an output can be.
	"out-plain": func([]string) error { return os.WriteFile("/out/file", []byte("plain"), 0o600) },
	"out-link":  func([]string) error { return link("/out/file", "/tree/file") },
	"out-above": func([]string) error { return firstErr(link("/out/sub", "/tree"), nil) },
	"out-hard": func([]string) error {
		return firstErr(os.WriteFile("/out/other", []byte("x"), 0o600), os.Link("/out/other", "/out/file"))
	},
	"out-fifo":   func([]string) error { return unix.Mkfifo("/out/file", 0o600) },
	"out-folder": func([]string) error { return os.Mkdir("/out/file", 0o700) },
	"out-large":  func([]string) error { return os.WriteFile("/out/file", make([]byte, 3<<20), 0o600) },
	"out-sparse": func([]string) error {
		return firstErr(os.WriteFile("/out/file", nil, 0o600), os.Truncate("/out/file", 2<<20))
	},
	"out-swap": swap,
}

func main() {
	if filepath.Base(os.Args[0]) == "scarb" {
		scarb(os.Args[1:])
		return
	}
	if len(os.Args) < 2 || attempts[os.Args[1]] == nil {
		fmt.Println("no such attempt")
		os.Exit(3)
	}
	if err := attempts[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Println("refused:", err)
		return
	}
	fmt.Println("ESCAPED")
}

// firstNil is nil when one of them got through.
func firstNil(errs ...error) error {
	for i, err := range errs {
		if err == nil {
			fmt.Printf("number %d got through\n", i)
			return nil
		}
	}
	return errors.Join(errs...)
}

func firstErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func raw(call uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	if _, _, e := syscall.RawSyscall6(call, a[0], a[1], a[2], a[3], a[4], a[5]); e != 0 {
		return e
	}
	return nil
}

// inThread keeps what an attempt does to its thread away from the others.
func inThread(f func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocks: the thread ends
		result <- f()
	}()
	return <-result
}

func socket(family, kind int) error {
	_, err := unix.Socket(family, kind, 0)
	return err
}

// connect tries to reach a server that the test runs, where sockets can be made at all.
func connect(args []string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	var port int
	fmt.Sscan(args[0], &port)
	return unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
}

func exists(path string) error {
	_, err := os.Lstat(path)
	if err == nil {
		fmt.Println("there is", path)
	}
	return err
}

func pidfd(pid int) error {
	_, err := unix.PidfdOpen(pid, 0)
	return err
}

func vmRead(pid int) error {
	b := make([]byte, 8)
	local := []unix.Iovec{{Base: &b[0], Len: 8}}
	_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
	return err
}

func openTree() error {
	_, err := unix.OpenTree(unix.AT_FDCWD, "/tree", unix.OPEN_TREE_CLONE)
	return err
}

func clone3() error {
	args := struct{ flags, pidfd, childTid, parentTid, signal, stack, stackSize, tls, setTid, setTidSize, cgroup uint64 }{flags: unix.CLONE_NEWUSER, signal: uint64(unix.SIGCHLD)}
	pid, _, e := syscall.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
	if e != 0 {
		return e
	}
	if pid == 0 {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	return nil
}

func forkBomb([]string) error {
	started := 0
	for range 10_000 {
		if err := child("sleep").Start(); err != nil {
			fmt.Printf("%d processes\n", started)
			return err
		}
		started++
	}
	return nil
}

func fill(path string, size int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	b := make([]byte, 1<<20)
	for range size >> 20 {
		if _, err := f.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// many fills the place with names.
func many() error {
	for i := range 10_000_000 {
		f, err := os.Create(fmt.Sprintf("/out/%d", i))
		if err != nil {
			return err
		}
		f.Close()
	}
	return nil
}

// host is no attempt: it is a process that runs a sandbox, for a test that ends it.
func host(args []string) error {
	s, err := sandbox.New(sandbox.Options{Scratch: args[0], Helper: args[1]})
	if err != nil {
		return err
	}
	if _, _, err := s.Folder(); err != nil {
		return err
	}
	_, err = s.Run(context.Background(), &sandbox.Spec{
		Command: []string{"/attacker", "daemon", "sleep"}, Mounts: []sandbox.Place{{From: args[1], At: "/attacker"}, {From: args[0], At: "/tree"}},
	})
	return err
}

// child is another attacker. There is no /dev/null to give it.
func child(args ...string) *exec.Cmd {
	c := exec.Command("/attacker", args...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	return c
}

func link(at, to string) error { return os.Symlink(to, at) }

// swap exchanges the output with a link as fast as it can, from a process that goes on
// when the command is over.
func swap(args []string) error {
	if len(args) == 0 {
		if err := os.WriteFile("/out/file", []byte("plain"), 0o600); err != nil {
			return err
		}
		return child("out-swap", "go").Start()
	}
	for {
		_ = os.WriteFile("/out/plain", []byte("plain"), 0o600)
		_ = os.Symlink("/tree/file", filepath.Join("/out", "link"))
		_ = os.Rename("/out/link", "/out/file")
		_ = os.Rename("/out/plain", "/out/file")
	}
}
