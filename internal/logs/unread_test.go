package logs_test

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/logs"
)

// stuck is a reader that reads nothing until it is let.
type stuck struct {
	let chan struct{}

	mu   sync.Mutex
	text bytes.Buffer
}

func (s *stuck) Write(p []byte) (int, error) {
	<-s.let
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// TestUnread: who logs does not wait for a reader that has stopped, memory is bounded, and what was left out is told.
func TestUnread(t *testing.T) {
	s := &stuck{let: make(chan struct{})}
	u := logs.NewUnread(s)
	record := []byte(strings.Repeat("x", 1023) + "\n")
	const records = 3 * 4096
	for range records {
		if n, err := u.Write(record); n != len(record) || err != nil {
			t.Fatal(n, err)
		}
	}
	begun := time.Now()
	if u.Flush(10 * time.Millisecond); time.Since(begun) > 5*time.Second {
		t.Error("the end waits for the reader")
	}
	close(s.let)
	u.Flush(time.Minute)
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.text.String()
	kept := strings.Count(text, string(record))
	if kept < 4095 || kept > 4097+4096 || !strings.Contains(text, `"msg":"the log was not read in time, and records were left out"`) {
		t.Errorf("%d of %d records are there, and at the end %q", kept, records, text[len(text)-200:])
	}
}

type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// TestUnreadGone: a reader that went away is nobody's trouble.
func TestUnreadGone(t *testing.T) {
	u := logs.NewUnread(gone{})
	for range 3 {
		if n, err := u.Write([]byte("a\n")); n != 2 || err != nil {
			t.Error(n, err)
		}
		u.Flush(time.Minute)
	}
}
