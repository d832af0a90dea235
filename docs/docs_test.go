package docs_test

import (
	"io/fs"
	"slices"
	"testing"

	"chainexplorer/docs"
)

// TestEveryGuideIsListed keeps a new guide from being served nowhere.
func TestEveryGuideIsListed(t *testing.T) {
	files, err := fs.Glob(docs.Files, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(docs.ForCallers, docs.ForOperators)
	for _, f := range files {
		if !slices.ContainsFunc(all, func(g docs.Guide) bool { return g.File == f }) {
			t.Errorf("%s is in neither list of docs.go", f)
		}
	}
	if len(all) != len(files) {
		t.Errorf("%d guides are listed, there are %d", len(all), len(files))
	}
}
