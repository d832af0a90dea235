package servertest

import (
	"strings"
	"sync"
	"testing"
)

// watched are the names of tests that said Watched.
var watched sync.Map

// Watched lets a test have a World under the race detector, too. It is for tests in
// which things happen at once, and must be called before the World is made. The race
// detector takes what is read from a connection for ordered behind all that was
// written before: in requests that are made one after the other it finds nothing, and
// takes ten times as long. 'make test' runs the tests that do not say so without it, and
// those that say so in their own body, in any case, under it alone.
func Watched(t *testing.T) {
	t.Helper()
	name := outermost(t)
	watched.Store(name, true)
	t.Cleanup(func() { watched.Delete(name) })
}

// leaveOut ends a test that the race detector has nothing to say about.
func leaveOut(t *testing.T) {
	t.Helper()
	if _, ok := watched.Load(outermost(t)); raced && !ok {
		t.Skip("sequential and long: run without the race detector")
	}
}

// outermost is the name of the test that a part belongs to.
func outermost(t *testing.T) string {
	name, _, _ := strings.Cut(t.Name(), "/")
	return name
}
