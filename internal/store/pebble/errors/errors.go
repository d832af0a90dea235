// Package errors stands in for the errors that Pebble is written with: go.mod puts it in the
// place of github.com/cockroachdb/errors. It has what Pebble calls of that. The original also
// sends errors over networks and to a service that collects them, which nothing here does, and
// whoever builds the program for the first time would wait for the packages that this takes.
//
// Messages and what Is finds are those of the original. Where an error was made is not kept,
// so %+v shows notes of an error and errors beside it, and no stack.
package errors

import (
	"errors"

	"github.com/cockroachdb/redact"
)

// New returns an error with a message. Another one with the same message is the same to Is.
func New(message string) error { return &leaf{message} }

// Newf is New with a format. An error that is formatted with %w becomes its cause.
//
// Formats are those of package redact, as Pebble's types expect; its marks are taken out.
func Newf(format string, args ...any) error {
	marked, cause := redact.HelperForErrorf(format, args...)
	message := marked.StripMarkers()
	var err error = &leaf{message}
	if cause != nil {
		err = &worded{cause, message}
	}
	return beside(err, args)
}

// Errorf is Newf.
func Errorf(format string, args ...any) error { return Newf(format, args...) }

// AssertionFailedf is Newf for what can only be a mistake in a program.
func AssertionFailedf(format string, args ...any) error {
	return &noted[assertion]{Newf(format, args...), "assertion failure"}
}

// Wrap puts a message before that of an error.
func Wrap(err error, message string) error {
	if err == nil || message == "" {
		return err
	}
	return &prefixed{err, message}
}

// Wrapf is Wrap with a format.
func Wrapf(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return beside(Wrap(err, text(format, args)), args)
}

// WithStack returns err as it is: see the package.
func WithStack(err error) error { return err }

// WithDetailf attaches a note that %+v shows.
func WithDetailf(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &noted[detail]{err, detail(text(format, args))}
}

// WithHintf attaches a note that %+v shows.
func WithHintf(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &noted[hint]{err, hint(text(format, args))}
}

// WithSafeDetails attaches a note that %+v shows. The original shows only what of it is declared
// safe, because its notes leave the machine.
func WithSafeDetails(err error, format string, args ...any) error {
	if err == nil || format == "" && len(args) == 0 {
		return err
	}
	return &noted[safe]{err, safe(text(format, args))}
}

// WithSecondaryError attaches an error that %+v shows, and that Is and As do not see.
func WithSecondaryError(err, secondary error) error {
	if err == nil || secondary == nil {
		return err
	}
	return &noted[error]{err, secondary}
}

// beside attaches what of the arguments of a message are errors: the message has only their
// own messages.
func beside(err error, args []any) error {
	for _, arg := range args {
		if e, ok := arg.(error); ok {
			err = WithSecondaryError(err, e)
		}
	}
	return err
}

// CombineErrors returns the first error with the other one beside it, or the one that there is.
func CombineErrors(err, other error) error {
	if err == nil {
		return other
	}
	return WithSecondaryError(err, other)
}

// Join returns an error with all of these as causes, nil where all are nil.
func Join(errs ...error) error { return errors.Join(errs...) }

// As is that of the standard library.
func As(err error, target any) bool { return errors.As(err, target) }

// UnwrapAll returns what has no cause of its own in the end. Joined errors are not followed.
func UnwrapAll(err error) error {
	for {
		cause := errors.Unwrap(err)
		if cause == nil {
			return err
		}
		err = cause
	}
}

// Safe declares a value of a message to be no secret.
func Safe(v any) redact.SafeValue { return redact.Safe(v) }

func text(format string, args []any) string { return redact.Sprintf(format, args...).StripMarkers() }
