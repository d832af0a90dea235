// Package join has the Join of package errors, which Pebble calls where the original's
// would note the place as well.
package join

import "errors"

// Join returns an error with all of these as causes, nil where all are nil.
func Join(errs ...error) error { return errors.Join(errs...) }
