package pages_test

import (
	"testing"
	"time"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/voyager/pages"
)

func key(caller string, list byte, page uint64) pages.Key {
	return pages.Key{Caller: caller, List: [32]byte{list}, Page: page}
}

func TestBounds(t *testing.T) {
	now := time.Unix(1000, 0)
	table := pages.New(func() time.Time { return now }, pages.Bounds{All: 10, Caller: 4, Life: time.Minute})
	has := func(k pages.Key) bool { _, ok := table.Get(k); return ok }
	put := func(k pages.Key) { table.Put(k, pages.Mark{Top: block.Ref{Number: k.Page}}) }

	for p := range uint64(100) {
		put(key("greedy", 1, p))
	}
	if table.Len() != 4 || !has(key("greedy", 1, 99)) || has(key("greedy", 1, 95)) {
		t.Errorf("a caller has %d pages, want its newest four", table.Len())
	}
	put(key("modest", 1, 2))
	for p := range uint64(100) {
		put(key("greedy", 2, p))
	}
	if !has(key("modest", 1, 2)) || has(key("modest", 2, 99)) {
		t.Error("one caller pushes another out, or sees its pages")
	}
	has(key("greedy", 2, 96)) // which makes it the newest
	put(key("greedy", 3, 1))
	if !has(key("greedy", 2, 96)) || has(key("greedy", 2, 97)) {
		t.Error("the page that was used last is dropped")
	}
	for _, caller := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		put(key(caller, 1, 1))
		put(key(caller, 1, 2))
	}
	if table.Len() != 10 || has(key("modest", 1, 2)) || !has(key("g", 1, 1)) {
		t.Errorf("there are %d pages, want the newest ten", table.Len())
	}
	put(key("g", 2, 1))
	table.Forget(key("g", 1, 7))
	if has(key("g", 1, 1)) || has(key("g", 1, 2)) || !has(key("g", 2, 1)) || !has(key("f", 1, 1)) {
		t.Error("forgetting a list takes another's pages, or leaves its own")
	}
	now = now.Add(2 * time.Minute)
	if has(key("g", 2, 1)) {
		t.Error("what is old is not forgotten")
	}
	table.Forget(key("nobody", 1, 1))
	put(key("g", 2, 1))
	table.Put(key("g", 2, 1), pages.Mark{Top: block.Ref{Number: 77}})
	if m, ok := table.Get(key("g", 2, 1)); !ok || m.Top.Number != 77 {
		t.Errorf("a page that was found again begins at %d", m.Top.Number)
	}
}
