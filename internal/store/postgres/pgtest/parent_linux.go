package pgtest

import "syscall"

// endWithParent lets the server end when the process that started it is killed.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGQUIT }
