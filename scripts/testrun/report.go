package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// event is a line of 'go test -json'.
type event struct {
	Action, Package, ImportPath, Test, Output string
}

type skip struct{ pkg, test, reason string }

type name struct{ pkg, test string }

// report prints the events of go test as go test without -json would, and keeps
// the skips.
type report struct {
	out    io.Writer
	said   map[name]*lines // of tests that have not ended, and of packages
	skips  []skip
	failed bool
}

// maxLine bounds a line of events; go test cuts the output of tests long before.
const maxLine = 16 << 20

func (r *report) read(events io.Reader) error {
	r.said = map[name]*lines{}
	in := bufio.NewScanner(events)
	in.Buffer(nil, maxLine)
	for in.Scan() {
		var e event
		if err := json.Unmarshal(in.Bytes(), &e); err != nil || e.Action == "" {
			fmt.Fprintln(r.out, in.Text()) // go itself speaks
			continue
		}
		r.take(e)
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("read the events of go test: %w", err)
	}
	if len(r.said) > 0 {
		return errors.New("go test ended before its packages did")
	}
	return nil
}

func (r *report) take(e event) {
	n := name{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "build-fail":
		r.failed = true
	case "start", "run", "output":
		said := r.said[n]
		if said == nil {
			said = &lines{}
			r.said[n] = said
		}
		said.add(e.Output)
	case "pass", "skip", "fail":
		if e.Test == "" {
			r.endPackage(e)
			return
		}
		if e.Action == "skip" {
			r.skips = append(r.skips, skip{e.Package, e.Test, r.said[n].reason()})
		}
		if e.Action == "fail" {
			r.said[n].print(r.out, e.Test)
		}
		delete(r.said, n)
	}
}

// endPackage prints the line of a package. Of one that failed it prints all that
// is left, with the tests that a panic or the time limit ended.
func (r *report) endPackage(e event) {
	var cut []name
	for n := range r.said {
		if n.pkg == e.Package && n.test != "" {
			cut = append(cut, n)
		}
	}
	slices.SortFunc(cut, func(a, b name) int { return strings.Compare(a.test, b.test) })
	for _, n := range cut {
		if e.Action == "fail" {
			r.said[n].print(r.out, n.test)
		}
		delete(r.said, n)
	}
	n := name{e.Package, ""}
	if said := r.said[n]; said != nil {
		if e.Action == "fail" {
			said.print(r.out, "")
		} else {
			said.last(r.out)
		}
	}
	delete(r.said, n)
	r.failed = r.failed || e.Action == "fail"
}

// keepBytes bounds what is kept of a test's output.
const keepBytes = 1 << 20

// lines is what a test said, its end when it is long.
type lines struct {
	text []string
	size int
	left int // lines that were dropped
}

// frame is what the machinery says of a test's course, which only -v shows.
var frame = regexp.MustCompile(`^=== (RUN|PAUSE|CONT|NAME)\b`)

func (l *lines) add(s string) {
	if s == "" || frame.MatchString(s) {
		return
	}
	l.text, l.size = append(l.text, s), l.size+len(s)
	for l.size > keepBytes && len(l.text) > 1 {
		l.size -= len(l.text[0])
		l.text = l.text[1:]
		l.left++
	}
}

func (l *lines) print(out io.Writer, test string) {
	if l == nil {
		return
	}
	if l.left > 0 {
		fmt.Fprintf(out, "(%d lines of %s are left out)\n", l.left, test)
	}
	fmt.Fprint(out, strings.Join(l.text, ""))
}

// last prints the line that stands for a package that passed.
func (l *lines) last(out io.Writer) {
	if len(l.text) > 0 {
		fmt.Fprint(out, l.text[len(l.text)-1])
	}
}

// place is where in the source something was said.
var place = regexp.MustCompile(`^\s+[\w.-]+\.go:\d+: `)

// reason is what a skipped test said last.
func (l *lines) reason() string {
	var said []string
	if l != nil {
		for _, s := range l.text {
			if place.MatchString(s) {
				said = said[:0]
			}
			if !strings.HasPrefix(strings.TrimSpace(s), "--- SKIP: ") {
				said = append(said, strings.TrimSpace(place.ReplaceAllString(s, "")))
			}
		}
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return strings.Join(said, " ")
}
