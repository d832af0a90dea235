package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/starknet"
)

// program is a script that starknet.js is there for.
func program(t *testing.T, script string, env ...string) *exec.Cmd {
	t.Helper()
	const lock = "package-lock.json"
	want, err := os.ReadFile(filepath.Join("testdata", "starknetjs", lock))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := filepath.Abs(filepath.Join("..", "..", ".tools", "starknetjs"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(tools, lock)); err != nil || !bytes.Equal(got, want) {
		t.Skip("starknet.js is not there in the version of " + lock + ": make tools installs it where it can")
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(tools, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.mjs"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	// Node 20 has WebSocket behind a flag, which later ones still take.
	ctx, cancel := context.WithTimeout(t.Context(), 9*patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "node", "--experimental-websocket", "--no-warnings", "main.mjs")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

// TestStarknetJS runs starknet.js through the gateway: reads, pages of events, a batch,
// a transfer and subscriptions, each answer equal to the node's.
func TestStarknetJS(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("testdata", "starknetjs", "calls.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	for version, spec := range spoken {
		t.Run(version, func(t *testing.T) {
			w := servertest.NewSpeaking(t, 24, starknet.V010, starknet.V09)
			sender, receiver := payers(w)
			cmd := program(t, string(script), "GATEWAY="+w.URL, "KEY="+w.Key, "READ_KEY="+w.NewKey(account.Read), "CHAIN="+servertest.ChainID, "VERSION="+version,
				"NODE="+w.NodeURLs[spec], "TOKEN="+strkToken.String(), "SENDER="+sender.String(), "RECEIVER="+receiver.String())
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var last string
			for lines := bufio.NewScanner(out); lines.Scan(); {
				if last = lines.Text(); last == "block" {
					grow(w)
					io.WriteString(in, "done\n") //nolint:errcheck // one that has ended says so below
				}
			}
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v\n%s%.4000s", err, last, stderr.String())
			}
			var got struct {
				Compared      int
				Hash          felt.Felt
				Before, After []felt.Felt
			}
			if err := json.Unmarshal([]byte(last), &got); err != nil || got.Compared < 30 {
				t.Fatalf("%v: %s", err, last)
			}
			checkTransfer(w, got.Hash, sender, receiver, 12345)
			head, _ := w.Chain.Head() // one block above the transfer's
			checkBalance(w, receiver, head-2, got.Before)
			checkBalance(w, receiver, head-1, got.After)
		})
	}
}

// TestStarknetJSOfTheGuide runs the example of the guide as it stands there.
func TestStarknetJSOfTheGuide(t *testing.T) {
	w := servertest.New(t, 12)
	cmd := program(t, guideExample(t, "js"), "RPC_URL="+w.URL+"/rpc/v0_10/"+servertest.ChainID, "SERVICE_API_KEY="+w.Key)
	out, err := cmd.CombinedOutput()
	if want := "11\n11 " + w.Chain.BlockAt(11).Header.Hash.String() + "\n"; err != nil || string(out) != want {
		t.Errorf("%v: it prints %q, want %q", err, out, want)
	}
}
