package get_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"chainexplorer/client"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/get"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
)

func TestMain(m *testing.M) { os.Exit(servertest.Main(m.Run)) }

// out is what a command line printed.
type out struct {
	text, told string
	err        error
}

// line runs a command line.
func line(t *testing.T, ctx context.Context, width int, args ...string) out {
	t.Helper()
	var cmds struct {
		Get struct {
			get.Flags
			kong.Plugins
		} `cmd:""`
	}
	cmds.Get.Plugins = get.Plugins()
	parser, err := kong.New(&cmds, kong.Name("chainexplorer"))
	if err != nil {
		t.Fatal(err)
	}
	k, err := parser.Parse(append([]string{"get"}, args...))
	if err != nil {
		return out{err: err}
	}
	var text, told bytes.Buffer
	o, values := get.Selected(k)
	if o == nil {
		t.Fatalf("%v chooses nothing", args)
	}
	err = cmds.Get.Run(ctx, &get.Console{Out: &text, Err: &told, Width: width}, o, values)
	return out{text.String(), told.String(), err}
}

// world is a service, and a person who has a key for it.
func world(t *testing.T) (*servertest.World, func(width int, args ...string) out) {
	t.Helper()
	w := servertest.Shared(t, 45)
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(w.Key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return w, func(width int, args ...string) out {
		t.Helper()
		return line(t, t.Context(), width, append(args, "--url", w.URL, "--chain", servertest.ChainID, "--key-file", key)...)
	}
}

// TestEveryCommand asks for everything that needs no more than what the chain has.
func TestEveryCommand(t *testing.T) {
	w, run := world(t)
	block := w.Chain.BlockAt(30)
	token := "0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d"
	args := map[string]string{"number_or_hash": "30", "tx_hash": block.Transactions[0].Hash.String(), "address": token, "token": token, "q": "30", "timestamp": "2026-01-01T00:00:30Z", "selector": "name",
		"class_hash": w.Chain.Classes(30)[0].Hash.String(), "message_hash": "0x1", "from": "2026-01-01T00:00:00Z", "to": "2026-01-01T04:00:00Z"}
	names := map[string]bool{}
	for _, o := range get.Operations() {
		name := get.Name(&o)
		if names[name] {
			t.Errorf("two operations are %s", name)
		}
		names[name] = true
		if o.Group == "Webhooks" { // which this service does not have
			continue
		}
		command := []string{name}
		for _, p := range o.Parameters {
			if !p.Required || p.Name == "chain" {
				continue
			}
			if args[p.Name] == "" {
				t.Fatalf("%s needs %s", name, p.Name)
			}
			command = append(command, args[p.Name])
		}
		if name == "events" {
			command = append(command, "--address", token)
		}
		for _, form := range [][]string{{"--json"}, {}} {
			r := run(100, append(slices.Clone(command), form...)...)
			switch code := client.Code(r.err); {
			case code == "forbidden" && o.Tier == "partner", code == "not_found", code == "service_unavailable":
			case r.err != nil:
				t.Errorf("%v: %v", command, r.err)
			case len(form) > 0 && !json.Valid([]byte(r.text)):
				t.Errorf("%v: no JSON: %.200s", command, r.text)
			case len(form) == 0 && (r.text == "" || strings.Contains(r.text, `{"`)):
				t.Errorf("%v: %.300s", command, r.text)
			}
		}
	}
	for _, name := range []string{"status", "tx", "block", "blocks", "events", "transfers", "address", "address-activity", "token", "token-holders", "search", "contract-events", "chains", "capabilities"} {
		if !names[name] {
			t.Errorf("there is no command %s", name)
		}
	}
}

// TestForms: the same list in a table, in JSON and in CSV has what happened.
func TestForms(t *testing.T) {
	w, run := world(t)
	strk := felt.MustParse("0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d")
	happened := w.Chain.Events(simnode.EventFilter{To: 44, Addresses: []felt.Felt{strk}, Keys: [][]felt.Felt{{felt.Selector("Transfer")}}})
	query := []string{"events", "--address", strk.String(), "--topic0", "Transfer", "--order", "asc", "--limit", "50", "--all"}

	asJSON := run(0, append(query, "--json")...)
	lines := strings.Split(strings.TrimSpace(asJSON.text), "\n")
	if asJSON.err != nil || len(lines) != len(happened) {
		t.Fatalf("%d events, %d happened: %v", len(lines), len(happened), asJSON.err)
	}
	asCSV := run(0, append(query, "--csv")...)
	rows, err := csv.NewReader(strings.NewReader(asCSV.text)).ReadAll()
	if asCSV.err != nil || err != nil || len(rows) != len(happened)+1 {
		t.Fatalf("%d rows: %v %v", len(rows), asCSV.err, err)
	}
	wide := run(0, query...)
	table := strings.Split(strings.TrimSpace(wide.text), "\n")
	if wide.err != nil || len(table) != len(happened)+1 {
		t.Fatalf("%d lines: %v", len(table), wide.err)
	}
	hash, name := slices.Index(rows[0], "txHash"), slices.Index(rows[0], "eventName")
	for i, e := range happened {
		var row client.EventRow
		if err := json.Unmarshal([]byte(lines[i]), &row); err != nil {
			t.Fatal(err)
		}
		want := e.Block.Transactions[e.TxIndex].Hash.String()
		if row.TxHash != want || row.LogIndex != e.Index || rows[i+1][hash] != want || rows[i+1][name] != "Transfer" || !strings.Contains(table[i+1], want) {
			t.Fatalf("event %d is %s in JSON, %v in CSV, %s in a table; %s happened", i, lines[i], rows[i+1], table[i+1], want)
		}
	}
	// On a terminal no line is wider than it, and columns stand below one another.
	for _, width := range []int{40, 80, 200} {
		narrow := run(width, "blocks", "--limit", "5")
		if narrow.err != nil {
			t.Fatal(narrow.err)
		}
		for l := range strings.Lines(narrow.text) {
			if utf8.RuneCountInString(strings.TrimRight(l, "\n")) > width {
				t.Errorf("wider than %d: %s", width, l)
			}
		}
		if !strings.Contains(narrow.told, "--cursor ") {
			t.Errorf("it does not say that there is more: %q", narrow.told)
		}
	}
	if r := run(0, append(query, "--max", "3")...); r.err == nil || strings.Count(r.text, "\n") != 4 {
		t.Errorf("%v\n%s", r.err, r.text)
	}
}

// TestMistakes are told in words, before anything is asked where that is possible.
func TestMistakes(t *testing.T) {
	w, run := world(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"tx", "0x12zz"}, "invalid_request"},
		{[]string{"tx", "0x1234"}, "not_found"},
		{[]string{"tx"}, "expected"},
		{[]string{"status", "--all"}, "for lists"},
		{[]string{"status", "--csv"}, "for lists"},
		{[]string{"status", "--follow"}, "contract-events, events, token-transfers"},
		{[]string{"blocks", "--json", "--csv"}, "--json and --csv"},
		{[]string{"events", "--follow", "--csv"}, "use --json"},
		{[]string{"events", "--order", "sideways"}, "must be one of"},
		{[]string{"blocks", "--limt", "3"}, "unknown flag"},
	} {
		if r := run(80, c.args...); r.err == nil || !strings.Contains(r.err.Error(), c.want) {
			t.Errorf("%v: %v", c.args, r.err)
		}
	}
	t.Setenv("SERVICE_API_KEY", "")
	if r := line(t, t.Context(), 80, "status", "--url", w.URL, "--chain", servertest.ChainID); r.err == nil || !strings.Contains(r.err.Error(), "Set SERVICE_API_KEY") {
		t.Error(r.err)
	}
}

// TestHostileText: what the chain made up moves no cursor and turns no text around.
func TestHostileText(t *testing.T) {
	nasty := "A\x1b]0;owned\x07\u202egpj\u0085\u200b=1+1"
	text, err := json.Marshal(map[string]any{"items": []any{map[string]any{"name": nasty, "symbol": "=cmd()", "wide": "＝1+1", "spaced": " @SUM(1)", "amount": "-5"}}, "nextCursor": nil})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(text) })) //nolint:errcheck // a test
	defer srv.Close()
	for _, form := range []string{"", "--json", "--csv"} {
		args := []string{"blocks", "--url", srv.URL}
		if form != "" {
			args = append(args, form)
		}
		r := line(t, t.Context(), 100, args...)
		if r.err != nil || !strings.Contains(r.text, "owned") {
			t.Fatalf("%v %q", r.err, r.text)
		}
		for _, c := range r.text {
			if c != '\n' && !unicode.IsGraphic(c) {
				t.Errorf("%s prints %U: %q", form, c, r.text)
			}
		}
		switch form {
		case "--json":
			var same struct{ Items []struct{ Name string } }
			if err := json.Unmarshal([]byte(r.text), &same); err != nil || same.Items[0].Name != nasty {
				t.Errorf("the JSON is another one: %v %q", err, r.text)
			}
		case "--csv":
			for _, formula := range []string{"'=cmd()", "'＝1+1", "' @SUM(1)"} {
				if !strings.Contains(r.text, formula) {
					t.Errorf("there is no %q in %q", formula, r.text)
				}
			}
			if strings.Contains(r.text, "'-5") {
				t.Error(r.text)
			}
		}
	}
}

// TestFollow prints what is new, tells of a fork, and ends when it is stopped.
func TestFollow(t *testing.T) {
	w := servertest.New(t, 12)
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(w.Key), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	// The service is looked at through a door that lets the chain go on between two looks.
	looks := 0
	door := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/status") {
			switch looks++; looks {
			case 2:
				w.Chain.Extend(3)
				w.CatchUp()
			case 4:
				w.Chain.Fork(2)
				w.Chain.Extend(1)
				w.CatchUp()
			case 7:
				stop()
			}
		}
		req, err := http.NewRequestWithContext(r.Context(), r.Method, w.URL+r.URL.RequestURI(), nil)
		if err != nil {
			return
		}
		req.Header = r.Header
		res, err := servertest.Transport.RoundTrip(req)
		if err != nil {
			return
		}
		defer res.Body.Close() //nolint:errcheck // only read
		maps.Copy(rw.Header(), res.Header)
		rw.WriteHeader(res.StatusCode)
		var b bytes.Buffer
		b.ReadFrom(res.Body) //nolint:errcheck // then the client says so
		rw.Write(b.Bytes())  //nolint:errcheck // likewise
	}))
	defer door.Close()
	r := line(t, ctx, 0, "events", "--address", "0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d", "--follow", "--json", "--url", door.URL, "--chain", servertest.ChainID, "--key-file", key)
	if r.err != nil {
		t.Fatal(r.err)
	}
	var have []string
	for l := range strings.Lines(r.text) {
		var got struct {
			client.EventRow
			UndoneAfter *client.Ref
		}
		if err := json.Unmarshal([]byte(l), &got); err != nil {
			t.Fatal(err)
		}
		if u := got.UndoneAfter; u != nil {
			have = slices.DeleteFunc(have, func(h string) bool { var n int64; fmt.Sscan(h, &n); return n > u.Number }) //nolint:errcheck // ours
			continue
		}
		have = append(have, fmt.Sprintln(got.BlockNumber, got.TxHash, got.LogIndex))
	}
	var want []string
	for _, e := range w.Chain.Events(simnode.EventFilter{From: 12, To: 100, Addresses: []felt.Felt{felt.MustParse("0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d")}}) {
		want = append(want, fmt.Sprintln(e.Block.Number, e.Block.Transactions[e.TxIndex].Hash, e.Index))
	}
	if !slices.Equal(have, want) || !strings.Contains(r.text, "undoneAfter") {
		t.Errorf("%d lines remain, %d happened:\n%s", len(have), len(want), r.text)
	}
}
