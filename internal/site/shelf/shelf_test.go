package shelf_test

import (
	"errors"
	"testing"

	"chainexplorer/internal/site/shelf"
)

func TestBounded(t *testing.T) {
	const most = 8
	s := shelf.New[int, int](most)
	written := 0
	get := func(k int) (int, error) {
		return s.Get(k, func() (int, error) { written++; return 10 * k, nil })
	}
	for i := range 3 * most {
		if v, err := get(i); err != nil || v != 10*i {
			t.Fatalf("%d: %d, %v", i, v, err)
		}
		if s.Len() > most {
			t.Fatalf("%d are kept", s.Len())
		}
	}
	before := written
	if v, err := get(3*most - 1); err != nil || v != 10*(3*most-1) || written != before {
		t.Errorf("what is kept was written again: %d (%v)", v, err)
	}
	if _, err := s.Get(-1, func() (int, error) { return 0, errors.New("no") }); err == nil {
		t.Error("a failure was hidden")
	}
	if v, err := get(-1); err != nil || v != -10 {
		t.Errorf("a failure was kept: %d, %v", v, err)
	}
}
