package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"chainexplorer/internal/simnode"
)

// keysOf lists the keys of a JSON object in order, those that come twice included.
func keysOf(t *testing.T, record string) (keys []string) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(record))
	if _, err := dec.Token(); err != nil {
		t.Fatalf("%s: %v", record, err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key.(string))
		var value any
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}

// TestNoKeyTwiceInTheLog reads the log of a service from its start to its end.
func TestNoKeyTwiceInTheLog(t *testing.T) {
	server := httptest.NewServer(simnode.NewNode(simnode.New(simnode.Config{Seed: 5, Blocks: 60}), simnode.NodeConfig{}))
	defer server.Close()
	cmd := program(t, "serve", "--node", server.URL, "--data", t.TempDir(), "--verify=off", "--listen=127.0.0.1:0", "--log-level=debug")
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	dec := json.NewDecoder(io.TeeReader(pipe, &text))
	opened := false
	for !opened {
		var r map[string]any
		if err := dec.Decode(&r); err != nil {
			t.Fatalf("%v:\n%s", err, text.String())
		}
		opened = r["msg"] == "index opened"
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(&text, pipe); err != nil { // to the end of the process
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	for l := range strings.Lines(text.String()) {
		seen := map[string]bool{}
		if !strings.HasSuffix(l, "}\n") {
			continue // cut off
		}
		for _, k := range keysOf(t, l) {
			if seen[k] {
				t.Errorf("%s twice in %s", k, l)
			}
			seen[k] = true
		}
	}
}
