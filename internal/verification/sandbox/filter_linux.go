//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// The filter of system calls. What is not named here is not there: the kernel answers
// as one that never had the call, which programs are prepared for.

// allowed are calls with any arguments, on both architectures. What makes sockets,
// mounts, namespaces, devices, other users, keys, tracing and asynchronous calls is
// missing on purpose, as is what only signals others.
var allowed = []uint32{
	// files
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_LSEEK, unix.SYS_CLOSE, unix.SYS_CLOSE_RANGE,
	unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_FSTAT, unix.SYS_STATX, unix.SYS_FSTATFS, unix.SYS_STATFS, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_READLINKAT,
	unix.SYS_GETDENTS64, unix.SYS_GETCWD, unix.SYS_CHDIR, unix.SYS_FCHDIR, unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_FCNTL, unix.SYS_FLOCK, unix.SYS_PIPE2, unix.SYS_UMASK,
	unix.SYS_MKDIRAT, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_FTRUNCATE, unix.SYS_TRUNCATE, unix.SYS_FALLOCATE, unix.SYS_FADVISE64,
	unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_UTIMENSAT, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_COPY_FILE_RANGE, unix.SYS_SENDFILE,
	// waiting
	unix.SYS_PPOLL, unix.SYS_PSELECT6, unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2, unix.SYS_FUTEX,
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY,
	// memory
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_BRK, unix.SYS_MINCORE, unix.SYS_MEMBARRIER,
	// processes and threads of its own
	unix.SYS_EXECVE, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_WAIT4, unix.SYS_WAITID, unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETTID, unix.SYS_TGKILL,
	unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_SET_TID_ADDRESS, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_PRLIMIT64,
	unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_GETCPU, unix.SYS_GETRUSAGE, unix.SYS_SYSINFO, unix.SYS_UNAME, unix.SYS_GETRANDOM,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
}

// namespaces are the flags of clone by which a process would get new ones.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// ioctls are those by which programs look at a file; none types into a terminal.
var ioctls = []uint32{unix.TCGETS, unix.TIOCGWINSZ, 0x541b /* FIONREAD */, 0x5451 /* FIOCLEX */, 0x5450 /* FIONCLEX */, 0x5421 /* FIONBIO */}

// prctls give threads and memory names.
var prctls = []uint32{unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_SET_VMA}

// Where the kernel puts what a filter looks at.
const (
	offsetCall = 0
	offsetArch = 4
	offsetArgs = 16
)

const (
	allow       = unix.SECCOMP_RET_ALLOW
	killProcess = unix.SECCOMP_RET_KILL_PROCESS
	notThere    = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	notAllowed  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
)

// argument is where the lower half of an argument lies; both architectures put it first.
func argument(n uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offsetArgs + 8*n, Size: 4} }

// filter is the program that the kernel runs at every call.
func filter() ([]byte, error) {
	p := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offsetArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: killProcess}, // the calls of another architecture have other numbers
		bpf.LoadAbsolute{Off: offsetCall, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: 0x40000000, SkipTrue: 1},
		bpf.RetConstant{Val: killProcess}, // as have those of x32
	}
	for _, nr := range slices.Concat(allowed, allowedHere) {
		p = append(p, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: nr, SkipTrue: 1}, bpf.RetConstant{Val: allow})
	}
	p = append(p,
		// clone3 has its flags in memory, where no filter sees them; without it programs use clone.
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_CLONE, SkipTrue: 4},
		argument(0),
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: namespaces, SkipTrue: 1},
		bpf.RetConstant{Val: allow},
		bpf.RetConstant{Val: notAllowed})
	p = append(p, oneOf(unix.SYS_IOCTL, 1, ioctls)...)
	p = append(p, oneOf(unix.SYS_PRCTL, 0, prctls)...)
	p = append(p, bpf.RetConstant{Val: notThere})

	raw, err := bpf.Assemble(p)
	if err != nil {
		return nil, fmt.Errorf("assemble the filter of system calls: %w", err)
	}
	var out bytes.Buffer
	for _, r := range raw {
		if err := binary.Write(&out, binary.NativeEndian, struct {
			Op     uint16
			Jt, Jf uint8
			K      uint32
		}{r.Op, r.Jt, r.Jf, r.K}); err != nil {
			return nil, fmt.Errorf("write the filter of system calls: %w", err)
		}
	}
	return out.Bytes(), nil
}

// oneOf allows a call when an argument is one of these. The kernel looks at its lower half alone.
func oneOf(call, arg uint32, values []uint32) []bpf.Instruction {
	p := []bpf.Instruction{argument(arg)}
	for _, v := range values {
		p = append(p, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: v, SkipTrue: 1}, bpf.RetConstant{Val: allow})
	}
	p = append(p, bpf.RetConstant{Val: notAllowed})
	return append([]bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: uint8(len(p))}}, p...) //nolint:gosec // a handful
}
