package clientgen_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"chainexplorer/internal/clientgen"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/tstest"
)

var update = flag.Bool("update", false, "write the files of package client anew")

func TestMain(m *testing.M) { os.Exit(servertest.Main(m.Run)) }

// TestClientIsCurrent: what is checked in follows from the document that is served.
func TestClientIsCurrent(t *testing.T) {
	w := servertest.New(t, 2, servertest.Whole(t))
	r := w.Do(http.MethodGet, "/service-openapi.json", "")
	if r.StatusCode != http.StatusOK {
		t.Fatalf("the document: %s", r.Status)
	}
	files, err := clientgen.Generate(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("..", "..", "client")
	for name, want := range files {
		path := filepath.Join(dir, name)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil { //nolint:gosec // source code
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("client/%s is not what follows from the API's document (%v): go test ./internal/clientgen -update", name, err)
		}
	}
	made, err := filepath.Glob(filepath.Join(dir, "*.gen.go"))
	if err != nil || len(made) != len(files) {
		t.Errorf("%d files, want %d: %v", len(made), len(files), err)
	}
	var d clientgen.Document
	if err := json.Unmarshal(r.Body, &d); err != nil {
		t.Fatal(err)
	}
	calls := string(files["operations.gen.go"])
	for path, methods := range d.Paths {
		for _, o := range methods {
			if o.ID == "streamFeed" { // no call: Stream is written by hand
				continue
			}
			if !strings.Contains(calls, `operation: "`+o.ID+`"`) {
				t.Errorf("%s has no method for %s", path, o.ID)
			}
		}
	}
}

// TestUnknownForms: what the generator does not know is an error, and not a hole.
func TestUnknownForms(t *testing.T) {
	const frame = `{"paths":{"/v1/x":{"get":{"operationId":"getX","parameters":[%P],"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/X"}}}}}}}},"components":{"schemas":{"X":%S}}}`
	const fine = `{"type":"object","properties":{"a":{"type":"string"}}}`
	for name, c := range map[string]struct{ parameter, schema, want string }{
		"fine":               {"", fine, ""},
		"allOf":              {"", `{"type":"object","properties":{"a":{"allOf":[{"type":"string"}]}}}`, "allOf"},
		"two types":          {"", `{"type":"object","properties":{"a":{"type":["string","integer"]}}}`, "types"},
		"unknown type":       {"", `{"type":"object","properties":{"a":{"type":"tuple"}}}`, "tuple"},
		"no such schema":     {"", `{"type":"object","properties":{"a":{"$ref":"#/components/schemas/Y"}}}`, "no schema Y"},
		"one name for two":   {"", `{"type":"object","properties":{"a_b":{"type":"string"},"aB":{"type":"string"}}}`, "both AB"},
		"cookie":             {`{"in":"cookie","name":"c","schema":{"type":"string"}}`, fine, "cookie"},
		"object in a query":  {`{"in":"query","name":"q","schema":{"type":"object","properties":{"a":{"type":"string"}}}}`, fine, "not known in a query"},
		"pages of no items":  {`{"in":"query","name":"cursor","schema":{"type":"string"}}`, `{"type":"object","properties":{"nextCursor":{"type":["string","null"]}}}`, "without items"},
		"unnamed operation":  {"", "", "has no name"},
		"not a document":     {"", "", "read the document"},
		"extra is no schema": {"", `{"type":"object","properties":{"a":{"type":"object","additionalProperties":[]}}}`, "additionalProperties"},
	} {
		t.Run(name, func(t *testing.T) {
			document := strings.NewReplacer("%P", c.parameter, "%S", c.schema).Replace(frame)
			switch name {
			case "unnamed operation":
				document = `{"paths":{"/v1/x":{"get":{}}}}`
			case "not a document":
				document = `[]`
			}
			_, err := clientgen.Generate([]byte(document))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestTypeScriptIsCurrent: so does what the TypeScript client is made of. Its types are made
// by a generator that others wrote, in the version that its package pins.
func TestTypeScriptIsCurrent(t *testing.T) {
	w := servertest.New(t, 2, servertest.Whole(t))
	document := w.Do(http.MethodGet, "/service-openapi.json", "").Body
	table, err := clientgen.TypeScriptTable(document)
	if err != nil {
		t.Fatal(err)
	}
	current(t, "operations.ts", table)
	lesser, err := clientgen.TypeScriptDocument(document)
	if err != nil {
		t.Fatal(err)
	}
	tools := tstest.Tools(t)
	cmd := exec.CommandContext(t.Context(), filepath.Join(tools, "openapi-typescript"))
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(lesser), &stderr
	types, err := cmd.Output()
	if err != nil || len(types) < 1000 {
		t.Fatalf("openapi-typescript: %v\n%s", err, stderr.String())
	}
	current(t, "schema.ts", types)
}

// current holds a file of the TypeScript client against what it must be.
func current(t *testing.T, name string, want []byte) {
	t.Helper()
	path := filepath.Join("..", "..", "client", "typescript", "src", name)
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil { //nolint:gosec // source code
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("client/typescript/src/%s is not what follows from the API's document (%v): go test ./internal/clientgen -update", name, err)
	}
}
