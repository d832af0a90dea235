package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"chainexplorer/internal/index"
	"chainexplorer/internal/store/postgres/pgtest"
	"chainexplorer/internal/verification/toolchain/toolchaintest"
)

// asProgram makes the test binary behave like the program itself, so that the
// tests below can start, stop and kill real processes of it.
const asProgram = "CHAINEXPLORER_TEST_RUN"

// buildDir is where the program is built for tests that start it many times.
var buildDir string

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	if raced {
		if err := watchOnly(); err != nil {
			panic(err)
		}
	}
	// The hashes of most simulated chains are made up, because real ones take long:
	// they cannot be verified. Tests of verification say what they want.
	os.Setenv(envName("verify"), string(index.VerifyOff)) //nolint:errcheck // a valid name
	var err error
	if buildDir, err = os.MkdirTemp("", "chainexplorer-test-"); err != nil {
		panic(err)
	}
	code := pgtest.Main(m)
	os.RemoveAll(buildDir) //nolint:errcheck // of no use to anybody
	toolchaintest.Remove()
	os.Exit(code)
}

// built is the program as users build it, but for what debuggers read: without the race
// detector, with which a start alone takes a second.
var built = sync.OnceValues(func() (string, error) {
	exe := filepath.Join(buildDir, "chainexplorer")
	cmd := exec.Command("go", "build", "-ldflags=-w", "-o", exe, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath") // so that it is compiled once, whoever asks for it
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return exe, nil
})

// program is the program as users run it.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), noLameDuck, "GOGC=", "GOMEMLIMIT=") // whatever the tests run with
	return cmd
}

// noLameDuck lets processes of the tests end as soon as they are asked to.
const noLameDuck = "CHAINEXPLORER_LAME_DUCK=0s"

// sameBinary is the program in the binary of the test, and so with the race
// detector when the test has it.
func sameBinary(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1", noLameDuck)
	return cmd
}

// output runs a command to its end, in this process: a new one would spend a
// second on its start when races are looked for.
func output(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return out.String(), errs.String(), code
}

// outputOf runs a process to its end: for work that the race detector would drag out.
func outputOf(t *testing.T, cmd *exec.Cmd) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestHelpAndMistakes(t *testing.T) {
	other := t.TempDir()
	if err := os.WriteFile(other+"/letter.txt", []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no arguments", nil, 0, "simnode"},
		{"help", []string{"--help"}, 0, "Index a chain from its nodes"},
		{"help of a command", []string{"index", "--help"}, 0, "--verify"},
		{"unknown command", []string{"indx"}, exitUsage, "unexpected argument indx"},
		{"unknown flag", []string{"index", "--nod", "x"}, exitUsage, "unknown flag --nod"},
		{"missing flags", []string{"index"}, exitUsage, "missing flags"},
		{"bad verify", []string{"index", "--node=http://127.0.0.1:1", "--data=" + t.TempDir(), "--verify=some"}, exitUsage, `"off","tail","all"`},
		{"bad window", []string{"index", "--node=http://127.0.0.1:1", "--data=" + t.TempDir(), "--window=0"}, exitUsage, "--window must be 1 to 4096"},
		{"bad node", []string{"index", "--node=ftp://127.0.0.1", "--data=" + t.TempDir()}, exitUsage, "address must start with one of http"},
		{"foreign directory", []string{"index", "--node=http://127.0.0.1:1", "--data=" + other}, exitUsage, "holds files that are not an index"},
		{"a worker on files", []string{"worker", "--node=http://127.0.0.1:1"}, exitUsage, "a worker shares its index with an indexer"},
		{"a worker without a node", []string{"worker", "--store=postgres://127.0.0.1:1/x"}, exitUsage, "missing flags: --node"},
		{"a worker with odd times", []string{"worker", "--node=http://127.0.0.1:1", "--store=postgres://127.0.0.1:1/x", "--census-interval=1s"}, exitUsage, "--census-interval must be at least a minute"},
		{"a worker at depth 0", []string{"worker", "--node=http://127.0.0.1:1", "--store=postgres://127.0.0.1:1/x", "--finality-depth=0"}, exitUsage, "--finality-depth must be at least 1"},
		{"a worker on another database", []string{"worker", "--node=http://127.0.0.1:1", "--store=mysql://x"}, exitUsage, "--store must begin with postgres://"},
		{"help of the worker", []string{"worker", "--help"}, 0, "--no-jobs"},
		{"fsck of nothing", []string{"admin", "fsck", "--data=" + other + "/none"}, exitFailure, "no such file"},
		{"bad chain", []string{"simnode", "--chain="}, exitUsage, "--chain must be a text"},
		{"bad version", []string{"simnode", "--real-hashes", "--version=77.0"}, exitUsage, "77.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, code := output(t, c.args...)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if !strings.Contains(stdout+stderr, c.want) {
				t.Errorf("output lacks %q:\n%s%s", c.want, stdout, stderr)
			}
		})
	}
}

var digestLine = regexp.MustCompile(`(?m)^digest +([0-9a-f]{64})$`)

// fsckClean runs the checker and returns the digest that it prints, none for an
// index without blocks.
func fsckClean(t *testing.T, dir string) string {
	t.Helper()
	stdout, stderr, code := outputOf(t, program(t, "admin", "fsck", "--data", dir))
	if code != 0 || !strings.Contains(stdout, "\nclean\nsummary ") && !strings.HasPrefix(stdout, "the index is empty\nsummary ") {
		t.Fatalf("fsck ended with %d:\n%s%s", code, stdout, stderr)
	}
	if strings.HasPrefix(stdout, "the index is empty\n") {
		return ""
	}
	m := digestLine.FindStringSubmatch(stdout)
	if m == nil {
		t.Fatalf("fsck printed no digest:\n%s", stdout)
	}
	return m[1]
}
