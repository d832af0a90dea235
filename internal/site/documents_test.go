package site_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/site"
	"chainexplorer/internal/web"
)

// openPaths are all documents that need no key, with the start of their type.
var openPaths = map[string]string{
	"/":                                     "text/html",
	"/docs":                                 "text/html",
	"/docs/api":                             "text/html",
	"/docs/reference/tokens":                "text/html",
	"/docs/api/auth":                        "text/html",
	"/openapi.json":                         "application/vnd.oai.openapi+json;version=3.1",
	"/service-openapi.json":                 "application/vnd.oai.openapi+json;version=3.1",
	"/openapi.yaml":                         "application/vnd.oai.openapi+yaml;version=3.1",
	"/service-openapi.yaml":                 "application/vnd.oai.openapi+yaml;version=3.1",
	"/.well-known/api-catalog":              `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`,
	"/.well-known/service-agent.json":       "application/json",
	"/.well-known/oauth-protected-resource": "application/json",
	"/.well-known/oauth-protected-resource/mcp": "application/json",
	"/llms.txt":      "text/plain",
	"/llms-full.txt": "text/plain",
	"/robots.txt":    "text/plain",
	"/favicon.ico":   "image/svg+xml",
	"/favicon.svg":   "image/svg+xml",
	"/style.css":     "text/css",
	"/healthz":       "application/json",
	"/readyz":        "application/json",
}

// docTransport asks for no encoding that a test did not ask for.
var docTransport = &http.Transport{DisableCompression: true}

// doc sends a request for a document; headers come in pairs. Host sets the host.
func (w *world) doc(method, path, key string, headers ...string) reply {
	w.T.Helper()
	return w.docSend(method, path, key, "", headers...)
}

// docSend is doc with a body.
func (w *world) docSend(method, path, key, content string, headers ...string) reply {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), method, w.URL+path, strings.NewReader(content))
	if err != nil {
		w.T.Fatal(err)
	}
	if key != "" {
		req.Header.Set("X-Service-Api-Key", key)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		} else {
			req.Header.Add(headers[i], headers[i+1])
		}
	}
	res, err := docTransport.RoundTrip(req)
	if err != nil {
		w.T.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.T.Fatal(err)
	}
	return reply{Response: res, Body: body}
}

func TestDocumentsAnswerEveryMethodSensibly(t *testing.T) {
	w := sharedWorld(t, 60)
	for path, contentType := range openPaths {
		t.Run(path, func(t *testing.T) {
			get := w.doc(http.MethodGet, path, "", "Accept", "image/png")
			if get.StatusCode != http.StatusOK || !strings.HasPrefix(get.Header.Get("Content-Type"), contentType) || len(get.Body) == 0 {
				t.Fatalf("GET: %d %q, %d bytes", get.StatusCode, get.Header.Get("Content-Type"), len(get.Body))
			}
			if get.Header.Get("X-Request-Id") == "" || path != "/" && get.Header.Get("Access-Control-Allow-Origin") != "*" { // the first page is for people
				t.Errorf("GET headers: %v", get.Header)
			}
			head := w.doc(http.MethodHead, path, "")
			if head.StatusCode != http.StatusOK || len(head.Body) != 0 || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") {
				t.Errorf("HEAD: %d, %d bytes, %v", head.StatusCode, len(head.Body), head.Header)
			}
			options := w.doc(http.MethodOptions, path, "", "Origin", "https://elsewhere.example", "Access-Control-Request-Method", "GET")
			if options.StatusCode != http.StatusNoContent || options.Header.Get("Access-Control-Allow-Origin") != "*" ||
				!strings.Contains(options.Header.Get("Access-Control-Allow-Methods"), "GET") {
				t.Errorf("OPTIONS: %d %v", options.StatusCode, options.Header)
			}
			for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch} {
				r := w.doc(method, path, "")
				if r.StatusCode != http.StatusMethodNotAllowed || envelopeOf(t, r).Code != kernel.CodeMethodNotAllowed || r.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
					t.Errorf("%s: %d %s, Allow %q", method, r.StatusCode, r.Body, r.Header.Get("Allow"))
				}
			}
		})
	}
}

func envelopeOf(t *testing.T, r reply) (e kernel.Envelope) {
	t.Helper()
	if err := json.Unmarshal(r.Body, &e); err != nil {
		t.Fatalf("not an envelope: %v in %s", err, r.Body)
	}
	return e
}

func TestDocumentsHaveValidatorsAndCompression(t *testing.T) {
	w := sharedWorld(t, 60)
	for _, path := range []string{"/", "/docs/api", "/openapi.json", "/openapi.yaml", "/llms-full.txt", "/style.css", "/script.js", "/docs/reference/tokens", "/docs/guide/tokens"} {
		plain := w.doc(http.MethodGet, path, "")
		tag := plain.Header.Get("ETag")
		if tag == "" || strings.HasPrefix(tag, "W/") {
			t.Fatalf("%s: ETag %q", path, tag)
		}
		zipped := w.doc(http.MethodGet, path, "", "Accept-Encoding", "gzip")
		if zipped.Header.Get("Content-Encoding") != "gzip" || zipped.Header.Get("ETag") == tag || len(zipped.Body) >= len(plain.Body) {
			t.Fatalf("%s: gzip %v, %d of %d bytes", path, zipped.Header, len(zipped.Body), len(plain.Body))
		}
		z, err := gzip.NewReader(bytes.NewReader(zipped.Body))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(z); err != nil || !bytes.Equal(b, plain.Body) {
			t.Errorf("%s: gzip holds something else (%v)", path, err)
		}
		for _, have := range []string{tag, zipped.Header.Get("ETag"), "W/" + tag, `"other", ` + tag, "*"} {
			if r := w.doc(http.MethodGet, path, "", "If-None-Match", have); r.StatusCode != http.StatusNotModified || len(r.Body) != 0 {
				t.Errorf("%s with If-None-Match %s: %d", path, have, r.StatusCode)
			}
		}
		if r := w.doc(http.MethodGet, path, "", "If-None-Match", `"other"`); r.StatusCode != http.StatusOK {
			t.Errorf("%s with another validator: %d", path, r.StatusCode)
		}
	}
}

// TestFilesOfPagesAreKept: pages load the style sheet and the script by addresses that name
// their bytes, and a browser asks for these once.
func TestFilesOfPagesAreKept(t *testing.T) {
	w := sharedWorld(t, 60)
	page := string(w.doc(http.MethodGet, "/docs", "").Body)
	for _, href := range []string{web.StyleHref, web.ScriptHref} {
		path, name, _ := strings.Cut(href, "?")
		if !strings.Contains(page, `"`+href+`"`) {
			t.Errorf("the page does not load %s", href)
		}
		named := w.doc(http.MethodGet, href, "")
		if got := named.Header.Get("Cache-Control"); named.StatusCode != http.StatusOK || got != "public, max-age=31536000, immutable" {
			t.Errorf("%s: %d, %q", href, named.StatusCode, got)
		}
		for _, other := range []string{path, path + "?v=0", href + "0"} {
			r := w.doc(http.MethodGet, other, "")
			if got := r.Header.Get("Cache-Control"); got != "public, no-cache" || !bytes.Equal(r.Body, named.Body) {
				t.Errorf("%s is kept (%q), although %s does not name its bytes", other, got, name)
			}
		}
	}
}

func TestOpenAPIDocumentIsTheSameInBothLanguages(t *testing.T) {
	w := sharedWorld(t, 60)
	var fromJSON, fromYAML any
	first := w.doc(http.MethodGet, "/openapi.json", "").Body
	if err := json.Unmarshal(first, &fromJSON); err != nil {
		t.Fatal(err)
	}
	second := w.doc(http.MethodGet, "/openapi.yaml", "").Body
	if err := yaml.Unmarshal(second, &fromYAML); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(fromYAML)
	if err != nil {
		t.Fatal(err)
	}
	fromYAML = nil
	if err := json.Unmarshal(b, &fromYAML); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(fromJSON, fromYAML) {
		t.Error("JSON and YAML differ")
	}
	if !bytes.Equal(first, w.doc(http.MethodGet, "/service-openapi.json", "").Body) || !bytes.Equal(second, w.doc(http.MethodGet, "/service-openapi.yaml", "").Body) {
		t.Error("the two names give different bytes")
	}
	doc := fromJSON.(map[string]any)
	if v := doc["openapi"].(string); !strings.HasPrefix(v, "3.1") {
		t.Errorf("version %s", v)
	}
	paths := doc["paths"].(map[string]any)
	for id, path := range w.Operations() {
		item, ok := paths[path].(map[string]any)
		if !ok {
			t.Fatalf("%s: %s is not in the document", id, path)
		}
		for _, op := range item {
			for _, x := range []string{"x-service-certification", "x-service-key-tier", "x-service-audience", "x-service-evidence"} {
				if op.(map[string]any)[x] == nil {
					t.Errorf("%s has no %s", id, x)
				}
			}
		}
	}
}

func TestCatalogLinksResolve(t *testing.T) {
	w := sharedWorld(t, 60)
	r := w.doc(http.MethodGet, "/.well-known/api-catalog", "")
	var catalog struct {
		Linkset []map[string]json.RawMessage `json:"linkset"`
	}
	if err := json.Unmarshal(r.Body, &catalog); err != nil || len(catalog.Linkset) != 1 {
		t.Fatalf("%v in %s", err, r.Body)
	}
	entry := catalog.Linkset[0]
	if anchor := string(entry["anchor"]); anchor != `"`+w.URL+`/v1"` {
		t.Errorf("anchor %s", anchor)
	}
	count := map[string]int{}
	for relation, raw := range entry {
		if relation == "anchor" {
			continue
		}
		var targets []struct{ Href, Type string }
		if err := json.Unmarshal(raw, &targets); err != nil {
			t.Fatalf("%s: %v", relation, err)
		}
		for _, target := range targets {
			count[relation]++
			path, ours := strings.CutPrefix(target.Href, w.URL)
			if !ours {
				t.Fatalf("%s leads away: %s", relation, target.Href)
			}
			got := w.doc(http.MethodGet, path, w.Key)
			if got.StatusCode != http.StatusOK || got.Header.Get("Content-Type") != target.Type {
				t.Errorf("%s %s: %d %q, said %q", relation, path, got.StatusCode, got.Header.Get("Content-Type"), target.Type)
			}
		}
	}
	if want := map[string]int{"service-desc": 2, "service-doc": 2, "service-meta": 2, "status": 1}; !reflect.DeepEqual(count, want) {
		t.Errorf("relations %v, want %v", count, want)
	}
	for _, path := range []string{"/.well-known/api-catalog", "/"} {
		link := w.doc(http.MethodHead, path, "").Header.Get("Link")
		for _, want := range []string{`</.well-known/api-catalog>; rel="api-catalog"`, `</service-openapi.json>; rel="service-desc"`, `</docs/api>; rel="service-doc"`} {
			if !strings.Contains(link, want) {
				t.Errorf("HEAD %s: Link %q lacks %s", path, link, want)
			}
		}
	}
}

// TestManifestTellsEveryOperation holds the evidence file against the contract.
func TestManifestTellsEveryOperation(t *testing.T) {
	w := sharedWorld(t, 60)
	var m site.Manifest
	if err := json.Unmarshal(w.doc(http.MethodGet, "/public-api-correctness-manifest.json", "").Body, &m); err != nil {
		t.Fatal(err)
	}
	listed := map[string]site.ManifestOperation{}
	for _, op := range m.Operations {
		listed[op.ID] = op
	}
	for _, op := range w.Contract.Operations {
		got := listed[op.ID]
		evidence, _ := op.Item["x-service-evidence"].(map[string]any)
		if string(got.Certification) != op.Item["x-service-certification"] || string(got.Tier) != op.Item["x-service-key-tier"] ||
			string(got.Audience) != op.Item["x-service-audience"] || got.Evidence.Oracle != evidence["oracle"] || got.Evidence.Checks == 0 {
			t.Errorf("%s: the manifest says %+v, the document %v", op.ID, got, op.Item)
		}
	}
	for _, state := range []string{"certified", "beta", "experimental", "unsupported"} {
		if m.States[state] == "" {
			t.Errorf("the state %s is not explained", state)
		}
		if page := string(w.doc(http.MethodGet, "/docs/api/versioning", "").Body); !strings.Contains(page, "<code>"+state+"</code>") {
			t.Errorf("the page on certification lacks %s", state)
		}
	}
}

// TestGuidesOfTheRepositoryAreServed asks for the files that people read there.
func TestGuidesOfTheRepositoryAreServed(t *testing.T) {
	w := sharedWorld(t, 60)
	for path, wants := range map[string][]string{
		"tokens": {"What a transfer is", "ConsecutiveTransfer"}, "census": {"generation"}, "events": {"topic0"},
		"addresses": {"activity", "bridge-signals", "Messages"}, "serving": {"<table>", "--finality-depth"},
	} {
		page := string(w.doc(http.MethodGet, "/docs/guide/"+path, "").Body)
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("/docs/guide/%s lacks %q", path, want)
			}
		}
	}
	if full := string(w.doc(http.MethodGet, "/llms-full.txt", "").Body); !strings.Contains(full, "## Tokens") || !strings.Contains(full, "ConsecutiveTransfer") {
		t.Error("the full text lacks the guides")
	}
}

func TestAgentMemory(t *testing.T) {
	w := sharedWorld(t, 60)
	var m site.AgentMemory
	r := w.doc(http.MethodGet, "/.well-known/service-agent.json", "")
	dec := json.NewDecoder(bytes.NewReader(r.Body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		t.Fatal(err)
	}
	if m.Kind != "service.agent_memory" || m.SchemaVersion != "2026-05-02" || m.GeneratedFor != "agents" ||
		m.Auth != (site.AgentAuth{Header: "X-Service-Api-Key", ExternalBasePath: "/v1", DefaultChain: chainID}) {
		t.Errorf("%+v", m)
	}
	for _, c := range m.FirstCalls {
		if got := w.doc(c.Method, c.Path, w.Key); got.StatusCode != http.StatusOK {
			t.Errorf("first call %s: %d", c.Path, got.StatusCode)
		}
	}
	routes := 0
	for _, f := range m.RouteFamilies {
		routes += len(f.Routes)
	}
	if routes != len(w.Operations()) || len(m.OperatingRules) == 0 {
		t.Errorf("%d routes, %d rules", routes, len(m.OperatingRules))
	}
	if bytes.Contains(r.Body, []byte(`"operations"`)) {
		t.Error("families list operations")
	}
}

func TestTextGuidesNameEveryOperation(t *testing.T) {
	w := sharedWorld(t, 60)
	short, full := string(w.doc(http.MethodGet, "/llms.txt", "").Body), string(w.doc(http.MethodGet, "/llms-full.txt", "").Body)
	if !strings.HasPrefix(short, "# ") || !strings.Contains(short, "\n> ") {
		t.Error("llms.txt does not begin with a title and a summary")
	}
	for id, path := range w.Operations() {
		for name, text := range map[string]string{"llms.txt": short, "llms-full.txt": full} {
			if !strings.Contains(text, id) || !strings.Contains(text, path) {
				t.Errorf("%s lacks %s %s", name, id, path)
			}
		}
	}
	for code, slug := range docSlugs() {
		if !strings.Contains(full, " "+string(code)+"\n") || !strings.Contains(short, "/docs/"+slug+")") {
			t.Errorf("the texts lack %s", code)
		}
	}
	if !strings.Contains(full, "`items[].blockNumber` integer") {
		t.Error("llms-full.txt lacks nested fields")
	}
}

func TestRobotsMayReadPagesAlone(t *testing.T) {
	w := sharedWorld(t, 60)
	got := string(w.doc(http.MethodGet, "/robots.txt", "").Body)
	if got != "User-agent: *\nAllow: /\nDisallow: /v1/\nDisallow: /api/\n" {
		t.Errorf("%q", got)
	}
}
