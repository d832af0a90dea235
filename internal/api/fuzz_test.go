package api

import (
	"errors"
	"math/big"
	"testing"

	"chainexplorer/internal/kernel"
)

// FuzzBlockRef: a reference that is taken for a number is that number.
func FuzzBlockRef(f *testing.F) {
	for _, s := range []string{"0", "00", "latest", "0x", "0x1", "9223372036854775807", "-1", "１", "5.0", "50e-1", "5e0", "5.5", "-0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1 && (s[:2] == "0x" || s[:2] == "0X") || s == "latest" {
			return // these need an index
		}
		n, err := blockNumber(t.Context(), nil, nil, "x", s)
		if err != nil {
			var e *kernel.Error
			if !errors.As(err, &e) || e.Code != kernel.CodeInvalidRequest {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		if same, ok := new(big.Rat).SetString(s); !ok || same.Cmp(new(big.Rat).SetInt(new(big.Int).SetUint64(n))) != 0 {
			t.Fatalf("%q became %d", s, n)
		}
	})
}

// FuzzCeilSeconds: the second at or after a moment is not before it, and not more
// than one behind.
func FuzzCeilSeconds(f *testing.F) {
	for _, s := range []string{"0", "1767225600", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5+01:00", "9999-12-31T23:59:59Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, err := kernel.TimestampOf("x", s)
		if err != nil || at.Unix() < 0 {
			return
		}
		if up := ceilSeconds(at); up < uint64(at.Unix()) || up > uint64(at.Unix())+1 {
			t.Fatalf("%q: %d above %d", s, up, at.Unix())
		}
	})
}
