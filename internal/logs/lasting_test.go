package logs_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chainexplorer/internal/logs"
)

// TestLasting: trouble that goes on is told of when it begins and once a minute, with how often
// it was met meanwhile, and its end once.
func TestLasting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := logs.Lasting{Logger: slog.New(logs.New(&out, true, slog.LevelInfo)), Trouble: "it fails", Over: "it works again"}
		l.Works()
		for range 181 {
			l.Fails(errors.New("read-only"), "job", "pools")
			time.Sleep(time.Second)
		}
		l.Works()
		l.Works()
		text := out.String()
		if strings.Count(text, `"it fails" job=pools`) != 4 || strings.Count(text, "untold=59") != 3 || strings.Count(text, "for=3m0s") != 1 || strings.Count(text, `"it works again" after=3m1s`) != 1 {
			t.Errorf("told\n%s", text)
		}
		l.Fails(errors.New("read-only"))
		if strings.Count(out.String(), "it fails") != 5 {
			t.Errorf("told\n%s", out.String())
		}
	})
}
