package event

import (
	"bytes"
	"errors"
	"testing"

	"chainexplorer/internal/store/record"
)

// TestRowsOfAnotherVersionAreRefused: what stands behind the version is the matter
// of package postings, and of its tests.
func TestRowsOfAnotherVersionAreRefused(t *testing.T) {
	if b, err := placesOf([]byte{rowVersion, 0, 0}); err != nil || !bytes.Equal(b, []byte{0, 0}) {
		t.Errorf("%x, %v", b, err)
	}
	for _, row := range [][]byte{nil, {}, {0, 0, 0}, {2, 0, 0}} {
		if b, err := placesOf(row); !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("%x was read as %x, %v", row, b, err)
		}
	}
}
