package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// TestLameDuck: asked to stop, the service fails /readyz and goes on answering for
// the time that was set; a second signal ends it at once.
func TestLameDuck(t *testing.T) {
	cmd := program(t, "serve", "--listen=127.0.0.1:0", "--data", t.TempDir(), "--node", simulated(t, "SN_MAIN", 3), "--lame-duck", "10m")
	r := start(t, cmd)
	r.get("/readyz", "", http.StatusOK)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if body := r.get("/readyz", "", http.StatusServiceUnavailable); !strings.Contains(string(body), `"stopping"`) {
		t.Errorf("readyz says %s", body)
	}
	if code, body := r.once("/healthz", ""); code != http.StatusOK {
		t.Errorf("healthz: %d %s", code, body)
	}
	if code, _ := r.once("/openapi.json", ""); code != http.StatusOK {
		t.Errorf("a document: %d", code)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != exitFailure {
		t.Errorf("ended with %v", err)
	}
}

// TestStopEndsStreams: asked to stop, the service says goodbye to those who listen to what is
// new, and does not wait until they go.
func TestStopEndsStreams(t *testing.T) {
	cmd := program(t, "serve", "--listen=127.0.0.1:0", "--data", t.TempDir(), "--node", simulated(t, "SN_MAIN", 3), "--lame-duck", "0s")
	r := start(t, cmd)
	r.get("/readyz", "", http.StatusOK)
	res, err := http.Get(r.base + "/live/SN_MAIN")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	in := bufio.NewReader(res.Body)
	if line, err := in.ReadString('\n'); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%d: %q, %v", res.StatusCode, line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		t.Errorf("the stream was cut off: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

// TestLogOfNobody: a log that nobody reads any more stops no service, one whose reader went away ends none, and either
// ends when it is asked to.
func TestLogOfNobody(t *testing.T) {
	t.Parallel()
	// The program leaves a SIGHUP alone that it was started to ignore, as by nohup, and so are
	// tests: one that is caught here is as usual in what is started from here.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
	node := simulated(t, "SN_MAIN", 3)
	for name, c := range map[string]struct {
		gone   bool // the reader closes its end
		signal syscall.Signal
	}{"not read": {false, syscall.SIGTERM}, "gone": {true, syscall.SIGHUP}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := program(t, "serve", "--listen=127.0.0.1:0", "--data", t.TempDir(), "--node", node, "--lame-duck", "0s", "--log-level", "debug")
			log, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close() //nolint:errcheck // a test's
			cmd.Stderr = w
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close() //nolint:errcheck // the program has it
			base := ""
			for lines := bufio.NewScanner(log); base == "" && lines.Scan(); {
				var rec struct{ Msg, Address string }
				if json.Unmarshal(lines.Bytes(), &rec) == nil && rec.Msg == "serving" {
					base = rec.Address
				}
			}
			if c.gone {
				log.Close() //nolint:errcheck // what is tested
			}
			for i := range 1000 { // a pipe holds 64 KiB, and a request logs 200 bytes or more
				res, err := http.Get(base + "/v1/SN_MAIN/status") //nolint:noctx // of a process of this test
				if err != nil {
					t.Fatalf("request %d: %v", i, err)
				}
				res.Body.Close() //nolint:errcheck // not read
			}
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("ended with %v", err)
			}
		})
	}
}
