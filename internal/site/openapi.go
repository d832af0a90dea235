package site

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Evidence says what the tests checked of an operation.
type Evidence struct {
	Oracle             string `json:"oracle"`             // what the answers were compared with
	EvidenceLevel      string `json:"evidenceLevel"`      // how much was compared
	CertificationScope string `json:"certificationScope"` // what the comparison covers
	SLOClass           string `json:"sloClass"`
	Checks             int    `json:"checks"` // answers compared in the last recorded run
}

// evidenceFile is written by the tests that compare answers with ground truth,
// and read back here: the document claims what was checked, and no more.
//
//go:embed evidence.json
var evidenceFile []byte

var evidence = func() map[string]Evidence {
	m := map[string]Evidence{}
	if err := json.Unmarshal(evidenceFile, &m); err != nil {
		panic(fmt.Sprintf("site: evidence.json: %v", err))
	}
	return m
}()

// EvidenceFor returns what is known of an operation; an operation that no test
// compared says so.
func EvidenceFor(operation string) Evidence {
	if e, ok := evidence[operation]; ok {
		return e
	}
	return Evidence{Oracle: "none", EvidenceLevel: "none", CertificationScope: "none", SLOClass: "none"}
}

// documentNulls makes the schemas say which fields can be null. A pointer that
// is always written can be; Huma knows that of scalars alone.
func documentNulls(r huma.Registry) {
	for name, schema := range r.Map() {
		t := r.TypeFromRef("#/components/schemas/" + name)
		if t == nil || t.Kind() != reflect.Struct { // nil: it was not made from a type
			continue
		}
		for _, f := range reflect.VisibleFields(t) {
			field, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			p := schema.Properties[field]
			if p == nil || f.Type.Kind() != reflect.Pointer || strings.Contains(options, "omitempty") {
				continue
			}
			if p.Ref != "" {
				p.OneOf, p.Ref = []*huma.Schema{{Ref: p.Ref}, {Type: "null"}}, ""
				continue
			}
			p.Nullable = true
			if len(p.Enum) > 0 {
				p.Enum = append(p.Enum, nil)
			}
		}
	}
}
