// Package pgtest runs a real PostgreSQL server in a temporary directory for
// tests and benchmarks. A server listens on the loopback address and on a
// socket of its own, belongs to the caller, and is gone when the caller stops
// it, also when the caller is killed (on Linux).
//
// PostgreSQL refuses to run as root; a server started by root runs as the user
// postgres, or nobody.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrNotInstalled says that the machine has no PostgreSQL server.
var ErrNotInstalled = errors.New("PostgreSQL is not installed: no initdb and postgres in PATH or in /usr/lib/postgresql/*/bin ('make tools' installs it)")

// startTimeout bounds initdb and each start.
const startTimeout = 3 * time.Minute

// Options are the settings of a server.
type Options struct {
	// Durable makes the server sync its files, as one that is in earnest does.
	// Without it a server that is killed loses nothing either, only a machine
	// that loses power does.
	Durable bool
	// Settings are added to the server's configuration.
	Settings map[string]string
}

// Server is a running PostgreSQL server.
type Server struct {
	dir  string // the temporary directory
	bin  string
	port int
	cred *syscall.Credential // nil: our own
	args []string

	mu     sync.Mutex
	proc   *exec.Cmd     // nil while stopped
	exited chan struct{} // closed when proc has ended
	log    *bytes.Buffer
}

// Find returns the directory of the newest PostgreSQL programs, or ErrNotInstalled.
func Find() (string, error) {
	dirs, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", fmt.Errorf("look for PostgreSQL: %w", err)
	}
	slices.SortFunc(dirs, func(a, b string) int { return version(b) - version(a) })
	// A link in PATH would hide where the rest of the installation is.
	for _, name := range filepath.SplitList(os.Getenv("PATH")) {
		if real, err := filepath.EvalSymlinks(filepath.Join(name, "initdb")); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	for _, dir := range dirs {
		if executable(filepath.Join(dir, "initdb")) && executable(filepath.Join(dir, "postgres")) {
			return dir, nil
		}
	}
	return "", ErrNotInstalled
}

func version(bin string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(bin))) //nolint:errcheck // an odd name sorts last
	return n
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// Start makes a new cluster in a temporary directory and starts its server. The
// caller must Stop it.
func Start(ctx context.Context, o Options) (*Server, error) {
	bin, err := Find()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin}
	if s.cred, err = credential(); err != nil {
		return nil, err
	}
	// A socket's path is short by law, and so is this one.
	if s.dir, err = os.MkdirTemp("/tmp", "pgtest-"); err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	if err := s.create(ctx, o); err != nil {
		return nil, errors.Join(fmt.Errorf("start PostgreSQL: %w", err), os.RemoveAll(s.dir))
	}
	return s, nil
}

// credential is the user to run as when we are root.
func credential() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uerr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gerr := strconv.ParseUint(u.Gid, 10, 32)
		if uerr == nil && gerr == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
}

func (s *Server) create(ctx context.Context, o Options) error {
	if s.cred != nil {
		if err := os.Chown(s.dir, int(s.cred.Uid), int(s.cred.Gid)); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	init := exec.CommandContext(ctx, filepath.Join(s.bin, "initdb"), "--pgdata", s.data(), "--username", "postgres",
		"--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions")
	s.prepare(init)
	if out, err := init.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	settings := map[string]string{
		"listen_addresses": "127.0.0.1", "unix_socket_directories": s.dir, "log_min_messages": "fatal",
		"max_connections": "200", "shared_buffers": "128MB", "max_wal_size": "4GB", "dynamic_shared_memory_type": "posix",
	}
	if !o.Durable {
		settings["fsync"], settings["full_page_writes"] = "off", "off"
	}
	for name, value := range o.Settings {
		settings[name] = value
	}
	for name, value := range settings {
		s.args = append(s.args, "-c", name+"="+value)
	}
	// Another process may take the port between our choice and the start.
	for try := 1; ; try++ {
		port, err := freePort()
		if err != nil {
			return err
		}
		s.port = port
		if err = s.Restart(ctx); err == nil || try == 5 {
			return err
		}
	}
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close() //nolint:errcheck // it only reserved the port
	return l.Addr().(*net.TCPAddr).Port, nil
}

// prepare lets the command run as the right user, in a place that it may see.
func (s *Server) prepare(cmd *exec.Cmd) {
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.cred, Setpgid: true}
	endWithParent(cmd.SysProcAttr)
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// Restart starts the server again after Kill, and waits until it answers. The
// address stays the same.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil {
		return errors.New("the server runs")
	}
	args := append([]string{"-D", s.data(), "-p", strconv.Itoa(s.port)}, s.args...)
	cmd := exec.Command(filepath.Join(s.bin, "postgres"), args...)
	s.prepare(cmd)
	s.log = &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = s.log, s.log
	if err := startProcess(cmd); err != nil {
		return err
	}
	s.proc, s.exited = cmd, make(chan struct{})
	exited := s.exited
	go func() {
		defer close(exited)
		cmd.Wait() //nolint:errcheck // how it ended is in its log
	}()
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := s.ready(ctx); err != nil {
		s.signal(syscall.SIGKILL)
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(s.log.String()))
	}
	return nil
}

// ready asks until the server answers.
func (s *Server) ready(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.URL())
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-tick.C:
		case <-s.exited:
			return errors.New("the server ended")
		case <-ctx.Done():
			return fmt.Errorf("the server does not answer: %w", err)
		}
	}
}

// URL is the address of the server's database, on its socket.
func (s *Server) URL() string {
	return fmt.Sprintf("postgres://postgres@/postgres?host=%s&port=%d&sslmode=disable", s.dir, s.port)
}

// Address is where the server listens on TCP.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// Kill ends the server without a word, with kill -9 for it and every process of
// its own: what was not written is lost.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signal(syscall.SIGKILL)
}

// signal sends to the whole group and waits for the end of the server.
func (s *Server) signal(sig syscall.Signal) {
	if s.proc == nil {
		return
	}
	// A server's processes leave its group; the main one takes the rest along
	// when it is told to, and its sudden death makes them leave by themselves.
	for _, pid := range append(children(s.proc.Process.Pid), s.proc.Process.Pid) {
		syscall.Kill(pid, sig) //nolint:errcheck // gone already
	}
	<-s.exited
	s.proc = nil
}

// children lists the processes that the server started.
func children(parent int) []int {
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", parent, parent))
	if err != nil {
		return nil
	}
	var pids []int
	for _, f := range strings.Fields(string(list)) {
		if pid, err := strconv.Atoi(f); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// CPU is what the server and its processes have used of all cores.
func (s *Server) CPU() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		return 0
	}
	const tick = 10 * time.Millisecond
	var ticks int64
	for _, pid := range append(children(s.proc.Process.Pid), s.proc.Process.Pid) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // it has ended
		}
		// Behind the name, which may hold anything: user and system time are the 12th and
		// 13th, and behind them those of children that have ended, which only the server has.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		for _, f := range fields[11:min(15, len(fields))] {
			n, _ := strconv.ParseInt(f, 10, 64) //nolint:errcheck // the kernel's
			ticks += n
		}
	}
	return time.Duration(ticks) * tick
}

// Stop ends the server and removes its directory.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil {
		syscall.Kill(s.proc.Process.Pid, syscall.SIGQUIT) //nolint:errcheck // gone already
		select {
		case <-s.exited:
			s.proc = nil
		case <-time.After(10 * time.Second):
			s.signal(syscall.SIGKILL)
		}
	}
	return os.RemoveAll(s.dir)
}
