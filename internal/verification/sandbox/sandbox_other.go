//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"fmt"
	"runtime"
)

// Sandbox needs Linux.
type Sandbox struct{}

func errSystem() error {
	return fmt.Errorf("%w: it needs Linux on amd64 or arm64, this is %s/%s", ErrUnavailable, runtime.GOOS, runtime.GOARCH)
}

// New fails.
func New(Options) (*Sandbox, error) { return nil, errSystem() }

// Close does nothing.
func (*Sandbox) Close() error { return nil }

// Check fails.
func (*Sandbox) Check(context.Context, ...Place) error { return errSystem() }

// Folder fails.
func (*Sandbox) Folder() (string, func() error, error) { return "", nil, errSystem() }

// Run fails.
func (*Sandbox) Run(context.Context, *Spec) (*Result, error) { return nil, errSystem() }
