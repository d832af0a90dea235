package errors

import (
	"errors"
	"fmt"
	"strings"
)

// leaf is an error without a cause.
type leaf struct{ message string }

func (e *leaf) Error() string { return e.message }

// prefixed has a message before that of its cause.
type prefixed struct {
	cause  error
	prefix string
}

func (e *prefixed) Error() string                 { return e.prefix + ": " + e.cause.Error() }
func (e *prefixed) Unwrap() error                 { return e.cause }
func (e *prefixed) Format(s fmt.State, verb rune) { format(e, s, verb) }

// worded has a message in the place of that of its cause.
type worded struct {
	cause   error
	message string
}

func (e *worded) Error() string                 { return e.message }
func (e *worded) Unwrap() error                 { return e.cause }
func (e *worded) Format(s fmt.State, verb rune) { format(e, s, verb) }

// noted has something besides its message: a text or an error. What it is makes a type of
// its own, because errors with notes of different kinds are not alike.
type noted[N any] struct {
	cause error
	note  N
}

type (
	assertion string
	detail    string
	hint      string
	safe      string
)

func (e *noted[N]) Error() string                 { return e.cause.Error() }
func (e *noted[N]) Unwrap() error                 { return e.cause }
func (e *noted[N]) Format(s fmt.State, verb rune) { format(e, s, verb) }
func (e *noted[N]) told() string                  { return fmt.Sprintf("%+v", e.note) }

// format prints an error like its message, and with %+v what is noted of it and of its
// causes below, each note further in than what it is about.
func format(err error, s fmt.State, verb rune) {
	if verb != 'v' || !s.Flag('+') {
		fmt.Fprintf(s, fmt.FormatString(s, verb), err.Error())
		return
	}
	fmt.Fprint(s, err.Error())
	for _, note := range notes(err) {
		fmt.Fprint(s, "\n  ", strings.ReplaceAll(note, "\n", "\n  "))
	}
}

func notes(err error) (all []string) {
	for ; err != nil; err = errors.Unwrap(err) {
		switch e := err.(type) {
		case interface{ told() string }:
			all = append(all, e.told())
		case interface{ Unwrap() []error }:
			for _, cause := range e.Unwrap() {
				all = append(all, notes(cause)...)
			}
		}
	}
	return all
}
