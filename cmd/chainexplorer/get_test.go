package main

import (
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"chainexplorer/internal/get"
)

// TestGet asks a service that runs as a process of its own, and shows where help is.
func TestGet(t *testing.T) {
	t.Parallel()
	w := newClientWorld(t)
	key := filepath.Join(t.TempDir(), "key")
	writeTestFile(t, key, []byte(w.key))
	at := []string{"--url", w.serve.base, "--chain", clientChain, "--key-file", key}
	stdout, stderr, code := output(t, append([]string{"get", "status"}, at...)...)
	if code != 0 || !strings.Contains(stdout, "latestIndexedBlockNumber") || !strings.Contains(stdout, " 57\n") {
		t.Errorf("%d: %s%s", code, stdout, stderr)
	}
	if stdout, stderr, code = output(t, append([]string{"get", "events", "--address", strk.String(), "--topic0", "Transfer", "--all", "--csv"}, at...)...); code != 0 || !strings.HasPrefix(stdout, "blockNumber,") {
		t.Errorf("%d: %.300s%s", code, stdout, stderr)
	}
	if _, stderr, code = output(t, append([]string{"get", "tx", "0x1"}, at...)...); code != exitFailure || !strings.Contains(stderr, "not_found") {
		t.Errorf("%d: %s", code, stderr)
	}
	agent(t, at)
	if stdout, _, code = output(t, "get", "events", "--help"); code != 0 || !strings.Contains(stdout, "--topic0") || !strings.Contains(stdout, "--follow") {
		t.Errorf("%d: %s", code, stdout)
	}
	if stdout, _, code = output(t, "complete", "--", "get", "to"); code != 0 || !strings.Contains(stdout, "token-holders\t") {
		t.Errorf("%d: %s", code, stdout)
	}
	if stdout, _, code = output(t, "complete", "--", "get", "events", "--order", ""); code != 0 || !strings.Contains(stdout, "asc\t") {
		t.Errorf("%d: %s", code, stdout)
	}
}

// agent starts the program as an agent does, and asks it.
func agent(t *testing.T, at []string) {
	t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &sdk.CommandTransport{Command: program(t, append([]string{"mcp"}, at...)...)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "block_detail", Arguments: map[string]any{"number_or_hash": 57}})
	if err != nil || r.IsError {
		t.Fatal(err, r)
	}
	if text, ok := r.Content[0].(*sdk.TextContent); !ok || !strings.Contains(text.Text, `"blockNumber":57`) {
		t.Errorf("%v", r.Content)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}

// TestManual: the manual page has every command, and is one to those who print them.
func TestManual(t *testing.T) {
	stdout, stderr, code := output(t, "man")
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, o := range get.Operations() {
		if !strings.Contains(stdout, ".SS get "+roff(get.Name(&o))) {
			t.Errorf("%s is not in it", get.Name(&o))
		}
	}
	for _, want := range []string{".TH CHAINEXPLORER 1", ".SH NAME", ".SH SYNOPSIS", ".SS serve", ".SS admin key create", `\-\-topic0`, "SERVICE_BASE_URL"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in it", want)
		}
	}
	if strings.Contains(stdout, "\n\n") || strings.Contains(stdout, "\n'") {
		t.Error("a line is a request that is none")
	}
	printer, err := exec.LookPath("groff")
	if err != nil {
		return // the lines above hold its form
	}
	cmd := exec.CommandContext(t.Context(), printer, "-man", "-Tutf8", "-ww")
	cmd.Stdin = strings.NewReader(stdout)
	var told strings.Builder
	cmd.Stderr = &told
	printed, err := cmd.Output()
	if err != nil || strings.Contains(told.String(), "warning") || !strings.Contains(string(printed), "holders") {
		t.Errorf("%v: %s", err, told.String())
	}
}

// TestCome: a list with bounds tells how far it has come.
func TestCome(t *testing.T) {
	bounds := url.Values{"from_block": {"10"}, "to_block": {"19"}}
	if a := come(5, 17, bounds); a.done != 2 || a.total != 10 {
		t.Errorf("%+v", a)
	}
	bounds.Set("order", "asc")
	if a := come(5, 17, bounds); a.done != 7 || a.total != 10 {
		t.Errorf("%+v", a)
	}
	if a := come(5, -1, bounds); a.done != 5 || a.total != 0 {
		t.Errorf("%+v", a)
	}
	if a := come(5, 17, url.Values{}); a.done != 5 || a.total != 0 {
		t.Errorf("%+v", a)
	}
}
