package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"

	"chainexplorer/internal/verification/toolchain/toolchaintest"
)

// shownDemo is a demo that runs, and what it said until it was ready.
type shownDemo struct {
	*running
	said string
}

// startDemo runs a small demo until it is ready. Nothing of this machine is found by it
// but what the test names.
func startDemo(t *testing.T, args ...string) *shownDemo {
	t.Helper()
	cmd := program(t, append([]string{"demo", "--listen=127.0.0.1:0", "--blocks=12"}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(cmd.Environ(), "XDG_DATA_HOME="+cmd.Dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var said strings.Builder
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "Stop with") {
			go io.Copy(io.Discard, out) //nolint:errcheck // until it ends
			d := &shownDemo{&running{t: t, cmd: cmd}, said.String()}
			d.base = strings.TrimSuffix(d.line(`Pages\s+(\S+)`), "/")
			return d
		}
	}
	t.Fatalf("the demo did not get ready:\n%s", said.String())
	return nil
}

// line finds a value in what the demo said.
func (d *shownDemo) line(pattern string) string {
	d.t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(d.said)
	if m == nil {
		d.t.Fatalf("the demo said nothing like %s:\n%s", pattern, d.said)
	}
	return m[1]
}

// sockets holds WebSocket connections open, as wallets of several pages would.
func (d *shownDemo) sockets(key string, n int) {
	d.t.Helper()
	for i := range n {
		conn, r, err := websocket.Dial(d.t.Context(), "ws"+strings.TrimPrefix(d.base, "http")+"/v1/SN_MAIN/rpc/ws", &websocket.DialOptions{HTTPHeader: http.Header{"X-Service-Api-Key": {key}}})
		if err != nil {
			d.t.Fatalf("connection %d: %v %v", i+1, r, err)
		}
		defer conn.CloseNow() //nolint:errcheck // they are held until all are there
	}
}

// TestDemoVerifies: the commands that the demo prints, pasted into a shell as they are,
// bring a source to a receipt that is believed, and a transaction to a proof.
func TestDemoVerifies(t *testing.T) {
	t.Parallel() // it waits for processes
	d := startDemo(t, "--verification-toolchains", toolchaintest.Policy(t))
	dir := d.line(`Data\s+(\S+)`)
	_, rest, found := strings.Cut(d.said, "one after the other:\n")
	if !found {
		t.Fatalf("no commands:\n%s", d.said)
	}
	commands, rest, _ := strings.Cut(rest, "\nThe class is then verified_exact")
	_, proofs, _ := strings.Cut(rest, "\nHave a transaction proven")
	if n := len(strings.Split(strings.TrimSpace(commands), "\n")); n != 4 {
		t.Errorf("%d commands:\n%s", n, commands)
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-e", "-c", commands).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "succeeded") || !strings.Contains(string(out), "Believed, if") || !strings.Contains(string(out), "It is in the transparency log") {
		t.Errorf("%v:\n%s\n%s", err, commands, out)
	}
	_, proofs, _ = strings.Cut(proofs, "\n")
	proofs, _, _ = strings.Cut(proofs, "\nStop with")
	if out, err := exec.CommandContext(t.Context(), "sh", "-e", "-c", proofs).CombinedOutput(); err != nil || !strings.Contains(string(out), `"status":"succeeded"`) || !strings.Contains(string(out), `"result":{`) {
		t.Errorf("%v:\n%s\n%s", err, proofs, out)
	}
	key := d.line(`API key\s+(\S+)`)
	class := d.line(`curl \S+ \S+ \S+ ` + d.base + `(/v1/SN_MAIN/class/\S+)`)
	until(t, "a read that knows the receipt", func() bool {
		_, text := d.once(class, key)
		return strings.Contains(text, `"verificationTier":"verified_exact"`)
	})
	for _, chain := range []string{"SN_MAIN", "SN_SEPOLIA"} {
		d.get("/v1/"+chain+"/status", key, 200)
	}
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is left behind (%v)", dir, err)
	}
}

// TestDemoWithoutCompiler: the demo says what is missing, and works without.
func TestDemoWithoutCompiler(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	for _, s := range []string{"no compiler was found", "scripts/toolchain.sh service-exact-v25 2.20.0", "--verification-toolchains"} {
		if !strings.Contains(d.said, s) {
			t.Errorf("it does not say %q:\n%s", s, d.said)
		}
	}
	key := d.line(`API key\s+(\S+)`)
	d.get("/v1/SN_MAIN/status", key, 200)
	d.sockets(key, 8)
	d.stop()
	if _, errs, code := output(t, "demo", "--verification-toolchains", t.TempDir()); code != exitUsage || !strings.Contains(errs, "manifest.json") {
		t.Errorf("no policy directory: %d %s", code, errs)
	}
}

// TestToolchainIsFound in the places that demo --help names, in their order.
func TestToolchainIsFound(t *testing.T) {
	work, data := t.TempDir(), t.TempDir()
	t.Chdir(work)
	t.Setenv("XDG_DATA_HOME", data)
	find := func(want string) {
		t.Helper()
		if f, err := findVerifier(""); err != nil || f.VerificationToolchains != want {
			t.Errorf("found %q (%v), want %q", f.VerificationToolchains, err, want)
		}
	}
	find("")
	for _, dir := range []string{filepath.Join(data, "chainexplorer", "service-exact-v25"), "service-exact-v25"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		writeTestFile(t, filepath.Join(dir, "manifest.json"), []byte("{}"))
		find(dir)
	}
}
