//go:build unix

package main

import (
	"runtime"
	"syscall"
	"testing"

	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/liar"
)

// TestFloodOfTheProgram: a node that answers all of the 32 fetches that are under
// way with hundreds of megabytes does not take the memory for them, at the default
// of --node-memory-mib; when it comes to its senses the index goes on.
func TestFloodOfTheProgram(t *testing.T) {
	unit := 10 // kilobytes
	if runtime.GOOS == "darwin" {
		unit = 20 // bytes
	}
	chain := simnode.New(simnode.Config{Seed: 74, Blocks: 40})
	for name, flood := range map[string]liar.Flood{
		"announced":  {Bytes: 250 << 20, Length: true},
		"chunked":    {Bytes: 300 << 20},
		"compressed": {Bytes: 300 << 20, Gzip: true},
	} {
		t.Run(name, func(t *testing.T) {
			floods := 32
			if flood.Gzip {
				floods = 6 // it is the sender's work that takes long
			}
			node, url := lyingNode(t, chain, liar.Rule{Method: "starknet_getBlockWithReceipts", Flood: &flood, Times: floods})
			cmd := program(t, "index", "--node", url, "--data", t.TempDir(), "--to", "39", "--no-jobs", "--cache-mib", "8")
			if _, stderr, code := outputOf(t, cmd); code != 0 {
				t.Fatalf("exit code %d:\n%s", code, stderr)
			}
			if node.Told() < floods {
				t.Fatalf("only %d answers were floods", node.Told())
			}
			peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> unit
			t.Logf("%d MiB at most", peak)
			// 32 answers of 96 MiB, as far as each is read, would be 3 GiB. The budget is
			// 256 MiB, of which a garbage collector may need twice as much.
			if peak > 900 {
				t.Errorf("%d MiB were in use", peak)
			}
		})
	}
}
