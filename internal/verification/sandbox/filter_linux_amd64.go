package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

// allowedHere are the older names of what allowed has.
var allowedHere = []uint32{
	unix.SYS_OPEN, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_READLINK, unix.SYS_NEWFSTATAT, unix.SYS_MKDIR, unix.SYS_RMDIR, unix.SYS_UNLINK,
	unix.SYS_RENAME, unix.SYS_CHMOD, unix.SYS_DUP2, unix.SYS_PIPE, unix.SYS_POLL, unix.SYS_SELECT, unix.SYS_EPOLL_CREATE, unix.SYS_EPOLL_WAIT, unix.SYS_GETDENTS,
	unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_ARCH_PRCTL, unix.SYS_TIME, unix.SYS_GETRLIMIT,
}
