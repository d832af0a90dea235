package kernel

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/felt"
)

func (s *Server) humaConfig() huma.Config {
	cfg := huma.DefaultConfig("Chain Explorer API", s.Version)
	cfg.OpenAPIPath, cfg.DocsPath, cfg.SchemasPath = "", "", "" // served by documents.go
	cfg.CreateHooks = nil                                       // no $schema links in answers
	cfg.Formats = map[string]huma.Format{JSONType: answerFormat, "json": answerFormat}
	cfg.NoFormatFallback = false
	cfg.Info.Description = "Exact, indexed reads of Starknet. Every operation says how far it can be relied on (x-service-certification), " +
		"what it costs (x-service-rate-limit-class), who may call it (x-service-scope, x-service-key-tier) and what the tests compared it with (x-service-evidence)."
	if s.BaseURL != "" {
		cfg.Servers = []*huma.Server{{URL: s.BaseURL}}
	} else {
		cfg.Servers = []*huma.Server{{URL: "/", Description: "This host"}}
	}
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"apiKey":      {Type: "apiKey", In: "header", Name: HeaderKey, Description: "The key's text, without a prefix."},
		"apiKeyShort": {Type: "apiKey", In: "header", Name: HeaderKeyShort, Description: "For browsers that call directly."},
	}
	if s.sessions != nil {
		cfg.Components.SecuritySchemes["sessionBearer"] = &huma.SecurityScheme{Type: "http", Scheme: "bearer", Description: "The token of a session."}
		cfg.Components.SecuritySchemes["sessionCookie"] = &huma.SecurityScheme{Type: "apiKey", In: "cookie", Name: SecureCookie,
			Description: "The cookie that signing in sets. Without TLS it is called " + PlainCookie + "."}
	}
	cfg.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	cfg.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[felt.Felt](), reflect.TypeFor[canonicalFelt]())
	cfg.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[felt.Shown](), reflect.TypeFor[string]())
	return cfg
}

// answerFormat reads and writes bodies.
var answerFormat = huma.Format{Marshal: writeJSON, Unmarshal: json.Unmarshal}

// FeltSpelling is what is said of a felt of which nothing else is said.
const FeltSpelling = "Felt: lower-case hex without leading zeros."

// FeltFormat marks what takes felts in a request: the tag format:"felt". The
// documents say in its place how they are spelled.
const FeltFormat = "felt"

// canonicalFelt documents a felt.Felt of an answer.
type canonicalFelt struct{}

// canonicalFormat marks the felts of answers until SpellFelts.
const canonicalFormat = "canonical-felt"

// Schema marks a felt. Huma compiles the pattern of a field up to three times, to hold
// requests against it: for the hundreds of felts in answers that was a fifth of a start.
func (canonicalFelt) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: canonicalFormat, Description: FeltSpelling}
}

// SpellFelts says in the document how the felts of answers are spelled, when all routes
// are in it.
func (s *Server) SpellFelts() {
	for _, schema := range s.huma.OpenAPI().Components.Schemas.Map() {
		spell(schema)
	}
}

func spell(s *huma.Schema) {
	if s == nil {
		return
	}
	if s.Format == canonicalFormat {
		s.Format, s.Pattern = "", "^0x(0|[1-9a-f][0-9a-f]{0,63})$"
	}
	spell(s.Items)
	if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
		spell(values)
	}
	for _, p := range s.Properties {
		spell(p)
	}
	for _, of := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf) {
		spell(of)
	}
}

func init() {
	huma.DefaultArrayNullable = false // our lists are empty, never null
	huma.ValidateStrictCasing = true  // another spelling is another name
}

// humaFailure maps Huma's statuses onto our codes.
func humaFailure(status int, msg string, errs []error) *Error {
	code := CodeInvalidRequest
	switch status {
	case http.StatusRequestEntityTooLarge:
		code = CodePayloadTooLarge
	case http.StatusUnsupportedMediaType:
		code = CodeUnsupportedMedia
	case http.StatusInternalServerError:
		code = CodeInternal
	}
	var parts []string
	for _, err := range errs {
		if what, ok := outOfRange(err); ok {
			parts = append(parts, what)
			continue
		}
		var detail *huma.ErrorDetail
		if d, ok := err.(huma.ErrorDetailer); ok {
			detail = d.ErrorDetail()
		}
		switch {
		case detail != nil && detail.Location != "":
			parts = append(parts, detail.Location+": "+detail.Message)
		case err != nil:
			parts = append(parts, err.Error())
		}
	}
	if len(parts) > 0 && code != CodeInternal {
		msg = strings.Join(parts, "; ")
	}
	if code == CodeInternal {
		return &Error{Code: code, Message: "Something went wrong on our side.", Cause: fmt.Errorf("%s: %v", msg, errs)}
	}
	return &Error{Code: code, Message: Clip(msg, 400)}
}

// decoderFault is what the JSON decoder says of a number that passed validation and
// does not fit: the name of a field, and a Go type, which is nobody's business.
var decoderFault = regexp.MustCompile(`json: cannot unmarshal \w+(?: \S+)? into Go (?:struct field \w*\.?(\S+)|value) of type`)

// outOfRange turns such a fault into words.
func outOfRange(err error) (string, bool) {
	if err == nil {
		return "", false
	}
	m := decoderFault.FindStringSubmatch(err.Error())
	if m == nil {
		return "", false
	}
	where := "body"
	if m[1] != "" {
		where += "." + m[1]
	}
	return where + ": the value is out of range, or of another kind.", true
}

// OpenAPI is the document of the whole table.
func (s *Server) OpenAPI() *huma.OpenAPI { return s.huma.OpenAPI() }

// OperationOf is what the document says of a route.
func (s *Server) OperationOf(r *Route) *huma.Operation {
	item := s.huma.OpenAPI().Paths[r.Path]
	return map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete}[r.Method]
}
