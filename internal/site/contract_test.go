package site_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"chainexplorer/internal/kernel"
)

// TestDocumentIsComplete asks that every operation says what a caller must know
// before calling, and that every failure is documented as the envelope.
func TestDocumentIsComplete(t *testing.T) {
	w := sharedWorld(t, 60)
	if len(w.Contract.Operations) < 10 {
		t.Fatalf("only %d operations", len(w.Contract.Operations))
	}
	allowed := map[string][]string{
		"x-service-certification":    {"certified", "beta", "experimental", "unsupported"},
		"x-service-key-tier":         {"official_public", "advanced_utilities", "partner"},
		"x-service-audience":         {"external", "operator"},
		"x-service-rate-limit-class": {"light", "heavy", "batch"},
		"x-service-scope":            {"read", "batch", "write", "verify", "prove", "trace", "partner"},
	}
	certified := map[string]bool{"getStatus": true, "getBlock": true, "getBlockAtTimestamp": true, "getTransaction": true,
		"getTokenTotalSupply": true, "getTokenBalance": true}
	for _, op := range w.Contract.Operations {
		for name, values := range allowed {
			got, _ := op.Item[name].(string)
			if !contains(values, got) {
				t.Errorf("%s: %s is %q", op.ID, name, got)
			}
		}
		if is := op.Item["x-service-certification"] == "certified"; is != certified[op.ID] {
			t.Errorf("%s: certified is %v", op.ID, is)
		}
		e, _ := op.Item["x-service-evidence"].(map[string]any)
		if e["oracle"] == nil || e["oracle"] == "none" || e["evidenceLevel"] == "none" || e["certificationScope"] == "none" || e["sloClass"] == "none" {
			t.Errorf("%s: no evidence: %v", op.ID, e)
		}
		if n, _ := e["checks"].(json.Number); n == "" || n == "0" {
			t.Errorf("%s: evidence without checks: %v", op.ID, e)
		}
		for status, res := range op.Responses {
			if status < "400" {
				continue
			}
			schema := res.(map[string]any)["content"].(map[string]any)["application/json"].(map[string]any)["schema"].(map[string]any)
			if ref := schema["$ref"]; ref != "#/components/schemas/Envelope" && (op.ID != "callRpc" || ref != "#/components/schemas/RpcAnswer") &&
				(op.Item["deprecated"] != true || status != "410" || ref != "#/components/schemas/Retirement") {
				t.Errorf("%s: status %s is %v", op.ID, status, schema)
			}
		}
		for _, status := range []string{"400", "401", "403", "429", "500", "503"} {
			if op.Responses[status] == nil {
				t.Errorf("%s: status %s is not documented", op.ID, status)
			}
		}
		if op.Item["summary"] == "" || op.Item["description"] == "" || op.Item["security"] == nil {
			t.Errorf("%s: not described", op.ID)
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
			usual, gone := "200", op.Responses["410"].Headers != nil
			if gone {
				usual = "410"
				for _, name := range []string{"Deprecation", "Sunset", "Link"} {
					if _, ok := op.Responses[usual].Headers[name]; !ok {
						t.Errorf("%s: 410 does not declare %s", path, name)
					}
				}
			}
			if _, ok := op.Responses["304"]; ok != (method == "get" && !gone && path != "/v1/{chain}/stream") { // a stream is no copy that could be good
				t.Errorf("%s %s: 304 is declared: %v", method, path, ok)
			}
			for status, want := range map[string]string{usual: "X-Ratelimit-Remaining", "429": "Retry-After", "401": "WWW-Authenticate", "503": "X-Request-Id"} {
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
	w := sharedWorld(t, 60)
	text, err := json.Marshal(w.Server.OpenAPI())
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
