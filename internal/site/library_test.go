package site

import (
	"errors"
	"strconv"
	"testing"
)

func TestLibraryIsBounded(t *testing.T) {
	l := &library{shelf: map[shelfKey]*document{}, wrote: func() {}}
	written := 0
	write := func(at setting) (*document, error) {
		written++
		return newDocument(textType, []byte(at.origin)), nil
	}
	for i := range 3 * maxShelf {
		if d, err := l.get("/x", setting{origin: strconv.Itoa(i)}, write); err != nil || string(d.body) != strconv.Itoa(i) {
			t.Fatalf("%d: %v", i, err)
		}
		if len(l.shelf) > maxShelf {
			t.Fatalf("%d documents are kept", len(l.shelf))
		}
	}
	last := setting{origin: strconv.Itoa(3*maxShelf - 1)}
	before := written
	if _, err := l.get("/x", last, write); err != nil || written != before {
		t.Errorf("a kept document was written again (%v)", err)
	}
	if _, err := l.get("/y", last, func(setting) (*document, error) { return nil, errors.New("no") }); err == nil {
		t.Error("a failure was hidden")
	}
	if _, err := l.get("/y", last, write); err != nil {
		t.Errorf("a failure was kept: %v", err)
	}
}
