package mcp_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"chainexplorer/client"
	"chainexplorer/internal/account"
	"chainexplorer/internal/mcp"
	"chainexplorer/internal/servertest"
)

func TestMain(m *testing.M) { os.Exit(servertest.Main(m.Run)) }

// keyed sends a key with every request.
type keyed struct {
	name, key string
}

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if k.key != "" {
		r.Header.Set(k.name, k.key)
	}
	return servertest.Transport.RoundTrip(r)
}

// connect is an agent, by the SDK's own client.
func connect(t *testing.T, w *servertest.World, path, key string) (*sdk.ClientSession, error) {
	t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: w.URL + path, HTTPClient: &http.Client{Transport: keyed{"X-Service-Api-Key", key}}, DisableStandaloneSSE: true}, nil)
	if err == nil {
		t.Cleanup(func() { s.Close() }) //nolint:errcheck // a test
	}
	return s, err
}

func call(t *testing.T, s *sdk.ClientSession, tool string, args map[string]any) (string, bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	text, ok := r.Content[0].(*sdk.TextContent)
	if !ok || len(r.Content) != 1 {
		t.Fatalf("%s: %v", tool, r.Content)
	}
	if !r.IsError {
		structured, err := json.Marshal(r.StructuredContent)
		if err != nil || !same(t, string(structured), text.Text) {
			t.Errorf("%s: two answers: %s %s", tool, structured, text.Text)
		}
	}
	return text.Text, r.IsError
}

func same(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatalf("%v: %.200s", err, a)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatalf("%v: %.200s", err, b)
	}
	return reflect.DeepEqual(x, y)
}

// TestTools: every tool says what the API says, and is known to change nothing.
func TestTools(t *testing.T) {
	w := servertest.Shared(t, 45)
	block := w.Chain.BlockAt(30)
	const token = "0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d"
	args := map[string]any{"number_or_hash": 30, "block_number": "30", "tx_hash": block.Transactions[0].Hash.String(), "address": token, "token": token, "q": "30", "timestamp": "2026-01-01T00:00:30Z", "selector": "0x361458367e696363fbcc70777d07ebbd2394e89fd0adcaf147faccd1d294d60",
		"class_hash": w.Chain.Classes(30)[0].Hash.String(), "message_hash": "0x1", "from": "2026-01-01T00:00:00Z", "to": "2026-01-01T04:00:00Z"}
	for _, path := range []string{"/mcp", "/api/mcp"} {
		s, err := connect(t, w, path, w.Key)
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
			a := tool.Annotations
			if a == nil || !a.ReadOnlyHint || a.DestructiveHint == nil || *a.DestructiveHint || tool.Description == "" {
				t.Errorf("%s: %+v", tool.Name, a)
			}
		}
		for _, want := range []string{"__service_init__", "status", "search", "block_detail", "block_transactions", "tx_detail", "address_summary", "address_activity", "search_events", "list_transfers", "get_token"} {
			if !slices.Contains(names, want) {
				t.Errorf("there is no tool %s in %v", want, names)
			}
		}
		if path != "/mcp" {
			continue
		}
		answered := 0
		for _, tool := range mcp.Tools(nil) {
			if strings.Contains(tool.Name, "webhook") { // which this service does not have
				continue
			}
			given := map[string]any{}
			var schema struct {
				Required []string `json:"required"`
			}
			if err := json.Unmarshal(tool.Schema, &schema); err != nil {
				t.Fatal(err)
			}
			for _, name := range schema.Required {
				if args[name] == nil {
					t.Fatalf("%s needs %s", tool.Name, name)
				}
				given[name] = args[name]
			}
			if tool.Name == "search_events" {
				given["address"] = []string{token}
			}
			text, failed := call(t, s, tool.Name, given)
			values := map[string]string{}
			for name, v := range given {
				if list, ok := v.([]string); ok {
					v = list[0]
				}
				b, err := json.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				values[name] = strings.Trim(string(b), `"`)
			}
			r := w.Do(http.MethodGet, target(tool.Operation, values), w.Key)
			if failed != (r.StatusCode != http.StatusOK) {
				t.Errorf("%s: %s, and the API says %s", tool.Name, text, r.Status)
				continue
			}
			if failed {
				if !strings.Contains(text, string(r.Envelope().Code)) {
					t.Errorf("%s: %s", tool.Name, text)
				}
				continue
			}
			answered++
			if tool.Name != "status" && tool.Name != "get_capabilities" && !same(t, text, string(r.Plain())) { // which tell of this very moment
				t.Errorf("%s says %.300s\nthe API %.300s", tool.Name, text, r.Plain())
			}
		}
		if answered < 25 {
			t.Errorf("only %d tools answered", answered)
		}
	}
}

// target is the request that a tool stands for.
func target(o *client.Operation, values map[string]string) string {
	path, query := strings.Replace(o.Path, "{chain}", servertest.ChainID, 1), []string{}
	for _, p := range o.Parameters {
		for _, name := range []string{p.Name, "block_number"} {
			v, ok := values[name]
			if !ok {
				continue
			}
			if strings.Contains(path, "{"+p.Name+"}") {
				path = strings.Replace(path, "{"+p.Name+"}", v, 1)
			} else if p.In == "query" && name == p.Name {
				query = append(query, p.Name+"="+v)
			}
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	return path
}

// TestFirstTool: an agent learns where it is, and that names are no instructions.
func TestFirstTool(t *testing.T) {
	w := servertest.Shared(t, 45)
	s, err := connect(t, w, "/mcp", w.Key)
	if err != nil {
		t.Fatal(err)
	}
	text, failed := call(t, s, "__service_init__", nil)
	var told struct {
		ServerName, Scope, DefaultChain string
		Chains, Workflow, Safety        []string
		Tools                           []struct{ Name, Purpose string }
	}
	if err := json.Unmarshal([]byte(text), &told); err != nil || failed {
		t.Fatal(err, text)
	}
	if told.DefaultChain != servertest.ChainID || told.Scope != "read-only" || len(told.Workflow) == 0 || !strings.Contains(strings.Join(told.Safety, " "), "never instructions") || len(told.Tools) < 25 {
		t.Errorf("%+v", told)
	}
	if text, failed := call(t, s, "__service_init__", map[string]any{"chain": "x"}); !failed {
		t.Error(text)
	}
}

// TestRefusals: whoever may not ask is refused as on every route, and mistakes are told to
// the agent, which can mend them.
func TestRefusals(t *testing.T) {
	w := servertest.Shared(t, 45)
	if _, err := connect(t, w, "/mcp", ""); err == nil {
		t.Error("somebody without a key is let in")
	}
	if _, err := connect(t, w, "/mcp", w.RevokedKey()); err == nil {
		t.Error("a revoked key is let in")
	}
	for _, path := range []string{"/mcp", "/api/mcp"} {
		r := w.Do(http.MethodPost, path, "")
		told, where, _ := strings.Cut(r.Header.Get("WWW-Authenticate"), `, resource_metadata="`)
		if r.StatusCode != http.StatusUnauthorized || told != `Bearer realm="service", error="invalid_token"` || !strings.HasSuffix(where, `"`) {
			t.Fatalf("%s: %s %v", path, r.Status, r.Header)
		}
		at, err := url.Parse(strings.TrimSuffix(where, `"`))
		if err != nil {
			t.Fatal(err)
		}
		var document struct{ Resource string }
		if d := w.Do(http.MethodGet, at.Path, ""); json.Unmarshal(d.Body, &document) != nil || document.Resource != at.Scheme+"://"+at.Host+path {
			t.Errorf("%s is protected as %s says: %s", path, where, d.Body)
		}
	}
	s, err := connect(t, w, "/mcp", w.Key)
	if err != nil {
		t.Fatal(err)
	}
	for tool, c := range map[string]struct {
		args map[string]any
		want string
	}{
		"tx_detail":        {map[string]any{"tx_hash": "0x1234"}, `"code":"not_found"`},
		"block_detail":     {map[string]any{"number_or_hash": "nonsense"}, `"code":"invalid_request"`},
		"address_summary":  {map[string]any{}, "address is missing"},
		"search":           {map[string]any{"q": "1", "quick": true}, `there is no argument`},
		"address_activity": {map[string]any{"address": map[string]any{"a": 1}}, "must be a text or a number"},
		"search_events":    {map[string]any{"address": make([]string, 200)}, "more than 128"},
		"status":           {map[string]any{"chain_id": "SN_NOWHERE"}, "message"},
	} {
		if text, failed := call(t, s, tool, c.args); !failed || !strings.Contains(text, c.want) {
			t.Errorf("%s: %v %s", tool, failed, text)
		}
	}
	if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "send_transaction"}); err == nil {
		t.Error("a tool that is none was called")
	}
	for _, c := range []struct {
		method, origin, body string
		status               int
	}{
		{http.MethodPost, servertest.StrangeOrigin, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, http.StatusForbidden},
		{http.MethodPost, "", strings.Repeat(" ", 70<<10), http.StatusRequestEntityTooLarge},
		{http.MethodPost, "", `{`, http.StatusBadRequest},
		{http.MethodPost, "", ` [{"jsonrpc":"2.0","id":1,"method":"ping"}]`, http.StatusBadRequest},
		{http.MethodGet, "", "", http.StatusMethodNotAllowed},
		{http.MethodDelete, "", "", http.StatusMethodNotAllowed},
	} {
		req := w.Request(c.method, "/mcp", c.body, "Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2025-03-26")
		if c.origin != "" {
			req.Header.Set("Origin", c.origin)
		}
		if r := w.Send(req); r.StatusCode != c.status {
			t.Errorf("%s from %q: %s %.200s", c.method, c.origin, r.Status, r.Body)
		}
	}
}

// TestMessages: what is no message of the protocol is answered as JSON-RPC says, whatever is
// wrong with it, and never read as something else.
func TestMessages(t *testing.T) {
	w := servertest.Shared(t, 45)
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, c := range []struct {
		body, header, value string
		status              int
		want                string
	}{
		{ping, "", "", 200, `"result":{}`},
		{`{"jsonrpc":"2.0","id":"a","method":"ping"}`, "", "", 200, `"id":"a"`},
		{`{"jsonrpc":"2.0","id":9007199254740991,"method":"ping"}`, "", "", 200, `"id":9007199254740991`},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "", "", 202, ``},
		{`{`, "", "", 400, `"code":-32700`},
		{``, "", "", 400, `"code":-32700`},
		{ping + `{}`, "", "", 400, `"code":-32700`},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, "", "", 400, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, "", "", 400, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "", "", 400, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}`, "", "", 400, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, "", "", 400, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":1,"method":"nonsense"}`, "", "", 200, `"code":-32601`},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":5}}`, "", "", 200, `"code":-32602`},
		{ping, "Content-Type", "text/html", 415, `"code":"unsupported_media_type"`},
		{ping, "Accept", "text/html", 400, `"code":"invalid_request"`},
		{ping, "Mcp-Protocol-Version", "1999-01-01", 400, `"code":"invalid_request"`},
	} {
		req := w.Request(http.MethodPost, "/mcp", c.body, "Accept", "application/json, text/event-stream", "Content-Type", "application/json", "Mcp-Protocol-Version", "2025-06-18")
		if c.header != "" {
			req.Header.Set(c.header, c.value)
		}
		r := w.Send(req)
		if r.StatusCode != c.status || !strings.Contains(string(r.Body), c.want) || len(r.Body) > 0 && !json.Valid(r.Body) {
			t.Errorf("%s %s: %s %s", c.body, c.value, r.Status, r.Body)
		}
		if strings.Contains(string(r.Body), "Go ") || strings.Contains(string(r.Body), "unmarshal") {
			t.Errorf("%s: it speaks of the program: %s", c.body, r.Body)
		}
	}
}

// TestBudgets: an agent's calls are those of its key.
func TestBudgets(t *testing.T) {
	w := servertest.New(t, 12)
	key := w.LimitedKey(account.Limits{LightPerMinute: 60, HeavyPerMinute: 2})
	s, err := connect(t, w, "/mcp", key)
	if err != nil {
		t.Fatal(err)
	}
	limited := 0
	for range 6 {
		if text, failed := call(t, s, "list_transfers", nil); failed {
			limited++
			if !strings.Contains(text, "rate_limited") || !strings.Contains(text, `"retryable":true`) || !strings.Contains(text, "retryAfterSeconds") {
				t.Error(text)
			}
		}
	}
	if limited != 4 {
		t.Errorf("%d of 6 calls were refused", limited)
	}
	// Many at once get answers of their own.
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			r, err := s.CallTool(context.WithoutCancel(t.Context()), &sdk.CallToolParams{Name: "block_detail", Arguments: map[string]any{"number_or_hash": i}})
			if err != nil {
				t.Error(err)
				return
			}
			var b struct{ BlockNumber *int }
			if text := r.Content[0].(*sdk.TextContent).Text; json.Unmarshal([]byte(text), &b) != nil || !r.IsError && (b.BlockNumber == nil || *b.BlockNumber != i) {
				t.Errorf("block %d: %s", i, text)
			}
		})
	}
	wg.Wait()
}

// TestNamesAreApart: two tools or arguments of one name would hide one another.
func TestNamesAreApart(t *testing.T) {
	seen := map[string]string{}
	for _, tool := range mcp.Tools([]string{"A", "B"}) {
		if other := seen[tool.Name]; other != "" {
			t.Errorf("%s is %s and %s", tool.Name, other, tool.Operation.ID)
		}
		seen[tool.Name] = tool.Operation.ID
		var schema struct {
			Properties map[string]map[string]any
			Additional *bool `json:"additionalProperties"`
		}
		if err := json.Unmarshal(tool.Schema, &schema); err != nil || schema.Additional == nil || *schema.Additional {
			t.Errorf("%s: %v %s", tool.Name, err, tool.Schema)
		}
		if len(schema.Properties) != len(tool.Operation.Parameters) {
			t.Errorf("%s has %v", tool.Name, slices.Collect(maps.Keys(schema.Properties)))
		}
	}
}

// TestAnswersAreTheCallers: what a key was answered may be kept by nobody.
func TestAnswersAreTheCallers(t *testing.T) {
	w := servertest.Shared(t, 45)
	for _, body := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status","arguments":{}}}`, `{"jsonrpc":"2.0","id":1,"method":"nothing"}`} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"X-Service-Api-Key": w.Key, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
			req.Header.Set(name, value)
		}
		r := w.Send(req)
		if got := r.Header.Get("Cache-Control"); got != "private, no-store" {
			t.Errorf("%s: %d with Cache-Control %q", body, r.StatusCode, got)
		}
	}
}
