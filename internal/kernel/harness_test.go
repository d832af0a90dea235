package kernel_test

import (
	"os"
	"testing"

	"chainexplorer/internal/servertest"
	"chainexplorer/internal/store/postgres/pgtest"
	"chainexplorer/internal/verification/job"
	verification "chainexplorer/internal/verification/routes"
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

// withVerification makes a world serve exact verification, too.
func withVerification(o *options) {
	o.Verification = &verification.Options{Jobs: job.New(o.Control(), job.Options{Now: o.Now}), Chains: []string{chainID, job.Chain}}
}

func sharedWorld(t *testing.T, n int) *world {
	t.Helper()
	return &world{servertest.Shared(t, n)}
}
