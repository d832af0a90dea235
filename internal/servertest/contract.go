package servertest

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

// Contract is the OpenAPI document as a judge: every answer that the tests get
// must have a documented status and the documented shape.
type Contract struct {
	compiler   *jsonschema.Compiler
	Operations []Operation
	mu         sync.Mutex
	schemas    map[string]*jsonschema.Schema // guarded by mu; by pointer into the document
	judged     map[string]bool               // guarded by mu; items of lists that were well, after the pointer to their answer
}

// Operation is one of the document.
type Operation struct {
	ID, Method string
	Path       *regexp.Regexp
	Pointer    string
	Responses  map[string]any
	Item       map[string]any

	variables int // in its path
}

const documentURL = "https://contract.test/openapi.json"

// judges are shared by all worlds with the same table: it takes long to write the
// document, and to compile its schemas.
var judges struct {
	sync.Mutex
	of map[string]*Contract // by what is in the table
}

// contractOf is the judge of a server whose table is complete.
func contractOf(t *testing.T, s *kernel.Server) *Contract {
	t.Helper()
	var table strings.Builder
	for _, r := range s.Entries() {
		fmt.Fprintln(&table, r.ID, r.Method, r.Path, r.Statuses)
	}
	judges.Lock()
	defer judges.Unlock()
	if c := judges.of[table.String()]; c != nil {
		return c
	}
	text, err := json.Marshal(s.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	if judges.of == nil {
		judges.of = map[string]*Contract{}
	}
	c := newContract(t, text)
	judges.of[table.String()] = c
	return c
}

func newContract(t *testing.T, text []byte) *Contract {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	forbidUndocumented(doc)
	c := &Contract{compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}, judged: map[string]bool{}}
	c.compiler.AssertFormat()
	if err := c.compiler.AddResource(documentURL, doc); err != nil {
		t.Fatal(err)
	}
	placeholder := regexp.MustCompile(`\\\{[a-z_]+\\\}`)
	for path, item := range doc.(map[string]any)["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			op := op.(map[string]any)
			c.Operations = append(c.Operations, Operation{
				ID: op["operationId"].(string), Method: strings.ToUpper(method), Item: op, Responses: op["responses"].(map[string]any),
				Path:    regexp.MustCompile("^(/api)?" + placeholder.ReplaceAllString(regexp.QuoteMeta(path), "[^/]+") + "$"),
				Pointer: "/paths/" + EscapePointer(path) + "/" + method, variables: strings.Count(path, "{"),
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

// EscapePointer writes a name as part of a pointer into the document.
func EscapePointer(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(s)
}

// Of finds the operation of a request. As in OpenAPI a path without variables comes
// before those that would match as well, whatever its methods.
func (c *Contract) Of(method, path string) *Operation {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var found *Operation
	fewest := -1
	for i := range c.Operations {
		op := &c.Operations[i]
		if !op.Path.MatchString(path) || fewest >= 0 && op.variables > fewest {
			continue
		}
		if op.variables != fewest {
			fewest, found = op.variables, nil
		}
		if op.Method == method {
			found = op
		}
	}
	return found
}

// Schema compiles what stands at a place of the document.
func (c *Contract) Schema(pointer string) (*jsonschema.Schema, error) {
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

// Check judges one answer.
func (c *Contract) Check(req *http.Request, r Reply) error {
	if r.Header.Get("X-Request-Id") == "" {
		return errors.New("no request id")
	}
	if r.StatusCode == http.StatusNotModified || r.StatusCode == http.StatusNoContent || req.Method == http.MethodHead {
		if len(r.Body) > 0 {
			return fmt.Errorf("status %d with a body", r.StatusCode)
		}
		return nil
	}
	if r.Header.Get("Content-Type") != "application/json" {
		return nil // a page; pages have their own tests
	}
	if feedPath.MatchString(req.URL.Path) {
		return checkFeed(r)
	}
	pointer := "/components/schemas/Envelope"
	op := c.Of(req.Method, req.URL.EscapedPath())
	switch {
	case op != nil && r.StatusCode == http.StatusRequestURITooLong:
		// Answered before there is an operation.
	case op != nil:
		status := strconv.Itoa(r.StatusCode)
		if op.Responses[status] == nil {
			return fmt.Errorf("%s does not document status %s: %s", op.ID, status, r.Body)
		}
		pointer = op.Pointer + "/responses/" + status + "/content/application~1json/schema"
	case r.StatusCode < http.StatusBadRequest || strings.HasSuffix(req.URL.Path, "/readyz") || r.jsonRPC():
		return nil // not part of the contract: health, and further addresses of the gateway
	}
	schema, err := c.Schema(pointer)
	if err != nil {
		return err
	}
	body, items := c.unjudged(pointer, r.Plain())
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("not JSON: %w: %s", err, r.Body)
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("against %s: %w\n%s", pointer, err, r.Plain())
	}
	c.mu.Lock()
	for _, item := range items {
		c.judged[item] = true
	}
	c.mu.Unlock()
	if r.StatusCode >= http.StatusBadRequest && !r.jsonRPC() {
		return checkEnvelope(r)
	}
	return nil
}

// unjudged is an answer without those items of its list that were judged before, byte for
// byte and of the same operation, and what the others are remembered by: tests walk the
// same lists again and again, and judging takes longer than answering.
func (c *Contract) unjudged(pointer string, body []byte) (rest []byte, items []string) {
	var answer map[string]json.RawMessage
	var list []json.RawMessage
	if json.Unmarshal(body, &answer) != nil || json.Unmarshal(answer["items"], &list) != nil || len(list) == 0 {
		return body, nil
	}
	left := []json.RawMessage{}
	c.mu.Lock()
	for _, item := range list {
		if name := pointer + string(item); !c.judged[name] {
			left, items = append(left, item), append(items, name)
		}
	}
	c.mu.Unlock()
	if len(left) == len(list) {
		return body, items
	}
	var err error
	if answer["items"], err = json.Marshal(left); err != nil {
		return body, nil
	}
	if rest, err = json.Marshal(answer); err != nil {
		return body, nil
	}
	return rest, items
}

// feedPath is that of the feed which speaks as another service does, and has its own failures.
var feedPath = regexp.MustCompile(`^(/SN_[A-Z]+)?/beta(/|$)`)

// checkFeed checks that a failure of the feed is in its own shape.
func checkFeed(r Reply) error {
	if r.StatusCode < http.StatusBadRequest {
		return nil
	}
	var body map[string]any
	if err := json.Unmarshal(r.Plain(), &body); err != nil {
		return fmt.Errorf("not JSON: %w: %s", err, r.Body)
	}
	name := "error"
	if r.StatusCode == http.StatusUnauthorized && body["message"] != nil {
		name = "message"
	}
	if text, ok := body[name].(string); !ok || text == "" || len(body) != 1 {
		return fmt.Errorf("status %d with %s", r.StatusCode, r.Plain())
	}
	return nil
}

// jsonRPC says that the answer has an envelope of that kind.
func (r Reply) jsonRPC() bool { return bytes.HasPrefix(r.Plain(), []byte(`{"jsonrpc":`)) }

// checkEnvelope checks what holds for all failures.
func checkEnvelope(r Reply) error {
	e := r.Envelope()
	info, ok := kernel.Codes[e.Code]
	switch {
	case !ok:
		return fmt.Errorf("code %q is not in the table", e.Code)
	case info.Status != r.StatusCode:
		return fmt.Errorf("code %q with status %d", e.Code, r.StatusCode)
	case e.Reason != "" && (kernel.Reasons[e.Reason].Code != e.Code || e.DocSlug != kernel.Reasons[e.Reason].Slug):
		return fmt.Errorf("reason %q with code %q and slug %q", e.Reason, e.Code, e.DocSlug)
	case r.StatusCode == http.StatusGone: // its page is named by another field
		return nil
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
