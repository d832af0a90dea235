package recheck_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/audit"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/recheck"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/node"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/liar"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// audited is an index of a simulated chain, a node that may lie, and an auditor.
type audited struct {
	t     *testing.T
	chain *simnode.Chain
	store store.Engine
	liar  *liar.Proxy
	pool  *node.Pool
	clock time.Time
	job   *recheck.Job
}

const final = 30 // the newest finalized block

// followed is a chain that no test changes, and a file system with its index, from which
// every test has a copy.
type followed struct {
	chain *simnode.Chain
	files vfs.FS
}

func follow(cfg simnode.Config) (*followed, error) {
	cfg.Seed, cfg.Blocks, cfg.TxPerBlock = 9, final+6, 4
	f := &followed{simnode.New(cfg), vfs.NewMem()}
	e, err := pebble.Open(pebble.MemOptions(f.files, catalog.Tables()))
	if err != nil {
		return nil, err
	}
	return f, errors.Join(simsource.Follow(context.Background(), e, f.chain, final+5), e.Close())
}

var (
	followedPlain = sync.OnceValues(func() (*followed, error) { return follow(simnode.Config{}) })
	followedReal  = sync.OnceValues(func() (*followed, error) { return follow(simnode.Config{RealHashes: true}) })
)

// newAudited is an index of one of these chains, and whoever audits it.
func newAudited(t *testing.T, chain func() (*followed, error)) *audited {
	t.Helper()
	f, err := chain()
	if err != nil {
		t.Fatal(err)
	}
	o := pebble.MemOptions(vfs.NewMem(), catalog.Tables())
	if there, err := vfs.Clone(f.files, o.FS, o.Dir, o.Dir); err != nil || !there {
		t.Fatalf("the index was not copied: %v", err)
	}
	e, err := pebble.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() }) //nolint:errcheck // in memory
	a := &audited{t: t, chain: f.chain, store: e, clock: time.Unix(1_700_000_000, 0)}
	a.liar = liar.New(simnode.NewNode(a.chain, simnode.NodeConfig{}))
	srv := httptest.NewServer(a.liar)
	t.Cleanup(srv.Close)
	if a.pool, err = node.Open(t.Context(), node.Config{Nodes: []node.Endpoint{{URL: srv.URL}}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.pool.Close)
	a.restart()
	return a
}

// restart is another process that does the job.
func (a *audited) restart() {
	a.t.Helper()
	known, err := registry.New(a.chain.Network().Registry())
	if err != nil {
		a.t.Fatal(err)
	}
	a.job = &recheck.Job{Store: a.store, Node: &index.Nodes{Pool: a.pool}, States: a.pool, Registry: known, Depth: 5, Metrics: recheck.NewMetrics(nil), Now: func() time.Time { return a.clock }}
}

func (a *audited) step(wait time.Duration) audit.State {
	a.t.Helper()
	a.clock = a.clock.Add(wait)
	if _, err := a.job.Step(a.t.Context(), commitAs(a.t, a.store, "job/audit")); err != nil {
		a.t.Fatal(err)
	}
	return stateOf(a.t, a.store)
}

// pass looks at so many blocks.
func (a *audited) pass(blocks int) (s audit.State) {
	a.t.Helper()
	for range blocks {
		s = a.step(time.Second)
	}
	return s
}

// TestAuditor goes round an index: all is well, and then a row was altered.
func TestAuditor(t *testing.T) {
	a := newAudited(t, followedReal)
	a.step(time.Second)
	if s := a.step(0); s.Next != 1 {
		t.Fatalf("a second block at the same moment: %+v", s)
	}
	s := a.pass(final + 1)
	if s.Next != 1 || s.Passes != 1 || s.Through != final || s.Checked[audit.Blocks] != final+2 || s.Unproved != 0 || s.At != uint64(a.clock.Unix()) {
		t.Errorf("after a round: %+v", s)
	}
	for _, k := range audit.Kinds() {
		if s.Checked[k] == 0 {
			t.Errorf("no %s was compared: %+v", k, s)
		}
	}
	if s.Mismatches != 0 || len(s.Findings) != 0 || s.Unanswered != 0 {
		t.Errorf("an honest node is contradicted: %+v", s)
	}

	key, other := transaction.Key(explorer.Position{Block: 3}), transaction.Key(explorer.Position{Block: 4})
	was := get(t, a.store, key)
	put(t, a.store, key, get(t, a.store, other))
	s = a.pass(final + 1)
	if f, found := s.Worst(); !found || f.Block != 3 || f.Kind != audit.Blocks || f.Standing != audit.Proved || s.Mismatches == 0 || f.Reason == "" || s.Passes != 2 {
		t.Errorf("after a row was altered: %+v", s)
	}
	put(t, a.store, key, was)
	if s = a.step(time.Second); len(s.Findings) == 0 {
		t.Errorf("it was made good before anybody looked: %+v", s)
	}
	next := s.Next
	a.restart()
	if s = a.step(time.Second); len(s.Findings) != 0 || s.Next != next {
		t.Errorf("after it was made good: %+v", s)
	}
}

// TestAuditorOfLies: a node that tells another balance, class, nonce, or no class,
// contradicts the index, until it tells the truth again.
func TestAuditorOfLies(t *testing.T) {
	a := newAudited(t, followedPlain)
	other := func(liar.Call, any) any { return "0xbad" }
	for kind, rule := range map[audit.Kind]liar.Rule{
		audit.Balances:    {Method: "starknet_call", Rewrite: func(liar.Call, any) any { return []any{"0xbad", "0x0"} }},
		audit.ClassHashes: {Method: "starknet_getClassHashAt", Rewrite: other},
		audit.Nonces:      {Method: "starknet_getNonce", Rewrite: other},
		audit.Classes:     {Method: "starknet_getClass", Code: node.CodeClassNotFound, Message: "Class hash not found"},
	} {
		t.Run(kind.String(), func(t *testing.T) {
			a.t = t
			a.liar.Set(rule)
			s := a.pass(final + 1)
			f, found := s.Worst()
			if !found || f.Kind != kind || f.Standing != audit.OneWord || s.Mismatches == 0 || s.Unproved == 0 {
				t.Fatalf("nothing is found: %+v", s)
			}
			a.liar.Set(liar.Rule{Method: rule.Method, Code: -32603, Message: "Internal error"})
			a.restart()
			if s = a.step(time.Second); len(s.Findings) == 0 {
				t.Errorf("no answer counts as agreement: %+v", s)
			}
			a.liar.Set()
			a.restart()
			if s = a.pass(len(s.Findings)); len(s.Findings) != 0 {
				t.Errorf("it stands although nothing differs: %+v", s)
			}
		})
	}
}

// TestAuditorOfUnqualifiedTokens: balances that events do not tell are counted, and
// are no mismatch.
func TestAuditorOfUnqualifiedTokens(t *testing.T) {
	a := newAudited(t, followedPlain)
	a.job.Registry = nil
	a.liar.Set(liar.Rule{Method: "starknet_call", Rewrite: func(liar.Call, any) any { return []any{"0xbad", "0x0"} }})
	if s := a.pass(final + 1); len(s.Findings) != 0 || s.Mismatches != 0 || s.Unqualified == 0 || s.Checked[audit.Balances] != 0 {
		t.Errorf("tokens that nobody looked at: %+v", s)
	}
}

func stateOf(t *testing.T, e store.Engine) (s audit.State) {
	t.Helper()
	err := e.View(t.Context(), func(r store.Reader) (err error) {
		s, _, err = audit.Read(t.Context(), r)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func get(t *testing.T, e store.Engine, k store.Key) (value []byte) {
	t.Helper()
	err := e.View(t.Context(), func(r store.Reader) (err error) {
		value, err = r.Get(t.Context(), k)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func put(t *testing.T, e store.Engine, k store.Key, value []byte) {
	t.Helper()
	b := &store.Batch{}
	b.Put(k, value)
	if err := commitAs(t, e, store.Writer)(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// commitAs commits under a lease of a name.
func commitAs(t *testing.T, e store.Engine, name string) func(context.Context, *store.Batch) error {
	return func(ctx context.Context, b *store.Batch) error {
		lease, err := e.Acquire(ctx, name, "test", time.Hour)
		if err != nil {
			return err
		}
		b.Under(lease)
		return e.Commit(ctx, b)
	}
}
