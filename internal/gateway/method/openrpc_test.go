package method_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/starknet"
)

const documentURL = "https://gateway.test/openrpc.json"

// document is that of a version, with all there can be in it.
func document(v starknet.SpecVersion) []byte {
	return method.Document(v, method.About{Title: "Gateway", Server: "https://gateway.test/v1/SN_MAIN/rpc", Docs: "https://gateway.test/docs/rpc", Live: true})
}

func decoded(t *testing.T, text []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
	return v
}

// metaSchemas are the two that describe OpenRPC documents, as make tools installed them.
func metaSchemas(t *testing.T) (openRPC, jsonSchema json.RawMessage) {
	t.Helper()
	const lock = "package-lock.json"
	folder := filepath.Join("..", "..", "..", ".tools", "openrpc")
	want, err := os.ReadFile(filepath.Join("testdata", "openrpc", lock))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(folder, lock)); err != nil || !bytes.Equal(got, want) {
		t.Skip("the schemas of OpenRPC are not there in the versions of " + lock + ": make tools installs them where it can")
	}
	cmd := exec.CommandContext(t.Context(), "node", "-e",
		`const {openrpcDocument} = require("@open-rpc/meta-schema"), m = require("@json-schema-tools/meta-schema");
		process.stdout.write(JSON.stringify([openrpcDocument, m.default || m]))`)
	cmd.Dir = folder
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	var both [2]json.RawMessage
	if err := json.Unmarshal(out, &both); err != nil {
		t.Fatal(err)
	}
	return both[0], both[1]
}

// TestDocumentsAreOpenRPC holds the documents against the published schema, which says
// of the schemas in them that they are schemas.
func TestDocumentsAreOpenRPC(t *testing.T) {
	openRPC, jsonSchema := metaSchemas(t)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	for url, text := range map[string]json.RawMessage{"https://meta.open-rpc.org/": openRPC, "https://meta.json-schema.tools": jsonSchema, "https://meta.json-schema.tools/": jsonSchema} {
		doc := decoded(t, text).(map[string]any)
		delete(doc, "$schema") // each names the other, or itself
		delete(doc, "$id")     // the second has two names
		if err := c.AddResource(url, doc); err != nil {
			t.Fatal(err)
		}
	}
	judge, err := c.Compile("https://meta.open-rpc.org/")
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range versions {
		if err := judge.Validate(decoded(t, document(v))); err != nil {
			t.Errorf("version %s: %v", name, err)
		}
		if err := judge.Validate(decoded(t, method.Document(v, method.About{Title: "Gateway"}))); err != nil {
			t.Errorf("version %s without a server: %v", name, err)
		}
	}
	// That the judge judges: a parameter without a schema is not let through.
	bad := bytes.Replace(document(starknet.V010), []byte(`"schema":{"$ref":"#/components/schemas/BLOCK_ID"}`), []byte(`"scheme":1`), 1)
	if judge.Validate(decoded(t, bad)) == nil {
		t.Error("a document that is none is valid")
	}
}

// TestDocumentsAreComplete: they have the methods of the version with all that the table
// says of them, and nothing refers to what is not there.
func TestDocumentsAreComplete(t *testing.T) {
	for name, v := range versions {
		text := document(v)
		if !bytes.Equal(text, document(v)) {
			t.Errorf("version %s: two documents differ", name)
		}
		if int64(len(text)) > method.Lookup(method.Discover).MaxAnswer {
			t.Errorf("version %s: the document has %d bytes, more than its method may answer", name, len(text))
		}
		var d struct {
			Info    struct{ Version string }
			Methods []struct {
				Name   string
				Params []struct {
					Name     string
					Required bool
				}
				Errors    []map[string]string
				Class     method.Class              `json:"x-service-class"`
				Scope     []string                  `json:"x-service-scope"`
				Cost      int                       `json:"x-service-cost"`
				MaxAnswer int64                     `json:"x-service-max-answer-bytes"`
				Cacheable *bool                     `json:"x-service-cacheable"`
				Pushes    []struct{ Method string } `json:"x-service-notifications"`
			}
		}
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		if want := map[string]string{"0.8": "0.8.1", "0.9": "0.9.0", "0.10": "0.10.2"}[name]; d.Info.Version != want {
			t.Errorf("version %s: declared as %s", name, d.Info.Version)
		}
		want := method.In(v)
		if len(d.Methods) != len(want) {
			t.Fatalf("version %s: %d methods, want %d", name, len(d.Methods), len(want))
		}
		for i, m := range want {
			got := d.Methods[i]
			if got.Name != m.Name || len(got.Params) != len(m.ParamsIn(v)) || got.Class != m.Class || !slices.Equal(got.Scope, m.Scopes()) || got.Cost != m.Cost ||
				got.MaxAnswer != m.MaxAnswer || got.Cacheable == nil || *got.Cacheable != (m.Keep != method.Never) || len(got.Errors) < len(m.ErrorsIn(v)) {
				t.Errorf("version %s: %s is described as %+v", name, m.Name, got)
			}
			if m.Push != "" && (len(got.Pushes) != 2 || got.Pushes[0].Method != m.Push || got.Pushes[1].Method != method.Reorg) {
				t.Errorf("version %s: %s pushes %v", name, m.Name, got.Pushes)
			}
		}
		checkRefs(t, decoded(t, text))
	}
}

// TestSubscriptionsAreDescribedWhereTheyAre: not on an endpoint without a WebSocket.
func TestSubscriptionsAreDescribedWhereTheyAre(t *testing.T) {
	if quiet := method.Document(starknet.V010, method.About{Title: "Gateway"}); bytes.Contains(quiet, []byte("starknet_subscribe")) {
		t.Error("subscriptions are described on an endpoint that has none")
	}
}

// checkRefs looks up every $ref of a document.
func checkRefs(t *testing.T, doc any) {
	t.Helper()
	parts := doc.(map[string]any)["components"].(map[string]any)
	used := map[string]bool{}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				used[ref] = true
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(doc)
	for kind, list := range parts {
		for name := range list.(map[string]any) {
			ref := "#/components/" + kind + "/" + name
			if !used[ref] {
				t.Errorf("nothing refers to %s", ref)
			}
			delete(used, ref)
		}
	}
	for ref := range used {
		t.Errorf("there is no %s", ref)
	}
}
