package kernel

import (
	"encoding/binary"
	"errors"
	"strconv"
	"time"

	"chainexplorer/internal/felt"
)

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
