package method

import (
	"encoding/json"
	"fmt"
	"strings"

	"chainexplorer/internal/gateway/wire"
	"chainexplorer/internal/starknet"
)

// openRPCVersion is that of the form of the document.
const openRPCVersion = "1.3.2"

// Declared is the whole number of the version that the gateway says it speaks when it
// is asked for one.
func Declared(v starknet.SpecVersion) string {
	switch v {
	case starknet.V08:
		return "0.8.1"
	case starknet.V09:
		return "0.9.0"
	}
	return "0.10.2"
}

// Versions are those of the specification that have a path of their own, newest first.
// The newest is also that of paths without one.
func Versions() []starknet.SpecVersion {
	return []starknet.SpecVersion{starknet.V010, starknet.V09, starknet.V08}
}

// PathVersion is how a path names a version, such as v0_10.
func PathVersion(v starknet.SpecVersion) string {
	return "v" + strings.ReplaceAll(v.String(), ".", "_")
}

// About is what a document says beside the table.
type About struct {
	Title  string
	Server string // address of the endpoint, without a key
	Docs   string // address of the page that explains the methods; may be empty
	// Live says that there is a WebSocket, so that subscriptions are described, too.
	Live bool
}

type openRPC struct {
	OpenRPC string   `json:"openrpc"`
	Info    docInfo  `json:"info"`
	Servers []server `json:"servers,omitempty"`
	Methods []docFor `json:"methods"`
	Parts   docParts `json:"components"`
	More    *docMore `json:"externalDocs,omitempty"`
}

type docInfo struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

type server struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type docMore struct {
	URL string `json:"url"`
}

type docParts struct {
	Schemas map[string]*Schema  `json:"schemas"`
	Errors  map[string]docError `json:"errors"`
}

type docError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

type docRef struct {
	Ref string `json:"$ref"`
}

type docValue struct {
	Name     string  `json:"name"`
	Summary  string  `json:"summary,omitempty"`
	Required bool    `json:"required,omitempty"`
	Schema   *Schema `json:"schema"`
}

type docPush struct {
	Method string  `json:"method"`
	Result *Schema `json:"result"`
}

type docTag struct {
	Name string `json:"name"`
}

type docFor struct {
	Name      string     `json:"name"`
	Summary   string     `json:"summary"`
	Tags      []docTag   `json:"tags"`
	Structure string     `json:"paramStructure"`
	Params    []docValue `json:"params"`
	Result    docValue   `json:"result"`
	Errors    []docRef   `json:"errors"`

	Class     Class    `json:"x-service-class"`
	Scopes    []string `json:"x-service-scope"`
	Cost      int      `json:"x-service-cost"`
	MaxAnswer int64    `json:"x-service-max-answer-bytes"`
	TooLarge  string   `json:"x-service-too-large"`
	Cacheable bool     `json:"x-service-cacheable"`
	Transport []string `json:"x-service-transport"`
	// Push are the notifications that follow.
	Push []docPush `json:"x-service-notifications,omitempty"`
}

// Transports are the ways in which the method can be called.
func (m *Method) Transports() []string {
	if m.Stream() {
		return []string{"websocket"}
	}
	return []string{"http", "websocket"}
}

// Scopes are all scopes that a key needs for the method.
func (m *Method) Scopes() []string { return append([]string{"read"}, m.Scope.Names()...) }

// In are the methods that a version has, in the order of the table.
func In(v starknet.SpecVersion) (out []*Method) {
	for _, m := range table {
		if m.In(v) {
			out = append(out, m)
		}
	}
	return out
}

// gatewayErrors are the names under which a document has the codes of the gateway.
var gatewayErrors = map[int]docError{}

var gatewayNames = map[int]string{
	wire.CodeInvalidParams: "INVALID_PARAMS", wire.CodeInternal: "INTERNAL_ERROR", wire.CodeUnavailable: "UNAVAILABLE",
	wire.CodeRateLimited: "RATE_LIMITED", wire.CodeWriteScope: "WRITE_SCOPE_REQUIRED", wire.CodeAuthentication: "AUTHENTICATION",
}

// gatewayCodes are the codes of the gateway that a call of the method can fail with.
func (m *Method) gatewayCodes() []int {
	codes := []int{wire.CodeInvalidParams, wire.CodeInternal, wire.CodeUnavailable, wire.CodeRateLimited}
	if m.Class == Write {
		codes = append(codes, wire.CodeWriteScope)
	}
	return append(codes, wire.CodeAuthentication)
}

// Document describes the methods of a version as an OpenRPC document. The same
// arguments lead to the same bytes.
func Document(v starknet.SpecVersion, a About) []byte {
	d := openRPC{
		OpenRPC: openRPCVersion,
		Info: docInfo{a.Title, Declared(v), fmt.Sprintf("The methods of the Starknet JSON-RPC specification %s that are served here. "+
			"x-service-class says what kind of work a method is, x-service-scope what a key needs, x-service-cost how many requests a call counts as.", v)},
		Methods: []docFor{}, Parts: docParts{map[string]*Schema{}, map[string]docError{}},
	}
	if a.Server != "" {
		d.Servers = []server{{"This endpoint", a.Server}}
	}
	if a.Docs != "" {
		d.More = &docMore{a.Docs}
	}
	for _, m := range In(v) {
		if m.Stream() && !a.Live {
			continue
		}
		d.Methods = append(d.Methods, d.Parts.describe(m, v))
	}
	b, err := json.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("method: OpenRPC document: %v", err)) // strings and numbers always encode
	}
	return b
}

// describe is a method, whose components are added to the document's.
func (p docParts) describe(m *Method, v starknet.SpecVersion) docFor {
	out := docFor{
		Name: m.Name, Summary: m.Summary, Tags: []docTag{{string(m.Class)}}, Structure: "either", Params: []docValue{}, Errors: []docRef{},
		Result: docValue{Name: "result", Schema: m.Result},
		Class:  m.Class, Scopes: m.Scopes(), Cost: m.Cost, MaxAnswer: m.MaxAnswer, TooLarge: m.TooLarge, Cacheable: m.Keep != Never, Transport: m.Transports(),
	}
	reach(m.Result, v, p.Schemas)
	for _, a := range m.ParamsIn(v) {
		out.Params = append(out.Params, docValue{a.Name, a.Summary, a.Required, a.Schema})
		reach(a.Schema, v, p.Schemas)
	}
	if m.Push != "" {
		out.Push = []docPush{{m.Push, m.Pushed}, {Reorg, of("REORG")}}
		for _, push := range out.Push {
			reach(push.Result, v, p.Schemas)
		}
	}
	for _, e := range m.ErrorsIn(v) {
		p.refuse(&out, e.Name, docError{Code: e.Code, Message: e.Meaning})
	}
	for _, code := range m.gatewayCodes() {
		p.refuse(&out, gatewayNames[code], gatewayErrors[code])
	}
	return out
}

func (p docParts) refuse(m *docFor, name string, e docError) {
	p.Errors[name] = e
	m.Errors = append(m.Errors, docRef{"#/components/errors/" + name})
}

func init() {
	for _, r := range refusals {
		e := gatewayErrors[r.Code]
		names, _ := e.Data.([]string)
		gatewayErrors[r.Code] = docError{r.Code, "A refusal of the gateway; error.data.code is one of data.", append(names, r.Name)}
	}
}
