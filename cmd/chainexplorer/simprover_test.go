package main

import (
	"strings"
	"testing"

	"chainexplorer/internal/simprover"
)

func TestSimproverFlags(t *testing.T) {
	t.Parallel()
	var out, failed strings.Builder
	if code := run([]string{"simprover", "--answer", "list"}, &out, &failed); code != 0 || strings.Count(out.String(), "\n") != len(simprover.Answers) {
		t.Errorf("exit %d, %s%s", code, out.String(), failed.String())
	}
	for _, args := range [][]string{{"--answer", "nonsense"}, {"--workers", "0"}, {"--queue", "-1"}, {"--latency", "-1s"}} {
		failed.Reset()
		if code := run(append([]string{"simprover"}, args...), &out, &failed); code != exitUsage || !strings.Contains(failed.String(), args[0]) {
			t.Errorf("%v: exit %d, %s", args, code, failed.String())
		}
	}
}
