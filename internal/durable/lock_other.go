//go:build !unix

package durable

import (
	"errors"
	"os"
)

// Lock cannot be had here.
func Lock(*os.File) error { return errors.New("files cannot be locked on this system") }
