package kernel_test

import (
	"os"
	"testing"

	"chainexplorer/internal/servertest"
	"chainexplorer/internal/store/postgres/pgtest"
)

func TestMain(m *testing.M) {
	os.Exit(servertest.Main(func() int { return pgtest.Main(m) }))
}

// world is the service over a simulated chain: the kernel with routes that are real.
type world struct{ *servertest.World }

type (
	options = servertest.Options
	reply   = servertest.Reply
)

const (
	chainID       = servertest.ChainID
	statusPath    = servertest.StatusPath
	allowedOrigin = servertest.AllowedOrigin
	strangeOrigin = servertest.StrangeOrigin
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
