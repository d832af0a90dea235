package simsource

import (
	"testing"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
)

// State is what an index says of itself, or ends the test.
func State(t testing.TB, e store.Engine) (s chain.State) {
	t.Helper()
	err := e.View(t.Context(), func(r store.Reader) (err error) {
		s, err = chain.Read(t.Context(), r)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
