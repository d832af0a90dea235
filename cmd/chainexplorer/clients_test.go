package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"chainexplorer/docs"
)

// clientWorld is a service, and what a client must read of it.
type clientWorld struct {
	serve    *running
	key      string
	document []byte
	want     map[string]any // by plain requests
}

// clientChain ends with a block whose first event is a transfer, of which there are many.
const (
	clientChain  = "SN_SEPOLIA"
	clientBlocks = 58
)

// newClientWorld serves a chain that stands still, and waits until all of it is indexed.
func newClientWorld(t *testing.T) *clientWorld {
	t.Helper()
	dir := t.TempDir()
	w := &clientWorld{serve: startServe(t, "--node", simulated(t, clientChain, clientBlocks), "--data", dir)}
	w.serve.get("/readyz", "", http.StatusOK)
	control := filepath.Join(dir, "control.db")
	if _, stderr, code := output(t, "admin", "workspace", "create", "acme", "--plan", "enterprise", "--control", control); code != 0 {
		t.Fatalf("workspace create: %s", stderr)
	}
	stdout, stderr, code := output(t, "admin", "key", "create", "--workspace", "acme", "--json", "--control", control)
	var made struct{ PlaintextKey string }
	if code != 0 || json.Unmarshal([]byte(stdout), &made) != nil {
		t.Fatalf("key create: %s%s", stdout, stderr)
	}
	w.key = made.PlaintextKey
	w.document = w.serve.get("/service-openapi.json", "", http.StatusOK)
	deadline, pause := time.After(patience), time.NewTicker(20*time.Millisecond)
	defer pause.Stop()
	for w.read("status")["latestIndexedBlockNumber"] != float64(clientBlocks-1) {
		select {
		case <-pause.C:
		case <-deadline:
			t.Fatal("the chain was never indexed to its end")
		}
	}
	w.want = w.plain(t)
	return w
}

// read asks without any client.
func (w *clientWorld) read(path string) map[string]any {
	w.serve.t.Helper()
	var out map[string]any
	if err := json.Unmarshal(w.serve.get("/v1/"+clientChain+"/"+path, w.key, http.StatusOK), &out); err != nil {
		w.serve.t.Fatalf("%s: %v", path, err)
	}
	return out
}

// plain calls what the programs in testdata/clients call.
func (w *clientWorld) plain(t *testing.T) map[string]any {
	t.Helper()
	status := w.read("status")
	head := status["latestIndexedBlockNumber"]
	block := w.read(fmt.Sprintf("block/%v?tx_limit=2", head))
	hashes := []any{}
	for _, tx := range block["transactions"].([]any) {
		hashes = append(hashes, tx.(map[string]any)["txHash"])
	}
	tx := w.read("tx/" + hashes[0].(string))
	first := tx["logs"].([]any)[0].(map[string]any)
	query := url.Values{"address": {strk.String(), first["address"].(string)}, "topic0": {first["topic0"].(string)}, "limit": {"2"}}
	events := []any{}
	for range 2 {
		page := w.read("events?" + query.Encode())
		for _, e := range page["items"].([]any) {
			e := e.(map[string]any)
			events = append(events, []any{e["txHash"], e["logIndex"], e["eventName"]})
		}
		query.Set("cursor", page["nextCursor"].(string))
	}
	if len(events) != 4 || len(hashes) != 2 {
		t.Fatalf("%d events and %d transactions: the chain is too small to tell anything", len(events), len(hashes))
	}
	at, err := time.Parse(time.RFC3339, block["timestampIso"].(string))
	if err != nil {
		t.Fatal(err)
	}
	token := w.read("token/" + strk.String())
	return map[string]any{
		"chain": clientChain, "head": head, "lastFork": nil,
		"blockHash": block["blockHash"], "time": float64(at.Unix()), "transactions": hashes,
		"fee": tx["receipt"].(map[string]any)["actualFeeAmount"], "type": tx["txType"], "logs": tx["logCount"],
		"events": events,
		"token":  strk.String(), "newest": token["latestTransferBlock"], "transfers": token["transferCount"],
		"unknown": "not_found",
	}
}

// maker is a generator in a directory with the document and a program to compile with the client.
type maker struct {
	t    *testing.T
	w    *clientWorld
	dir  string
	env  []string
	tool string // where make tools put it
}

// newMaker copies the program of a language.
func newMaker(t *testing.T, w *clientWorld, language string) *maker {
	t.Helper()
	m := &maker{t: t, w: w, dir: t.TempDir()}
	if err := os.CopyFS(m.dir, os.DirFS(filepath.Join("testdata", "clients", language))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.dir, "service-openapi.json"), w.document, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if m.tool, err = filepath.Abs(filepath.Join("..", "..", ".tools", "clients", language)); err != nil {
		t.Fatal(err)
	}
	m.env = append(os.Environ(), "SERVICE_API_KEY="+w.key, "SERVICE_BASE_URL="+w.serve.base, "SERVICE_CHAIN="+clientChain, "TOKEN="+strk.String())
	return m
}

// installed skips the test unless make tools installed the generator in the versions of a file.
func (m *maker) installed(file string) {
	m.t.Helper()
	want, err := os.ReadFile(filepath.Join(m.dir, file))
	if err != nil {
		m.t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(m.tool, file)); err != nil || !bytes.Equal(got, want) {
		m.t.Skipf("the generator is not there in the version of %s: make tools installs it where it can", file)
	}
}

// run ends the test when the command fails.
func (m *maker) run(name string, args ...string) []byte {
	m.t.Helper()
	cmd := exec.CommandContext(m.t.Context(), name, args...)
	cmd.Dir, cmd.Env = m.dir, m.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		m.t.Fatalf("%s %s: %v\n%.4000s%.4000s", filepath.Base(name), strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.Bytes()
}

// generate runs a generator with the arguments that the guide gives; install is how the
// guide comes by it, with the version left open.
func (m *maker) generate(command []string, install, version, args string) {
	m.t.Helper()
	line := strings.Replace(install, "VERSION", version, 1) + " " + args
	guide, err := docs.Files.ReadFile("api.md")
	if err != nil {
		m.t.Fatal(err)
	}
	if !strings.Contains(string(guide), line+"\n") {
		m.t.Errorf("docs/api.md does not say %q", line)
	}
	m.run(command[0], append(command[1:], strings.Fields(args)...)...)
}

// follow writes a file as the guide says.
func (m *maker) follow(name string) {
	m.t.Helper()
	guide, err := docs.Files.ReadFile("api.md")
	if err != nil {
		m.t.Fatal(err)
	}
	_, text, found := strings.Cut(string(guide), "echo '")
	text, rest, closed := strings.Cut(text, "'")
	if !found || !closed || !strings.HasPrefix(rest, " > "+name+"\n") {
		m.t.Fatalf("docs/api.md does not say how to write %s", name)
	}
	writeTestFile(m.t, filepath.Join(m.dir, name), []byte(text))
}

// check holds what a program printed against plain requests.
func (m *maker) check(printed []byte) {
	m.t.Helper()
	var got map[string]any
	if err := json.Unmarshal(printed, &got); err != nil {
		m.t.Fatalf("%v: %s", err, printed)
	}
	for name, want := range m.w.want {
		if v, there := got[name]; !there || !reflect.DeepEqual(v, want) {
			m.t.Errorf("%s is %v, plain requests say %v", name, v, want)
		}
	}
	if len(got) != len(m.w.want) {
		m.t.Errorf("%d values, want %d", len(got), len(m.w.want))
	}
}

// version finds the version of a generator in the file that pins it.
func (m *maker) version(file, pattern string) string {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.dir, file))
	if err != nil {
		m.t.Fatal(err)
	}
	found := regexp.MustCompile(pattern).FindSubmatch(text)
	if found == nil {
		m.t.Fatalf("%s does not say %s", file, pattern)
	}
	return string(found[1])
}

// TestGeneratedClients makes clients of the document with generators that others wrote,
// compiles them, and calls five routes and a failure with each; and lets agents of others ask
// the same service. The TypeScript client is tested with the package that it is.
func TestGeneratedClients(t *testing.T) {
	if testing.Short() {
		t.Skip("compilers take long")
	}
	t.Parallel() // with tests that wait for processes
	w := newClientWorld(t)
	t.Run("inspector", func(t *testing.T) { testInspector(t, w) })
	t.Run("go", func(t *testing.T) {
		m := newMaker(t, w, "go")
		// What make tools downloaded is all there is: no network, nothing newer.
		m.env = append(m.env, "GOPROXY=off", "GOWORK=off", "GOFLAGS=-trimpath -mod=readonly", "CGO_ENABLED=0")
		modules := exec.CommandContext(t.Context(), "go", "mod", "download")
		modules.Dir, modules.Env = m.dir, m.env
		if out, err := modules.CombinedOutput(); err != nil {
			t.Skipf("the generator's modules are not there: make tools downloads them where it can: %.300s", out)
		}
		if err := os.Mkdir(filepath.Join(m.dir, "explorer"), 0o700); err != nil {
			t.Fatal(err)
		}
		m.generate([]string{"go", "tool", "oapi-codegen"}, "mkdir -p explorer\ngo run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@VERSION",
			m.version("go.mod", `oapi-codegen/v2 (v\S+)`), "-generate types,client -package explorer -o explorer/explorer.go service-openapi.json")
		m.run("go", "build", "-o", "program", ".")
		m.check(m.run(filepath.Join(m.dir, "program")))
	})
	t.Run("python", func(t *testing.T) {
		m := newMaker(t, w, "python")
		m.installed("requirements.txt")
		bin := filepath.Join(m.tool, "bin")
		m.env = append(m.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH")) // it tidies up with its own ruff
		m.follow("generator.json")
		m.generate([]string{filepath.Join(bin, "openapi-python-client")}, "pip install openapi-python-client==VERSION\nopenapi-python-client",
			m.version("requirements.txt", `openapi-python-client==(\S+)`), "generate --path service-openapi.json --meta none --output-path explorer --fail-on-warning --config generator.json")
		m.run(filepath.Join(bin, "python"), "-m", "compileall", "-q", "explorer")
		m.check(m.run(filepath.Join(bin, "python"), "main.py"))
	})
}
