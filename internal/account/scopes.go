package account

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Scopes is what a key may do: a set.
type Scopes uint8

// The scopes. Read is enough for ordinary routes; Batch is the utility tier.
const (
	Read Scopes = 1 << iota
	Batch
	Write
	Verify
	Prove
	Trace
	Partner

	// DefaultScopes are those of a key that was issued without naming any.
	DefaultScopes = Read | Batch | Write | Verify
)

var scopeNames = [...]string{"read", "batch", "write", "verify", "prove", "trace", "partner"}

// ScopeNames lists every scope there is, in the order in which they print.
func ScopeNames() []string { return append([]string(nil), scopeNames[:]...) }

// Has reports whether s includes all of want.
func (s Scopes) Has(want Scopes) bool { return s&want == want }

// Names are the scopes of s.
func (s Scopes) Names() []string {
	names := make([]string, 0, len(scopeNames))
	for i, name := range scopeNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// String separates the names by spaces, as a WWW-Authenticate header does.
func (s Scopes) String() string { return strings.Join(s.Names(), " ") }

// MarshalJSON gives an array of names.
func (s Scopes) MarshalJSON() ([]byte, error) { return json.Marshal(s.Names()) }

// ParseScopes reads names separated by spaces or commas. It wants at least one
// and refuses names that it does not know.
func ParseScopes(text string) (Scopes, error) {
	var s Scopes
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		bit, ok := scopeNamed(name)
		if !ok {
			return 0, &InvalidError{Field: "scope", Reason: fmt.Sprintf("%.32q is none of %s", name, strings.Join(scopeNames[:], ", "))}
		}
		s |= bit
	}
	if s == 0 {
		return 0, &InvalidError{Field: "scope", Reason: "at least one is needed, of " + strings.Join(scopeNames[:], ", ")}
	}
	return s, nil
}

func scopeNamed(name string) (Scopes, bool) {
	for i, known := range scopeNames {
		if name == known {
			return 1 << i, true
		}
	}
	return 0, false
}
