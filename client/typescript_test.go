package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/client"
	"chainexplorer/internal/clientgen"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/tstest"
)

// packageName is what programs import.
const packageName = `"@service/chain-explorer"`

// TestTypeScript builds the TypeScript client with the examples of its guide, runs all of
// them, and looks at what would be packed.
func TestTypeScript(t *testing.T) {
	if testing.Short() {
		t.Skip("compilers take long")
	}
	w := servertest.Shared(t, 45)
	dir := tstest.Copy(t)
	extra := addToSource(t, dir)
	tstest.Compile(t, dir, "-p", ".")

	env := append(os.Environ(), "SERVICE_BASE_URL="+w.URL, "SERVICE_API_KEY="+w.Key, "SERVICE_CHAIN="+servertest.ChainID,
		"CORPUS="+written(t, exchanges(t)), "CODES="+written(t, retryable()))
	node := func(args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a client that waits for ever is broken
		defer cancel()
		cmd := exec.CommandContext(ctx, "node", args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := node("test/offline.test.mjs"); err != nil {
		t.Errorf("%v\n%.6000s", err, out)
	}
	var run string
	for _, name := range extra {
		if strings.HasPrefix(name, "readme") {
			run += "await import('./dist/" + name + ".js');"
		}
	}
	out, err := node("--input-type=module", "-e", run)
	for _, want := range []string{servertest.ChainID + ": block 44 has ", "'Transfer' => ", "there is no such transaction (404, see /docs/api/not-found)", " transfers up to block 44"} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("the examples of the guide do not say %q: %v\n%.3000s", want, err, out)
		}
	}
	checkPacked(t, dir, extra)
	t.Run("follow", func(t *testing.T) { followInTypeScript(t, dir) })
}

// followInTypeScript is TestFollow for the other client: forks come between its steps.
func followInTypeScript(t *testing.T, dir string) {
	w := servertest.New(t, 12)
	d := tstest.NewDriver(t, dir, w.URL, w.Key, servertest.ChainID)
	begin := func(options map[string]any) func() (client.Change[client.EventRow], error, bool) {
		ask := map[string]any{"follow": "searchEvents", "params": map[string]any{"address": []string{strk.String()}, "limit": 7}, "options": options}
		return func() (client.Change[client.EventRow], error, bool) {
			said := d.Ask(ask)
			ask = map[string]any{}
			var c client.Change[client.EventRow]
			if said.Code != "" {
				return c, errors.New(said.Code + said.Message), true
			}
			err := json.Unmarshal(said.Answer, &c)
			return c, err, true
		}
	}
	next, r, undone := begin(map[string]any{"from": 2, "intervalMs": 1, "stride": 4}), &rows{}, 0
	for _, depth := range []int{0, 0, 3, 0, 1, 7} {
		if depth > 0 {
			w.Chain.Fork(depth)
		}
		w.Chain.Extend(depth + 1)
		w.CatchUp()
		undone += r.upto(t, w.Chain, next)
		r.check(t, w.Chain, 2)
	}
	if undone != 3 {
		t.Errorf("%d forks were told, want 3", undone)
	}
	// Another one goes on from what this one knew, after one more fork.
	w.Chain.Fork(2)
	w.Chain.Extend(3)
	w.CatchUp()
	if r.upto(t, w.Chain, begin(map[string]any{"known": r.known, "intervalMs": 1})) != 1 {
		t.Error("the fork in between was not told")
	}
	r.check(t, w.Chain, 2)
}

// addToSource puts the examples of the guide, and what the compiler is tested with, beside
// the sources, so that it runs once; it returns their names.
func addToSource(t *testing.T, dir string) []string {
	t.Helper()
	guide, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	types, err := os.ReadFile(filepath.Join(dir, "test", "types.ts"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"compiled": string(types)}
	for i, example := range regexp.MustCompile("(?s)```ts\n(.*?)```").FindAllStringSubmatch(string(guide), -1) {
		if !strings.Contains(example[1], packageName) {
			t.Errorf("an example imports nothing:\n%s", example[1])
		}
		files["readme"+string(rune('0'+i))] = strings.ReplaceAll(example[1], packageName, `"./index.js"`)
	}
	var names []string
	for name, text := range files {
		names = append(names, name)
		if err := os.WriteFile(filepath.Join(dir, "src", name+".ts"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if len(names) < 5 {
		t.Errorf("the guide has only the examples %v", names)
	}
	slices.Sort(names)
	return names
}

// checkPacked: the package has what was compiled, and nothing else.
func checkPacked(t *testing.T, dir string, extra []string) {
	t.Helper()
	want := []string{"LICENSE", "README.md", "package.json"}
	sources, err := fs.Glob(os.DirFS(filepath.Join(dir, "src")), "*.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		name := strings.TrimSuffix(source, ".ts")
		made := []string{"dist/" + name + ".d.ts", "dist/" + name + ".js"}
		if !slices.Contains(extra, name) {
			want = append(want, made...)
			continue
		}
		for _, file := range made {
			if err := os.Remove(filepath.Join(dir, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), "npm", "pack", "--dry-run", "--json", "--ignore-scripts", "--offline")
	cmd.Dir = dir
	out, err := cmd.Output()
	var packed []struct{ Files []struct{ Path string } }
	if err != nil || json.Unmarshal(out, &packed) != nil || len(packed) != 1 {
		t.Fatalf("npm pack: %v\n%s", err, out)
	}
	var got []string
	for _, f := range packed[0].Files {
		got = append(got, f.Path)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("packed are %v, want %v", got, want)
	}
	ours, err := os.ReadFile(filepath.Join("..", "LICENSE"))
	if theirs, _ := os.ReadFile(filepath.Join(dir, "LICENSE")); err != nil || !bytes.Equal(ours, theirs) { //nolint:errcheck // then it is not the same
		t.Errorf("the package has another license: %v", err)
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || bytes.Contains(text, []byte(`"resolved"`)) || bytes.Contains(text, []byte(`"dependencies": {}`)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// exchanges is the API's corpus as the TypeScript tests read it.
func exchanges(t *testing.T) []map[string]any {
	t.Helper()
	all := documented(t, document(t))
	var out []map[string]any
	for _, x := range corpus(t) {
		if x.method == http.MethodHead || x.status == http.StatusNotModified {
			continue
		}
		o, params := operationOf(all, x)
		if o == nil {
			continue
		}
		given := map[string]any{}
		possible := !slices.ContainsFunc(o.Parameters, func(p clientgen.Parameter) bool { return p.In == "header" }) // of which the corpus tells nothing
		for name, value := range params {
			given[name] = value
		}
		query, err := url.ParseQuery(x.target.RawQuery)
		possible = possible && err == nil
		for name, values := range query {
			possible = possible && slices.ContainsFunc(o.Parameters, func(p clientgen.Parameter) bool {
				return p.Name == name && p.In == "query" && !strings.HasPrefix(p.Description, "Alias of ")
			})
			given[name] = values
		}
		if len(x.body) > 0 && json.Unmarshal(x.body, new(any)) == nil {
			given["body"] = json.RawMessage(x.body)
		}
		if !possible || (o.RequestBody != nil) != (given["body"] != nil) || x.header.Get("Content-Encoding") != "" {
			continue // a request that the client cannot make
		}
		headers := map[string]string{}
		for name := range x.header {
			if name != "Content-Length" {
				headers[name] = x.header.Get(name)
			}
		}
		out = append(out, map[string]any{"name": x.name, "operation": o.ID, "params": given, "method": x.method, "target": x.target.String(),
			"status": x.status, "headers": headers, "answer": string(x.answer)})
	}
	return out
}

// retryable says of every code whether waiting helps.
func retryable() map[string]bool {
	out := map[string]bool{}
	for code, info := range kernel.Codes {
		out[string(code)] = strings.Contains(info.Cure, "as long as Retry-After says")
	}
	return out
}

// written is a file with a value as JSON.
func written(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "value.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
