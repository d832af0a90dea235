package kernel

import (
	"encoding/binary"
	"errors"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/felt"
)

// Limit is a page size. One that is out of range is clamped, to one or to the
// route's maximum.
type Limit struct {
	value int
	given bool
}

// Receiver is where the parameter is put.
func (l *Limit) Receiver() reflect.Value { return reflect.ValueOf(&l.value).Elem() }

// OnParamSet notes that the parameter was there: none is not zero.
func (l *Limit) OnParamSet(given bool, _ any) { l.given = given }

// Schema documents no bounds, because both clamp.
func (Limit) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Description: "Page size. A value out of range is clamped to 1 or to the maximum."}
}

// Or is the limit, or n when none was given.
func (l Limit) Or(n int) Limit {
	if !l.given {
		l.value, l.given = n, true
	}
	return l
}

func (l Limit) Clamp(def, most int) int {
	if !l.given {
		return def
	}
	return min(max(l.value, 1), most)
}

// BodyLimit is a Limit in a body.
type BodyLimit struct{ Limit }

// UnmarshalJSON takes any whole number; Huma has looked at its kind before.
func (l *BodyLimit) UnmarshalJSON(b []byte) error {
	whole, ok := clampedInteger(string(b))
	n, err := strconv.Atoi(whole)
	if !ok || err != nil {
		return errors.New("it is not a whole number")
	}
	l.value, l.given = n, true
	return nil
}

// TimestampISO renders seconds as RFC 3339 UTC.
func TimestampISO(seconds uint64) string {
	return time.Unix(int64(seconds), 0).UTC().Format(time.RFC3339)
}

// NumberOf reads the number of a block, in any spelling of a whole number.
func NumberOf(text string) (uint64, bool) {
	whole, ok := wholeNumber(text)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(whole, 10, 63)
	return n, err == nil
}

// FeltOf reads a felt of a request; name is where it stands.
func FeltOf(name, text string) (felt.Felt, error) {
	f, err := felt.Parse(text)
	switch {
	case errors.Is(err, felt.ErrRange):
		return f, Fail(CodeInvalidRequest, "%s: %q is too large: a felt is below 2^251 + 17*2^192 + 1.", name, Clip(text, 70))
	case err != nil:
		return f, Fail(CodeInvalidRequest, "%s: %q is not 0x and 1 to 64 hex digits of a felt.", name, Clip(text, 70))
	}
	return f, nil
}

func PutUint64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
