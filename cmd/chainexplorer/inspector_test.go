package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"chainexplorer/client"
	"chainexplorer/internal/mcp"
)

// agentServer is where the tools are, as tools.mjs is told.
type agentServer struct {
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

// agentCall is a call of a tool.
type agentCall struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`

	operation *client.Operation
	values    url.Values // that the API is asked with
}

// agentResult is what a tool answered.
type agentResult struct {
	IsError    bool
	Content    []struct{ Type, Text string }
	Structured any `json:"structuredContent"`
}

// agentTool is a tool as an agent sees it.
type agentTool struct {
	Name        string
	InputSchema struct {
		Properties map[string]any
		Required   []string
	}
	Annotations struct{ ReadOnlyHint bool }
}

// callsOfAll calls every tool about things that there are.
func (w *clientWorld) callsOfAll(t *testing.T) []agentCall {
	t.Helper()
	text := func(of any, names ...string) string {
		for _, name := range names {
			if list, ok := of.([]any); ok && len(list) > 0 {
				of = list[0]
			}
			m, ok := of.(map[string]any)
			if !ok {
				t.Fatalf("there is no %s in %v", name, of)
			}
			of = m[name]
		}
		return of.(string)
	}
	token := strk.String()
	values := map[string]string{
		"number_or_hash": "30", "tx_hash": w.want["transactions"].([]any)[0].(string), "address": token, "token": token, "q": "30",
		"timestamp": text(w.read("block/30"), "timestampIso"), "selector": "0x361458367e696363fbcc70777d07ebbd2394e89fd0adcaf147faccd1d294d60",
		"class_hash": text(w.read("contract/"+token), "classHash"), "message_hash": text(w.read("messages"), "items", "messageHash"),
		"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T04:00:00Z", "webhook_id": w.webhook(t),
	}
	calls := []agentCall{{Name: "__service_init__", Arguments: map[string]any{}}}
	for _, tool := range mcp.Tools(nil) {
		call := agentCall{Name: tool.Name, Arguments: map[string]any{}, operation: tool.Operation, values: url.Values{}}
		var schema struct{ Required []string }
		if err := json.Unmarshal(tool.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		for _, p := range tool.Operation.Parameters {
			switch {
			case p.Name == "chain":
				call.values.Set(p.Name, clientChain)
			case p.Required:
				v := values[p.Name]
				if v == "" {
					t.Fatalf("%s needs %s", tool.Name, p.Name)
				}
				call.values.Set(p.Name, v)
				call.Arguments[schema.Required[0]], schema.Required = v, schema.Required[1:] // in the order of the parameters
			case p.Name == "address" && p.Repeated: // a search of all is refused
				call.values.Set(p.Name, token)
				call.Arguments[p.Name] = []string{token}
			}
		}
		calls = append(calls, call)
	}
	return calls
}

// webhook makes one. The chain stands still: nothing is ever sent.
func (w *clientWorld) webhook(t *testing.T) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.serve.base+"/v1/"+clientChain+"/webhooks", strings.NewReader(`{"url":"https://example.org/hook","filter":{"kind":"block"}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Service-Api-Key", w.key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	var made struct{ Webhook struct{ WebhookID string } }
	if err := json.NewDecoder(res.Body).Decode(&made); err != nil || res.StatusCode != http.StatusCreated || made.Webhook.WebhookID == "" {
		t.Fatalf("create a webhook: %s %+v %v", res.Status, made, err)
	}
	return made.Webhook.WebhookID
}

// inspect runs the inspector without its pages, which asks a server one thing.
func (m *maker) inspect(s agentServer, args ...string) []byte {
	m.t.Helper()
	command := []string{filepath.Join(m.tool, "node_modules", ".bin", "mcp-inspector-cli"), "--cli"}
	if s.URL != "" {
		command = append(command, s.URL, "--transport", "http")
		for name, value := range s.Headers {
			command = append(command, "--header", name+": "+value)
		}
	} else {
		for name, value := range s.Env {
			command = append(command, "-e", name+"="+value)
		}
		command = append(append(command, s.Command), s.Args...)
	}
	return m.run("node", append(command, args...)...)
}

// checkTools holds a list of tools against the table.
func checkTools(t *testing.T, tools []agentTool) {
	t.Helper()
	table := mcp.Tools(nil)
	if len(tools) != len(table)+1 || tools[0].Name != "__service_init__" {
		t.Errorf("%d tools, want %d and the first one", len(tools), len(table))
		return
	}
	for i, tool := range tools[1:] {
		if tool.Name != table[i].Name || !tool.Annotations.ReadOnlyHint || len(tool.InputSchema.Properties) != len(table[i].Operation.Parameters) {
			t.Errorf("%+v, want %s", tool, table[i].Name)
		}
	}
}

// testInspector: the protocol's own inspector, and the SDK that it is made of, see all tools
// and hear of each what the API says, over HTTP and from the command that agents start.
func testInspector(t *testing.T, w *clientWorld) {
	m := newMaker(t, w, "inspector")
	m.installed("package-lock.json")
	if err := os.Symlink(filepath.Join(m.tool, "node_modules"), filepath.Join(m.dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	exe, err := built()
	if err != nil {
		t.Fatal(err)
	}
	key := map[string]string{"X-Service-Api-Key": w.key}
	servers := []agentServer{{URL: w.serve.base + "/mcp", Headers: key}, {URL: w.serve.base + "/api/mcp", Headers: key},
		{Command: exe, Args: []string{"mcp"}, Env: map[string]string{"SERVICE_BASE_URL": w.serve.base, "SERVICE_API_KEY": w.key, "SERVICE_CHAIN": clientChain}}}
	// The inspector wants to see a package.json in the directory above.
	m.dir = filepath.Join(m.dir, "run")
	if err := os.Mkdir(m.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var listed struct{ Tools []agentTool }
	if err := json.Unmarshal(m.inspect(servers[0], "--method", "tools/list"), &listed); err != nil {
		t.Fatal(err)
	}
	checkTools(t, listed.Tools)
	var said agentResult
	if err := json.Unmarshal(m.inspect(servers[2], "--method", "tools/call", "--tool-name", "block_detail", "--tool-arg", "number_or_hash=30"), &said); err != nil {
		t.Fatal(err)
	}
	if block := w.read("block/30"); said.IsError || !reflect.DeepEqual(said.Structured, any(block)) {
		t.Errorf("the inspector hears %v, want %v", said, block)
	}

	calls := w.callsOfAll(t)
	plan, err := json.Marshal(map[string]any{"servers": servers, "calls": calls})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("..", "tools.mjs"))
	cmd.Dir, cmd.Env, cmd.Stdin = m.dir, m.env, bytes.NewReader(plan)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("tools.mjs: %v\n%.3000s", err, stderr.String())
	}
	var agents []struct {
		Name    string
		Tools   []agentTool
		Results []agentResult
	}
	if err := json.Unmarshal(printed, &agents); err != nil || len(agents) != len(servers) {
		t.Fatalf("%d servers answered: %v", len(agents), err)
	}
	service, err := client.New(client.Options{BaseURL: w.serve.base, APIKey: w.key})
	if err != nil {
		t.Fatal(err)
	}
	for i, agent := range agents {
		checkTools(t, agent.Tools)
		if agent.Name != "chainexplorer" || len(agent.Results) != len(calls) {
			t.Fatalf("%s answered %d calls, want %d", agent.Name, len(agent.Results), len(calls))
		}
		answered := 0
		for j, r := range agent.Results {
			if calls[j].operation != nil && w.checkResult(t, service, i, &calls[j], r) {
				answered++
			}
		}
		if answered != len(calls)-2 { // the first one, and nothing of this chain is verified
			t.Errorf("server %d: %d of %d tools found what they were asked about", i, answered, len(calls))
		}
	}
}

// checkResult holds what a tool said against the API; false when there is no such thing.
func (w *clientWorld) checkResult(t *testing.T, service *client.Client, server int, call *agentCall, r agentResult) bool {
	t.Helper()
	answer, err := service.Call(t.Context(), call.operation, call.values)
	if len(r.Content) != 1 || r.IsError != (err != nil) {
		t.Errorf("server %d: %s: %+v, and the API says %v", server, call.Name, r, err)
		return false
	}
	if err != nil {
		if !strings.Contains(r.Content[0].Text, `"`+client.Code(err)+`"`) {
			t.Errorf("server %d: %s: %s, want %v", server, call.Name, r.Content[0].Text, err)
		}
		return false
	}
	var want, text any
	if json.Unmarshal(answer, &want) != nil || json.Unmarshal([]byte(r.Content[0].Text), &text) != nil || !reflect.DeepEqual(text, r.Structured) {
		t.Errorf("server %d: %s: two answers", server, call.Name)
	}
	if call.Name != "status" && call.Name != "get_capabilities" && !reflect.DeepEqual(text, want) { // which tell of this very moment
		t.Errorf("server %d: %s says %.300s\nthe API %.300s", server, call.Name, r.Content[0].Text, answer)
	}
	return true
}
