package logs

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// verdict is a number with a name.
type verdict int

func (v verdict) String() string { return []string{"certified", "audit_failed"}[v] }

func TestLogRecords(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(New(&out, false, slog.LevelInfo)).With("chain", "early", "store", "s")
	log.Info("counted", "chain", "late", "verdict", verdict(1), "took", 1234567891*time.Nanosecond, "wait", 90*time.Minute+time.Millisecond)
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
	slog.New(New(&out, true, slog.LevelInfo)).Info("counted", "verdict", verdict(0), "took", 1500*time.Microsecond)
	if !strings.Contains(out.String(), "verdict=certified took=1.5ms") {
		t.Errorf("as text: %s", out.String())
	}
}
