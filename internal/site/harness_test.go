package site_test

import (
	"flag"
	"os"
	"testing"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

var update = flag.Bool("update", false, "rewrite answers.json from the golden files")

func TestMain(m *testing.M) { os.Exit(servertest.Main(m.Run)) }

// world is the service over a simulated chain, as readers of its documents see it.
type world struct{ *servertest.World }

type (
	options = servertest.Options
	reply   = servertest.Reply
)

const chainID = servertest.ChainID

// newWorld is for one test alone, and sharedWorld for all that only read.
func newWorld(t *testing.T, n int, change ...func(*options)) *world {
	t.Helper()
	return &world{servertest.New(t, n, change...)}
}

func sharedWorld(t *testing.T, n int) *world {
	t.Helper()
	return &world{servertest.Shared(t, n)}
}

// docSlugs are the pages that the codes name.
func docSlugs() map[kernel.Code]string {
	out := map[kernel.Code]string{}
	for c, info := range kernel.Codes {
		out[c] = info.Slug
	}
	return out
}
