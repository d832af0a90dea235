package api

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/felt"
)

// openAPIPath is where integrators already look for the document.
const openAPIPath = "/service-openapi.yaml"

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
		panic(fmt.Sprintf("api: evidence.json: %v", err))
	}
	return m
}()

// evidenceFor returns what is known of an operation; an operation that no test
// compared says so.
func evidenceFor(operation string) Evidence {
	if e, ok := evidence[operation]; ok {
		return e
	}
	return Evidence{Oracle: "none", EvidenceLevel: "none", CertificationScope: "none", SLOClass: "none"}
}

func (s *Server) humaConfig() huma.Config {
	cfg := huma.DefaultConfig("Chain Explorer API", s.version)
	cfg.OpenAPIPath, cfg.DocsPath, cfg.SchemasPath = "", "", "" // served by documents.go
	cfg.CreateHooks = nil                                       // no $schema links in answers
	cfg.Formats = map[string]huma.Format{jsonType: huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat}
	cfg.NoFormatFallback = false
	cfg.Info.Description = "Exact, indexed reads of Starknet. Every operation says how far it can be relied on (x-service-certification), " +
		"what it costs (x-service-rate-limit-class), who may call it (x-service-scope, x-service-key-tier) and what the tests compared it with (x-service-evidence)."
	if s.baseURL != "" {
		cfg.Servers = []*huma.Server{{URL: s.baseURL}}
	} else {
		cfg.Servers = []*huma.Server{{URL: "/", Description: "This host"}}
	}
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"apiKey":      {Type: "apiKey", In: "header", Name: headerKey, Description: "The key's text, without a prefix."},
		"apiKeyShort": {Type: "apiKey", In: "header", Name: headerKeyShort, Description: "For browsers that call directly."},
	}
	cfg.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	cfg.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[felt.Felt](), reflect.TypeFor[canonicalFelt]())
	return cfg
}

// feltSpelling is what is said of a felt of which nothing else is said.
const feltSpelling = "Felt: lower-case hex without leading zeros."

// canonicalFelt documents a felt.Felt of an answer.
type canonicalFelt struct{}

// Schema says how felts are spelled.
func (canonicalFelt) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: "^0x(0|[1-9a-f][0-9a-f]{0,63})$", Description: feltSpelling}
}

// documentNulls makes the schemas say which fields can be null. A pointer that
// is always written can be; Huma knows that of scalars alone.
func documentNulls(r huma.Registry) {
	for name, schema := range r.Map() {
		t := r.TypeFromRef("#/components/schemas/" + name)
		if t.Kind() != reflect.Struct {
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

// Schema makes Huma document failures as the envelope.
func (statusError) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[Envelope](), true, "Envelope")
}

func init() {
	huma.DefaultArrayNullable = false // our lists are empty, never null
	huma.ValidateStrictCasing = true  // another spelling is another name
	// Huma's own failures, such as a parameter that does not parse, get our envelope.
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return statusError{humaFailure(status, msg, errs), ""}
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
		req := requestOf(ctx.Context())
		req.failure = humaFailure(status, msg, errs)
		return statusError{req.failure, req.id}
	}
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
	return &Error{Code: code, Message: clip(msg, 400)}
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
