package api_test

import (
	"net/http"
	"slices"
	"testing"

	"chainexplorer/internal/site"
)

// routeTest is all that has to be said of a route to test it in every way that
// routes are tested: docs/contributing.md shows how. It stands beside the route's
// own tests, and nothing else has to name the route.
type routeTest struct {
	operation string
	// evidence is what truth is worth.
	evidence site.Evidence
	// truth compares answers with the simulated chain as it is now. It is run again
	// after new blocks and after forks.
	truth func(o *oracle)
	// golden are requests whose answers are kept in full, below the chain's path, by
	// the names of their files.
	golden func(w *world) map[string]string
}

var routeTests []routeTest

// tested adds to the table while the package's variables are set.
func tested(r routeTest) bool {
	if slices.ContainsFunc(routeTests, func(other routeTest) bool { return other.operation == r.operation }) {
		panic(r.operation + " stands in the table twice")
	}
	routeTests = append(routeTests, r)
	return true
}

// TestRouteTable asks every route of the table on a short chain. What it compares is
// compared again, with forks, by TestGroundTruth, and byte by byte by TestGolden.
func TestRouteTable(t *testing.T) {
	if len(routeTests) == 0 {
		t.Fatal("the table is empty")
	}
	w := newWorld(t, 24)
	for _, r := range routeTests {
		t.Run(r.operation, func(t *testing.T) {
			in := &world{w.In(t)}
			o := &oracle{world: in, checks: map[string]int{}}
			r.truth(o)
			if o.checks[r.operation] == 0 {
				t.Error("nothing was compared")
			}
			for name, path := range r.golden(in) {
				path = "/v1/" + chainID + path
				if got := in.Do(http.MethodGet, path, in.Key); got.StatusCode != http.StatusOK {
					t.Errorf("%s: GET %s: %d %s", name, path, got.StatusCode, got.Body)
				}
			}
		})
	}
}
