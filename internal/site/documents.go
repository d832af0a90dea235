package site

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"chainexplorer/internal/api"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// Where the documents are. The OpenAPI document has two names: the one that
// integrators already know, and the one that everybody tries.
const (
	openAPIPathJSON = "/service-openapi.json"
	catalogPath     = "/.well-known/api-catalog"
	agentPath       = "/.well-known/service-agent.json"
	referencePath   = "/docs/api"
	llmsPath        = "/llms.txt"
	llmsFullPath    = "/llms-full.txt"

	openAPITypeJSON = "application/vnd.oai.openapi+json;version=3.1"
	openAPITypeYAML = "application/vnd.oai.openapi+yaml;version=3.1"
	textType        = "text/plain; charset=utf-8"
)

// Site are the documents: the contract, the reference, guides and the pages that
// explain them, and what programs read to find their way.
type Site struct {
	*kernel.Server
	routes  *api.Routes
	missing func() (*document, error) // the page for paths that have none
}

// New completes the OpenAPI document and serves all documents. The table is
// complete by then.
func New(k *kernel.Server, routes *api.Routes) *Site {
	s := &Site{Server: k, routes: routes}
	s.publish()
	s.documents()
	return s
}

// documents serves what needs no key: the contract, the pages that explain it,
// and the health checks. It is called when the table is complete.
func (s *Site) documents() {
	s.Unlimited("GET /healthz", s.routes.Healthz)
	s.Unlimited("GET /readyz", s.routes.Readyz)

	jsonDoc := s.contract()
	for _, path := range []string{openAPIPathJSON, "/openapi.json"} {
		s.fixed(path, openAPITypeJSON, jsonDoc)
	}
	yamlDoc := sync.OnceValue(func() *document { return newDocument(openAPITypeYAML, s.contractYAML()) })
	for _, path := range []string{kernel.OpenAPIPath, "/openapi.yaml"} {
		s.Open("GET "+path, func(w http.ResponseWriter, r *http.Request) { yamlDoc().send(w, r) })
	}
	s.fixed("/robots.txt", textType, []byte("User-agent: *\nAllow: /\nDisallow: /v1/\nDisallow: /api/\n"))
	s.fixed(web.StylePath, "text/css; charset=utf-8", web.Style())
	s.fixed(web.ScriptPath, "text/javascript; charset=utf-8", web.Script())
	s.fixed(web.IconPath, "image/svg+xml", web.Icon())
	s.fixed("/favicon.ico", "image/svg+xml", web.Icon())

	s.fixed(manifestPath, kernel.JSONType, mustEncode(s.manifest()))

	lib := newLibrary(s)
	s.Open("GET "+catalogPath, lib.serve(catalogPath, s.writeCatalog))
	s.Open("GET "+agentPath, lib.serve(agentPath, s.writeAgentMemory))
	guides := s.guides()
	reference := newReference(s, jsonDoc)
	s.Open("GET "+llmsPath, lib.serve(llmsPath, func(at setting) (*document, error) { return s.writeLLMs(at, guides) }))
	s.Open("GET "+llmsFullPath, lib.serve(llmsFullPath, func(at setting) (*document, error) {
		return s.writeLLMsFull(at, guides, reference)
	}))
	s.pages(lib, guides, reference)
	s.manuals()
	s.Open("GET /{$}", s.newLanding(lib).serve)
}

// contract encodes the OpenAPI document. That it cannot be encoded is a mistake
// in the table.
func (s *Site) contract() []byte {
	doc, err := json.MarshalIndent(s.OpenAPI(), "", "  ")
	if err != nil {
		panic(fmt.Sprintf("site: OpenAPI document: %v", err))
	}
	return append(doc, '\n')
}

// mustEncode encodes a document of ours. That it cannot be encoded is a mistake in
// the program.
func mustEncode(v any) []byte {
	body, err := encodeDocument(v)
	if err != nil {
		panic(fmt.Sprintf("site: document: %v", err))
	}
	return body
}

// contractYAML is the same in the other language. It takes longer than all the
// rest of a start, and is made when somebody asks for it.
func (s *Site) contractYAML() []byte {
	doc, err := s.OpenAPI().YAML()
	if err != nil {
		panic(fmt.Sprintf("site: OpenAPI document: %v", err))
	}
	return doc
}

// fixed serves bytes that never change while the process runs.
func (s *Site) fixed(path, contentType string, body []byte) {
	d := newDocument(contentType, body)
	s.Open("GET "+path, d.send)
}
