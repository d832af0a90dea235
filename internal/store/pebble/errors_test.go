package pebble_test

import (
	stderrors "errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/cockroachdb/errors/join"
	"github.com/cockroachdb/errors/oserror"
)

// What is held here of the errors that Pebble is written with holds for the original, too:
// these tests pass with it in the place of ours.

var (
	errDamaged = errors.New("damaged")
	errOther   = errors.New("other")
	errNoFile  = &fs.PathError{Op: "open", Path: "000001.sst", Err: syscall.ENOENT}
)

// tolerant is an error that calls itself another one.
type tolerant struct{}

func (tolerant) Error() string        { return "tolerant" }
func (tolerant) Is(target error) bool { return target == errDamaged }

// linked has the same message with a cause and without.
type linked struct{ cause error }

func (*linked) Error() string   { return "linked" }
func (l *linked) Unwrap() error { return l.cause }

// several cannot be compared.
type several []string

func (s several) Error() string { return strings.Join(s, ", ") }

func TestErrorMessages(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"new":                    {errors.New("100% wrong"), "100% wrong"},
		"formatted":              {errors.Newf("table %d of %q: %v", 7, "db", io.EOF), `table 7 of "db": EOF`},
		"safe":                   {errors.Errorf("log %s, %d", errors.Safe("000002"), errors.Safe(3)), "log 000002, 3"},
		"with a cause":           {errors.Errorf("key %q: %w", "k", io.EOF), `key "k": EOF`},
		"with a cause in front":  {errors.Errorf("%w: key %x", io.EOF, "k"), `EOF: key 6b`},
		"assertion":              {errors.AssertionFailedf("level %d", -1), "level -1"},
		"assertion with a cause": {errors.AssertionFailedf("level %d: %w", -1, io.EOF), "level -1: EOF"},
		"wrapped":                {errors.Wrap(errDamaged, "table 7"), "table 7: damaged"},
		"wrapped in nothing":     {errors.Wrap(errDamaged, ""), "damaged"},
		"wrapped in a format":    {errors.Wrapf(errDamaged, "table %v", errors.Safe(7)), "table 7: damaged"},
		"wrapped in no format":   {errors.Wrapf(errDamaged, ""), "damaged"},
		"wrapped in an error":    {errors.Wrapf(errDamaged, "while %v", errOther), "while other: damaged"},
		"wrapped twice":          {errors.Wrap(errors.Wrap(errNoFile, "a"), "b"), "b: a: open 000001.sst: no such file or directory"},
		"noted":                  {errors.WithDetailf(errors.WithHintf(errDamaged, "h %d", 1), "d %d", 2), "damaged"},
		"noted as safe":          {errors.WithSafeDetails(errDamaged, "byte %d", 3), "damaged"},
		"marked":                 {errors.Mark(errOther, errDamaged), "other"},
		"beside another":         {errors.CombineErrors(errDamaged, errOther), "damaged"},
		"joined":                 {errors.Join(errDamaged, nil, errOther), "damaged\nother"},
		"joined elsewhere":       {join.Join(nil, errDamaged, errOther), "damaged\nother"},
		"missing argument":       {errors.Newf("table %d of %s", 7), "table 7 of %!s(MISSING)"},
		"nil in a format":        {errors.Newf("err %v", error(nil)), "err <nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.err.Error(); got != test.want {
				t.Errorf("Error() is %q, want %q", got, test.want)
			}
			for _, verb := range []string{"%v", "%s", "%q"} {
				want := fmt.Sprintf(verb, test.want)
				if got := fmt.Sprintf(verb, test.err); got != want {
					t.Errorf("%s prints %q, want %q", verb, got, want)
				}
			}
			// As an argument of another error, too.
			if got, want := errors.Newf("then %v", test.err).Error(), "then "+test.want; got != want {
				t.Errorf("in another error it is %q, want %q", got, want)
			}
		})
	}
}

func TestErrorIs(t *testing.T) {
	marked := errors.Mark(errNoFile, errDamaged)
	for name, test := range map[string]struct {
		err, reference error
		want           bool
	}{
		"itself":                            {errDamaged, errDamaged, true},
		"another":                           {errOther, errDamaged, false},
		"same message":                      {errors.New("damaged"), errDamaged, true},
		"same message, formatted":           {errors.Newf("dam%s", "aged"), errDamaged, true},
		"same message, wrapped":             {errors.Wrap(errors.New("damaged"), "table"), errDamaged, true},
		"same message, another type":        {stderrors.New("damaged"), errDamaged, false},
		"same message, another way":         {errors.Wrap(errors.New("b"), "a"), errors.New("a: b"), false},
		"same message, an assertion":        {errors.AssertionFailedf("damaged"), errDamaged, true}, // its cause is
		"an assertion of the same message":  {errDamaged, errors.AssertionFailedf("damaged"), false},
		"same message and same layers":      {errors.Wrap(errors.New("b"), "a"), errors.Wrap(errors.New("b"), "a"), true},
		"same message, fewer layers":        {&linked{}, &linked{errOther}, false},
		"same message, more layers":         {&linked{errOther}, &linked{}, false},
		"wrapped":                           {errors.Wrap(errDamaged, "table 7"), errDamaged, true},
		"wrapped in a format":               {errors.Wrapf(errDamaged, "table %d", 7), errDamaged, true},
		"wrapped in an error":               {errors.Wrapf(errOther, "while %v", errDamaged), errDamaged, false},
		"formatted as a cause":              {errors.Errorf("table: %w", errDamaged), errDamaged, true},
		"formatted as a cause of assertion": {errors.AssertionFailedf("table: %w", errDamaged), errDamaged, true},
		"formatted as a value":              {errors.Errorf("table: %v", errDamaged), errDamaged, false},
		"wrapped elsewhere":                 {fmt.Errorf("table: %w", errDamaged), errDamaged, true},
		"noted":                             {errors.WithDetailf(errDamaged, "d"), errDamaged, true},
		"noted as safe":                     {errors.WithSafeDetails(errDamaged, "d %d", 1), errDamaged, true},
		"hinted":                            {errors.WithHintf(errDamaged, "h"), errDamaged, true},
		"from somewhere":                    {errors.WithStack(errDamaged), errDamaged, true},
		"first of combined":                 {errors.CombineErrors(errDamaged, errOther), errDamaged, true},
		"second of combined":                {errors.CombineErrors(errOther, errDamaged), errDamaged, false},
		"secondary":                         {errors.WithSecondaryError(errOther, errDamaged), errDamaged, false},
		"first of joined":                   {errors.Join(errDamaged, errOther), errDamaged, true},
		"second of joined":                  {join.Join(errOther, errors.Wrap(errDamaged, "b")), errDamaged, true},
		"joined and wrapped":                {errors.Wrap(join.Join(errOther, errDamaged), "a"), errDamaged, true},
		"same message among joined":         {join.Join(errOther, errors.New("damaged")), errDamaged, true},
		"several causes elsewhere":          {fmt.Errorf("%w, %w", errOther, errDamaged), errDamaged, true},
		"none of joined":                    {join.Join(errOther, io.EOF), errDamaged, false},
		"what it is marked as":              {marked, errDamaged, true},
		"same message as its mark":          {marked, errors.New("damaged"), true},
		"its own cause":                     {marked, errNoFile, true},
		"what its cause is":                 {marked, fs.ErrNotExist, true},
		"marked, another":                   {marked, errOther, false},
		"marked and wrapped":                {errors.Wrap(marked, "table"), errDamaged, true},
		"marked and wrapped elsewhere":      {fmt.Errorf("table: %w", marked), errDamaged, true},
		"marked and joined":                 {join.Join(errOther, marked), errDamaged, true},
		"marked twice, first":               {errors.Mark(marked, errOther), errDamaged, true},
		"marked twice, second":              {errors.Mark(marked, errOther), errOther, true},
		"marked as one that is marked":      {errors.Mark(io.EOF, marked), errDamaged, true},
		"its cause when that is marked":     {errors.Mark(io.EOF, marked), errNoFile, false},
		"reference is marked":               {errDamaged, marked, true},
		"reference is marked, its cause":    {errNoFile, marked, false},
		"marked as what is wrapped":         {errors.Mark(io.EOF, errors.Wrap(errDamaged, "a")), errDamaged, false},
		"marked as what is wrapped alike":   {errors.Mark(io.EOF, errors.Wrap(errDamaged, "a")), errors.Wrap(errDamaged, "a"), true},
		"marked as an error elsewhere":      {errors.Mark(errOther, fs.ErrNotExist), fs.ErrNotExist, true},
		"calls itself that":                 {errors.Wrap(tolerant{}, "a"), errDamaged, true},
		"calls itself not that":             {errors.Wrap(tolerant{}, "a"), errOther, false},
		"not comparable":                    {several{"a", "b"}, several{"a", "b"}, true},
		"not comparable, another":           {several{"a", "b"}, several{"a"}, false},
		"not comparable, wrapped":           {errors.Wrap(several{"a"}, "b"), several{"a"}, true},
		"number of the system":              {errors.WithStack(&fs.PathError{Op: "write", Err: syscall.ENOSPC}), syscall.ENOSPC, true},
		"another number of the system":      {errNoFile, syscall.ENOSPC, false},
		"nil of nil":                        {nil, nil, true},
		"nil of an error":                   {errDamaged, nil, false},
		"an error of nil":                   {nil, errDamaged, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := errors.Is(test.err, test.reference); got != test.want {
				t.Errorf("Is is %t, want %t", got, test.want)
			}
		})
	}
	if stderrors.Is(marked, errDamaged) {
		t.Error("the standard library sees a mark")
	}
	if !stderrors.Is(marked, fs.ErrNotExist) {
		t.Error("the standard library does not see what is marked")
	}
}

func TestErrorsOfNil(t *testing.T) {
	for name, err := range map[string]error{
		"Wrap":               errors.Wrap(nil, "a"),
		"Wrapf":              errors.Wrapf(nil, "a %v", errOther),
		"WithStack":          errors.WithStack(nil),
		"WithDetailf":        errors.WithDetailf(nil, "a"),
		"WithHintf":          errors.WithHintf(nil, "a"),
		"WithSafeDetails":    errors.WithSafeDetails(nil, "a"),
		"WithSecondaryError": errors.WithSecondaryError(nil, errOther),
		"Mark":               errors.Mark(nil, errDamaged),
		"CombineErrors":      errors.CombineErrors(nil, nil),
		"Join":               errors.Join(nil, nil),
		"join.Join":          join.Join(),
		"UnwrapAll":          errors.UnwrapAll(nil),
	} {
		if err != nil {
			t.Errorf("%s makes %v of nil", name, err)
		}
	}
	if err := errors.CombineErrors(nil, errOther); err != errOther {
		t.Errorf("nil and an error are combined to %v", err)
	}
	if err := errors.CombineErrors(errOther, nil); err != errOther {
		t.Errorf("an error and nil are combined to %v", err)
	}
	if err := errors.WithSecondaryError(errOther, nil); err != errOther {
		t.Errorf("with nil beside it an error becomes %v", err)
	}
	if oserror.IsNotExist(nil) || oserror.IsExist(nil) || oserror.IsPermission(nil) {
		t.Error("nil is an error of a file system")
	}
}

func TestCausesOfErrors(t *testing.T) {
	deep := errors.Wrap(errors.Mark(errors.WithDetailf(errors.CombineErrors(errNoFile, errOther), "d"), errDamaged), "a")
	if got := errors.UnwrapAll(deep); got != syscall.ENOENT {
		t.Errorf("in the end it is %v", got)
	}
	joined := join.Join(errOther, deep)
	if got := errors.UnwrapAll(errors.Wrap(joined, "a")); got != joined {
		t.Errorf("joined errors in the end are %v", got)
	}
	for name, err := range map[string]error{"wrapped": deep, "joined": joined, "joined and wrapped": errors.Wrap(joined, "b")} {
		var path *fs.PathError
		if !errors.As(err, &path) || path != errNoFile {
			t.Errorf("%s: As finds %v", name, path)
		}
		if path = nil; !stderrors.As(err, &path) || path != errNoFile {
			t.Errorf("%s: As of the standard library finds %v", name, path)
		}
		var link *os.LinkError
		if errors.As(err, &link) {
			t.Errorf("%s: As finds %v, which is not there", name, link)
		}
	}
	var path *fs.PathError
	if errors.As(errors.CombineErrors(errOther, errNoFile), &path) {
		t.Error("As finds an error that is only beside another")
	}
}

func TestNotesOfErrors(t *testing.T) {
	err := errors.Wrap(errors.CombineErrors(
		errors.WithDetailf(errors.WithHintf(errDamaged, "hint %d", 1), "detail %d", 2),
		errors.WithDetailf(errOther, "detail %d", 3)), "table 7")
	err = errors.WithSafeDetails(errors.Mark(err, io.ErrUnexpectedEOF), "byte %d", errors.Safe(4))
	for name, err := range map[string]error{"alone": err, "joined": errors.Wrap(join.Join(errors.New("first"), err), "a")} {
		all := fmt.Sprintf("%+v", err)
		for _, want := range []string{"table 7: damaged", "hint 1", "detail 2", "other", "detail 3", "unexpected EOF", "byte 4"} {
			if !strings.Contains(all, want) {
				t.Errorf("%s: %%+v does not show %q:\n%s", name, want, all)
			}
		}
	}
	for _, err := range []error{errors.Newf("a %v", err), errors.Newf("a %w", err), errors.Wrapf(errOther, "a %s", err)} {
		if all := fmt.Sprintf("%+v", err); !strings.Contains(all, "detail 2") {
			t.Errorf("%%+v does not show the notes of an error in a message:\n%s", all)
		}
	}
	if all := fmt.Sprintf("%+v", errors.AssertionFailedf("level %d", -1)); !strings.Contains(all, "assertion") {
		t.Errorf("%%+v does not show what is an assertion: %s", all)
	}
}

func TestErrorsOfFileSystems(t *testing.T) {
	is := map[string]func(error) bool{"exist": oserror.IsExist, "not exist": oserror.IsNotExist, "permission": oserror.IsPermission}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"number":                 {syscall.ENOENT, "not exist"},
		"numbers mean more":      {syscall.ENOTEMPTY, "exist"},
		"path":                   {errNoFile, "not exist"},
		"path, wrapped":          {errors.Wrap(errors.WithStack(errNoFile), "a"), "not exist"},
		"link":                   {errors.WithStack(&os.LinkError{Op: "link", Err: syscall.EEXIST}), "exist"},
		"call":                   {errors.Wrap(os.NewSyscallError("open", syscall.EACCES), "a"), "permission"},
		"call of the same, bare": {os.NewSyscallError("open", syscall.EPERM), "permission"},
		"marked":                 {errors.Mark(errOther, oserror.ErrNotExist), "not exist"},
		"marked and wrapped":     {errors.Wrap(errors.Mark(errOther, os.ErrExist), "a"), "exist"},
		"wrapped elsewhere":      {fmt.Errorf("a: %w", fs.ErrPermission), "permission"},
		"joined":                 {join.Join(errOther, errors.WithStack(errNoFile)), "not exist"},
		"beside another":         {errors.CombineErrors(errOther, errNoFile), ""},
		"same message":           {errors.New(fs.ErrNotExist.Error()), ""},
		"full disk":              {syscall.ENOSPC, ""},
		"invalid":                {oserror.ErrInvalid, ""},
	} {
		for what, f := range is {
			if got := f(test.err); got != (what == test.want) {
				t.Errorf("%s: %s is %t", name, what, got)
			}
		}
	}
}
