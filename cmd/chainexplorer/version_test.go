package main

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	flag, _, code := output(t, "--version")
	command, _, _ := output(t, "version")
	if code != 0 || flag != command {
		t.Errorf("code %d, --version prints %q, version %q", code, flag, command)
	}
	for _, want := range []string{"chainexplorer " + version() + "\n", "\ncommit ", runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH, "-compiler=gc"} {
		if !strings.Contains(flag, want) {
			t.Errorf("%q lacks %q", flag, want)
		}
	}
	text, _, _ := output(t, "version", "--json")
	var b map[string]any
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	if commit, told := b["commit"]; !told || commit == "" || b["go"] != runtime.Version() {
		t.Errorf("%v", b)
	}
}

// TestVersionNamesTheCommit: with and without a repository, and with changes beyond it.
func TestVersionNamesTheCommit(t *testing.T) {
	yes, no := true, false
	commit, when := "59dcc927", "2026-11-15T14:23:24Z"
	for want, b := range map[string]build{
		"commit   59dcc927 of 2026-11-15T14:23:24Z\n":                                      {Commit: &commit, Time: &when, Modified: &no},
		"commit   59dcc927 of 2026-11-15T14:23:24Z, with changes that are not committed\n": {Commit: &commit, Time: &when, Modified: &yes},
		"commit   unknown: not built in a repository\n":                                    {},
	} {
		var out strings.Builder
		if err := b.print(&out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q lacks %q", out.String(), want)
		}
	}
}
