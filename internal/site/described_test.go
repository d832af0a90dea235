package site_test

import (
	"bytes"
	"chainexplorer/internal/servertest"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// answersFile is where the document takes its examples from.
const answersFile = "answers.json"

// goldenDir holds the answers that the tests of the routes keep.
const goldenDir = "../api/testdata/golden"

// TestAnswerExamples: every operation has an answer as an example, which is one of
// the golden ones with its lists cut short. Run with -update after the golden files.
func TestAnswerExamples(t *testing.T) {
	w := sharedWorld(t, 60)
	type answer struct {
		Status string `json:"status"`
		Body   any    `json:"body"`
	}
	answers := map[string]answer{}
	files, err := filepath.Glob(filepath.Join(goldenDir, "*", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := goldenText.FindStringSubmatch(string(text))
		if m == nil {
			continue // without a body of JSON
		}
		op := w.Contract.Of(m[1], m[2])
		if op == nil || answers[op.ID].Status == "200" || answers[op.ID].Body != nil && m[3] != "200" || m[3] != "200" && m[3] != "404" && m[3] != "410" {
			continue
		}
		dec := json.NewDecoder(strings.NewReader(m[4]))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		answers[op.ID] = answer{m[3], shortened(v)}
	}
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(answers); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(answersFile, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(answersFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is not what the golden files say: run this test with -update", answersFile)
	}
	for _, op := range w.Contract.Operations {
		status := answers[op.ID].Status
		if ok, there := op.Responses["200"].(map[string]any); there && ok["content"] != nil && ok["content"].(map[string]any)["application/json"] == nil {
			continue // a stream is no document
		}
		if status == "" {
			t.Errorf("no golden answer of %s", op.ID)
			continue
		}
		content := op.Responses[status].(map[string]any)["content"].(map[string]any)["application/json"].(map[string]any)
		schema, err := w.Contract.Schema(op.Pointer + "/responses/" + status + "/content/" + servertest.EscapePointer("application/json") + "/schema")
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(content["example"]); err != nil {
			t.Errorf("the example of %s: %v", op.ID, err)
		}
	}
}

// goldenText splits a golden file into method, path, status and body.
var goldenText = regexp.MustCompile(`(?s)^([A-Z]+) (/[^ ?\n]*)[^\n]*\n.*?\n\n(\d{3}) [^\n]*\n.*?\n\n(\{.*)$`)

// shortened keeps the first rows of lists that are long.
func shortened(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = shortened(v[k])
		}
	case []any:
		if len(v) > 4 {
			v = v[:2]
		}
		for i := range v {
			v[i] = shortened(v[i])
		}
		return v
	}
	return v
}

// TestDocumentForGenerators: what makers of clients trip over, or want to know.
func TestDocumentForGenerators(t *testing.T) {
	w := sharedWorld(t, 60)
	text, err := json.Marshal(w.Server.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Info  struct{ Contact, License map[string]string }
		Tags  []struct{ Name, Description string }
		Paths map[string]map[string]struct {
			OperationID string
			Tags        []string
			Parameters  []struct {
				Name, In string
				Schema   struct {
					Type             any
					Pattern          string
					Default          any
					Minimum, Maximum *float64
					Items            *struct{ Pattern string }
				}
			}
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Info.Contact["name"] == "" || doc.Info.Contact["url"] == "" || doc.Info.License["identifier"] != "Apache-2.0" {
		t.Errorf("contact %v, license %v", doc.Info.Contact, doc.Info.License)
	}
	declared := map[string]bool{}
	for _, tag := range doc.Tags {
		declared[tag.Name] = tag.Description != ""
	}
	limits, felts := 0, 0
	for _, item := range doc.Paths {
		for _, op := range item {
			for _, tag := range op.Tags {
				if !declared[tag] {
					t.Errorf("%s: the tag %s is not declared and described", op.OperationID, tag)
				}
			}
			names := map[string]bool{}
			for _, p := range op.Parameters {
				name := p.In + strings.ToLower(strings.Trim(p.Name, "[]"))
				if names[name] {
					t.Errorf("%s: two parameters become %s", op.OperationID, name)
				}
				names[name] = true
				s := p.Schema
				if s.Type == "integer" && strings.HasSuffix(strings.ToLower(p.Name), "limit") {
					limits++
					if usual, ok := s.Default.(float64); !ok || s.Minimum == nil || s.Maximum == nil || *s.Minimum != 1 || usual > *s.Maximum {
						t.Errorf("%s: %s has no bounds or default", op.OperationID, p.Name)
					}
				}
				if p.Name == "address" || p.Name == "tx_hash" || p.Name == "class_hash" || p.Name == "topic0" {
					felts++
					if s.Pattern == "" && (s.Items == nil || s.Items.Pattern == "") {
						t.Errorf("%s: %s has no pattern", op.OperationID, p.Name)
					}
				}
			}
		}
	}
	if limits < 20 || felts < 15 {
		t.Errorf("only %d limits and %d felts were looked at", limits, felts)
	}
	// What is documented is what happens: the default of a list, a limit beyond the
	// bounds, which is clamped, and the spelling that is not described.
	var page struct{ Items []json.RawMessage }
	for query, want := range map[string]int{"": 25, "?limit=100000": 60, "?limit=0": 1} {
		r := w.Do("GET", "/v1/SN_SEPOLIA/blocks"+query, w.Key)
		if err := json.Unmarshal(r.Plain(), &page); err != nil || len(page.Items) != want {
			t.Errorf("%q: %d blocks, want %d (%v)", query, len(page.Items), want, err)
		}
	}
	if r := w.Do("GET", "/v1/SN_SEPOLIA/contract/0x1/events?keys[]=0x1&keys[]=0x2&from_block=0&to_block=9", w.Key); r.StatusCode != 200 {
		t.Errorf("keys[] is refused: %s", r.Body)
	}
}

// TestFeltsOfBodies: the document says how the felts of request bodies are spelled,
// and requests are still refused by who can say why.
func TestFeltsOfBodies(t *testing.T) {
	w := sharedWorld(t, 60)
	text, err := json.Marshal(w.Server.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	type schema struct {
		Ref        string `json:"$ref"`
		Type       any
		Pattern    string
		Enum       []any
		Items      *schema
		Properties map[string]*schema
	}
	var doc struct {
		Components struct{ Schemas map[string]*schema }
		Paths      map[string]struct {
			Post *struct {
				OperationID string
				RequestBody struct {
					Content map[string]struct{ Schema *schema }
				}
			}
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	spelled, other := 0, map[string]bool{"cursor": true}
	for path, item := range doc.Paths {
		if item.Post == nil {
			continue
		}
		sc := item.Post.RequestBody.Content["application/json"].Schema
		if sc == nil || sc.Ref == "" {
			t.Fatalf("%s: body %+v", path, sc)
		}
		sc = doc.Components.Schemas[strings.TrimPrefix(sc.Ref, "#/components/schemas/")]
		for name, p := range sc.Properties {
			if p.Items != nil {
				p = p.Items
			}
			if p.Type != "string" || p.Enum != nil || other[name] {
				continue
			}
			spelled++
			pattern, err := regexp.Compile(p.Pattern)
			if err != nil || !pattern.MatchString("0xAbc") || pattern.MatchString("abc") || pattern.MatchString("") {
				t.Errorf("%s: %s has the pattern %q: a string that is no felt belongs into this test's list", item.Post.OperationID, name, p.Pattern)
			}
		}
	}
	if spelled < 5 {
		t.Errorf("%d felts in bodies", spelled)
	}
	for path, body := range map[string]string{"/address/summaries": `{"addresses":["abc"]}`, "/tx/previews": `{"hashes":["abc"]}`, "/query/wallet-state": `{"ownerAddress":"abc"}`} {
		r := w.PostTo(path, body)
		if r.StatusCode != http.StatusBadRequest || !strings.Contains(string(r.Body), `\"abc\" is not 0x and 1 to 64 hex digits of a felt.`) {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.Body)
		}
	}
}
