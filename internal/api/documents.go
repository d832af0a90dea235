package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

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

// documents serves what needs no key: the contract, the pages that explain it,
// and the health checks. It is called when the table is complete.
func (s *Server) documents() {
	s.unlimited("GET /healthz", s.healthz)
	s.unlimited("GET /readyz", s.readyz)

	jsonDoc := s.contract()
	for _, path := range []string{openAPIPathJSON, "/openapi.json"} {
		s.fixed(path, openAPITypeJSON, jsonDoc)
	}
	yamlDoc := sync.OnceValue(func() *document { return newDocument(openAPITypeYAML, s.contractYAML()) })
	for _, path := range []string{openAPIPath, "/openapi.yaml"} {
		s.open("GET "+path, func(w http.ResponseWriter, r *http.Request) { yamlDoc().send(w, r) })
	}
	s.fixed("/robots.txt", textType, []byte("User-agent: *\nAllow: /\nDisallow: /v1/\nDisallow: /api/\n"))
	s.fixed(web.StylePath, "text/css; charset=utf-8", web.Style())
	s.fixed(web.ScriptPath, "text/javascript; charset=utf-8", web.Script())
	s.fixed(web.IconPath, "image/svg+xml", web.Icon())
	s.fixed("/favicon.ico", "image/svg+xml", web.Icon())

	s.fixed(manifestPath, jsonType, mustEncode(s.manifest()))

	lib := newLibrary(s)
	s.open("GET "+catalogPath, lib.serve(catalogPath, s.writeCatalog))
	s.open("GET "+agentPath, lib.serve(agentPath, s.writeAgentMemory))
	guides := s.guides()
	reference := newReference(s, jsonDoc)
	s.open("GET "+llmsPath, lib.serve(llmsPath, func(at site) (*document, error) { return s.writeLLMs(at, guides) }))
	s.open("GET "+llmsFullPath, lib.serve(llmsFullPath, func(at site) (*document, error) {
		return s.writeLLMsFull(at, guides, reference)
	}))
	s.pages(lib, guides, reference)
	s.manuals()
	s.open("GET /{$}", s.newLanding(lib).serve)
}

// contract encodes the OpenAPI document. That it cannot be encoded is a mistake
// in the table.
func (s *Server) contract() []byte {
	doc, err := json.MarshalIndent(s.huma.OpenAPI(), "", "  ")
	if err != nil {
		panic(fmt.Sprintf("api: OpenAPI document: %v", err))
	}
	return append(doc, '\n')
}

// mustEncode encodes a document of ours. That it cannot be encoded is a mistake in
// the program.
func mustEncode(v any) []byte {
	body, err := encodeDocument(v)
	if err != nil {
		panic(fmt.Sprintf("api: document: %v", err))
	}
	return body
}

// contractYAML is the same in the other language. It takes longer than all the
// rest of a start, and is made when somebody asks for it.
func (s *Server) contractYAML() []byte {
	doc, err := s.huma.OpenAPI().YAML()
	if err != nil {
		panic(fmt.Sprintf("api: OpenAPI document: %v", err))
	}
	return doc
}

// fixed serves bytes that never change while the process runs.
func (s *Server) fixed(path, contentType string, body []byte) {
	d := newDocument(contentType, body)
	s.open("GET "+path, d.send)
}

// open registers a handler for everyone, within what an address may ask. It is
// readable from any origin, unless credentials come along that nobody asked for.
func (s *Server) open(pattern string, h http.HandlerFunc) {
	s.unlimited(pattern, func(w http.ResponseWriter, r *http.Request) {
		if e := s.clients.spend(w.(*exchange).client, 1); e != nil { // the mux is only reached through ServeHTTP
			sendError(w, r, e, recordOf(w).id, nil)
			return
		}
		h(w, r)
	})
}

// unlimited is open for those who watch over the process, and share an address
// with everybody else.
func (s *Server) unlimited(pattern string, h http.HandlerFunc) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if recordOf(w).credentialed {
			s.cors(w, r)
		} else {
			w.Header().Set("Access-Control-Allow-Origin", "*")
		}
		h(w, r)
	})
}
