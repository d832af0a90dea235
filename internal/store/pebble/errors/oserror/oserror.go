// Package oserror tells errors of a file system apart, marked ones too.
package oserror

import (
	"io/fs"

	"github.com/cockroachdb/errors"
)

// What errors of a file system are.
var (
	ErrInvalid    = fs.ErrInvalid
	ErrPermission = fs.ErrPermission
	ErrExist      = fs.ErrExist
	ErrNotExist   = fs.ErrNotExist
)

// IsPermission says that something was not allowed.
func IsPermission(err error) bool { return errors.Is(err, ErrPermission) }

// IsExist says that there is something already.
func IsExist(err error) bool { return errors.Is(err, ErrExist) }

// IsNotExist says that something is not there.
func IsNotExist(err error) bool { return errors.Is(err, ErrNotExist) }
