package site

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
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
	resourcePath    = "/.well-known/oauth-protected-resource"
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
	listed  []Document
	missing func() (*document, error) // the page for paths that have none
}

// Document is one that another package serves, and that programs should find.
type Document struct{ Path, Type, Title string }

// New completes the OpenAPI document and serves all documents. The table is
// complete by then. What is listed stands in the API catalog as well.
func New(k *kernel.Server, routes *api.Routes, listed ...Document) *Site {
	s := &Site{Server: k, routes: routes, listed: listed}
	s.publish()
	s.documents()
	return s
}

// documents serves what needs no key: the contract, the pages that explain it,
// and the health checks. It is called when the table is complete.
func (s *Site) documents() {
	s.Unlimited("GET /healthz", s.routes.Healthz)
	s.Unlimited("GET /readyz", s.routes.Readyz)

	// The contract, in either language, and what is read of it take longer than all
	// the rest of a start. They are made when somebody asks for them.
	contract := sync.OnceValue(s.contract)
	s.later([]string{openAPIPathJSON, "/openapi.json"}, func() *document { return newDocument(openAPITypeJSON, contract()) })
	s.later([]string{kernel.OpenAPIPath, "/openapi.yaml"}, func() *document { return newDocument(openAPITypeYAML, s.contractYAML()) })
	reference := sync.OnceValue(func() *reference { return newReference(s, contract()) })

	s.fixed("/robots.txt", textType, []byte("User-agent: *\nAllow: /\nDisallow: /v1/\nDisallow: /api/\n"))
	s.named(web.StyleHref, "text/css; charset=utf-8", web.Style())
	s.named(web.ScriptHref, "text/javascript; charset=utf-8", web.Script())
	s.fixed(web.IconPath, "image/svg+xml", web.Icon())
	s.fixed("/favicon.ico", "image/svg+xml", web.Icon())

	s.fixed(manifestPath, kernel.JSONType, mustEncode(s.manifest()))

	lib := newLibrary(s)
	s.Open("GET "+catalogPath, lib.serve(catalogPath, s.writeCatalog))
	s.Open("GET "+agentPath, lib.serve(agentPath, s.writeAgentMemory))
	for _, of := range []string{"", "/mcp", "/api/mcp"} {
		s.Open("GET "+resourcePath+of, lib.serve(resourcePath+of, func(at setting) (*document, error) { return writeResource(at, cmp.Or(of, "/mcp")) }))
	}
	guides := s.guides()
	s.Open("GET "+llmsPath, lib.serve(llmsPath, func(at setting) (*document, error) { return s.writeLLMs(at, guides) }))
	s.Open("GET "+llmsFullPath, lib.serve(llmsFullPath, func(at setting) (*document, error) {
		return s.writeLLMsFull(at, guides, reference())
	}))
	s.pages(lib, guides, reference)
	s.manuals()
	s.receiptPage(lib)
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

// contractYAML is the same in the other language.
func (s *Site) contractYAML() []byte {
	doc, err := s.OpenAPI().YAML()
	if err != nil {
		panic(fmt.Sprintf("site: OpenAPI document: %v", err))
	}
	return doc
}

// later serves a document at all its names. It is made for the first who asks.
func (s *Site) later(paths []string, write func() *document) {
	kept := sync.OnceValue(write)
	for _, path := range paths {
		s.Open("GET "+path, func(w http.ResponseWriter, r *http.Request) { kept().send(w, r) })
	}
}

// named serves bytes by an address that names them in its query. Another query is answered
// too, as pages of another version of the program may ask for it.
func (s *Site) named(href, contentType string, body []byte) {
	d := newDocument(contentType, body)
	path, query, _ := strings.Cut(href, "?")
	d.name = query
	s.Open("GET "+path, d.send)
}

// fixed serves bytes that never change while the process runs.
func (s *Site) fixed(path, contentType string, body []byte) {
	d := newDocument(contentType, body)
	s.Open("GET "+path, d.send)
}
