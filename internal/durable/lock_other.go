//go:build !unix

package durable

import (
	"errors"
	"io/fs"
	"os"
)

// canLock says whether Lock is of use on this system.
const canLock = false

// Lock cannot be had here.
func Lock(*os.File) error { return errors.New("files cannot be locked on this system") }

// mine cannot be told here.
func mine(fs.FileInfo) bool { return false }
