package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"chainexplorer/internal/kernel"
)

// contract is the OpenAPI document as a judge: every answer that the tests get
// must have a documented status and the documented shape.
type contract struct {
	compiler   *jsonschema.Compiler
	operations []operation
	mu         sync.Mutex
	schemas    map[string]*jsonschema.Schema // guarded by mu; by pointer into the document
}

type operation struct {
	id, method string
	path       *regexp.Regexp
	pointer    string
	responses  map[string]any
	item       map[string]any
}

const documentURL = "https://contract.test/openapi.json"

// judges are shared by the worlds of all tests that have the same document:
// schemas take long to compile.
var judges struct {
	sync.Mutex
	of map[string]*contract // by document
}

func contractOf(t *testing.T, s *kernel.Server) *contract {
	t.Helper()
	text, err := json.Marshal(s.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	judges.Lock()
	defer judges.Unlock()
	if c := judges.of[string(text)]; c != nil {
		return c
	}
	if judges.of == nil || len(judges.of) > 8 {
		judges.of = map[string]*contract{}
	}
	c := newContract(t, text)
	judges.of[string(text)] = c
	return c
}

func newContract(t *testing.T, text []byte) *contract {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	forbidUndocumented(doc)
	c := &contract{compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	c.compiler.AssertFormat()
	if err := c.compiler.AddResource(documentURL, doc); err != nil {
		t.Fatal(err)
	}
	placeholder := regexp.MustCompile(`\\\{[a-z_]+\\\}`)
	for path, item := range doc.(map[string]any)["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			op := op.(map[string]any)
			c.operations = append(c.operations, operation{
				id: op["operationId"].(string), method: strings.ToUpper(method), item: op, responses: op["responses"].(map[string]any),
				path:    regexp.MustCompile("^(/api)?" + placeholder.ReplaceAllString(regexp.QuoteMeta(path), "[^/]+") + "$"),
				pointer: "/paths/" + escapePointer(path) + "/" + method,
			})
		}
	}
	return c
}

// forbidUndocumented makes the judge stricter than the document: answers may grow
// in later versions, but what this version sends must all be documented.
func forbidUndocumented(doc any) {
	schemas := doc.(map[string]any)["components"].(map[string]any)["schemas"].(map[string]any)
	for _, s := range schemas {
		if s := s.(map[string]any); s["properties"] != nil && s["additionalProperties"] == nil {
			s["additionalProperties"] = false
		}
	}
}

func escapePointer(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(s)
}

// of finds the operation of a request.
func (c *contract) of(method, path string) *operation {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for i := range c.operations {
		if op := &c.operations[i]; op.method == method && op.path.MatchString(path) {
			return op
		}
	}
	return nil
}

func (c *contract) schema(pointer string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.schemas[pointer]; s != nil {
		return s, nil
	}
	s, err := c.compiler.Compile(documentURL + "#" + pointer)
	if err == nil {
		c.schemas[pointer] = s
	}
	return s, err
}

// check judges one answer.
func (c *contract) check(req *http.Request, r reply) error {
	if r.Header.Get("X-Request-Id") == "" {
		return errors.New("no request id")
	}
	if r.StatusCode == http.StatusNotModified || r.StatusCode == http.StatusNoContent || req.Method == http.MethodHead {
		if len(r.body) > 0 {
			return fmt.Errorf("status %d with a body", r.StatusCode)
		}
		return nil
	}
	if r.Header.Get("Content-Type") != "application/json" {
		return nil // a page; pages have their own tests
	}
	pointer := "/components/schemas/Envelope"
	op := c.of(req.Method, req.URL.EscapedPath())
	switch {
	case op != nil && r.StatusCode == http.StatusRequestURITooLong:
		// Answered before there is an operation.
	case op != nil:
		status := strconv.Itoa(r.StatusCode)
		if op.responses[status] == nil {
			return fmt.Errorf("%s does not document status %s: %s", op.id, status, r.body)
		}
		pointer = op.pointer + "/responses/" + status + "/content/application~1json/schema"
	case r.StatusCode < http.StatusBadRequest || strings.HasSuffix(req.URL.Path, "/readyz"):
		return nil // not part of the contract: health
	}
	schema, err := c.schema(pointer)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.plain()))
	if err != nil {
		return fmt.Errorf("not JSON: %w: %s", err, r.body)
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("against %s: %w\n%s", pointer, err, r.plain())
	}
	if r.StatusCode >= http.StatusBadRequest {
		return checkEnvelope(r)
	}
	return nil
}

// checkEnvelope checks what holds for all failures.
func checkEnvelope(r reply) error {
	e := r.envelope()
	info, ok := kernel.Codes[e.Code]
	switch {
	case !ok:
		return fmt.Errorf("code %q is not in the table", e.Code)
	case info.Status != r.StatusCode:
		return fmt.Errorf("code %q with status %d", e.Code, r.StatusCode)
	case e.Reason != "" && (kernel.Reasons[e.Reason].Code != e.Code || e.DocSlug != kernel.Reasons[e.Reason].Slug):
		return fmt.Errorf("reason %q with code %q and slug %q", e.Reason, e.Code, e.DocSlug)
	case e.Reason == "" && e.DocSlug != info.Slug:
		return fmt.Errorf("code %q with slug %q", e.Code, e.DocSlug)
	case e.RequestID != r.Header.Get("X-Request-Id"):
		return fmt.Errorf("request id %q in the body, %q in the header", e.RequestID, r.Header.Get("X-Request-Id"))
	case e.Message == "":
		return errors.New("no message")
	case !strings.HasPrefix(r.Header.Get("Cache-Control"), "private"):
		return fmt.Errorf("Cache-Control %q", r.Header.Get("Cache-Control"))
	}
	return nil
}

// TestDocumentIsComplete asks that every operation says what a caller must know
// before calling, and that every failure is documented as the envelope.
func TestDocumentIsComplete(t *testing.T) {
	w := newWorld(t, 3)
	if len(w.contract.operations) < 10 {
		t.Fatalf("only %d operations", len(w.contract.operations))
	}
	allowed := map[string][]string{
		"x-service-certification":    {"certified", "beta", "experimental"},
		"x-service-key-tier":         {"official_public", "advanced_utilities", "partner"},
		"x-service-audience":         {"external", "operator"},
		"x-service-rate-limit-class": {"light", "heavy", "batch"},
		"x-service-scope":            {"read", "batch", "write", "verify", "prove", "trace", "partner"},
	}
	certified := map[string]bool{"getStatus": true, "getBlock": true, "getBlockAtTimestamp": true, "getTransaction": true,
		"getTokenTotalSupply": true, "getTokenBalance": true}
	for _, op := range w.contract.operations {
		for name, values := range allowed {
			got, _ := op.item[name].(string)
			if !contains(values, got) {
				t.Errorf("%s: %s is %q", op.id, name, got)
			}
		}
		if is := op.item["x-service-certification"] == "certified"; is != certified[op.id] {
			t.Errorf("%s: certified is %v", op.id, is)
		}
		e, _ := op.item["x-service-evidence"].(map[string]any)
		if e["oracle"] == nil || e["oracle"] == "none" || e["evidenceLevel"] == "none" || e["certificationScope"] == "none" || e["sloClass"] == "none" {
			t.Errorf("%s: no evidence: %v", op.id, e)
		}
		if n, _ := e["checks"].(json.Number); n == "" || n == "0" {
			t.Errorf("%s: evidence without checks: %v", op.id, e)
		}
		for status, res := range op.responses {
			if status < "400" {
				continue
			}
			schema := res.(map[string]any)["content"].(map[string]any)["application/json"].(map[string]any)["schema"].(map[string]any)
			if schema["$ref"] != "#/components/schemas/Envelope" {
				t.Errorf("%s: status %s is %v", op.id, status, schema)
			}
		}
		for _, status := range []string{"400", "401", "403", "429", "500", "503"} {
			if op.responses[status] == nil {
				t.Errorf("%s: status %s is not documented", op.id, status)
			}
		}
		if op.item["summary"] == "" || op.item["description"] == "" || op.item["security"] == nil {
			t.Errorf("%s: not described", op.id)
		}
	}
}

// TestEveryFieldIsExplained asks that no field of the contract is left to guesses,
// that clients may meet fields of later versions, and that bodies stay exact.
func TestEveryFieldIsExplained(t *testing.T) {
	doc := publishedDocument(t)
	sent := map[string]bool{"WalletRequest": true, "WalletInclude": true, "PreviewRequest": true, "AddressBatchBody": true}
	for name, s := range doc.Components.Schemas {
		for field, p := range s.Properties {
			if p.Description == "" {
				t.Errorf("%s.%s is not explained: add it to glossary.txt, or a doc tag to the field", name, field)
			}
		}
		if closed := s.AdditionalProperties == false; closed != sent[name] && len(s.Properties) > 0 {
			t.Errorf("%s: closed is %v; bodies that callers send are, answers are not", name, closed)
		}
	}
	var codes []string
	for c := range kernel.Codes {
		codes = append(codes, string(c))
	}
	listed := doc.Components.Schemas["Envelope"].Properties["code"].Enum
	if len(listed) != len(codes) {
		t.Errorf("the envelope lists %d codes of %d", len(listed), len(codes))
	}
}

// TestOperationsDeclareWhatTheKernelAdds holds the document against the kernel:
// chains, headers, and answers without a body.
func TestOperationsDeclareWhatTheKernelAdds(t *testing.T) {
	doc := publishedDocument(t)
	for path, item := range doc.Paths {
		for method, op := range item {
			for _, p := range op.Parameters {
				if p.Name == "chain" && fmt.Sprint(p.Schema.Enum) != "[SN_MAIN SN_SEPOLIA]" {
					t.Errorf("%s: chain is one of %v", path, p.Schema.Enum)
				}
			}
			if _, ok := op.Responses["304"]; ok != (method == "get") {
				t.Errorf("%s %s: 304 is declared: %v", method, path, ok)
			}
			for status, want := range map[string]string{"200": "X-Ratelimit-Remaining", "429": "Retry-After", "401": "WWW-Authenticate", "503": "X-Request-Id"} {
				if _, ok := op.Responses[status].Headers[want]; !ok {
					t.Errorf("%s %s: %s does not declare %s", method, path, status, want)
				}
			}
		}
	}
	for name := range doc.Components.Headers {
		if doc.Components.Headers[name].Description == "" {
			t.Errorf("header %s is not explained", name)
		}
	}
}

// published is what the tests read of the document as it is served.
type published struct {
	Paths map[string]map[string]struct {
		Parameters []struct {
			Name   string
			Schema struct{ Enum []string }
		}
		Responses map[string]struct{ Headers map[string]any }
	}
	Components struct {
		Headers map[string]struct{ Description string }
		Schemas map[string]*struct {
			AdditionalProperties any
			Properties           map[string]struct {
				Description string
				Enum        []any
			}
		}
	}
}

func publishedDocument(t *testing.T) *published {
	t.Helper()
	w := newWorld(t, 3)
	text, err := json.Marshal(w.server.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	doc := new(published)
	if err := json.Unmarshal(text, doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
