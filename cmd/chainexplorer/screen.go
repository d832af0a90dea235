package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/term"
)

// screen is a terminal with lines at the bottom that are redrawn, one for each
// piece of work that is under way. What is written to it, such as log records,
// goes above them.
type screen struct {
	colours bool
	blocks  bool // the terminal can show block characters
	width   func() int

	mu    sync.Mutex
	out   io.Writer // guarded by mu, like all below
	lines []*line
	drawn int // how many lines are on the terminal
}

// line is one of the redrawn lines.
type line struct{ text string }

// newScreen returns nil where nothing can be redrawn.
func newScreen(w io.Writer, env func(string) string) *screen {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || env("TERM") == "dumb" {
		return nil
	}
	return &screen{out: w, colours: env("NO_COLOR") == "", blocks: speaksUnicode(env), width: func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width < 1 {
			return 80
		}
		return width
	}}
}

// speaksUnicode goes by the first variable that is set, as the C library does.
func speaksUnicode(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// Write puts whole lines above those that are redrawn.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	n, err := s.out.Write(p)
	s.draw()
	return n, err
}

// set redraws a line, which is added when it is new.
func (s *screen) set(l *line, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	l.text = text
	if !slices.Contains(s.lines, l) {
		s.lines = append(s.lines, l)
	}
	s.draw()
}

// end leaves a line behind for good.
func (s *screen) end(l *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.lines, l)
	if i < 0 {
		return
	}
	s.erase()
	s.lines = slices.Delete(s.lines, i, i+1)
	fmt.Fprintln(s.out, cut(l.text, s.width())) //nolint:errcheck // the terminal is gone: nobody to tell
	s.draw()
}

// drop takes a line away.
func (s *screen) drop(l *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.lines, l); i >= 0 {
		s.erase()
		s.lines = slices.Delete(s.lines, i, i+1)
		s.draw()
	}
}

func (s *screen) erase() {
	if s.drawn > 0 {
		fmt.Fprint(s.out, "\r\x1b[K"+strings.Repeat("\x1b[A\x1b[K", s.drawn-1)) //nolint:errcheck // as above
	}
	s.drawn = 0
}

func (s *screen) draw() {
	width := s.width()
	for i, l := range s.lines {
		if i > 0 {
			fmt.Fprint(s.out, "\n") //nolint:errcheck // as above
		}
		fmt.Fprint(s.out, cut(l.text, width)) //nolint:errcheck // as above
	}
	s.drawn = len(s.lines)
}

// cut keeps a line from being wrapped, after which it could not be erased.
// Colours take no room.
func cut(text string, width int) string {
	shown, escape := 0, false
	for i, r := range text {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		default:
			if shown++; shown > width {
				if strings.ContainsRune(text, '\x1b') {
					return text[:i] + "\x1b[0m"
				}
				return text[:i]
			}
		}
	}
	return text
}

// Colours of a line.
const (
	green = "\x1b[32m"
	cyan  = "\x1b[36m"
	faint = "\x1b[2m"
	plain = "\x1b[0m"
)

func (s *screen) paint(colour, text string) string {
	if !s.colours || text == "" {
		return text
	}
	return colour + text + plain
}

// bar is n characters long; part is between 0 and 1.
func (s *screen) bar(part float64, n int) string {
	full, empty := "#", "."
	if s.blocks {
		full, empty = "█", "░"
	}
	done := min(max(int(part*float64(n)), 0), n)
	return s.paint(green, strings.Repeat(full, done)) + s.paint(faint, strings.Repeat(empty, n-done))
}
