package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/index"
	"chainexplorer/internal/job/census"
	"chainexplorer/internal/simnode"
)

// openTerminal makes a terminal of 100 columns: what is written to the second
// file comes out of the first.
func openTerminal(t *testing.T) (outside, inside *os.File) {
	t.Helper()
	outside, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { outside.Close() }) //nolint:errcheck // the test is over
	fd := int(outside.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 25, Col: 100}); err != nil {
		t.Fatal(err)
	}
	inside, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return outside, inside
}

// onTerminal runs a command whose log is a terminal, to its end.
func onTerminal(t *testing.T, cmd *exec.Cmd, env ...string) string {
	t.Helper()
	outside, inside := openTerminal(t)
	cmd.Stderr = inside
	cmd.Env = append(os.Environ(), append([]string{"LC_ALL=C.UTF-8", "TERM=xterm", "NO_COLOR="}, env...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inside.Close() //nolint:errcheck // the child has its own
	var shown bytes.Buffer
	io.Copy(&shown, outside) //nolint:errcheck // ends with an error when the last writer is gone
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v:\n%s", err, shown.String())
	}
	return shown.String()
}

// serveSimulated is a node of a simulated chain.
func serveSimulated(t *testing.T, blocks int) string {
	t.Helper()
	server := httptest.NewServer(simnode.NewNode(simnode.New(simnode.Config{Seed: 5, Blocks: blocks}), simnode.NodeConfig{}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestProgressOnATerminal: a bar with rate and time left that is redrawn, in
// colours unless they are not wanted, and never wider than the terminal.
func TestProgressOnATerminal(t *testing.T) {
	t.Parallel() // it waits for processes
	address := serveSimulated(t, 300)
	dir := t.TempDir()
	shown := onTerminal(t, program(t, "index", "--node", address, "--data", dir, "--verify=off", "--to=250"))
	for _, want := range []string{"█", "░", "\x1b[32m", "blocks/s", "s left", "indexing SN_SEPOLIA", "\r\x1b[K"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the terminal shows no %q:\n%q", want, shown)
		}
	}
	if strings.Contains(shown, "unknown left") {
		t.Errorf("time left is unknown:\n%q", shown)
	}
	colour := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for drawn := range strings.SplitSeq(shown, "\r\x1b[K") {
		for l := range strings.SplitSeq(drawn, "\n") {
			if n := len([]rune(strings.TrimRight(colour.ReplaceAllString(l, ""), "\r"))); n > 100 && strings.Contains(l, "indexing ") && strings.Contains(l, "░") {
				t.Errorf("a line of %d characters:\n%q", n, l)
			}
		}
	}
	shown = onTerminal(t, program(t, "admin", "fsck", "--data", dir), "NO_COLOR=1", "LC_ALL=C")
	if tables := strings.LastIndex(shown, "checking tables"); tables < strings.LastIndex(shown, "checking blocks") || tables < strings.LastIndex(shown, "100.0%") {
		t.Errorf("tables are walked behind a bar that is full: %q", shown)
	}
	if n := len(catalog.Tables()); !strings.Contains(shown, fmt.Sprintf("%d of %d\r\n", n, n)) {
		t.Errorf("the check does not end with the last of %d tables: %q", n, shown)
	}
	if !strings.Contains(shown, "checking blocks") || !strings.Contains(shown, "100.0%") || !strings.Contains(shown, "####") || colour.MatchString(shown) {
		t.Errorf("the check shows %q", shown)
	}
	if shown = onTerminal(t, program(t, "admin", "fsck", "--data", dir), "TERM=dumb"); strings.Contains(shown, "\x1b") {
		t.Errorf("a terminal that can redraw nothing got %q", shown)
	}
	if shown = onTerminal(t, program(t, "admin", "copy", "--from=pebble:"+dir, "--to=pebble:"+t.TempDir())); !strings.Contains(shown, "copying") {
		t.Errorf("the copy shows %q", shown)
	}
	backup, back := t.TempDir()+"/backup", t.TempDir()
	if shown = onTerminal(t, program(t, "admin", "backup", "--data", dir, "--to", backup)); !strings.Contains(shown, "backing up") {
		t.Errorf("the backup shows %q", shown)
	}
	if shown = onTerminal(t, program(t, "admin", "restore", "--from", backup, "--data", back)); !strings.Contains(shown, "restoring") || !strings.Contains(shown, "100.0%") {
		t.Errorf("the restore shows %q", shown)
	}
}

// TestServeShowsProgress: on a terminal like index does, with log records above
// the line and not in it.
func TestServeShowsProgress(t *testing.T) {
	t.Parallel() // it waits for processes
	address := serveSimulated(t, 600)
	outside, inside := openTerminal(t)
	cmd := program(t, "serve", "--node", address, "--data", t.TempDir(), "--verify=off", "--listen=127.0.0.1:0")
	cmd.Stderr, cmd.Env = inside, append(os.Environ(), "TERM=xterm", "NO_COLOR=1", "LC_ALL=C")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inside.Close() //nolint:errcheck // the child has its own
	var mu sync.Mutex
	var shown bytes.Buffer
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buf := make([]byte, 4096)
		for {
			n, err := outside.Read(buf)
			mu.Lock()
			shown.Write(buf[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	text := func() string {
		mu.Lock()
		defer mu.Unlock()
		return shown.String()
	}
	deadline := time.Now().Add(patience)
	for !strings.Contains(text(), "up to date") && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond) // polls, bounded above
	}
	cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it may have ended
	<-ended
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v", err)
	}
	if !strings.Contains(text(), "indexing SN_SEPOLIA  block ") || !strings.Contains(text(), "up to date") {
		t.Errorf("the terminal shows\n%q", text())
	}
	for l := range strings.SplitSeq(text(), "\n") {
		if i := strings.Index(l, "time="); i > 0 && !strings.HasSuffix(l[:i], "\x1b[K") {
			t.Errorf("a log record begins within a line: %q", l)
		}
	}
}

// TestProgressInTheLog: without a terminal there is a record now and then, with the
// time that is left.
func TestProgressInTheLog(t *testing.T) {
	var out bytes.Buffer
	clock := time.Unix(1000, 0)
	con := &console{log: slog.New(slog.NewJSONHandler(&out, nil)), now: func() time.Time { return clock }}
	m := con.meter("copying", "rows")
	for done := range uint64(25) {
		m.at(amount{done: done * 100, total: 10000, detail: "table x"})
		clock = clock.Add(time.Second)
	}
	m.end()
	var records []map[string]any
	for l := range strings.Lines(out.String()) {
		var r map[string]any
		if err := json.Unmarshal([]byte(l), &r); err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	if len(records) != 2 {
		t.Fatalf("%d records in 25 seconds:\n%s", len(records), out.String())
	}
	if r := records[0]; r["msg"] != "copying" || r["rows"] != 1000.0 || r["of"] != 10000.0 || r["rows_per_second"] != 100.0 || r["left"] != "1m30s" || r["at"] != "table x" {
		t.Errorf("record %v", r)
	}
}

// TestCensusOnATerminal: a count has a line of its own while it lasts, and leaves
// none behind.
func TestCensusOnATerminal(t *testing.T) {
	var out bytes.Buffer
	screen := &screen{out: &out, width: func() int { return 200 }}
	clock := time.Unix(1000, 0)
	con := &console{terminal: screen, log: slog.New(slog.DiscardHandler), now: func() time.Time { return clock }}
	show := con.counting("SN_MAIN")
	tell := func(step census.Step, done, total uint64) string {
		out.Reset()
		show(census.Progress{Token: strk, Step: step, Holders: done, Total: total})
		return out.String()
	}
	if got := tell(census.Gathering, 1, 8); got != "" {
		t.Errorf("a count of no time shows %q", got)
	}
	clock = clock.Add(time.Second)
	if got := tell(census.Gathering, 2, 8); !strings.Contains(got, "counting holders SN_MAIN") || !strings.Contains(got, "25.0%") || !strings.Contains(got, "2 of 8 holders") || !strings.Contains(got, strk.String()) {
		t.Errorf("the count shows %q", got)
	}
	if got := tell(census.Ranking, 8, 8); !strings.Contains(got, "\r\x1b[K") || len(screen.lines) != 0 {
		t.Errorf("the count leaves %q behind", got)
	}
	tell(census.Ended, 0, 0)
	if len(screen.lines) != 0 {
		t.Error("a line is left behind")
	}
	if (&console{}).counting("SN_MAIN") != nil {
		t.Error("without a terminal something is shown")
	}
}

func TestTimeLeft(t *testing.T) {
	for _, c := range []struct {
		done, total uint64
		rate        float64
		want        string
	}{
		{99, 100, 1000, "1s"}, // and not unknown, as zero would read
		{0, 100, 0, "unknown"},
		{0, 3700, 1, "1h1m40s"},
		{100, 100, 0, "0s"},
		{0, 1 << 60, 1, "unknown"},
	} {
		if got := timeLeft(c.done, c.total, c.rate); got != c.want {
			t.Errorf("%d of %d at %v/s: %s, want %s", c.done, c.total, c.rate, got, c.want)
		}
	}
	s := &screen{out: io.Discard, width: func() int { return 80 }}
	if got := s.indexing("SN_MAIN", index.Progress{Head: 5, Target: 10, Blocks: 1}); !strings.Contains(got, "unknown left") {
		t.Errorf("a run that stands still: %s", got)
	}
}
