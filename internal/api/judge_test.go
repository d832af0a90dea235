package api_test

import (
	"bytes"
	"net/http"
	"testing"

	"chainexplorer/internal/servertest"
)

// TestJudgedItems: the judge of answers remembers items of lists that were well, and finds
// what is wrong with another item beside them, or with the rest of the answer.
func TestJudgedItems(t *testing.T) {
	w := newWorld(t, 4)
	path := "/v1/" + servertest.ChainID + "/blocks?limit=3"
	r := w.Do(http.MethodGet, path, w.Key)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Contract.Check(req, r); err != nil {
		t.Errorf("the same again: %v", err)
	}
	well := r.Body
	for _, old := range []string{`"blockNumber":2`, `"items":[`} {
		r.Body = bytes.Replace(well, []byte(old), []byte(`"undocumented":1,`+old), 1)
		if bytes.Equal(r.Body, well) {
			t.Fatalf("no %s in %s", old, well)
		}
		for range 2 { // what is wrong is not remembered
			if w.Contract.Check(req, r) == nil {
				t.Errorf("%s passes", r.Body)
			}
		}
	}
}
