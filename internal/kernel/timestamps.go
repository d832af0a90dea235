package kernel

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// rfc3339 is the grammar, in upper case: Go's parser is more lenient.
var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// TimestampOf reads RFC 3339 with a zone, or Unix seconds; name is where it stands.
func TimestampOf(name, text string) (time.Time, error) {
	if whole, ok := wholeNumber(text); ok {
		if n, err := strconv.ParseInt(whole, 10, 40); err == nil {
			return time.Unix(n, 0), nil
		}
	}
	if at, ok := parseRFC3339(strings.ToUpper(text)); ok {
		return at, nil
	}
	return time.Time{}, Fail(CodeInvalidRequest, "%s: %q is neither RFC 3339 with a zone, such as 2026-01-31T12:00:00Z, nor Unix seconds.", name, Clip(text, 60))
}

// parseRFC3339 also takes a leap second, where there can be one: at the end of a
// month in UTC. Unix time, which blocks have, counts it as the second after it.
func parseRFC3339(s string) (time.Time, bool) {
	if !rfc3339.MatchString(s) {
		return time.Time{}, false
	}
	const seconds = len("2006-01-02T15:04:")
	leap := s[seconds:seconds+2] == "60"
	if leap {
		s = s[:seconds] + "59" + s[seconds+2:]
	}
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || !leap {
		return at, err == nil
	}
	at = at.Add(time.Second)
	utc := at.UTC()
	return at, utc.Day() == 1 && utc.Hour() == 0 && utc.Minute() == 0 && utc.Second() == 0
}
