package site

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/api"
	"chainexplorer/internal/kernel"
)

// What programs that make clients of the document want to know of an operation
// beyond what Huma tells. Schemas of parameters are copied before they are changed:
// requests are judged by the handlers, which say more when they refuse and clamp
// where a client would be refused.

// answersFile has an answer of every operation, written by the tests from answers
// that they compared in full.
//
//go:embed answers.json
var answersFile []byte

// answerExample is an answer with its status.
type answerExample struct {
	Status string          `json:"status"`
	Body   json.RawMessage `json:"body"`
}

var answerExamples = func() map[string]answerExample {
	m := map[string]answerExample{}
	if err := json.Unmarshal(answersFile, &m); err != nil {
		panic(fmt.Sprintf("site: answers.json: %v", err))
	}
	return m
}()

const (
	// feltPattern is how a felt may be spelled in a request.
	feltPattern = "^0[xX][0-9a-fA-F]{1,64}$"
	// hashPattern is a hash of the other layer in an answer.
	hashPattern = "^0x[0-9a-f]{64}$"
)

// describeService says who and what the document is about.
func (s *Site) describeService(o *huma.OpenAPI) {
	contact := "/docs"
	if s.BaseURL != "" {
		contact = strings.TrimSuffix(s.BaseURL, "/") + contact
	}
	o.Info.Contact = &huma.Contact{Name: "The operator of this service", URL: contact}
	o.Info.License = &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"}
	for _, r := range s.Entries() {
		if !slices.ContainsFunc(o.Tags, func(t *huma.Tag) bool { return t.Name == r.Family }) {
			o.Tags = append(o.Tags, &huma.Tag{Name: r.Family, Description: api.FamilyPurposes[r.Family]})
		}
	}
	for _, name := range []string{"Message", "BridgeSignal"} {
		for _, field := range []string{"messageHash", "l1Hash"} {
			if p := o.Components.Schemas.Map()[name].Properties[field]; p != nil {
				p.Pattern = hashPattern
			}
		}
	}
}

// describeFelts says how the felts of a request are spelled, one or several.
func describeFelts(sc *huma.Schema) {
	if sc.Items != nil {
		sc = sc.Items
	}
	if sc.Format == kernel.FeltFormat {
		sc.Format, sc.Pattern = "", feltPattern
	}
}

// describeBody describes the felts of a body. Huma holds bodies against the same
// schemas, with the patterns that they had when the route was registered; those
// that come later are for readers alone. The handlers refuse what is no felt, and
// say why.
func describeBody(schemas huma.Registry, sc *huma.Schema) {
	if sc.Ref != "" {
		sc = schemas.SchemaFromRef(sc.Ref)
	}
	for _, p := range sc.Properties {
		describeFelts(p)
	}
}

// describeParameter describes felts and page sizes, in a copy of the schema.
func describeParameter(r *kernel.Route, p *huma.Param) {
	sc := *p.Schema
	if sc.Items != nil {
		items := *sc.Items
		sc.Items = &items
	}
	describeFelts(&sc)
	if p.In == "query" && p.Name == r.PageParameter() {
		least, most := 1.0, float64(r.Page.Most)
		sc.Default, sc.Minimum, sc.Maximum = r.Page.Usual, &least, &most
	}
	p.Schema = &sc
}

// describeOperation completes the operation of a route.
func describeOperation(schemas huma.Registry, r *kernel.Route, op *huma.Operation) {
	// Both spellings make one name in every language: one is described, both are taken.
	op.Parameters = slices.DeleteFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == "keys[]" })
	for _, p := range op.Parameters {
		if p.Schema != nil {
			describeParameter(r, p)
		}
	}
	if op.RequestBody != nil && op.RequestBody.Content[kernel.JSONType] != nil {
		describeBody(schemas, op.RequestBody.Content[kernel.JSONType].Schema)
	}
	example := answerExamples[op.OperationID]
	if res := op.Responses[example.Status]; res != nil && res.Content[kernel.JSONType] != nil {
		res.Content[kernel.JSONType].Example = example.Body
	}
}
