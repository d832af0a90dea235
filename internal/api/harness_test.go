package api_test

import (
	"os"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/servertest"
)

func TestMain(m *testing.M) { os.Exit(servertest.Main(m.Run)) }

// world is the service over a simulated chain, with what the tests know of it.
type world struct{ *servertest.World }

type (
	options = servertest.Options
	reply   = servertest.Reply
)

const (
	chainID    = servertest.ChainID
	statusPath = servertest.StatusPath
)

// newWorld is for one test alone, and sharedWorld for all that only read.
func newWorld(t *testing.T, n int, change ...func(*options)) *world {
	t.Helper()
	return &world{servertest.New(t, n, change...)}
}

func sharedWorld(t *testing.T, n int) *world {
	t.Helper()
	return &world{servertest.Shared(t, n)}
}

// setRegistry makes routes know other things of the chain. Nothing may be asked
// meanwhile.
func setRegistry(r *api.Routes, c *registry.Chain) { r.Chains[chainID].Registry = c }

// skipRaced leaves out what does one thing after the other, thousands of times: the
// race detector would find nothing in it and take minutes. 'make test' runs these
// tests once more without it.
func skipRaced(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("sequential and long: run without the race detector")
	}
}
