//go:build !linux

package pgtest

import "syscall"

// endWithParent does nothing: only Linux knows how.
func endWithParent(*syscall.SysProcAttr) {}
