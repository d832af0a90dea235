// Package walk looks at the service's pages as people do: it starts the demo, opens a
// real browser, and tells what is wrong with what it sees. Its tests walk every page, and
// the pictures of the README are made with it.
package walk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Demo is the program's demo in a process of its own.
type Demo struct {
	Base string // without a slash at its end
	Key  string
	Link string // signs in, once

	cmd *exec.Cmd
}

const (
	// buildTime bounds the compiler, for which others may wait, too; readyTime is until
	// the demo has indexed its chains.
	buildTime, readyTime = 10 * time.Minute, 5 * time.Minute
	askTime              = 2 * time.Minute
	// largest bounds an answer.
	largest = 16 << 20
)

// Build compiles the program into a folder, and returns where it is. It is called inside
// of the module.
func Build(ctx context.Context, dir string) (exe string, err error) {
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	exe = filepath.Join(dir, "chainexplorer")
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags=-w", "-o", exe, "chainexplorer/cmd/chainexplorer")
	// As everywhere else, so that packages are compiled once. Nobody debugs it: it is linked
	// without what debuggers read, in less time.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return exe, nil
}

// Start runs the demo until it is ready. It finds nothing of this machine but what it is
// given, and ends with ctx or by Stop.
func Start(ctx context.Context, exe, dir string, args ...string) (*Demo, error) {
	said := &greeting{ready: make(chan struct{})}
	cmd := exec.CommandContext(ctx, exe, append([]string{"demo", "--listen=127.0.0.1:0"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_DATA_HOME="+dir, "CHAINEXPLORER_LAME_DUCK=0s")
	cmd.Stdout, cmd.Stderr = said, said
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the demo: %w", err)
	}
	d := &Demo{cmd: cmd}
	select {
	case <-said.ready:
	case <-time.After(readyTime):
		return nil, errors.Join(fmt.Errorf("the demo is not ready after %s", readyTime), d.Stop())
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), d.Stop())
	}
	d.Base, d.Key, d.Link = strings.TrimSuffix(said.find(`Pages\s+(\S+)`), "/"), said.find(`API key\s+(\S+)`), said.find(`Sign in\s+(\S+)`)
	if d.Base == "" || d.Key == "" || d.Link == "" {
		return nil, errors.Join(errors.New("the demo did not say where it is"), d.Stop())
	}
	return d, nil
}

// Stop ends the demo and waits until it has removed its data.
func (d *Demo) Stop() error {
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end the demo: %w", err)
	}
	if err := d.cmd.Wait(); err != nil {
		return fmt.Errorf("end the demo: %w", err)
	}
	return nil
}

// greeting is what the demo says.
type greeting struct {
	ready chan struct{}

	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
	done bool         // guarded by mu; nothing more is kept
}

func (g *greeting) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.done {
		return len(b), nil
	}
	g.text.Write(b)
	if bytes.Contains(g.text.Bytes(), []byte("Stop with")) {
		g.done = true
		close(g.ready)
	}
	return len(b), nil
}

func (g *greeting) find(pattern string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m := regexp.MustCompile(pattern).FindSubmatch(g.text.Bytes()); m != nil {
		return string(m[1])
	}
	return ""
}

// Answer is what the service said to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

var client = &http.Client{Timeout: askTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// Get asks as a reader without a key does, and follows no redirect.
func (d *Demo) Get(ctx context.Context, path string) (Answer, error) { return d.ask(ctx, path, "") }

// JSON reads an answer of the API.
func (d *Demo) JSON(ctx context.Context, path string, into any) error {
	a, err := d.ask(ctx, path, d.Key)
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("status %d: %.300s", a.Status, a.Body)
	}
	if err == nil {
		err = json.Unmarshal(a.Body, into)
	}
	if err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}

func (d *Demo) ask(ctx context.Context, path, key string) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.Base+path, nil)
	if err != nil {
		return Answer{}, fmt.Errorf("ask for %s: %w", path, err)
	}
	if key != "" {
		req.Header.Set("X-Service-Api-Key", key)
	}
	res, err := client.Do(req)
	if err != nil {
		return Answer{}, fmt.Errorf("ask for %s: %w", path, err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end, or too long
	body, err := io.ReadAll(io.LimitReader(res.Body, largest))
	if err != nil {
		return Answer{}, fmt.Errorf("read %s: %w", path, err)
	}
	return Answer{res.StatusCode, res.Header, body}, nil
}
