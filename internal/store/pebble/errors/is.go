package errors

import (
	"errors"
	"fmt"
	"reflect"
)

// Is says whether an error or one of its causes is the reference, calls itself that, is marked
// as that, or is alike: of the same type, with causes of the same types, and the same message.
//
// The Is of the standard library sees neither marks nor what is alike.
func Is(err, reference error) bool {
	if reference == nil {
		return err == nil
	}
	byValue := reflect.TypeOf(reference).Comparable()
	for ; err != nil; err = errors.Unwrap(err) {
		if byValue && err == reference || alike(err, reference) {
			return true
		}
		if e, ok := err.(interface{ Is(error) bool }); ok && e.Is(reference) {
			return true
		}
		if e, ok := err.(interface{ Unwrap() []error }); ok {
			for _, cause := range e.Unwrap() {
				if Is(cause, reference) {
					return true
				}
			}
		}
	}
	return false
}

// Mark returns an error that is err with its causes, and that Is takes for reference too.
func Mark(err, reference error) error {
	if err == nil {
		return nil
	}
	return &marked{err, nature(reference)}
}

// marked is taken for another error than it is.
type marked struct{ cause, as error }

func (e *marked) Error() string                 { return e.cause.Error() }
func (e *marked) Unwrap() error                 { return e.cause }
func (e *marked) Format(s fmt.State, verb rune) { format(e, s, verb) }
func (e *marked) told() string                  { return fmt.Sprintf("marked as %q", e.as) }

// nature is what an error is taken for.
func nature(err error) error {
	if m, ok := err.(*marked); ok {
		return m.as
	}
	return err
}

func alike(one, other error) bool {
	one, other = nature(one), nature(other)
	a, b := one, other
	for a != nil && b != nil {
		if reflect.TypeOf(a) != reflect.TypeOf(b) {
			return false
		}
		a, b = errors.Unwrap(a), errors.Unwrap(b)
	}
	return a == nil && b == nil && one.Error() == other.Error()
}
