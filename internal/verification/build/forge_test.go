package build_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/fstest"
)

// forge packs files in their order, as the archive's form wants, whatever they are.
func forge(t *testing.T, tree fstest.MapFS) []byte {
	t.Helper()
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	tw := tar.NewWriter(gz)
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(tree[name].Data)), Mode: 0o644, Format: tar.FormatUSTAR}
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write(tree[name].Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tw.Close(), gz.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
