package site

import (
	"chainexplorer/internal/kernel"
)

// manifestPath is where integrators look for the evidence behind the contract.
const manifestPath = "/public-api-correctness-manifest.json"

// Manifest publishes, for every operation, its route state, access tier and
// audience, and what its answers were compared with.
type Manifest struct {
	Kind          string              `json:"kind"`
	SchemaVersion string              `json:"schemaVersion"`
	Version       string              `json:"serviceVersion"`
	OpenAPI       string              `json:"openapi"`
	States        map[string]string   `json:"states"`
	Operations    []ManifestOperation `json:"operations"`
	Unsupported   ManifestUnsupported `json:"unsupported"`
}

// ManifestOperation is one operation with its evidence.
type ManifestOperation struct {
	ID            string               `json:"operationId"`
	Method        string               `json:"method"`
	Path          string               `json:"path"`
	Certification kernel.Certification `json:"certification"`
	Tier          kernel.Tier          `json:"tier"`
	Audience      kernel.Audience      `json:"audience"`
	Scope         string               `json:"scope"`
	Class         kernel.Class         `json:"rateLimitClass"`
	Evidence      Evidence             `json:"evidence"`
}

// ManifestUnsupported says what becomes of a request outside the contract.
type ManifestUnsupported struct {
	Rule   string      `json:"rule"`
	Status int         `json:"status"`
	Code   kernel.Code `json:"code"`
}

// certificationMeanings are the states of the contract, strongest first.
var certificationMeanings = []struct{ State, Meaning string }{
	{string(kernel.Certified), "The schema is stable: fields are not removed, renamed or given another meaning within `/v1`."},
	{string(kernel.Beta), "Usable, with the limits that the operation states. Changes are announced."},
	{string(kernel.Experimental), "A preview. The schema may change at any time."},
	{string(kernel.Unsupported), "Not a client contract: operations that say so, and whatever is not in the OpenAPI document, even if it answers today."},
}

// manifest is what the documents publish as evidence.
func (s *Site) manifest() Manifest {
	m := Manifest{Kind: "service.public_api_correctness_manifest", SchemaVersion: "1", Version: s.Version, OpenAPI: openAPIPathJSON, States: map[string]string{},
		Unsupported: ManifestUnsupported{"A request for a route that is not in the OpenAPI document.", kernel.Codes[kernel.CodeUnsupportedRoute].Status, kernel.CodeUnsupportedRoute}}
	for _, c := range certificationMeanings {
		m.States[c.State] = c.Meaning
	}
	for _, r := range s.Entries() {
		m.Operations = append(m.Operations, ManifestOperation{r.ID, r.Method, r.Path, r.Certification, r.Tier, r.Audience, r.ScopeName(), r.Class, EvidenceFor(r.ID)})
	}
	return m
}
