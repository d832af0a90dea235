package site

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"chainexplorer/internal/api"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// catalogType is RFC 9264's type with RFC 9727's profile.
const catalogType = `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`

// target is a link of the catalog.
type target struct {
	Href  string `json:"href"`
	Type  string `json:"type,omitempty"`
	Title string `json:"title,omitempty"`
}

// catalogEntry is what the catalog says of one API.
type catalogEntry struct {
	Anchor      string   `json:"anchor"`
	ServiceDesc []target `json:"service-desc"`
	ServiceDoc  []target `json:"service-doc"`
	ServiceMeta []target `json:"service-meta"`
	Status      []target `json:"status"`
}

// writeCatalog writes the API catalog of RFC 9727.
func (s *Site) writeCatalog(at setting) (*document, error) {
	api := catalogEntry{
		Anchor: at.origin + "/v1",
		ServiceDesc: []target{
			{at.origin + openAPIPathJSON, openAPITypeJSON, "OpenAPI 3.1, JSON"},
			{at.origin + kernel.OpenAPIPath, openAPITypeYAML, "OpenAPI 3.1, YAML"},
		},
		ServiceDoc: []target{
			{at.origin + referencePath, web.ContentType, "API reference"},
			{at.origin + llmsPath, textType, "Guide for programs that read"},
		},
		ServiceMeta: []target{
			{at.origin + agentPath, kernel.JSONType, "What an agent should know"},
			{at.origin + manifestPath, kernel.JSONType, "Route state, access and evidence of every operation"},
		},
	}
	for _, d := range s.listed {
		api.ServiceMeta = append(api.ServiceMeta, target{at.origin + d.Path, d.Type, d.Title})
	}
	for _, id := range s.routes.Order {
		api.Status = append(api.Status, target{at.origin + "/v1/" + url.PathEscape(id) + "/status", kernel.JSONType, "Status of " + id + " (needs a key)"})
	}
	body, err := encodeDocument(map[string]any{"linkset": []catalogEntry{api}})
	if err != nil {
		return nil, err
	}
	d := newDocument(catalogType, body)
	d.links = DiscoveryLinks
	return d, nil
}

// DiscoveryLinks is the Link header with which the catalog, and the first page,
// point to the documents. RFC 9727 asks for it where HEAD is answered.
const DiscoveryLinks = `<` + catalogPath + `>; rel="api-catalog", ` +
	`<` + openAPIPathJSON + `>; rel="service-desc"; type="` + openAPITypeJSON + `", ` +
	`<` + kernel.OpenAPIPath + `>; rel="service-desc"; type="` + openAPITypeYAML + `", ` +
	`<` + referencePath + `>; rel="service-doc"; type="text/html"`

// AgentMemory is what a program should know before it has a key.
type AgentMemory struct {
	Kind                string              `json:"kind"`
	SchemaVersion       string              `json:"schemaVersion"`
	GeneratedFor        string              `json:"generatedFor"`
	Auth                AgentAuth           `json:"auth"`
	FirstCalls          []api.FirstCall     `json:"firstCalls"`
	RouteFamilies       []AgentFamily       `json:"routeFamilies"`
	WorkspaceMemory     AgentNotes          `json:"workspaceMemory"`
	OperatingRules      []string            `json:"operatingRules"`
	IssueReportContract api.IssueReportRule `json:"issueReportContract"`
}

// AgentAuth says how to ask.
type AgentAuth struct {
	Header           string `json:"header"`
	ExternalBasePath string `json:"externalBasePath"`
	DefaultChain     string `json:"defaultChain"`
}

// AgentFamily is a route family without its operations.
type AgentFamily struct {
	Name    string   `json:"name"`
	Tier    string   `json:"tier"`
	Routes  []string `json:"routes"`
	UseWhen string   `json:"useWhen"`
}

// AgentNotes says what to write down between sessions, and what never.
type AgentNotes struct {
	Remember []string `json:"remember"`
	Never    []string `json:"never"`
}

// writeAgentMemory says in public what the capabilities route tells a key.
func (s *Site) writeAgentMemory(setting) (*document, error) {
	nobody := kernel.WithRequest(context.Background(), &kernel.Request{Caller: &kernel.Caller{}})
	answer, err := s.routes.GetCapabilities(nobody, nil)
	if err != nil {
		return nil, fmt.Errorf("capabilities: %w", err)
	}
	c := answer.Body
	out := AgentMemory{
		Kind: "service.agent_memory", SchemaVersion: "2026-05-02", GeneratedFor: "agents",
		Auth:       AgentAuth{c.AuthHeader, c.ExternalBasePath, c.DefaultChain},
		FirstCalls: c.FirstCalls, RouteFamilies: []AgentFamily{},
		WorkspaceMemory: AgentNotes{
			Remember: []string{"The base address and the default chain.", "The name of the environment variable that holds the key: SERVICE_API_KEY.", "Where the OpenAPI document is: " + kernel.OpenAPIPath + "."},
			Never:    []string{"The key itself.", "Cursors: they belong to one query.", "Answers about blocks that are not finalized."},
		},
		OperatingRules: c.OperatingRules, IssueReportContract: c.IssueReportContract,
	}
	for _, f := range c.RouteFamilies {
		out.RouteFamilies = append(out.RouteFamilies, AgentFamily{f.Name, f.Tier, f.Routes, f.UseWhen})
	}
	body, err := encodeDocument(out)
	if err != nil {
		return nil, err
	}
	return newDocument(kernel.JSONType, body), nil
}

// writeResource tells agents' clients what protects the tools, in the form of RFC 9728: no
// authorization server is named, because keys come from the account and not from one.
func writeResource(at setting, path string) (*document, error) {
	body, err := encodeDocument(map[string]any{
		"resource": at.origin + path, "resource_name": "Chain Explorer for Starknet", "scopes_supported": []string{"read"},
		"bearer_methods_supported": []string{}, "resource_documentation": at.origin + "/docs/guide/clients",
	})
	if err != nil {
		return nil, err
	}
	return newDocument(kernel.JSONType, body), nil
}

func encodeDocument(v any) ([]byte, error) {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	return append(body, '\n'), nil
}
