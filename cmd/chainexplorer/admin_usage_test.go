package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/usage"
)

func TestAdminUsage(t *testing.T) {
	path := t.TempDir() + "/control.db"
	succeed(t, path, "workspace", "create", "acme")
	succeed(t, path, "workspace", "create", "quiet")
	out := succeed(t, path, "key", "create", "--workspace", "acme", "--label", "laptop")
	id := publicID.FindString(out)
	db, err := control.Open(t.Context(), control.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	accounts := account.NewRepository(db, account.Options{})
	w, err := accounts.WorkspaceByName(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	r := usage.NewRecorder(usage.NewRepository(db, accounts, nil), usage.Options{})
	for i := range 3 {
		r.Record(usage.Event{RequestID: fmt.Sprint("svc-", i), WorkspaceID: w.ID, KeyID: id, Method: "GET", Path: "/v1/{chain}/status", Class: "light",
			Status: 200 + 204*(i/2), Failed: i == 2, At: time.Now()})
	}
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	lines := strings.Split(succeed(t, path, "usage"), "\n")
	if len(lines) != 4 || strings.Join(strings.Fields(lines[1])[:3], " ") != "acme 3 1" || strings.Join(strings.Fields(lines[2]), " ") != "quiet 0 0 none" {
		t.Errorf("printed %q", lines)
	}
	of := succeed(t, path, "usage", "--workspace", "acme")
	for _, want := range []string{"requests  3, of which 1 failed", id, "laptop", "404", "GET /v1/{chain}/status", "svc-2"} {
		if !strings.Contains(of, want) {
			t.Errorf("%q is not in\n%s", want, of)
		}
	}
	if strings.Contains(of, "svc-1") {
		t.Errorf("what went well is among the failures:\n%s", of)
	}
	var raw map[string]json.RawMessage
	text := []byte(succeed(t, path, "usage", "--workspace", "acme", "--window", "1h", "--json"))
	if err := json.Unmarshal(text, &raw); err != nil || string(raw["totalRequests"]) != "3" || string(raw["totalFailures"]) != "1" || len(raw) != 11 {
		t.Errorf("%v in %s", err, text)
	}
	var totals struct {
		Items     []usage.Total
		Truncated bool
	}
	if err := json.Unmarshal([]byte(succeed(t, path, "usage", "--json")), &totals); err != nil || len(totals.Items) != 2 || totals.Items[0].TotalRequests != 3 {
		t.Errorf("%+v, %v", totals, err)
	}
	for _, args := range [][]string{{"--workspace", "nobody"}, {"--window", "-1h"}, {"--window", "745h"}} {
		if _, stderr, code := output(t, append([]string{"admin", "usage", "--control", path}, args...)...); code == 0 || stderr == "" {
			t.Errorf("%v ended with %d: %s", args, code, stderr)
		}
	}
}
