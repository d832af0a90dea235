package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"chainexplorer/internal/explorer/census"
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

func TestLogRecords(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(newLogHandler(&out, false, slog.LevelInfo)).With("chain", "early", "store", "s")
	log.Info("counted", "chain", "late", "verdict", census.AuditFailed, "took", 1234567891*time.Nanosecond, "wait", 90*time.Minute+time.Millisecond)
	log.WithGroup("g").Info("grouped", "store", "inner")
	first, second, _ := strings.Cut(out.String(), "\n")
	for _, want := range []string{`"chain":"late"`, `"store":"s"`, `"verdict":"audit_failed"`, `"took":"1.235s"`, `"wait":"1h30m0s"`} {
		if strings.Count(first, want) != 1 {
			t.Errorf("%s lacks %s", first, want)
		}
	}
	if strings.Contains(first, "early") || !strings.Contains(second, `"g":{"store":"inner"}`) || !strings.Contains(second, `"chain":"early"`) {
		t.Errorf("%s\n%s", first, second)
	}
	out.Reset()
	log.Info("apart", "verdict", "one")
	log.Info("within", "n", 1, "n", 2)
	first, second, _ = strings.Cut(out.String(), "\n")
	if !strings.Contains(first, `"chain":"early","store":"s","verdict":"one"}`) || !strings.Contains(second, `"chain":"early","store":"s","n":2}`) {
		t.Errorf("%s\n%s", first, second)
	}
	out.Reset()
	slog.New(newLogHandler(&out, true, slog.LevelInfo)).Info("counted", "verdict", census.Certified, "took", 1500*time.Microsecond)
	if !strings.Contains(out.String(), "verdict=certified took=1.5ms") {
		t.Errorf("as text: %s", out.String())
	}
	for v, want := range map[census.Verdict]string{census.NotRun: "not_run", census.Unavailable: "unavailable", 77: "verdict 77"} {
		if v.String() != want {
			t.Errorf("verdict %d is called %s", v, v)
		}
	}
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
