package clientgen_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
// by a generator that others wrote, which takes long: what it was given and what it made of
// that stand above them, and it runs for -update alone.
func TestTypeScriptIsCurrent(t *testing.T) {
	w := servertest.New(t, 2, servertest.Whole(t))
	document := w.Do(http.MethodGet, "/service-openapi.json", "").Body
	table, err := clientgen.TypeScriptTable(document)
	if err != nil {
		t.Fatal(err)
	}
	lesser, err := clientgen.TypeScriptDocument(document)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("..", "..", "client", "typescript")
	pins, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	head := func(types []byte) []byte {
		return fmt.Appendf(nil, "// Made by openapi-typescript from the API's document: %x makes %x.\n", sha256.Sum256(slices.Concat(pins, lesser)), sha256.Sum256(types))
	}
	tablePath, typesPath := filepath.Join(dir, "src", "operations.ts"), filepath.Join(dir, "src", "schema.ts")
	if *update {
		types := generated(t, lesser)
		for path, text := range map[string][]byte{tablePath: table, typesPath: append(head(types), types...)} {
			if err := os.WriteFile(path, text, 0o644); err != nil { //nolint:gosec // source code
				t.Fatal(err)
			}
		}
	}
	if got, err := os.ReadFile(tablePath); err != nil || !bytes.Equal(got, table) {
		t.Errorf("operations.ts is not what follows from the API's document (%v): go test ./internal/clientgen -update", err)
	}
	got, err := os.ReadFile(typesPath)
	if at := bytes.IndexByte(got, '\n') + 1; err != nil || !bytes.Equal(got[:at], head(got[at:])) {
		t.Errorf("schema.ts is not what follows from the API's document (%v): go test ./internal/clientgen -update", err)
	}
}

// generated are the types that the generator makes of a document.
func generated(t *testing.T, document []byte) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(tstest.Tools(t), "openapi-typescript"))
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(document), &stderr
	types, err := cmd.Output()
	if err != nil || len(types) < 1000 {
		t.Fatalf("openapi-typescript: %v\n%s", err, stderr.String())
	}
	return types
}
