package strictjson

import (
	"encoding/json"
	"fmt"

	"github.com/gowebpki/jcs"
)

// Canonical returns the one form of a value that RFC 8785 gives it. Numbers of the value
// must be integers of at most MaxInteger, which the form of the RFC has exactly.
func Canonical(v any) ([]byte, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	canonical, err := jcs.Transform(plain)
	if err != nil {
		return nil, fmt.Errorf("bring JSON into its canonical form: %w", err)
	}
	return canonical, nil
}
