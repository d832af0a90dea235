package pgtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// New starts a server for one test, or skips the test when PostgreSQL is not
// installed.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), o)
	if errors.Is(err, ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// shared is the server that the tests of a package have in common.
var shared struct {
	once   sync.Once
	server *Server
	err    error
	count  atomic.Int64

	mu     sync.Mutex
	copied map[string]error // guarded by mu: what the databases of Copy were made with
}

// Main runs a package's tests and stops the server that Database started:
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
func Main(m *testing.M) int {
	code := m.Run()
	shared.once.Do(func() {})
	if shared.server != nil {
		if err := shared.server.Stop(); err != nil {
			fmt.Println(err)
			code = max(code, 1)
		}
	}
	return code
}

// Database makes an empty database on a server that the tests of the package
// share, and returns its address. The package's TestMain must call Main.
func Database(t testing.TB) string {
	t.Helper()
	start(t)
	url, err := shared.server.NewDatabase(t.Context(), fmt.Sprintf("test_%d", shared.count.Add(1)))
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// Localized is Database with the rules of a language for letters, such as tr-TR, where
// others have those of C. The test is skipped by servers that cannot have such a one.
func Localized(t testing.TB, language string) string {
	t.Helper()
	start(t)
	name := fmt.Sprintf("test_%d", shared.count.Add(1))
	url, err := shared.server.newDatabase(t.Context(), name, "template template0 encoding 'UTF8' locale_provider icu icu_locale '"+language+"'")
	if err != nil {
		t.Skip("no rules of languages here:", err)
	}
	return url
}

// Copy is Database with something in it: what fill, which must leave nobody connected, put
// into the first database of that name. The others are copies.
func Copy(t testing.TB, name string, fill func(url string) error) string {
	t.Helper()
	start(t)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	err, made := shared.copied[name]
	if !made {
		var url string
		if url, err = shared.server.NewDatabase(t.Context(), name); err == nil {
			err = fill(url)
		}
		if shared.copied == nil {
			shared.copied = map[string]error{}
		}
		shared.copied[name] = err
	}
	if err != nil {
		t.Fatal(err)
	}
	url, err := shared.server.copyDatabase(t.Context(), fmt.Sprintf("test_%d", shared.count.Add(1)), name)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// start starts the shared server, or skips the test when PostgreSQL is not installed.
func start(t testing.TB) {
	t.Helper()
	shared.once.Do(func() {
		shared.server, shared.err = Start(context.Background(), Options{})
	})
	if errors.Is(shared.err, ErrNotInstalled) {
		t.Skip(shared.err)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
}

// NewDatabase makes a database and returns its address.
func (s *Server) NewDatabase(ctx context.Context, name string) (string, error) {
	return s.copyDatabase(ctx, name, "template1")
}

// copyDatabase makes a database of what is in another, to which nobody is connected.
func (s *Server) copyDatabase(ctx context.Context, name, from string) (string, error) {
	return s.newDatabase(ctx, name, "template "+pgx.Identifier{from}.Sanitize())
}

func (s *Server) newDatabase(ctx context.Context, name, how string) (string, error) {
	conn, err := pgx.Connect(ctx, s.URL())
	if err != nil {
		return "", fmt.Errorf("make database %s: %w", name, err)
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is left to do
	if _, err := conn.Exec(ctx, "create database "+pgx.Identifier{name}.Sanitize()+" "+how); err != nil {
		return "", fmt.Errorf("make database %s: %w", name, err)
	}
	return fmt.Sprintf("postgres://postgres@/%s?host=%s&port=%d&sslmode=disable", name, s.dir, s.port), nil
}
