package usage_test

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/store/postgres/pgtest"
	"chainexplorer/internal/usage"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// both are the tests that hold for both kinds of control database.
var both = []struct {
	name string
	run  func(*testing.T, string)
}{
	{"Tells", testTells},
	{"ExactAcrossProcessesAndRestarts", testExact},
	{"KeepsNoMoreThanItSays", testRetention},
	{"Nobody", testNobody},
	{"Totals", testTotals},
	{"DatabaseAway", testDatabaseAway},
	{"Run", testRun},
}

func TestOnFile(t *testing.T) {
	for _, tt := range both {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, controltest.File(t)) })
	}
}

func TestOnPostgres(t *testing.T) {
	for _, tt := range both {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, controltest.Server(t)) })
	}
}

// clock stands still until a test moves it.
type clock struct{ micros atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.micros.Store(time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC).UnixMicro())
	return c
}

func (c *clock) now() time.Time          { return time.UnixMicro(c.micros.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.micros.Add(d.Microseconds()) }

// process is what one process has open.
type process struct {
	*usage.Repository
	db       *control.DB
	accounts *account.Repository
	recorder *usage.Recorder
	clock    *clock
}

func start(t testing.TB, path string, c *clock, o usage.Options) *process {
	t.Helper()
	db, err := control.Open(t.Context(), control.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // the test is over
	accounts := account.NewRepository(db, account.Options{Now: c.now})
	repo := usage.NewRepository(db, accounts, c.now)
	return &process{repo, db, accounts, usage.NewRecorder(repo, o), c}
}

// key issues a key; the workspace is made when it is not there.
func (p *process) key(t testing.TB, workspace, label string) account.Key {
	t.Helper()
	w, err := p.accounts.WorkspaceByName(t.Context(), workspace)
	if err != nil {
		if w, err = p.accounts.CreateWorkspace(t.Context(), workspace, account.Enterprise); err != nil {
			t.Fatal(err)
		}
	}
	k, err := p.accounts.CreateKey(t.Context(), account.NewKey{WorkspaceID: w.ID, Label: label})
	if err != nil {
		t.Fatal(err)
	}
	return k.Key
}

// ask is a request that went well.
func (p *process) ask(k account.Key, id string) usage.Event {
	return usage.Event{RequestID: id, WorkspaceID: k.WorkspaceID, KeyID: k.PublicID, Method: "GET", Path: "/v1/{chain}/status", Class: "light", Status: 200,
		At: p.clock.now(), Took: 12345 * time.Microsecond, Budget: usage.Budget{Policy: "light;w=60", Limit: 100, Remaining: 99}}
}

func (p *process) fail(k account.Key, id string, status int) usage.Event {
	e := p.ask(k, id)
	e.Status, e.Failed = status, true
	return e
}

func (p *process) flush(t testing.TB) {
	t.Helper()
	if err := p.recorder.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (p *process) of(t testing.TB, workspaceID string) usage.Usage {
	t.Helper()
	u, err := p.Of(t.Context(), workspaceID, 0)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// number reads one number behind the package's back.
func (p *process) number(t testing.TB, query string) (n int64) {
	t.Helper()
	if err := p.db.Reader().QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func ids(list []usage.Requested) (out string) {
	for _, e := range list {
		out += fmt.Sprint(e.RequestID, " ")
	}
	return out
}
